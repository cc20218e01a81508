// Where the living document of a row stands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lexical/postings.h"
#include "lexical/sparse_array.h"

namespace oneiros::lexical {

struct alignas(8) Location {
  std::uint32_t segment = 0;  // its serial; no segment has the serial 0
  DocumentNumber document = 0;

  bool is_nowhere() const { return segment == 0; }
};

// One thread writes; any number may call find() meanwhile.
class RowMap {
 public:
  // Nowhere if the row has no document.
  Location find(std::uint32_t row) const { return locations_.get(row); }

  // Makes room for the row, so that set() cannot fail.
  void reserve(std::uint32_t row) { locations_.reserve(row); }

  // REQUIRES: reserve(row) was called.
  void set(std::uint32_t row, Location location) noexcept { locations_.set(row, location); }
  void erase(std::uint32_t row) noexcept { set(row, {}); }

  std::size_t resident_bytes() const { return locations_.resident_bytes(); }

 private:
  SparseArray<Location> locations_;
};

}  // namespace oneiros::lexical
