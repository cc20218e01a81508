// The search pipeline: from a query to its results, without Python except for `Outside`.
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
#include "lexical/search/word_pairs.h"
#include "ranking/candidates.h"
#include "ranking/plan.h"
#include "search/search_plan.h"
#include "search/search_request.h"
#include "search/search_trace.h"

namespace oneiros::search {

// A scored row. `score` orders results; `relevance` and `retention` are the two halves it was
// computed from by the profile's program.
struct Result {
  std::uint32_t row;
  double relevance;
  double retention;
  double score;
};

// The order of results everywhere: higher score first, then the smaller row (the older memory).
[[nodiscard]] inline bool stands_before(const Result& one, const Result& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.row < other.row;
}

// A result reached by links.
struct LinkedResult {
  Result result;
  // From a direct result to the row itself, both included.
  std::vector<std::uint32_t> path;
  double weight;
  // AssociativeExpansion: the index in `Attempt::linked_ranked`.
  std::size_t place = 0;
  // GraphExpansion: the score of the direct result it was reached from.
  double seed = 0;
};

// A newer result whose score was raised, by a factor, to just above that of an older one.
struct Conflict {
  std::uint32_t older;
  std::uint32_t newer;
  double confidence;
  double factor;
};

// Why a result was removed as not near enough. Worded in Python when it is displayed.
struct Farness {
  // True: the score was too low. False: cosine and word overlap were.
  bool is_low = false;
  double score = 0;
  std::optional<double> cosine = {};
  double overlap = 0;
};

// Why nothing is returned although there are candidates.
struct Reason {
  Note note = Note::none;
  // Note::weak: the best cosine above the baseline, and the number of query words found.
  double first = 0;
  double second = 0;
  // Note::surfacing and Note::low: the number of results removed, and the best of them.
  std::size_t left_count = 0;
  Farness nearest = {};
};

// The rule that decided the query by the lexical channel alone, if any.
enum class ShortCut : std::uint8_t { none, fast_path, by_words };

// The hits of one channel, and what is needed to score other rows on the same scale.
struct ChannelAnswer {
  RankedRows hits;
  bool can_score = false;
  lexical::WeighedQuery query;  // lexical channel
  lexical::WordPairs pairs;     // lexical channel, if the plan looks for pairs
  // Lexical channel with WordRelevance: the best and the worst raw BM25 score of the hits, which
  // fix the scale on which other rows are scored (O3).
  std::optional<std::pair<double, double>> ends;
  // With variants: reciprocal ranks, which are fused instead of the scores (O6).
  std::optional<RankedRows> ranks;
};

// The part of a run that becomes the response; it outlives the run and is small beside it.
struct SearchOutcome {
  // Best first, each row once.
  std::vector<Result> results;
  // By channel: the hits that became candidates, with the channel's own scores.
  std::vector<RankedRows> hits = {};
  // Parallel to `results`: the scores before all were divided by `best`. Empty if they were not.
  std::vector<double> raw_scores;
  std::optional<double> best;
  // The nearest candidates if nothing is returned.
  std::vector<Result> misses;
  std::vector<LinkedResult> linked;
  std::vector<Reached> bridges;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      brought;  // row, and the hit next to it in its session
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      duplicates;  // row, and the better result it repeats
  // Results raised above an older one that they conflict with.
  std::vector<Conflict> conflicts;
  // The results whose links were followed, without those a later stage removed.
  std::optional<std::vector<std::uint32_t>> direct;
  // Why the first attempt and its retry return nothing.
  std::array<Reason, 2> reasons;
  std::optional<double> confidence;
  Leads leads;
  std::vector<StageRecord> stages;
  ShortCut short_cut = ShortCut::none;
  bool is_relaxed = false;
  std::size_t future_count = 0;  // candidates created after `now`
};

// The state of one pass through all stages. A search has one, or two if it is retried.
struct Attempt {
  // The plan of the search.
  std::shared_ptr<const SearchPlan> asked;
  // The plan that ranks; a short cut replaces it.
  std::shared_ptr<const SearchPlan> plan;
  ShortCut short_cut = ShortCut::none;
  bool is_relaxed = false;
  std::vector<ChannelAnswer> answers;  // one per channel
  // By channel: the hits that became candidates.
  std::vector<RankedRows> hits;
  std::optional<Candidates> candidates;
  std::map<std::string, std::vector<double>, std::less<>> signals;
  // Normalised mean vector of the best candidates; empty: not needed or not defined.
  std::vector<float> centre;
  // What cosines count from; 0: from 0, or the plan needs none.
  double baseline = 0;
  // The share of their weight that vectors have.
  double vector_share = 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      brought;  // row, and the hit next to it in its session
  Ranked ranked;
  // The rows whose links were followed.
  std::optional<std::vector<std::uint32_t>> direct;
  // Best first, each row once.
  std::vector<Result> results;
  // SearchRequest::is_whole: `results` before it was cut to k.
  std::vector<Result> uncut;
  // Results raised above an older one that they conflict with.
  std::vector<Conflict> conflicts;
  // Each row once.
  std::vector<LinkedResult> linked;
  // AssociativeExpansion: the ranking of the reached rows.
  Ranked linked_ranked;
  std::vector<Reached> bridges;
  std::vector<std::pair<std::uint32_t, double>> reranked;  // row, and its factor
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      duplicates;  // row, and the better result it repeats
  std::unordered_map<std::uint32_t, Farness> far;
  Reason reason;
  std::vector<Result> misses;
  std::optional<double> confidence;
  // What `confidence` was computed from, by the plan's model.
  Leads leads;
  // The score that all scores were divided by, and the scores before that.
  std::optional<double> best;
  std::vector<double> raw_scores;

  // The link record of a result; null if it is a direct one. Linear in `linked`.
  [[nodiscard]] const LinkedResult* link_to(std::uint32_t row) const noexcept;
};

// One run of one request; call run() once. An object is not thread-safe, but any number of runs may
// proceed at once, and next to writers: each part of the view is locked only while it is read,
// never over a whole run. Cost: the channels, and about 30 us for 200 candidates.
class SearchRun {
 public:
  // Throws std::invalid_argument if hits have a different number of rows and scores.
  SearchRun(std::shared_ptr<const SearchPlan> plan, ReadView view, SearchRequest request);

  // Runs all stages. Throws QueryTooLarge, and whatever `outside` throws. Calls pause_here()
  // between steps, so that the caller can interrupt it.
  [[nodiscard]] SearchOutcome run(Outside& outside);

  // The state of the attempt that was returned, without the members moved into the outcome.
  // REQUIRES, for this and all members below: run() has returned.
  [[nodiscard]] const Attempt& attempt() const noexcept { return attempt_; }
  [[nodiscard]] const SearchRequest& request() const noexcept { return request_; }
  [[nodiscard]] const ReadView& view() const noexcept { return view_; }

  // The rank and explanation of one candidate under a plan with the same channels; no value if the
  // row is not a candidate.
  [[nodiscard]] std::optional<Placed> place_of(std::uint32_t row, const Plan& plan) const;
  // The raw score that a channel gives any row; NaN if it gives none.
  [[nodiscard]] double score_of(std::size_t channel, std::uint32_t row) const;
  // Explains one row as if it were the only candidate and no channel had found it.
  [[nodiscard]] std::optional<Placed> alone(std::uint32_t row, Outside& outside) const;

 private:
  using SignalMap = std::map<std::string, std::vector<double>, std::less<>>;

  // channels.cpp: retrieve the hits of each channel.
  void ask(Attempt& attempt);
  // Each returns the hits of one channel, and how to score other rows.
  [[nodiscard]] ChannelAnswer ask_lexical(const ChannelPlan& channel) const;
  [[nodiscard]] ChannelAnswer ask_vectors(const ChannelPlan& channel) const;
  [[nodiscard]] ChannelAnswer ask_time(const ChannelPlan& channel, const Attempt& attempt) const;
  // Merges the hits of the query's reformulations into those of the channel.
  void ask_variants(const ChannelPlan& channel, ChannelAnswer& answer) const;
  // The best cosines over all vectors, or `hits` if an approximate index has been searched.
  [[nodiscard]] RankedRows nearest(std::span<const float> vector,
                                   const std::optional<RankedRows>& hits,
                                   const ChannelPlan& channel) const;
  // The raw scores of rows in a channel; NaN for none. REQUIRES: can_score.
  [[nodiscard]] std::vector<double> score_rows(const Attempt& attempt, std::size_t channel,
                                               std::span<const std::uint32_t> rows) const;
  // Rescales raw scores of rows in the lexical channel as its hits were, if they were.
  void put_on_scale(const Attempt& attempt, std::size_t channel,
                    std::span<const std::uint32_t> rows, std::span<double> scores) const;

  // short_cuts.cpp: decide the query by words alone, where a rule of the profile allows it.
  // The hits of each channel that become candidates; may replace `attempt.plan`.
  [[nodiscard]] std::vector<RankedRows> decide(Attempt& attempt, Outside& outside);
  // The fast path: lexical hits whose text is almost the query.
  [[nodiscard]] RankedRows almost_the_query(const FastPath& rule, const ChannelAnswer& lexical,
                                            Outside& outside, Note& note) const;

  // candidates.cpp: build the candidate set with scores and signals.
  // Builds the candidate set from the channels' hits and computes its signals.
  void gather(Attempt& attempt, const std::vector<RankedRows>& hits, Outside& outside);
  // The hot set: the most accessed memories that match some words of the query.
  [[nodiscard]] std::unordered_map<std::uint32_t, double> seed_hot_set(Attempt& attempt);
  [[nodiscard]] std::vector<std::uint32_t> hottest(std::size_t count) const;
  std::size_t fill(const Attempt& attempt, const Scoring& scoring, Candidates& candidates,
                   bool by_all) const;
  // Fills the lexical channel's scores, and those of pairs of words for rows that have none.
  std::size_t fill_with_pairs(const Attempt& attempt, std::size_t channel,
                              Candidates& candidates) const;
  // Adds the session neighbours of the best candidates, and their boosts.
  void bring_neighbours(Attempt& attempt);
  // The centre of the best candidates, and cosines to it, for the cluster factor.
  void find_centre(Attempt& attempt) const;
  // Finds what cosines count from.
  void find_baseline(Attempt& attempt);
  // Finds what vectors of spelling count of their weight, by the words that no text holds.
  void find_vector_share(Attempt& attempt);
  [[nodiscard]] std::vector<double> centre_cosines(const Attempt& attempt,
                                                   std::span<const std::uint32_t> rows) const;
  [[nodiscard]] RankRequest rank_request(const Candidates& candidates,
                                         const Signals& signals) const;

  // signals.cpp: compute the values that programs read for each candidate.
  [[nodiscard]] SignalMap signals_for(const Attempt& attempt, std::span<const std::uint32_t> rows,
                                      Outside& outside) const;
  [[nodiscard]] std::vector<double> shares(const SoughtWords& words,
                                           std::span<const std::uint32_t> rows) const;
  // Shares of words: `shares` anywhere in the text, `overlaps` as canonical words in text and tags.
  [[nodiscard]] std::vector<double> overlaps(std::span<const std::uint32_t> rows) const;

  // expansion.cpp: follow links, score the reached memories and merge them.
  // Follows links by the plan's rule and merges the reached memories into the results.
  void follow_links(Attempt& attempt, Outside& outside);
  [[nodiscard]] std::vector<LinkedResult> associated(Attempt& attempt,
                                                     const AssociativeExpansion& rule,
                                                     std::span<const Result> followed,
                                                     Outside& outside);
  [[nodiscard]] std::vector<LinkedResult> in_graph(Attempt& attempt, const GraphExpansion& rule,
                                                   std::span<const Result> followed,
                                                   Outside& outside);
  void join(Attempt& attempt, std::vector<LinkedResult> linked, std::size_t count);
  // Memories on paths between unlinked direct results.
  void find_bridges(Attempt& attempt, const AssociativeExpansion& rule) const;
  [[nodiscard]] Ranked rank_linked(const Attempt& attempt, const Scoring& scoring,
                                   std::span<const Reached> reached, bool reads_centre,
                                   Outside& outside) const;

  // selection.cpp: remove, rerank and cut results.
  // Runs the stages after scoring in the plan's order.
  void finish(Attempt& attempt, Outside& outside);
  // Raises results above older ones that they conflict with.
  void lead_with_newer(Attempt& attempt, const NewerFirst& rule);
  // Surfacing: remove results that are not near, or score too low; abstain if none is left.
  void leave_far(Attempt& attempt, const Surfacing& rule);
  void leave_low(Attempt& attempt, const Surfacing& rule);
  void leave(Attempt& attempt, const Surfacing& rule, Note reason, std::string_view stage_name);
  // Passes the first results to the caller's reranker and applies its answer.
  void rerank(Attempt& attempt, const Rerank& rule, Outside& outside);
  // Keeps the best of results with equal texts or nearly equal embeddings.
  void leave_duplicates(Attempt& attempt, const Duplicates& rule);
  // Abstains if the best candidate is too weak by cosine and words.
  void require_near_best(Attempt& attempt, const WeakBest& rule, Outside& outside);
  // Clears the results and reports the nearest candidates instead.
  void abstain(Attempt& attempt, std::size_t misses);
  // Keeps k results, with reserved places for linked ones.
  void cut(Attempt& attempt);
  // The confidence that decides about a retry.
  [[nodiscard]] double confidence_of(const Attempt& attempt, const Retry& rule) const;

  // The leads of the first result, by which the plan's model has confidence in it.
  [[nodiscard]] Leads leads_of(const Attempt& attempt, std::uint32_t row) const;

  // search_run.cpp: the order of the stages.
  [[nodiscard]] Attempt take(std::shared_ptr<const SearchPlan> plan, bool is_relaxed,
                             Outside& outside);
  // Moves the outcome out of the attempt.
  [[nodiscard]] SearchOutcome taken();
  // The rows that channels may return, and those that links may reach.
  [[nodiscard]] lexical::AllowedRows allowed() const;
  [[nodiscard]] lexical::AllowedRows reach() const;
  [[nodiscard]] lexical::AllowedRows rows_in_scope() const;
  // What weighs a text searched by words.
  [[nodiscard]] QueryWeighing weighing(const ChannelPlan& channel) const;
  // The named time of an attempt; null if there is none or the relaxed attempt ignores it.
  [[nodiscard]] const NamedTime* time_of(const Attempt& attempt) const noexcept;
  // The surfacing rule of an attempt; null if the plan has none.
  [[nodiscard]] const Surfacing* surfacing_of(const Attempt& attempt) const noexcept;

  std::shared_ptr<const SearchPlan> plan_;
  ReadView view_;
  SearchRequest request_;
  // For queries with operators: the rows they permit, among those allowed and those that links may
  // reach. No value: the request's rows.
  std::optional<std::vector<std::uint8_t>> permitted_;
  std::optional<std::vector<std::uint8_t>> permitted_reach_;
  std::array<Reason, 2> reasons_;
  Trace trace_;
  Attempt attempt_;
};

// `kept`: the places of the first `most` rows that repeat no earlier one. `left`: the places of the
// others before the last kept one, each with the place of the row it repeats. Rows come best first.
// Cost: one comparison of a row's vector with all kept ones. Source: docs/systems/omega.md O26.
struct FirstOfEach {
  std::vector<std::size_t> kept;
  std::vector<std::pair<std::size_t, std::size_t>> left;
};
[[nodiscard]] FirstOfEach first_of_each(const Duplicates& rule, const TextColumn& texts,
                                        const VectorColumn* vectors,
                                        std::span<const std::uint32_t> rows, std::size_t most);

// Merges two lists by score. `held` keeps its own order even where it is not sorted by score, as
// after a reranker; each of `brought` is placed before the first result that it beats.
[[nodiscard]] std::vector<Result> merged(std::span<const Result> held, std::vector<Result> brought);

}  // namespace oneiros::search
