// Columns in a snapshot: one page-aligned section each, mapped copy-on-write when read.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <variant>

#include "columns/columns.h"

namespace oneiros {

std::vector<SnapshotSection> Columns::sections() const {
  std::vector<SnapshotSection> sections;
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    sections.push_back({.kind = kind_at(SectionKind::kFirstColumn, column),
                        .bytes = std::visit([](auto values) { return std::as_bytes(values); },
                                            values(static_cast<Column>(column)))});
  }
  return sections;
}

void Columns::read(const SnapshotReader& snapshot) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::size_t rows = 0;
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    const SectionKind kind = kind_at(SectionKind::kFirstColumn, column);
    std::visit(
        [&](const auto& rule) {
          using T = typename std::decay_t<decltype(rule)>::Value;
          const Stored<T> values = snapshot.take<T>(kind, 0);
          rows = column == 0 ? values.size() : rows;
          require_sense(values.size() == rows && rows <= capacity_,
                        "columns are not of as many rows");
          require_sense(snapshot.is_own() ||
                            std::ranges::all_of(values.elements(),
                                                [&](T value) { return is_inside(value, rule); }),
                        "a value lies outside of its column's range");
          const SnapshotReader::Place place = snapshot.place_of(kind, 0);
          if (place.offset % page == 0) {
            memory_[column].open_over(place.file, place.offset, place.size);
          } else {  // the system's pages are larger than the alignment
            memory_[column].open(place.size);
            std::memcpy(memory_[column].data(), values.data(), place.size);
          }
        },
        kColumns[column].rule);
  }
  open_rows_ = rows;
  size_.store(rows, std::memory_order_release);
}

}  // namespace oneiros
