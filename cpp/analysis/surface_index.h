// Surfaces in byte order, for finding those that begin with a prefix.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros {

// Sorted runs, of which the next is always less than half as long: n surfaces added in any portions
// cost O(n log n) comparisons for each of O(log n) runs, a look-up one binary search a run.
// Reads may run beside reads; add needs the index for itself.
class SurfaceIndex {
 public:
  struct Entry {
    std::string_view spelling;  // must outlive the index
    TermId term;
  };

  void add(std::vector<Entry> entries);

  // Terms of the surfaces that begin with `prefix`; at most `most`, and one more if there are more.
  std::unordered_set<TermId> terms_with_prefix(std::string_view prefix, std::size_t most) const;

  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;

 private:
  std::vector<std::vector<Entry>> runs_;
  std::size_t size_ = 0;
};

}  // namespace oneiros
