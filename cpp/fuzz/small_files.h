// The sound files that the snapshot targets begin with, and the settings with which they are read.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "columns/columns.h"
#include "columns/stored_ids.h"
#include "columns/vector_column.h"
#include "conflicts/statement_column.h"
#include "lexical/index/lexical_index.h"

namespace oneiros::fuzz {

inline constexpr std::string_view kIdentity = "fuzz";

inline std::shared_ptr<Analyzer> analyzer() {
  return std::make_shared<Analyzer>(
      AnalyzerOptions{.stop_words = {"the"}, .identifiers = false, .stem = {}});
}

// `packed`: words in order have a code of their own.
inline lexical::SegmentLimits limits(bool packed) {
  lexical::SegmentLimits limits{.documents = 20, .postings = 200, .fan_in = 3};
  if (packed) {
    limits.packed_from = 1;
  }
  return limits;
}

inline std::shared_ptr<const conflicts::StatementReader> statement_reader() {
  return std::make_shared<const conflicts::StatementReader>(
      conflicts::StatementWords{.stop_words = {"the"},
                                .cue_words = {"now"},
                                .cues = {{2.0, {"moved to"}}},
                                .additions = {"also"},
                                .past = {"used to"},
                                .relatives = {"sister"},
                                .denials = {"not"},
                                .numbers = {"two"},
                                .dates = {"friday"},
                                .topics = {{"work"}, {"live"}}});
}

inline void change(LexicalIndex& index, std::uint32_t seed, std::uint32_t count) {
  std::minstd_rand random(seed);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(random() % 60);
    if (random() % 5 == 0) {
      index.remove(row);
      continue;
    }
    std::string text = "everywhere ";
    for (std::size_t words = random() % 12; words > 0; --words) {
      text += "w" + std::to_string(random() % 9 * (random() % 4)) + " ";
    }
    index.add(row, {.text = text, .title = row % 3 == 0 ? "w1 often" : "", .tags = "one\ntwo"});
  }
}

}  // namespace oneiros::fuzz
