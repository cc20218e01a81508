// A record of what each stage of a search did, in the order they ran, with wall-clock durations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oneiros::search {

// Why a stage did nothing, or less than usual. The codes become sentences in Python, where a trace
// is displayed. `first` and `second` of the record carry the numbers named here.
enum class Note : std::uint8_t {
  none,
  vector_absent,     // the reason is known to the caller
  no_time,           // the query names no time
  not_keyword_like,  // fast path
  time_or_deep,      // fast path
  nothing_as_like,   // fast path; first: the required similarity
  has_variants,      // strong signal
  too_few_hits,      // strong signal; first: the number of hits
  not_strong,        // strong signal; first: the best score, second: its lead
  never_recalled,    // hot set: no memory has been accessed
  filled,            // fusion; first: raw scores computed for candidates that a channel missed
  left_by_rules,     // scoring; first: candidates removed by rules
  on_bridges,        // links; first: results that lie on bridges
  surfacing,         // no result is near enough
  low,               // no result scores enough
  weak,              // the best result is too weak
  no_reranker,
  reranker,          // text: the note of the reranker
  retry_not_needed,  // first: confidence
  retry_kept,        // first, second: confidence before and after
  retry_not_kept,
  newer_first,  // first: results raised above an older one
  baseline,     // first: the cosine that others count from
  spelling,     // first: the share of their weight that vectors of spelling have
  respelled,    // text: lines of a word that no text has, a space and the word searched instead
};

// One stage: how many rows entered and left it, and the time since the previous stage ended.
struct StageRecord {
  // Points to a string literal.
  std::string_view name;
  bool is_retry;
  std::size_t candidate_count;
  std::size_t survivor_count;
  double duration_ms;
  Note note = Note::none;
  double first = 0;
  double second = 0;
  std::string text = {};
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
};

// Collects stage records. The time of a stage is measured from the end of the previous one, so
// stages need no start call and their durations add up to that of the run. Not thread-safe.
class Trace {
 public:
  Trace() : last_(Clock::now()) { stages_.reserve(16); }

  // Ends a stage. The reference is valid until the next call.
  StageRecord& end(std::string_view name, std::size_t candidates, std::size_t survivors) {
    const Clock::time_point now = Clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return stages_.emplace_back(StageRecord{name, is_retry_, candidates, survivors, ms});
  }
  StageRecord& end(std::string_view name, std::size_t candidates, std::size_t survivors, Note note,
                   double first = 0, double second = 0) {
    StageRecord& stage = end(name, candidates, survivors);
    stage.note = note;
    stage.first = first;
    stage.second = second;
    return stage;
  }

  // Marks the stages in between as part of the retry.
  void begin_retry() noexcept { is_retry_ = true; }
  void end_retry() noexcept { is_retry_ = false; }
  // Moves the records out.
  [[nodiscard]] std::vector<StageRecord> take() noexcept { return std::move(stages_); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_;
  std::vector<StageRecord> stages_;
  bool is_retry_ = false;
};

}  // namespace oneiros::search
