// Counts of a filter's documents in one sealed segment, remembered between searches.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "analysis/analyzer.h"
#include "lexical/search/term_statistics.h"
#include "lexical/segments/document_table.h"

namespace oneiros::lexical {

// The counts of the visible documents change only when one of the segment dies, so they hold for
// all views that see the same last death. Thread-safe; a caller that would have to wait counts
// again instead.
class CountCache {
 public:
  // Exclusive access to the counts of one state of the segment; no access if another thread has
  // it, or if the segment changed after the view was taken.
  class Access {
   public:
    explicit operator bool() const { return cache_ != nullptr; }

    std::optional<DocumentCounts> counts() const { return cache_->counts_; }
    void keep_counts(const DocumentCounts& counts) { cache_->counts_ = counts; }
    std::optional<std::uint32_t> df(TermId term) const {
      const auto found = cache_->df_.find(term);
      return found == cache_->df_.end() ? std::nullopt : std::optional(found->second);
    }
    void keep_df(TermId term, std::uint32_t df) {
      if (cache_->df_.size() == kMostTerms) {
        cache_->df_.clear();
      }
      cache_->df_.emplace(term, df);
    }

   private:
    friend class CountCache;

    CountCache* cache_ = nullptr;
    std::unique_lock<std::mutex> lock_;
  };

  Access access(const DocumentTable& documents, Epoch epoch) {
    Access access;
    const Epoch last_death = documents.last_death();
    if (last_death > epoch) {
      return access;
    }
    access.lock_ = std::unique_lock(mutex_, std::try_to_lock);
    if (!access.lock_ || last_death < as_of_) {
      return access;
    }
    if (last_death != as_of_) {
      counts_.reset();
      df_.clear();
      as_of_ = last_death;
    }
    access.cache_ = this;
    return access;
  }

 private:
  static constexpr std::size_t kMostTerms = 512;

  std::mutex mutex_;
  Epoch as_of_ = 0;  // the last death before the counts were taken
  std::optional<DocumentCounts> counts_;
  std::unordered_map<TermId, std::uint32_t> df_;
};

}  // namespace oneiros::lexical
