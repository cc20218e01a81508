// What every stage of a search did, in the order in which they ran.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oneiros::search {

// Why a stage did less than it might have. Its words are made where they are shown.
enum class Note : std::uint8_t {
  none,
  vector_absent,     // the caller knows why
  no_time,           // the query names none
  not_keyword_like,  // fast path
  time_or_deep,      // fast path
  nothing_as_like,   // fast path; value: the least similarity
  has_variants,      // strong signal
  too_few_hits,      // strong signal; value: hits
  not_strong,        // strong signal; values: the first score, its lead
  never_recalled,    // hot set
  filled,            // fusion; value: raw scores beyond those found
  left_by_rules,     // scoring; value: how many
  on_bridges,        // links; value: how many
  surfacing,         // nothing is near enough
  low,               // nothing scores enough
  weak,              // even the best is too weak
  no_reranker,
  reranker,          // what it said
  retry_not_needed,  // value: confidence
  retry_kept,        // values: confidence before, after
  retry_not_kept,
};

struct StageRecord {
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

// A stage's time is what passed since the last one ended.
class Trace {
 public:
  Trace() : last_(Clock::now()) { stages_.reserve(16); }

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

  void begin_retry() noexcept { is_retry_ = true; }
  void end_retry() noexcept { is_retry_ = false; }
  [[nodiscard]] std::vector<StageRecord> take() noexcept { return std::move(stages_); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_;
  std::vector<StageRecord> stages_;
  bool is_retry_ = false;
};

}  // namespace oneiros::search
