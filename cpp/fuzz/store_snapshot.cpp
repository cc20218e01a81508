// Any bytes are opened as the snapshot of a store: columns, ids, vectors and statements are each
// refused as damaged, or can be read and written to.
#include <array>
#include <vector>

#include "fuzz/small_files.h"
#include "fuzz/snapshot_file.h"

using namespace oneiros;
using fuzz::require;

namespace {

template <typename Use>
void unless_damaged(Use use) {
  try {
    use();
  } catch (const SnapshotDamaged&) {
    return;
  }
}

void use_ids(const SnapshotReader& snapshot) {
  const StoredIds ids(snapshot);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::string_view id = ids.at(row);
    require(id.empty() || ids.find(id) == row, "an id is found at its row");
  }
}

void use_columns(const SnapshotReader& snapshot) {
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

void use_vectors(const SnapshotReader& snapshot) {
  if (!snapshot.has(SectionKind::kVectorBlocks, 0)) {
    return;
  }
  const std::shared_ptr<VectorColumn> vectors = VectorColumn::restored(snapshot, 1);
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

void use_statements(const SnapshotReader& snapshot) {
  conflicts::StatementColumn statements(fuzz::statement_reader(), snapshot, 1);
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

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return fuzz::mutate_snapshot(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  unless_damaged([&] {
    const SnapshotReader snapshot(file.path(), 1);
    unless_damaged([&] { snapshot.require_identity(fuzz::kIdentity); });
    unless_damaged([&] { use_ids(snapshot); });
    unless_damaged([&] { use_columns(snapshot); });
    unless_damaged([&] { use_vectors(snapshot); });
    unless_damaged([&] { use_statements(snapshot); });
  });
  return 0;
}
