// Surface forms in byte order, for prefix queries.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros {

// Sorted runs of which each is less than half as long as the previous one. Adding n surfaces in any
// portions costs O(n log n) comparisons for each of O(log n) runs; a look-up one binary search per
// run. Concurrent reads are allowed; add() needs exclusive access.
class SurfaceIndex {
 public:
  struct Entry {
    std::string_view spelling;  // must outlive the index
    TermId term;
  };

  // Throws std::bad_alloc; nothing has changed then.
  void add(std::vector<Entry> entries);

  // Terms of the surfaces that start with `prefix`; at most `most`, plus one if there are more.
  std::unordered_set<TermId> terms_with_prefix(std::string_view prefix, std::size_t most) const;

  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;

 private:
  std::vector<std::vector<Entry>> runs_;
  std::size_t size_ = 0;
};

}  // namespace oneiros
