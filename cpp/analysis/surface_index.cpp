// Sorted runs, merged so that each is less than half as long as the previous one (a logarithmic
// method): amortised O(log n) per surface, and a prefix query is a binary search per run.
#include "analysis/surface_index.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace oneiros {
namespace {

using Entry = SurfaceIndex::Entry;

bool comes_before(const Entry& a, const Entry& b) { return a.spelling < b.spelling; }

}  // namespace

// All is merged before the runs change, so that nothing is lost where memory runs out.
void SurfaceIndex::add(std::vector<Entry> entries) {
  if (entries.empty()) {
    return;
  }
  const std::size_t count = entries.size();
  std::sort(entries.begin(), entries.end(), comes_before);
  std::size_t kept = runs_.size();
  for (; kept != 0 && runs_[kept - 1].size() <= 2 * entries.size(); --kept) {
    const std::vector<Entry>& run = runs_[kept - 1];
    std::vector<Entry> merged(run.size() + entries.size());
    std::merge(run.begin(), run.end(), entries.begin(), entries.end(), merged.begin(),
               comes_before);
    entries = std::move(merged);
  }
  runs_.reserve(kept + 1);
  runs_.resize(kept);
  runs_.push_back(std::move(entries));
  size_ += count;
}

std::unordered_set<TermId> SurfaceIndex::terms_with_prefix(std::string_view prefix,
                                                           std::size_t most) const {
  std::unordered_set<TermId> terms;
  for (const std::vector<Entry>& run : runs_) {
    auto entry = std::lower_bound(run.begin(), run.end(), Entry{prefix, 0}, comes_before);
    for (; entry != run.end() && entry->spelling.starts_with(prefix); ++entry) {
      terms.insert(entry->term);
      if (terms.size() > most) {
        return terms;
      }
    }
  }
  return terms;
}

std::size_t SurfaceIndex::resident_bytes() const {
  std::size_t bytes = 0;
  for (const std::vector<Entry>& run : runs_) {
    bytes += run.capacity() * sizeof(Entry);
  }
  return bytes;
}

}  // namespace oneiros
