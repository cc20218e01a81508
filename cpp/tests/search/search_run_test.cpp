#include "search/search_run.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "reinforcement/reinforcer.h"

using namespace oneiros;
using namespace oneiros::search;

namespace {

constexpr double kNow = 1'750'000'000.0;
constexpr double kDay = 86'400.0;

using Rows = std::vector<std::uint32_t>;

// A caller that has nothing of its own to say.
class NoCallbacks : public Outside {
 public:
  std::vector<std::pair<std::string, std::vector<double>>> factor_values(
      std::span<const std::uint32_t> rows) override {
    return {{"bonus", std::vector<double>(rows.size(), 1.0)}};
  }
  Judgement judge(std::span<const std::uint32_t> rows) override {
    Judgement judgement;
    for (std::size_t i = rows.size(); i > 0; --i) {
      judgement.order.push_back(static_cast<std::uint32_t>(i - 1));
    }
    return judgement;
  }
  std::vector<std::string> words;
  std::vector<std::string> stems() override { return words; }
  std::string texts(std::span<const std::uint32_t>) override { return "ant bee"; }
  std::vector<std::pair<std::size_t, std::string>> uneven_starts(std::span<const std::uint32_t>,
                                                                 std::size_t) override {
    return {};
  }
};

// The score is the relevance and a bonus of the caller's.
Scoring scoring(bool fills_scores = false) {
  const auto program = std::make_shared<const Program>(
      std::vector<ProgramInput>{ValueInput{"relevance", 1.0}, ValueInput{"bonus", 0.0},
                                ValueInput{"path_weight", 1.0}},
      std::vector<Instruction>{{"add", {0, 1}, {}}, {"multiply", {3, 2}, {}}});
  return {std::make_shared<const Plan>("reciprocal_rank", FusionParameters{{"k", 30.0}},
                                       std::vector<std::string>{"lexical", "vector", "temporal"},
                                       program, PlanOutputs{0, 4, 0, std::nullopt, {1}, {}}),
          fills_scores};
}

SearchPlan plain() {
  SearchPlan plan;
  plan.channels = {{.kind = ChannelKind::lexical},
                   {.kind = ChannelKind::vector},
                   {.kind = ChannelKind::temporal}};
  plan.scoring = scoring();
  return plan;
}

// Six memories: rows 0 to 3 have words, 0, 1, 4 and 5 vectors; row 5 is that of long ago.
struct World {
  World() {
    lexical->add(0, "red ant");
    lexical->add(1, "red bee");
    lexical->add(2, "blue ant");
    lexical->add(3, "grey wasp");
    columns->append(6);
    const Rows rows{0, 1, 2, 3, 4, 5};
    const std::vector<double> created{kNow, kNow, kNow, kNow, kNow, kNow - 400 * kDay};
    const ColumnValues values{"created_at", std::span<const double>(created)};
    columns->write(rows, {&values, 1});
    const std::vector<float> matrix{1, 0, 0.6F, 0.8F, 0, 1, -1, 0};
    vectors->write(Rows{0, 1, 4, 5}, matrix);
    graph->grow(6);
    const Rows a{0};
    const Rows b{3};
    const std::vector<double> weight{0.5};
    const std::vector<std::uint8_t> kind{0};
    const std::vector<double> when{kNow};
    graph->set({{a, b}, weight, kind, when, when});
    sessions->place_all(*columns);
    const std::vector<MemoryText> held{{"red ant", ""}, {"red bee", ""}, {"red  ant", ""}};
    texts->write(Rows{0, 1, 2}, held);
  }

  [[nodiscard]] ReadView view() const {
    return {lexical, columns, sessions, graph, texts, nullptr, vectors, nullptr};
  }

  std::shared_ptr<LexicalIndex> lexical =
      std::make_shared<LexicalIndex>(std::make_shared<Analyzer>(AnalyzerOptions{
                                         .stop_words = {}, .identifiers = false, .stem = {}}),
                                     lexical::Bm25());
  std::shared_ptr<Columns> columns = std::make_shared<Columns>(std::size_t{1} << 16);
  std::shared_ptr<SessionOrder> sessions = std::make_shared<SessionOrder>();
  std::shared_ptr<AssociationGraph> graph = std::make_shared<AssociationGraph>();
  std::shared_ptr<TextColumn> texts = std::make_shared<TextColumn>();
  std::shared_ptr<VectorColumn> vectors = std::make_shared<VectorColumn>(2);
};

const std::vector<float> kEast{1, 0};

SearchRequest request(const std::string& query) {
  SearchRequest asked;
  asked.query = query;
  asked.now_seconds = kNow;
  asked.vector = kEast;
  return asked;
}

Rows rows_of(const SearchOutcome& outcome) {
  Rows rows;
  for (const Result& result : outcome.results) {
    rows.push_back(result.row);
  }
  return rows;
}

std::vector<std::string> stages_of(const SearchOutcome& outcome) {
  std::vector<std::string> names;
  for (const StageRecord& stage : outcome.stages) {
    names.emplace_back(stage.name);
  }
  return names;
}

SearchOutcome done(const World& world, const SearchPlan& plan, const SearchRequest& asked,
                   NoCallbacks callbacks = {}) {
  SearchRun run(std::make_shared<const SearchPlan>(plan), world.view(), asked);
  return run.run(callbacks);
}

}  // namespace

TEST_CASE("search: channels are fused by their ranks, equal scores by the smaller row") {
  const World world;
  const SearchOutcome outcome = done(world, plain(), request("red ant"));
  const std::vector<Result>& results = outcome.results;
  REQUIRE(rows_of(outcome) == Rows{0, 1, 2, 4, 5});
  CHECK(results[0].score == 1.0 / 31 + 1.0 / 31);
  CHECK(results[1].relevance > 0);
  CHECK(stages_of(outcome) == std::vector<std::string>{"validity_filter", "bm25_search",
                                                       "vector_search", "temporal_search", "fusion",
                                                       "scoring"});
}

TEST_CASE("search: rows that are not allowed are in no channel, and k results come back") {
  const World world;
  const std::vector<std::uint8_t> bits{0b0010'1110};
  SearchRequest asked = request("red ant");
  asked.allowed = bits;
  asked.k = 2;
  CHECK(rows_of(done(world, plain(), asked)).size() == 2);
  asked.k = 10;
  CHECK(rows_of(done(world, plain(), asked)) == Rows{1, 2, 5});
}

TEST_CASE("search: a named time brings what lies in it") {
  const World world;
  SearchRequest asked = request("nothing of this");
  asked.vector = {};
  asked.time = {kNow - 401 * kDay, kNow - 399 * kDay, false, 3.0};
  CHECK(rows_of(done(world, plain(), asked)) == Rows{5});
}

TEST_CASE("search: factors of the caller, a reranker and links have their say") {
  const World world;
  SearchPlan plan = plain();
  plan.needs.has_functions = true;
  SearchRequest asked = request("red ant");
  const double first = done(world, plan, asked).results.front().score;
  CHECK(first == 1.0 / 31 + 1.0 / 31 + 1.0);
  plan = plain();
  plan.rerank = {2, false};
  asked.has_reranker = true;
  CHECK(rows_of(done(world, plan, asked)) == Rows{1, 0, 2, 4, 5});
  plan = plain();
  plan.expansion = AssociativeExpansion{0.1, 0.1, 2, 0.0, 3, 100, 0.0, scoring(true)};
  asked.has_reranker = false;
  asked.follows_links = true;
  const SearchOutcome outcome = done(world, plan, asked);
  REQUIRE(outcome.linked.size() == 1);
  CHECK(outcome.linked.front().path == Rows{0, 3});
  CHECK(outcome.linked.front().weight == 0.5);
}

TEST_CASE("search: of texts that are alike the better stays, and what is far leaves") {
  const World world;
  SearchPlan plan = plain();
  plan.duplicates = {150, 0.99F};
  SearchRequest asked = request("red ant");
  const SearchOutcome outcome = done(world, plan, asked);
  CHECK(outcome.duplicates == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{2, 0}});
  plan = plain();
  plan.abstention = Surfacing{2.0, 2.0, 0.0, 3};
  asked.words = {{"red"}, {}, 1};
  const SearchOutcome none = done(world, plan, asked);
  CHECK(none.results.empty());
  CHECK(none.reasons[0].note == Note::surfacing);
  CHECK(none.misses.size() == 3);
}

TEST_CASE("search: a weak best is returned only where its words are found") {
  const World world;
  SearchPlan plan = plain();
  plan.abstention = WeakBest{1.5, 0.75, 1};
  SearchRequest asked = request("red ant");
  NoCallbacks callbacks;
  callbacks.words = {"ant", "bee"};
  CHECK(done(world, plan, asked, callbacks).results.size() == 5);
  callbacks.words = {"ant", "wasp"};
  CHECK(done(world, plan, asked, callbacks).reasons[0].note == Note::weak);
  callbacks.words = {};
  CHECK(done(world, plan, asked, callbacks).results.size() == 5);
}

TEST_CASE("search: hits that came from a graph take the place of a scan") {
  const World world;
  SearchRequest asked = request("");
  asked.hits = RankedRows{{4, 1}, {0.9, 0.8}};
  CHECK(rows_of(done(world, plain(), asked)) == Rows{4, 1});
  asked.hits = RankedRows{{4, 1}, {0.9}};
  CHECK_THROWS_AS(done(world, plain(), asked), std::invalid_argument);
}

TEST_CASE("search: runs beside writers see each memory whole") {
  const World world;
  SearchPlan plan = plain();
  plan.duplicates = {150, 0.99F};
  plan.neighbours = NeighbourRule{0.5, 0.5, 2, 10, true};
  const auto shared = std::make_shared<const SearchPlan>(plan);
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (std::uint32_t row = 6; row < 200; ++row) {
      world.columns->append(1);
      const ColumnValues value{"created_at", std::span<const double>(&kNow, 1)};
      world.columns->write({&row, 1}, {&value, 1});
      const MemoryText text{"red ant", ""};
      world.texts->write({&row, 1}, {&text, 1});
      const std::vector<float> vector{0.6F, 0.8F};
      world.vectors->write({&row, 1}, vector);
      world.lexical->add(row, "red ant");
      world.sessions->place(*world.columns, {&row, 1});
      if (row % 3 == 0) {
        world.lexical->remove(row);
        world.vectors->remove({&row, 1});
        world.texts->erase({&row, 1});
      }
    }
    is_over = true;
  });
  std::vector<std::thread> readers;
  std::atomic<std::size_t> wrong = 0;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      NoCallbacks callbacks;
      do {
        SearchRun run(shared, world.view(), request("red ant"));
        const std::vector<Result> results = run.run(callbacks).results;
        wrong += results.empty() || results.front().row != 0 ? 1 : 0;
      } while (!is_over);
    });
  }
  writer.join();
  for (std::thread& reader : readers) {
    reader.join();
  }
  CHECK(wrong == 0);
}

TEST_CASE("search: runs beside uses of what they found, a dream and a writer") {
  const World world;
  Reinforcer reinforcer(world.columns, std::make_shared<SessionSets>());
  reinforcer.use_links(world.graph);
  auto rule = std::make_shared<UseRule>();
  rule->found = rule->linked = {.gain = 0.1, .span_days = 7.0, .limit = 10.0, .is_additive = true};
  rule->links = LinkGain{0.01};
  rule->link_tau_days = 90.0;
  rule->most_linked = 32;
  rule->warms = true;
  SearchPlan plan = plain();
  plan.expansion = AssociativeExpansion{0.1, 0.1, 2, 0.0, 3, 100, 0.0, scoring(true)};
  const auto shared = std::make_shared<const SearchPlan>(plan);
  constexpr int kUses = 200;
  std::atomic<int> searching = 3;
  std::vector<std::thread> searchers;
  std::atomic<std::size_t> wrong = 0;
  std::atomic<std::uint32_t> refused = 0;
  const Rows both{0, 1};
  for (int n = 0; n < 3; ++n) {
    searchers.emplace_back([&, n] {
      NoCallbacks callbacks;
      for (int i = 0; i < kUses; ++i) {
        SearchRequest asked = request("red ant");
        asked.follows_links = true;
        SearchRun run(shared, world.view(), std::move(asked));
        const SearchOutcome outcome = run.run(callbacks);
        wrong += outcome.results.empty() || outcome.results.front().row != 0 ? 1 : 0;
        const Use use{.rows = {0, 1},
                      .direct = {0, 1},
                      .linked = {},
                      .now_seconds = kNow + i,
                      .session = n == 0 ? std::nullopt : std::optional<std::string>("s"),
                      .rule = rule};
        while (reinforcer.apply(use, 1'000'000) == Reinforcer::Outcome::refused) {
          ++refused;
          std::this_thread::yield();
        }
        // Each use is of both, and none is seen half applied or half loaded again.
        const auto used = reinforcer.used({}, both);
        wrong += used && used->at(0).access_count != used->at(1).access_count ? 1 : 0;
      }
      --searching;
    });
  }
  // The store's copy of row 0: updated now and then, after which a dream loads the row again.
  std::thread writer([&] {
    std::uint32_t stored = 0;
    for (std::uint32_t round = 0; searching > 0; ++round) {
      const std::size_t uses = reinforcer.owed().use_count;
      stored += static_cast<std::uint32_t>(uses);
      reinforcer.forget_written(uses);
      reinforcer.close();
      reinforcer.begin_change();
      const std::uint32_t row = 0;
      const std::uint8_t tier = round % 2 == 0 ? 1 : 0;
      const ColumnValues read[] = {{"access_count", std::span<const std::uint32_t>(&stored, 1)},
                                   {"tier", std::span<const std::uint8_t>(&tier, 1)}};
      world.columns->write({&row, 1}, read);
      reinforcer.repeat({&row, 1});
      reinforcer.end_change();
      reinforcer.open();
    }
  });
  for (std::thread& searcher : searchers) {
    searcher.join();
  }
  writer.join();
  CHECK(wrong == 0);
  CHECK(world.columns->values<Column::access_count>()[0] == 3 * kUses);
  CHECK(world.columns->values<Column::access_count>()[1] == 3 * kUses);
  CHECK(reinforcer.used({}, both).has_value());
  const Rows one{0};
  const Rows other{1};
  CHECK(world.graph->find({one, other})[0].has_value());
}

TEST_CASE("search: a channel that reaches k returns k hits, others as many as their depth") {
  const World world;
  SearchPlan plan = plain();
  plan.channels.front().depth = 1;
  SearchRequest asked = request("red ant");
  asked.vector = {};
  asked.k = 2;
  CHECK(rows_of(done(world, plan, asked)) == Rows{0});
  plan.channels.front().reaches_k = true;
  CHECK(rows_of(done(world, plan, asked)) == Rows{0, 1});
  asked.k = 10;
  CHECK(rows_of(done(world, plan, asked)) == Rows{0, 1, 2});
  asked.k = 0;
  CHECK(rows_of(done(world, plan, asked)).empty());
}

TEST_CASE("search: the outcome has the hits of each channel with the channel's own scores") {
  const World world;
  const SearchOutcome outcome = done(world, plain(), request("red ant"));
  REQUIRE(outcome.hits.size() == 3);
  CHECK(outcome.hits[0].rows == Rows{0, 1, 2});
  CHECK(outcome.hits[1].rows == Rows{0, 1, 4, 5});
  CHECK(outcome.hits[1].scores.front() == 1.0);
  CHECK(outcome.hits[2].size() == 0);
}
