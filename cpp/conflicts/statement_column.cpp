// Packed statements: those of the snapshot in the mapped file, those written since in a TextColumn.
//
// A row's bit tells which of the two holds it. Writing fills the TextColumn first and sets the bit
// then, so that a reader finds the former statement or the new one, never none.
#include "conflicts/statement_column.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace oneiros::conflicts {

namespace {
constexpr std::size_t kBits = 64;
constexpr std::size_t kLine = 64;  // bytes of a cache line
}  // namespace

StatementColumn::StatementColumn(std::shared_ptr<const StatementReader> reader)
    : reader_(std::move(reader)) {}

StatementColumn::StatementColumn(std::shared_ptr<const StatementReader> reader,
                                 const SnapshotReader& snapshot, std::size_t threads)
    : reader_(std::move(reader)),
      bytes_(snapshot.take<char>(SectionKind::kStatementBytes, 0)),
      starts_(snapshot.take<std::uint64_t>(SectionKind::kStatementStarts, 0)),
      is_left_((starts_.size() + kBits - 1) / kBits) {
  const std::span<const std::uint64_t> starts = starts_.elements();
  require_sense(!starts.empty() && starts.front() == 0 && starts.back() == bytes_.size(),
                "statements do not fill their bytes");
  snapshot.check(SectionKind::kStatementBytes, 0, threads);
  for (std::size_t row = 1; !snapshot.is_own() && row < starts.size(); ++row) {
    require_sense(starts[row - 1] <= starts[row], "statements are not in order");
  }
}

void StatementColumn::write(std::span<const std::uint32_t> rows,
                            std::span<const std::string_view> texts) {
  if (texts.size() != rows.size()) {
    throw std::invalid_argument("texts: expected " + std::to_string(rows.size()) +
                                ", one a row, got " + std::to_string(texts.size()));
  }
  std::vector<char> packed;
  std::vector<std::size_t> ends;
  for (const std::string_view text : texts) {
    if (const Statement statement = reader_->read(text); can_conflict(statement)) {
      pack(statement, packed);
    }
    ends.push_back(packed.size());
  }
  std::vector<MemoryText> records;
  records.reserve(rows.size());
  std::size_t start = 0;
  for (const std::size_t end : ends) {
    records.push_back({{packed.data() + start, end - start}, {}});
    start = end;
  }
  changed_.write(rows, records);
  for (const std::uint32_t row : rows) {
    leave_saved(row);
  }
}

void StatementColumn::erase(std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    leave_saved(row);
  }
  changed_.erase(rows);
}

std::vector<Statement> StatementColumn::at(std::span<const std::uint32_t> rows) const {
  std::vector<Statement> statements;
  statements.reserve(rows.size());
  const TextColumn::Reader changed(changed_);
  changed.prefetch(rows);
  for (const std::uint32_t row : rows) {
    if (row < starts_.size()) {
      __builtin_prefetch(&starts_[row]);
    }
  }
  for (const std::uint32_t row : rows) {
    for (std::string_view packed = saved(row); !packed.empty();
         packed.remove_prefix(std::min(kLine, packed.size()))) {
      __builtin_prefetch(packed.data());
    }
  }
  for (const std::uint32_t row : rows) {
    const std::string_view packed = saved(row);
    statements.push_back(unpacked(packed.empty() ? changed.at(row).text : packed));
  }
  return statements;
}

std::size_t StatementColumn::resident_bytes() const noexcept {
  return changed_.resident_bytes() + bytes_.resident_bytes() + starts_.resident_bytes();
}

std::string_view StatementColumn::saved(std::uint32_t row) const noexcept {
  if (row + std::size_t{1} >= starts_.size() ||
      (is_left_[row / kBits].load(std::memory_order_acquire) >> row % kBits & 1U) != 0) {
    return {};
  }
  return {bytes_.data() + starts_[row], starts_[row + 1] - starts_[row]};
}

void StatementColumn::leave_saved(std::uint32_t row) noexcept {
  if (row + std::size_t{1} < starts_.size()) {
    is_left_[row / kBits].fetch_or(std::uint64_t{1} << row % kBits, std::memory_order_release);
  }
}

StatementColumn::Image::Image(const StatementColumn& column, std::size_t row_count) {
  starts_.reserve(row_count + 1);
  starts_.push_back(0);
  const TextColumn::Reader changed(column.changed_);
  for (std::uint32_t row = 0; row < row_count; ++row) {
    const std::string_view saved = column.saved(row);
    const std::string_view packed = saved.empty() ? changed.at(row).text : saved;
    bytes_.insert(bytes_.end(), packed.begin(), packed.end());
    starts_.push_back(bytes_.size());
  }
}

std::vector<SnapshotSection> StatementColumn::Image::sections() const {
  return {{.kind = SectionKind::kStatementBytes, .bytes = std::as_bytes(std::span(bytes_))},
          {.kind = SectionKind::kStatementStarts, .bytes = std::as_bytes(std::span(starts_))}};
}

}  // namespace oneiros::conflicts
