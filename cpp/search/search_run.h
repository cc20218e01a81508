// One search, from its query to its results, without Python.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "association/reached.h"
#include "lexical/search/weighed_query.h"
#include "ranking/candidates.h"
#include "ranking/plan.h"
#include "search/search_plan.h"
#include "search/search_request.h"
#include "search/search_trace.h"

namespace oneiros::search {

struct Result {
  std::uint32_t row;
  double relevance;
  double retention;
  double score;
};

// Higher score first, then the smaller row: the order of results everywhere.
[[nodiscard]] inline bool stands_before(const Result& one, const Result& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.row < other.row;
}

// How links led to a result.
struct LinkedResult {
  Result result;
  std::vector<std::uint32_t> path;  // from a direct result to the row itself
  double weight;
  std::size_t place = 0;  // in what the links' scoring ranked; associative only
  double seed = 0;        // the score of the direct result; graph only
};

// Why a result was left out. Its words are made where they are shown.
struct Farness {
  bool is_low = false;  // its score, else its nearness
  double score = 0;
  std::optional<double> cosine = {};
  double overlap = 0;
};

// Why nothing is returned although there are candidates.
struct Reason {
  Note note = Note::none;
  double first = 0;  // weak: the best cosine, and how many words were found
  double second = 0;
  std::size_t left_count = 0;  // surfacing, low: results that were left out, and the best of them
  Farness nearest = {};
};

// What decided before all channels were asked.
enum class ShortCut : std::uint8_t { none, fast_path, by_words };

// What one channel found, and what it needs to score other rows alike.
struct ChannelAnswer {
  RankedRows hits;
  bool can_score = false;
  lexical::WeighedQuery query;                    // lexical
  std::optional<std::pair<double, double>> ends;  // lexical, O3: the best and the worst BM25
  std::optional<RankedRows> ranks;                // asked in other words too: reciprocal ranks
};

// What a caller keeps of a run: small beside the run itself.
struct SearchOutcome {
  std::vector<Result> results;     // best first, each row once
  std::vector<double> raw_scores;  // one a result, before all were divided by `best`
  std::optional<double> best;
  std::vector<Result> misses;  // the nearest candidates where nothing is returned
  std::vector<LinkedResult> linked;
  std::vector<Reached> bridges;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> brought;     // row, and the hit beside it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> duplicates;  // row, and the better one
  // The rows that links were followed from, as far as no stage left them out.
  std::optional<std::vector<std::uint32_t>> direct;
  std::array<Reason, 2> reasons;  // why the first attempt, and that of a retry, return nothing
  std::optional<double> confidence;
  std::vector<StageRecord> stages;
  ShortCut short_cut = ShortCut::none;
  bool is_relaxed = false;
  std::size_t future_count = 0;  // candidates with times after now
};

// One way through all stages: the first, or the second of a search that is retried.
struct Attempt {
  std::shared_ptr<const SearchPlan> asked;  // as the search was asked
  std::shared_ptr<const SearchPlan> plan;   // as it ranks: a short cut has another
  ShortCut short_cut = ShortCut::none;
  bool is_relaxed = false;
  std::vector<ChannelAnswer> answers;  // one a channel
  std::optional<Candidates> candidates;
  std::map<std::string, std::vector<double>, std::less<>> signals;
  std::vector<float> centre;  // of the best candidates; empty: none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> brought;  // row, and the hit beside it
  Ranked ranked;
  std::optional<std::vector<std::uint32_t>> direct;  // the rows that links were followed from
  std::vector<Result> results;                       // best first, each row once
  std::vector<Result> uncut;                         // those beyond the last place among them
  std::vector<LinkedResult> linked;                  // each row once
  Ranked linked_ranked;                              // associative: how those were scored
  std::vector<Reached> bridges;
  std::vector<std::pair<std::uint32_t, double>> reranked;           // factors by row
  std::vector<std::pair<std::uint32_t, std::uint32_t>> duplicates;  // row, and the better one
  std::unordered_map<std::uint32_t, Farness> far;
  Reason reason;
  std::vector<Result> misses;
  std::optional<double> confidence;
  std::optional<double> best;      // what all scores were divided by
  std::vector<double> raw_scores;  // one a result, before that

  [[nodiscard]] const LinkedResult* link_to(std::uint32_t row) const noexcept;
};

// Runs once. Not thread-safe itself; any number of runs go on at once, beside writers.
// Cost: the channels, and some 30 us for 200 candidates; no lock is held over a whole run.
class SearchRun {
 public:
  // Throws std::invalid_argument for vectors of another width than the view's, and for hits of
  // another number of scores than rows.
  SearchRun(std::shared_ptr<const SearchPlan> plan, ReadView view, SearchRequest request);

  // Throws QueryTooLarge, and whatever `outside` throws. Calls pause_here() on its way.
  [[nodiscard]] SearchOutcome run(Outside& outside);

  // The attempt that is returned, but for what its outcome took. REQUIRES: run() has returned, here
  // and below.
  [[nodiscard]] const Attempt& attempt() const noexcept { return attempt_; }
  [[nodiscard]] const SearchRequest& request() const noexcept { return request_; }
  [[nodiscard]] const ReadView& view() const noexcept { return view_; }

  // The explanation and place of one candidate by a plan of the same channels; nothing for what is
  // none.
  [[nodiscard]] std::optional<Placed> place_of(std::uint32_t row, const Plan& plan) const;
  // The raw score that a channel gives any row; NaN: none.
  [[nodiscard]] double score_of(std::size_t channel, std::uint32_t row) const;
  // One row explained as the only candidate, found by no channel.
  [[nodiscard]] std::optional<Placed> alone(std::uint32_t row, Outside& outside) const;

 private:
  using SignalMap = std::map<std::string, std::vector<double>, std::less<>>;

  // channels.cpp
  void ask(Attempt& attempt);
  [[nodiscard]] ChannelAnswer ask_lexical(const ChannelPlan& channel) const;
  [[nodiscard]] ChannelAnswer ask_vectors(const ChannelPlan& channel) const;
  [[nodiscard]] ChannelAnswer ask_time(const ChannelPlan& channel, const Attempt& attempt) const;
  void ask_variants(const ChannelPlan& channel, ChannelAnswer& answer) const;
  [[nodiscard]] RankedRows nearest(std::span<const float> vector,
                                   const std::optional<RankedRows>& hits,
                                   const ChannelPlan& channel) const;
  [[nodiscard]] std::vector<double> score_rows(const Attempt& attempt, std::size_t channel,
                                               std::span<const std::uint32_t> rows) const;

  // short_cuts.cpp
  // Which of the channels' hits become candidates.
  [[nodiscard]] std::vector<RankedRows> decide(Attempt& attempt, Outside& outside);
  [[nodiscard]] RankedRows almost_the_query(const FastPath& rule, const ChannelAnswer& lexical,
                                            Outside& outside, Note& note) const;

  // candidates.cpp
  void gather(Attempt& attempt, const std::vector<RankedRows>& hits, Outside& outside);
  [[nodiscard]] std::unordered_map<std::uint32_t, double> seed_hot_set(Attempt& attempt);
  [[nodiscard]] std::vector<std::uint32_t> hottest(std::size_t count) const;
  std::size_t fill(const Attempt& attempt, const Scoring& scoring, Candidates& candidates,
                   bool by_all) const;
  void bring_neighbours(Attempt& attempt);
  void find_centre(Attempt& attempt) const;
  [[nodiscard]] std::vector<double> centre_cosines(const Attempt& attempt,
                                                   std::span<const std::uint32_t> rows) const;
  [[nodiscard]] RankRequest rank_request(const Candidates& candidates,
                                         const Signals& signals) const;

  // signals.cpp
  [[nodiscard]] SignalMap signals_for(const Attempt& attempt, std::span<const std::uint32_t> rows,
                                      Outside& outside) const;
  [[nodiscard]] std::vector<double> shares(const SoughtWords& words,
                                           std::span<const std::uint32_t> rows) const;
  [[nodiscard]] std::vector<double> overlaps(std::span<const std::uint32_t> rows) const;

  // expansion.cpp
  void follow_links(Attempt& attempt, Outside& outside);
  [[nodiscard]] std::vector<LinkedResult> associated(Attempt& attempt,
                                                     const AssociativeExpansion& rule,
                                                     std::span<const Result> followed,
                                                     Outside& outside);
  [[nodiscard]] std::vector<LinkedResult> in_graph(Attempt& attempt, const GraphExpansion& rule,
                                                   std::span<const Result> followed,
                                                   Outside& outside);
  void join(Attempt& attempt, std::vector<LinkedResult> linked, std::size_t count);
  void find_bridges(Attempt& attempt, const AssociativeExpansion& rule) const;
  [[nodiscard]] Ranked rank_linked(const Attempt& attempt, const Scoring& scoring,
                                   std::span<const Reached> reached, bool reads_centre,
                                   Outside& outside) const;

  // selection.cpp
  void finish(Attempt& attempt, Outside& outside);
  void leave_far(Attempt& attempt, const Surfacing& rule);
  void leave_low(Attempt& attempt, const Surfacing& rule);
  void leave(Attempt& attempt, const Surfacing& rule, Note reason, std::string_view stage_name);
  void rerank(Attempt& attempt, const Rerank& rule, Outside& outside);
  void leave_duplicates(Attempt& attempt, const Duplicates& rule);
  void require_near_best(Attempt& attempt, const WeakBest& rule, Outside& outside);
  void abstain(Attempt& attempt, std::size_t misses);
  void cut(Attempt& attempt);
  [[nodiscard]] double confidence_of(const Attempt& attempt, const Retry& rule) const;

  // search_run.cpp
  [[nodiscard]] Attempt take(std::shared_ptr<const SearchPlan> plan, bool is_relaxed,
                             Outside& outside);
  [[nodiscard]] SearchOutcome taken();
  [[nodiscard]] lexical::AllowedRows allowed() const;
  [[nodiscard]] lexical::AllowedRows reach() const;
  [[nodiscard]] const NamedTime* time_of(const Attempt& attempt) const noexcept;
  [[nodiscard]] const Surfacing* surfacing_of(const Attempt& attempt) const noexcept;

  std::shared_ptr<const SearchPlan> plan_;
  ReadView view_;
  SearchRequest request_;
  // The allowed rows that the query's signs permit, and those that links may lead to; nothing: the
  // request's.
  std::optional<std::vector<std::uint8_t>> permitted_;
  std::optional<std::vector<std::uint8_t>> permitted_reach_;
  std::array<Reason, 2> reasons_;
  Trace trace_;
  Attempt attempt_;
};

// The places of the first `most` rows that are like none before, and of those that are, each with
// the place of the one it is like. Rows come best first. Source: docs/systems/omega.md O26.
struct FirstOfEach {
  std::vector<std::size_t> kept;
  std::vector<std::pair<std::size_t, std::size_t>> left;
};
[[nodiscard]] FirstOfEach first_of_each(const Duplicates& rule, const TextColumn& texts,
                                        const VectorColumn* vectors,
                                        std::span<const std::uint32_t> rows, std::size_t most);

// Both lists as one: `held` keeps its order, each of `brought` stands before what it beats.
[[nodiscard]] std::vector<Result> merged(std::span<const Result> held, std::vector<Result> brought);

}  // namespace oneiros::search
