// Binding of searches: plans, requests, runs and their outcome.
//
// A profile becomes a SearchPlan once. A BoundRun holds the request, the Python objects whose
// memory it refers to, and a Host for the callbacks. Running releases the GIL; the Host acquires it
// again for user code only. Batches run on the pool, except for runs with user code, which run one
// by one on the calling thread.
//
// Invariants: a run is executed once, by one thread (Turn); a run that ended with an exception can
// be started again. Results are converted on access, so an unread part of the outcome costs
// nothing.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/interrupts.h"
#include "bindings/operands.h"
#include "bindings/own_copies.h"
#include "bindings/ranked.h"
#include "bindings/registration.h"
#include "bindings/texts.h"
#include "search/search_run.h"
#include "threads/for_each_chunk.h"
#include "threads/work_queue.h"

namespace oneiros {

namespace {

using search::Attempt;
using search::SearchOutcome;
using search::SearchPlan;
using search::SearchRequest;
using search::SearchRun;

using GivenChannel = std::tuple<std::string, std::size_t, std::size_t, bool, std::optional<double>,
                                std::optional<std::pair<double, double>>,
                                std::optional<std::tuple<double, std::uint32_t, double>>>;
using GivenScoring = std::tuple<std::shared_ptr<Plan>, bool>;
using GivenSurfacing = std::tuple<double, double, double, std::size_t>;

// A channel from (name, depth, per_result, reaches_k, minimum, (share, floor), (function words,
// whole length, typos)). Throws ValueError for another name.
search::ChannelPlan channel_of(const GivenChannel& given) {
  const auto& [name, depth, per_result, reaches_k, minimum, words, shares] = given;
  search::ChannelPlan channel;
  if (name == "lexical") {
    channel.kind = search::ChannelKind::lexical;
  } else if (name == "vector") {
    channel.kind = search::ChannelKind::vector;
  } else if (name == "temporal") {
    channel.kind = search::ChannelKind::temporal;
  } else {
    throw py::value_error("channels: no channel is called \"" + name + "\"");
  }
  channel.depth = depth;
  channel.per_result = per_result;
  channel.reaches_k = reaches_k;
  channel.minimum = minimum;
  if (words) {
    channel.words = {words->first, words->second};
  }
  if (shares) {
    const auto& [function_words, whole_length, typos] = *shares;
    channel.shares = {
        .function_words = function_words, .whole_length = whole_length, .typos = typos};
  }
  return channel;
}

search::Scoring scoring_of(const GivenScoring& given) {
  return {std::get<0>(given), std::get<1>(given)};
}

search::Surfacing surfacing_of(const GivenSurfacing& given) {
  return {std::get<0>(given), std::get<1>(given), std::get<2>(given), std::get<3>(given)};
}

// None, ("associative", (...)) or ("graph", (...)), the values in the order of the struct's fields.
search::Expansion expansion_of(const py::object& given) {
  if (given.is_none()) {
    return {};
  }
  const auto parts = given.cast<py::tuple>();
  if (parts[0].cast<std::string>() == "associative") {
    const auto [least_link, least_path, hops, least_score, bridged, depth, quota, scoring] =
        parts[1]
            .cast<std::tuple<double, double, unsigned, double, std::size_t, std::size_t, double,
                             GivenScoring>>();
    return search::AssociativeExpansion{least_link, least_path, hops,  least_score,
                                        bridged,    depth,      quota, scoring_of(scoring)};
  }
  const auto [seeds, hops, per_hop, least_link, least_score, weight, lifecycle] =
      parts[1]
          .cast<std::tuple<std::size_t, unsigned, double, double, double, double, GivenScoring>>();
  return search::GraphExpansion{
      seeds, hops, per_hop, least_link, least_score, weight, scoring_of(lifecycle)};
}

// None, ("surfacing", (...)), or another name with the values of WeakBest.
search::Abstention abstention_of(const py::object& given) {
  if (given.is_none()) {
    return {};
  }
  const auto parts = given.cast<py::tuple>();
  if (parts[0].cast<std::string>() == "surfacing") {
    return surfacing_of(parts[1].cast<GivenSurfacing>());
  }
  const auto [cosine, words, misses] = parts[1].cast<std::tuple<double, double, std::size_t>>();
  return search::WeakBest{cosine, words, misses};
}

// Builds the plan of a profile. Nested plans must have the same channels.
std::shared_ptr<SearchPlan> make_search_plan(
    const std::vector<GivenChannel>& channels, const GivenScoring& scoring,
    const std::vector<std::string>& needs, std::uint32_t pair_window, double spelling,
    const std::optional<NeighbourRule>& neighbours,
    const std::optional<std::tuple<std::size_t, double, double>>& hot_set,
    const std::optional<std::pair<double, std::size_t>>& fast_path,
    std::shared_ptr<SearchPlan> at_once,
    const std::optional<std::pair<double, double>>& strong_signal,
    std::shared_ptr<SearchPlan> by_words, const std::optional<GivenScoring>& before_cluster,
    const std::optional<std::tuple<std::size_t, double, std::shared_ptr<conflicts::Model>>>&
        newer_first,
    const py::object& expansion, const std::optional<std::pair<std::size_t, bool>>& rerank,
    const std::optional<std::pair<std::size_t, double>>& duplicates, const py::object& abstention,
    const std::optional<std::pair<double, std::size_t>>& retry, std::shared_ptr<SearchPlan> relaxed,
    bool is_normalised, const std::optional<std::tuple<double, double, double>>& confidence) {
  auto plan = std::make_shared<SearchPlan>();
  for (const GivenChannel& channel : channels) {
    plan->channels.push_back(channel_of(channel));
  }
  plan->scoring = scoring_of(scoring);
  for (const std::string& need : needs) {
    plan->needs.has_functions |= need == "functions";
    plan->needs.temporal |= need == "temporal";
    plan->needs.named_time |= need == "named_time";
    plan->needs.overlap |= need == "overlap";
    plan->needs.lexical_share |= need == "lexical_share";
    plan->needs.cluster |= need == "cluster";
    plan->needs.baseline |= need == "baseline";
  }
  plan->pair_window = pair_window;
  plan->spelling = spelling;
  plan->neighbours = neighbours;
  if (hot_set) {
    const auto [size, least_overlap, weight] = *hot_set;
    plan->hot_set = {size, least_overlap, weight};
  }
  if (fast_path) {
    plan->fast_path = {fast_path->first, fast_path->second};
  }
  plan->at_once = std::move(at_once);
  if (strong_signal) {
    plan->strong_signal = {strong_signal->first, strong_signal->second};
  }
  plan->by_words = std::move(by_words);
  if (before_cluster) {
    plan->before_cluster = scoring_of(*before_cluster);
  }
  if (newer_first) {
    const auto& [depth, least_confidence, model] = *newer_first;
    plan->newer_first = {depth, least_confidence, *model};
  }
  plan->expansion = expansion_of(expansion);
  if (rerank) {
    plan->rerank = {rerank->first, rerank->second};
  }
  if (duplicates) {
    plan->duplicates = {duplicates->first, static_cast<float>(duplicates->second)};
  }
  plan->abstention = abstention_of(abstention);
  if (retry) {
    plan->retry = {retry->first, retry->second};
  }
  plan->relaxed = std::move(relaxed);
  plan->is_normalised = is_normalised;
  if (confidence) {
    const auto [constant, words, meaning] = *confidence;
    plan->confidence = {constant, words, meaning};
  }
  return plan;
}

// The callbacks of a search, implemented in Python and called with the GIL. Their object is made
// for each call: most searches make none.
class Host final : public search::Outside {
 public:
  explicit Host(py::object make) : make_(std::move(make)) {}

  std::vector<std::pair<std::string, std::vector<double>>> factor_values(
      std::span<const std::uint32_t> rows) override {
    const HeldGil gil;
    std::vector<std::pair<std::string, std::vector<double>>> named;
    const std::vector<std::uint32_t> own(rows.begin(), rows.end());
    const py::dict values = own_copy(py::dict(call("factor_values", copied(own))));
    for (const std::pair<py::handle, py::handle> item : values) {
      auto name = item.first.cast<std::string>();
      const auto array = item.second.cast<py::array>();
      const std::span<const double> read = read_1d<double>(array, name);
      if (read.size() != rows.size()) {
        throw py::value_error("factor_values: expected one value a row");
      }
      named.emplace_back(std::move(name), std::vector<double>(read.begin(), read.end()));
    }
    return named;
  }

  search::Judgement judge(std::span<const std::uint32_t> rows) override {
    const HeldGil gil;
    const auto judgement =
        call("judge", list_of(rows))
            .cast<std::tuple<std::string, std::vector<double>, std::vector<std::uint32_t>,
                             std::size_t, std::size_t>>();
    return {std::get<0>(judgement), std::get<1>(judgement), std::get<2>(judgement),
            std::get<3>(judgement), std::get<4>(judgement)};
  }

  std::vector<std::string> stems() override {
    const HeldGil gil;
    return call("stems").cast<std::vector<std::string>>();
  }

  std::string texts(std::span<const std::uint32_t> rows) override {
    const HeldGil gil;
    const py::object joined = call("texts", list_of(rows));
    return std::string(utf8_of(joined, "texts"));
  }

  std::vector<std::pair<std::size_t, std::string>> uneven_starts(
      std::span<const std::uint32_t> rows, std::size_t characters) override {
    const HeldGil gil;
    return call("uneven_starts", list_of(rows), characters)
        .cast<std::vector<std::pair<std::size_t, std::string>>>();
  }

 private:
  // A thread that the interpreter ends in the call sleeps in it: unwinding would release the Python
  // objects of the frames above without the GIL.
  template <typename... Arguments>
  py::object call(const char* name, Arguments&&... arguments) {
    const py::object function = make_().attr(name);
    const py::tuple given = py::make_tuple(std::forward<Arguments>(arguments)...);
    PyObject* const result = call_python_with(function.ptr(), given.ptr());
    if (result == nullptr) {
      throw py::error_already_set();
    }
    return py::reinterpret_steal<py::object>(result);
  }

  static py::list list_of(std::span<const std::uint32_t> rows) {
    py::list list(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      list[i] = rows[i];
    }
    return list;
  }

  py::object make_;
};

// The rows that searches may return and read, with the objects that hold their bits.
class BoundRows {
 public:
  BoundRows(const GivenBits& allowed, std::size_t allowed_count, std::size_t bounds_count,
            bool follows_links, const GivenBits& reach, const GivenBits& scope,
            const GivenBits& standing, bool has_bounds)
      : allowed_(bits(allowed, "allowed")),
        allowed_count_(allowed_count),
        bounds_count_(bounds_count),
        follows_links_(follows_links),
        reach_(bits(reach, "reach")),
        scope_(bits(scope, "scope")),
        standing_(bits(standing, "standing")),
        has_bounds_(has_bounds) {}

  void put_into(SearchRequest& request) const {
    request.allowed = allowed_;
    request.allowed_count = allowed_count_;
    request.bounds_count = bounds_count_;
    request.follows_links = follows_links_;
    request.reach = reach_;
    request.scope = scope_;
    request.standing = standing_;
    request.has_bounds = has_bounds_;
  }

 private:
  search::SomeRows bits(const GivenBits& given, const std::string& name) {
    if (!given) {
      return std::nullopt;
    }
    objects_.push_back(*given);
    return read_bits(*given, name);
  }

  std::vector<py::object> objects_;  // first, as the others are read from them
  search::SomeRows allowed_;
  std::size_t allowed_count_;
  std::size_t bounds_count_;
  bool follows_links_;
  search::SomeRows reach_;
  search::SomeRows scope_;
  search::SomeRows standing_;
  bool has_bounds_;
};

// A run with the Python objects it refers to.
class BoundRun {
 public:
  SearchRequest request;
  std::shared_ptr<const BoundRows> rows;
  std::vector<py::object> arrays;
  std::unique_ptr<Host> host;
  std::unique_ptr<SearchRun> run;
  bool has_user_code = false;

  const SearchRun& done() const {
    if (state_.load(std::memory_order_acquire) != State::done) {
      throw std::runtime_error("run: it has not run");
    }
    return *run;
  }
  const Attempt& attempt() const { return done().attempt(); }

  search::SomeRows bits(const GivenBits& given, const std::string& name) {
    if (!given) {
      return std::nullopt;
    }
    arrays.push_back(*given);
    return read_bits(*given, name);
  }
  std::span<const float> floats(const std::optional<py::array>& given, const std::string& name) {
    if (!given) {
      return {};
    }
    arrays.push_back(*given);
    return read_1d<float>(*given, name);
  }

  // The exclusive right to run. Returned by the destructor, unless end() marks the run as done.
  class Turn {
   public:
    explicit Turn(BoundRun& bound) : bound_(&bound) {
      State expected = State::fresh;
      if (!bound.state_.compare_exchange_strong(expected, State::running)) {
        throw std::runtime_error(expected == State::done ? "run: it has run already"
                                                         : "run: it is running already");
      }
    }
    ~Turn() {
      if (bound_ != nullptr) {
        bound_->state_.store(State::fresh);
      }
    }
    Turn(Turn&& other) noexcept : bound_(std::exchange(other.bound_, nullptr)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn& operator=(Turn&&) = delete;

    void end() { std::exchange(bound_, nullptr)->state_.store(State::done); }

   private:
    BoundRun* bound_;
  };

 private:
  enum class State : std::uint8_t { fresh, running, done };

  std::atomic<State> state_ = State::fresh;
};

using GivenHits = std::pair<py::array, py::array>;
using GivenWords = std::tuple<std::vector<std::string>, std::vector<std::string>, std::size_t>;
using GivenVariant = std::tuple<std::string, std::optional<py::array>, std::optional<GivenHits>,
                                std::optional<GivenWords>>;

// Copies hits of a search that ran before.
std::optional<search::RankedRows> hits_of(const std::optional<GivenHits>& given) {
  if (!given) {
    return std::nullopt;
  }
  const auto rows = read_1d<std::uint32_t>(given->first, "hits: rows");
  const auto scores = read_1d<double>(given->second, "hits: scores");
  return search::RankedRows{{rows.begin(), rows.end()}, {scores.begin(), scores.end()}};
}

// Words with optional stems; None means no words.
search::SoughtWords words_of(const std::optional<GivenWords>& given) {
  if (!given) {
    return {};
  }
  const auto& [words, stems, count] = *given;
  if (!stems.empty() && stems.size() != words.size()) {
    throw py::value_error("words: expected one stem a word, or none at all");
  }
  return {words, stems, count};
}

using GivenTime = std::tuple<double, double, bool, double>;
using GivenKindSignal = std::tuple<std::string, std::vector<double>, double>;
using GivenQuestions =
    std::tuple<std::shared_ptr<QuestionVerdicts>, double, std::vector<std::uint32_t>>;
using GivenSurroundings = std::pair<std::vector<std::string>, GivenBits>;
using GivenVariantRule = std::tuple<double, double, bool, std::vector<double>>;

// Adds the reformulations of a query; their arrays are kept alive by the run.
void read_variants(BoundRun& bound, const std::vector<GivenVariant>& given) {
  for (const auto& [text, vector, hits, words] : given) {
    bound.request.variants.push_back(
        {text, bound.floats(vector, "vector"), hits_of(hits), words_of(words)});
  }
}

void read_kind_signals(BoundRun& bound, const std::vector<GivenKindSignal>& given) {
  for (const auto& [name, values, otherwise] : given) {
    bound.request.by_kind.push_back({name, values, otherwise});
  }
}

// Copies the expired rows, which must ascend.
void read_lapsed(BoundRun& bound, const py::array& given) {
  const auto rows = read_1d<std::uint32_t>(given, "lapsed");
  bound.request.is_deep = true;
  bound.request.lapsed.assign(rows.begin(), rows.end());
}

// Optional arguments, most of which few searches set.
void read_one(BoundRun& bound, const std::string& name, const py::handle& value) {
  SearchRequest& request = bound.request;
  if (name == "plain_text") {
    request.plain_text = value.cast<std::string>();
  } else if (name == "spoken") {
    request.spoken = value.cast<std::string>();
  } else if (name == "time") {
    const auto [start, end, is_soft, outside] = value.cast<GivenTime>();
    request.time = {start, end, is_soft, outside};
  } else if (name == "is_of_spelling") {
    request.is_of_spelling = value.cast<bool>();
  } else if (name == "leaves_time") {
    request.leaves_time = value.cast<bool>();
  } else if (name == "is_keyword_like") {
    request.is_keyword_like = value.cast<bool>();
  } else if (name == "lapsed") {
    read_lapsed(bound, value.cast<py::array>());
  } else if (name == "words") {
    request.words = words_of(value.cast<GivenWords>());
  } else if (name == "overlap") {
    request.overlap = words_of(value.cast<GivenWords>());
  } else if (name == "constants") {
    request.constants = value.cast<std::vector<std::pair<std::string, double>>>();
  } else if (name == "by_kind") {
    read_kind_signals(bound, value.cast<std::vector<GivenKindSignal>>());
  } else if (name == "questions") {
    const auto [verdicts, least, words] = value.cast<GivenQuestions>();
    request.questions = {verdicts, least, words};
  } else if (name == "surroundings") {
    const auto [words, project] = value.cast<GivenSurroundings>();
    request.surroundings = {words, bound.bits(project, "project")};
  } else if (name == "variants") {
    read_variants(bound, value.cast<std::vector<GivenVariant>>());
  } else if (name == "variant_rule") {
    const auto [weight, rank_k, is_normalised, weights] = value.cast<GivenVariantRule>();
    request.variant_rule = {weight, rank_k, is_normalised, weights};
  } else if (name == "variant_statistics") {
    request.variant_statistics = value.cast<QueryStatistics>();
  } else if (name == "surfacing") {
    request.surfacing = surfacing_of(value.cast<GivenSurfacing>());
  } else if (name == "relaxed_surfacing") {
    request.relaxed_surfacing = surfacing_of(value.cast<GivenSurfacing>());
  } else if (name == "syntax") {
    request.syntax = lexical::syntax_of(value.cast<std::string>());
  } else if (name == "hits") {
    request.hits = hits_of(value.cast<GivenHits>());
  } else if (name == "statistics") {
    request.statistics = value.cast<QueryStatistics>();
  } else if (name == "is_weighed_by_store") {
    request.is_weighed_by_store = value.cast<bool>();
  } else if (name == "has_user_code") {
    bound.has_user_code = value.cast<bool>();
  } else if (name == "has_reranker") {
    request.has_reranker = value.cast<bool>();
  } else if (name == "explain") {
    request.is_explained = value.cast<bool>();
  } else if (name == "is_whole") {
    request.is_whole = value.cast<bool>();
  } else {
    throw py::value_error("read: a search reads no \"" + name + "\"");
  }
}

// Creates a run. Everything is checked and referenced here, with the GIL, so that run() needs none.
std::shared_ptr<BoundRun> make_run(std::shared_ptr<SearchPlan> plan, const search::ReadView& view,
                                   std::shared_ptr<const BoundRows> rows, const py::object& host,
                                   const py::object& query, std::size_t k, double now_seconds,
                                   const std::optional<py::array>& vector, double walk_ms,
                                   const py::dict& read) {
  auto bound = std::make_shared<BoundRun>();
  bound->host = std::make_unique<Host>(host);
  SearchRequest& request = bound->request;
  request.query = std::string(utf8_of(query, "query"));
  request.k = k;
  request.now_seconds = now_seconds;
  rows->put_into(request);
  request.follows_links = request.follows_links && view.graph != nullptr;
  bound->rows = std::move(rows);
  request.vector = bound->floats(vector, "vector");
  request.walk_ms = walk_ms;
  for (const std::pair<py::handle, py::handle> item : own_copy(read)) {
    read_one(*bound, item.first.cast<std::string>(), item.second);
  }
  bound->run = std::make_unique<SearchRun>(std::move(plan), view, std::move(request));
  return bound;
}

// Runs without the GIL; Ctrl-C ends it at the next pause_here(). User code may wait for anything,
// and would keep others from their turn.
SearchOutcome outcome_of_run(BoundRun& bound) {
  const LongCall call;
  if (bound.has_user_code) {
    return bound.run->run(*bound.host);
  }
  SearchOutcome outcome;
  WorkQueue::of_process().run([&] { outcome = bound.run->run(*bound.host); });
  return outcome;
}

// Runs once; a run that fails can be started again.
SearchOutcome run_one(BoundRun& bound) {
  BoundRun::Turn turn(bound);
  SearchOutcome outcome = outcome_of_run(bound);
  turn.end();
  return outcome;
}

// Runs with user code are executed one after the other on the calling thread.
std::vector<SearchOutcome> run_many(const std::vector<std::shared_ptr<BoundRun>>& runs,
                                    unsigned threads) {
  const unsigned most_threads = checked_threads(threads);
  std::vector<SearchOutcome> outcomes(runs.size());
  std::vector<BoundRun::Turn> turns;
  turns.reserve(runs.size());
  for (const std::shared_ptr<BoundRun>& bound : runs) {
    turns.emplace_back(*bound);
  }
  std::vector<std::size_t> in_parallel;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i]->has_user_code) {
      outcomes[i] = outcome_of_run(*runs[i]);
    } else {
      in_parallel.push_back(i);
    }
  }
  {
    const ReleasedGil nogil;
    const Interrupt pause = interruptible();
    for_each_chunk(in_parallel.size(), most_threads, 1,
                   [&](std::size_t begin, std::size_t end) {
                     for (std::size_t at = begin; at < end; ++at) {
                       const std::size_t i = in_parallel[at];
                       outcomes[i] = runs[i]->run->run(*runs[i]->host);
                     }
                   },
                   {.pause = pause});
  }
  for (BoundRun::Turn& turn : turns) {
    turn.end();
  }
  return outcomes;
}

// Results as tuples of Python numbers; NumPy is not needed.
py::list tuples_of(std::span<const search::Result> results) {
  py::list answer(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const search::Result& each = results[i];
    answer[i] = py::make_tuple(each.row, each.relevance, each.retention, each.score);
  }
  return answer;
}

py::list result_rows(const SearchOutcome& outcome) {
  py::list answer(outcome.results.size());
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    answer[i] = outcome.results[i].row;
  }
  return answer;
}

py::list scores_of(const SearchOutcome& outcome) {
  py::list answer(outcome.results.size());
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    answer[i] = outcome.results[i].score;
  }
  return answer;
}

// By result: the score that each channel returned with the row, None where it did not return it.
py::list channel_scores_of(const SearchOutcome& outcome) {
  const std::size_t count = outcome.results.size();
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  py::list answer(count);
  for (std::size_t i = 0; i < count; ++i) {
    place_of.emplace(outcome.results[i].row, i);
    py::list scores(outcome.hits.size());
    for (std::size_t channel = 0; channel < outcome.hits.size(); ++channel) {
      scores[channel] = py::none();
    }
    answer[i] = std::move(scores);
  }
  for (std::size_t channel = 0; channel < outcome.hits.size(); ++channel) {
    const search::RankedRows& hits = outcome.hits[channel];
    for (std::size_t i = 0; i < hits.size(); ++i) {
      if (const auto found = place_of.find(hits.rows[i]); found != place_of.end()) {
        answer[found->second].cast<py::list>()[channel] = hits.scores[i];
      }
    }
  }
  return answer;
}

// Stage records as tuples, in the order of their fields.
py::list stages_of(const SearchOutcome& outcome) {
  const auto& stages = outcome.stages;
  py::list answer(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const search::StageRecord& each = stages[i];
    answer[i] = py::make_tuple(py::str(each.name.data(), each.name.size()), each.is_retry,
                               each.candidate_count, each.survivor_count, each.duration_ms,
                               static_cast<unsigned>(each.note), each.first, each.second, each.text,
                               each.prompt_tokens, each.completion_tokens);
  }
  return answer;
}

template <typename Rows>
py::tuple tuple_of(const Rows& rows) {
  py::tuple answer(rows.size());
  std::size_t i = 0;
  for (const std::uint32_t row : rows) {
    answer[i++] = row;
  }
  return answer;
}

py::list linked_of(const SearchOutcome& outcome) {
  py::list answer;
  for (const search::LinkedResult& each : outcome.linked) {
    answer.append(py::make_tuple(each.result.row, tuple_of(each.path), each.weight, each.place,
                                 each.seed, each.result.score));
  }
  return answer;
}

py::dict bridges_of(const SearchOutcome& outcome) {
  py::dict answer;
  for (const Reached& each : outcome.bridges) {
    answer[py::int_(each.row)] = tuple_of(std::span(each.path).first(each.path_size));
  }
  return answer;
}

py::tuple tuple_of(const search::Farness& far) {
  return py::make_tuple(far.is_low, far.score, far.cosine, far.overlap);
}

py::dict far_of(const BoundRun& bound) {
  py::dict answer;
  for (const auto& [row, far] : bound.attempt().far) {
    answer[py::int_(row)] = tuple_of(far);
  }
  return answer;
}

// (note, first, second, number left out, the best of them) of both attempts.
py::list reasons_of(const SearchOutcome& outcome) {
  py::list answer;
  for (const search::Reason& each : outcome.reasons) {
    answer.append(py::make_tuple(static_cast<unsigned>(each.note), each.first, each.second,
                                 each.left_count, tuple_of(each.nearest)));
  }
  return answer;
}

py::list conflicts_of(const SearchOutcome& outcome) {
  py::list answer;
  for (const search::Conflict& each : outcome.conflicts) {
    answer.append(py::make_tuple(each.older, each.newer, each.confidence, each.factor));
  }
  return answer;
}

py::dict brought_of(const SearchOutcome& outcome) {
  py::dict answer;
  for (const auto& [row, hit] : outcome.brought) {
    answer[py::int_(row)] = hit;
  }
  return answer;
}

RankedAnswer ranked_of(const BoundRun& bound, bool linked) {
  const Attempt& attempt = bound.attempt();
  if (!linked) {
    return answer_of(attempt.ranked, *attempt.plan->scoring.plan,
                     bound.run->request().is_explained);
  }
  const auto* const links = std::get_if<search::AssociativeExpansion>(&attempt.plan->expansion);
  const Plan& plan = links == nullptr ? *attempt.plan->scoring.plan : *links->scoring.plan;
  return answer_of(attempt.linked_ranked, plan, bound.run->request().is_explained);
}

// (explanation, place), with None for the place of a removed row.
py::object placed_of(std::optional<Placed> placed, const Plan& plan) {
  if (!placed) {
    return py::none();
  }
  const py::object place = placed->place == 0 ? py::object(py::none()) : py::int_(placed->place);
  return py::make_tuple(answer_of(std::move(placed->explanation), plan, true), place);
}

py::object placed_row(const BoundRun& bound, std::uint32_t row, const std::shared_ptr<Plan>& plan) {
  const Plan& by = plan == nullptr ? *bound.attempt().plan->scoring.plan : *plan;
  std::optional<Placed> placed;
  {
    const ReleasedGil nogil;
    placed = bound.done().place_of(row, by);
  }
  return placed_of(std::move(placed), by);
}

py::object alone_in_run(const BoundRun& bound, std::uint32_t row) {
  std::optional<Placed> placed;
  {
    const ReleasedGil nogil;
    placed = bound.done().alone(row, *bound.host);
  }
  return placed_of(std::move(placed), *bound.attempt().plan->scoring.plan);
}

double score_of(const BoundRun& bound, std::size_t channel, std::uint32_t row) {
  if (channel >= bound.attempt().answers.size()) {
    throw py::value_error("channel: must be below " +
                          std::to_string(bound.attempt().answers.size()) + ", got " +
                          std::to_string(channel));
  }
  const ReleasedGil nogil;
  return bound.done().score_of(channel, row);
}

// The duplicates rule on its own, for any list of rows.
py::tuple first_of_each(const TextColumn& texts, const std::shared_ptr<VectorColumn>& vectors,
                        const std::vector<std::uint32_t>& rows, std::size_t most,
                        std::size_t characters, double cosine) {
  search::FirstOfEach found;
  {
    const ReleasedGil nogil;
    found = search::first_of_each({characters, static_cast<float>(cosine)}, texts, vectors.get(),
                                  rows, most);
  }
  return py::make_tuple(found.kept, found.left);
}

// Registration of plans; outcome, read model and runs follow below.
void register_plan(py::module_& module) {
  py::class_<SearchPlan, std::shared_ptr<SearchPlan>>(
      module, "SearchPlan", "The channels, scoring and stages of a profile.")
      .def(py::init(&make_search_plan), py::kw_only(), py::arg("channels"), py::arg("scoring"),
           py::arg("needs"), py::arg("pair_window"), py::arg("spelling"), py::arg("neighbours"),
           py::arg("hot_set"), py::arg("fast_path"), py::arg("at_once"), py::arg("strong_signal"),
           py::arg("by_words"), py::arg("before_cluster"), py::arg("newer_first"),
           py::arg("expansion"), py::arg("rerank"), py::arg("duplicates"), py::arg("abstention"),
           py::arg("retry"), py::arg("relaxed"), py::arg("is_normalised"), py::arg("confidence"))
      .def_property_readonly("has_functions",
                             [](const SearchPlan& plan) { return plan.needs.has_functions; })
      .def_property_readonly("has_neighbours",
                             [](const SearchPlan& plan) { return plan.neighbours.has_value(); });
}

void register_outcome(py::module_& module) {
  py::class_<SearchOutcome>(module, "SearchOutcome", "The outcome of one search, by rows.")
      .def("rows", &result_rows, "Return the row of each result, best first.")
      .def("scores", &scores_of, "Return the score of each result.")
      .def(
          "results", [](const SearchOutcome& outcome) { return tuples_of(outcome.results); },
          "Return (row, relevance, retention, score) of each result, best first.")
      .def(
          "misses", [](const SearchOutcome& outcome) { return tuples_of(outcome.misses); },
          "The nearest candidates if there are no results.")
      .def("channel_scores", &channel_scores_of,
           "By result: the score each channel found it with, None where it did not find it.")
      .def("stages", &stages_of, "The record of each stage, in order.")
      .def("linked", &linked_of,
           "(row, path, weight, place, seed, score) of each result reached by links.")
      .def("bridges", &bridges_of, "By row: the path by which it bridges two of the first results.")
      .def("brought", &brought_of, "By row added as a session neighbour: the row of the hit.")
      .def_property_readonly("direct",
                             [](const SearchOutcome& outcome) -> py::object {
                               const auto& direct = outcome.direct;
                               return direct ? py::object(tuple_of(*direct)) : py::none();
                             })
      .def_readonly("duplicates", &SearchOutcome::duplicates)
      .def("conflicts", &conflicts_of,
           "(older row, newer row, confidence, factor) of each result raised above an older one.")
      .def_property_readonly("reasons", &reasons_of)
      .def_property_readonly("has_reason",
                             [](const SearchOutcome& outcome) {
                               return outcome.reasons[outcome.is_relaxed ? 1 : 0].note !=
                                      search::Note::none;
                             })
      .def_readonly("confidence", &SearchOutcome::confidence)
      .def_property_readonly("leads",
                             [](const SearchOutcome& outcome) {
                               return py::make_tuple(outcome.leads.words, outcome.leads.meaning);
                             })
      .def_readonly("best", &SearchOutcome::best)
      .def_readonly("raw_scores", &SearchOutcome::raw_scores)
      .def_property_readonly(
          "short_cut",
          [](const SearchOutcome& outcome) { return static_cast<unsigned>(outcome.short_cut); })
      .def_readonly("is_relaxed", &SearchOutcome::is_relaxed)
      .def_readonly("future_count", &SearchOutcome::future_count);
}

}  // namespace

void register_search(py::module_& module) {
  register_plan(module);
  register_outcome(module);
  py::class_<search::ReadView>(module, "ReadView", "The read model of a search.")
      .def(py::init([](std::shared_ptr<LexicalIndex> lexical, std::shared_ptr<Columns> columns,
                       std::shared_ptr<SessionOrder> sessions,
                       std::shared_ptr<AssociationGraph> graph, std::shared_ptr<TextColumn> texts,
                       std::shared_ptr<TextColumn> lowered, std::shared_ptr<VectorColumn> vectors,
                       std::shared_ptr<conflicts::StatementColumn> statements) {
             return search::ReadView{std::move(lexical), std::move(columns),   std::move(sessions),
                                     std::move(graph),   std::move(texts),     std::move(lowered),
                                     std::move(vectors), std::move(statements)};
           }),
           py::kw_only(), py::arg("lexical").none(false), py::arg("columns").none(false),
           py::arg("sessions"), py::arg("graph"), py::arg("texts"), py::arg("lowered"),
           py::arg("vectors"), py::arg("statements"));
  py::class_<BoundRows, std::shared_ptr<BoundRows>>(
      module, "SearchRows", "The rows that searches may return and read, as packed bits.")
      .def(py::init<const GivenBits&, std::size_t, std::size_t, bool, const GivenBits&,
                    const GivenBits&, const GivenBits&, bool>(),
           py::kw_only(), py::arg("allowed"), py::arg("allowed_count"), py::arg("bounds_count"),
           py::arg("follows_links"), py::arg("reach"), py::arg("scope"), py::arg("standing"),
           py::arg("has_bounds"));
  py::class_<BoundRun, std::shared_ptr<BoundRun>>(module, "SearchRun",
                                                  "One run of a search, from query to results.")
      .def(py::init(&make_run), py::kw_only(), py::arg("plan").none(false), py::arg("view"),
           py::arg("rows").none(false), py::arg("host"), py::arg("query"), py::arg("k"),
           py::arg("now_seconds"), py::arg("vector"), py::arg("walk_ms"), py::arg("read"))
      .def("run", &run_one, "Run all stages, once, without the GIL.")
      .def(
          "uncut", [](const BoundRun& bound) { return tuples_of(bound.attempt().uncut); },
          "(row, relevance, retention, score) of the results, those beyond place k included.")
      .def("far", &far_of, "By removed row: (is_low, score, cosine or None, share of words).")
      .def("ranked", &ranked_of, py::kw_only(), py::arg("linked"),
           "The ranked candidates, or the ranked rows reached by links.")
      .def("place_of", &placed_row, py::kw_only(), py::arg("row"), py::arg("plan"),
           "(explanation of a row, its place or None if removed); None if it is no candidate.")
      .def("alone", &alone_in_run, py::kw_only(), py::arg("row"),
           "place_of for a row that is not a candidate.")
      .def("score_of", &score_of, py::kw_only(), py::arg("channel"), py::arg("row"),
           "The raw score of a row in a channel; NaN for none.")
      .def_property_readonly("reranked",
                             [](const BoundRun& bound) { return bound.attempt().reranked; });
  module.def("run_searches", &run_many, py::kw_only(), py::arg("runs"), py::arg("threads"),
             "Run several searches; those without user code in parallel.");
  module.def(
      "first_of_each", &first_of_each, py::kw_only(), py::arg("texts"), py::arg("vectors"),
      py::arg("rows"), py::arg("most"), py::arg("characters"), py::arg("cosine"),
      "The first places whose row repeats no earlier one, and (place, place of the better one) "
      "of the others.");
}

}  // namespace oneiros
