// The sound files that the snapshot targets begin with, and the settings with which they are read.
#pragma once

#include <array>
#include <filesystem>
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
#include "snapshot/snapshot_writer.h"

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
                                .topics = {{"work"}, {"live"}},
                                .states = {"is"},
                                .amounts = {"has"},
                                .articles = {"a"},
                                .particles = {"de"},
                                .headings = {"list"},
                                .labels = {"phone"},
                                .prepositions = {"at", "in"}});
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

inline void write_index(const std::filesystem::path& path, std::uint32_t changes, bool packed) {
  LexicalIndex index(analyzer(), {}, limits(packed));
  change(index, 3, changes);
  index.save(
      path, SnapshotNotes{.identity = std::string(kIdentity), .attachment = "ids", .revision = 41});
}

// A snapshot of a store of `count` memories, whose vectors have `width` components.
inline void write_store(const std::filesystem::path& path, std::uint32_t count, std::size_t width) {
  Columns columns;
  columns.append(count);
  std::vector<std::string> names;
  std::vector<std::uint32_t> rows;
  std::vector<std::string_view> texts;
  constexpr std::array<std::string_view, 3> kTexts = {
      "Ada: my sister moved to Oslo on Friday, not to Rome, with two cats.",
      "I also used to live at 12", "Is it?"};
  for (std::uint32_t row = 0; row < count; ++row) {
    names.push_back(row % 7 == 3 ? ""
                                 : std::to_string(row * 7919 % 1009) + "/" + std::to_string(row));
    rows.push_back(row);
    texts.push_back(kTexts[row % kTexts.size()]);
  }
  conflicts::StatementColumn statements(statement_reader());
  statements.write(rows, texts);
  VectorColumn vectors(width);
  std::vector<float> components(rows.size() * width);
  for (std::size_t i = 0; i < components.size(); ++i) {
    components[i] = static_cast<float>(i % 13) / 13.0F;
  }
  vectors.write(rows, components);

  const std::vector<std::string_view> ids(names.begin(), names.end());
  const StoredIds::Image id_image(ids);
  const VectorColumn::Image vector_image(vectors);
  const conflicts::StatementColumn::Image statement_image(statements, count);
  SnapshotWriter snapshot(path, 7);
  const auto add = [&](const std::vector<SnapshotSection>& sections) {
    for (const SnapshotSection& section : sections) {
      snapshot.add_bytes(section.kind, 0, section.bytes, section.more);
    }
  };
  snapshot.add(SectionKind::kIdentity, 0, std::span(kIdentity));
  add(id_image.sections());
  add(vector_image.sections());
  add(statement_image.sections());
  add(columns.sections());
  snapshot.finish();
}

}  // namespace oneiros::fuzz
