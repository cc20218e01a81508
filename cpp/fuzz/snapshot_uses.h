// What a snapshot must survive that was let in, whatever its bytes: reads of all it holds, and
// writes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz/small_files.h"
#include "fuzz/target.h"

namespace oneiros::fuzz {

// Returns false if what it uses is refused as damaged.
template <typename Use>
bool unless_damaged(Use use) {
  try {
    use();
    return true;
  } catch (const SnapshotDamaged&) {
    return false;
  }
}

inline void use_ids(const SnapshotReader& snapshot) {
  const StoredIds ids(snapshot);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::string_view id = ids.at(row);
    require(id.empty() || ids.find(id) == row, "an id is found at its row");
  }
}

inline void use_columns(const SnapshotReader& snapshot) {
  Columns columns;
  columns.read(snapshot);
  for (const std::uint8_t value : columns.values<Column::priority>()) {
    require(value >= 1 && value <= 5, "a value is in its range");
  }
  const std::uint32_t row = columns.append(600);
  const std::array<double, 1> created = {5.0};
  const std::array<ColumnValues, 1> values = {{{"created_at", std::span<const double>(created)}}};
  columns.write(std::array<std::uint32_t, 1>{row}, values);
}

inline void use_vectors(const SnapshotReader& snapshot) {
  if (!snapshot.has(SectionKind::kVectorBlocks, 0)) {
    return;
  }
  const std::shared_ptr<VectorColumn> vectors = VectorColumn::restored(snapshot, 1U << 20U, 1);
  const std::vector<std::uint32_t> rows = vectors->rows();
  require(rows.size() == vectors->count(), "as many rows as were counted");
  std::vector<float> query(vectors->dimension(), 0.25F);
  static_cast<void>(vectors->nearest(query, 5));
  if (!rows.empty()) {
    const std::span<const std::uint32_t> some = std::span(rows).last(1);
    std::vector<float> copy(query.size());
    vectors->reconstruct(some, copy);
    vectors->write(some, query);
    vectors->remove(some);
  }
}

inline void use_statements(const SnapshotReader& snapshot) {
  conflicts::StatementColumn statements(statement_reader(), snapshot, 1);
  const std::vector<std::uint32_t> rows = {0, 1, 2, 15, 39, 40, 100'000};
  for (const conflicts::Statement& statement : statements.at(rows)) {
    static_cast<void>(conflicts::can_conflict(statement));
    require(statement.content().size() + statement.names().size() <= 2 * statement.stems.size(),
            "lists lie within their stems");
  }
  statements.write(std::array<std::uint32_t, 1>{1},
                   std::array<std::string_view, 1>{"Ada moved to Rome"});
  statements.erase(rows);
}

// Returns the number of its parts that were not refused.
inline std::size_t use_store(const std::filesystem::path& path, std::string_view own_stamp = {}) {
  std::size_t sound = 0;
  static_cast<void>(unless_damaged([&] {
    const SnapshotReader snapshot(path, 1, own_stamp);
    sound += unless_damaged([&] { snapshot.require_identity(kIdentity); }) ? 1 : 0;
    sound += unless_damaged([&] { use_ids(snapshot); }) ? 1 : 0;
    sound += unless_damaged([&] { use_columns(snapshot); }) ? 1 : 0;
    sound += unless_damaged([&] { use_vectors(snapshot); }) ? 1 : 0;
    sound += unless_damaged([&] { use_statements(snapshot); }) ? 1 : 0;
  }));
  return sound;
}

// The answers of an index.
using IndexHits = std::vector<lexical::Hit>;

inline IndexHits hits_of(const LexicalIndex& index) {
  const QueryReading in_order{.syntax = lexical::QuerySyntax::kQuery};
  IndexHits found;
  for (const char* query : {"w0 w1 w2 w3", "everywhere", "title:often +one -w9",
                            "\"often everywhere\"", "\"w1 often\" w*"}) {
    for (const std::size_t k : {std::size_t{3}, std::size_t{500}}) {
      for (const lexical::Hit& hit : index.search(query, k, {}, in_order).hits) {
        require(std::isfinite(hit.score), "scores are finite");
        found.push_back(hit);
      }
    }
  }
  return found;
}

// Writes to an index that was opened: sealing reads all that its segments hold.
inline void write_to(LexicalIndex& index, std::uint32_t changes = 30) {
  change(index, 9, changes);
  index.seal();
  static_cast<void>(index.search("everywhere w0 often", 10, {}));
  require(index.contains(7) || !index.remove(7), "a removed row was contained");
}

}  // namespace oneiros::fuzz
