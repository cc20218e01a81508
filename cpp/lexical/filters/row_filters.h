// A cache of recently used filters.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "lexical/filters/mapped_rows.h"
#include "lexical/index/view.h"
#include "threads/left_right.h"

namespace oneiros::lexical {

// Recognises a filter that was used before, even with a few rows changed (a scope that is written
// to and searched in turn differs each time), and returns its translation to documents. Filters
// with few rows are translated at once, others after several uses: a filter used once costs little
// more than a sample of its words.
//
// Thread-safe. see() never waits for another thread; lock() does.
class RowFilters {
 public:
  // The result of a look-up.
  struct Sight {
    double share = 1.0;  // approximate share of the view's documents
    std::shared_ptr<const MappedRows> mapped = nullptr;  // null: not translated yet
  };

  // Looks up the rows that a search of the view is limited to, and records the use.
  Sight see(std::span<const std::uint8_t> bits, const View& view);
  // The same, with the translation in any case, except for more than 2^27 rows.
  std::shared_ptr<const MappedRows> translate(std::span<const std::uint8_t> bits, const View& view);

  std::size_t resident_bytes() const;

  // For the index's ForkHooks.
  void lock() { writer_mutex_.lock(); }
  void unlock() { writer_mutex_.unlock(); }
  void forget_readers() noexcept { filters_.forget_readers(); }

 private:
  using Rows = std::span<const std::uint8_t>;
  using Listed = std::span<const std::uint32_t>;

  // A sample of 128 words of the bits, for a quick comparison.
  using Sample = std::array<std::uint64_t, 128>;

  // A cached filter. Immutable except for the count of uses.
  struct Filter {
    Sample sample{};
    std::vector<std::uint8_t> rows;                      // of a large set, from its second use on
    std::vector<std::uint32_t> listed;                   // of a small set
    mutable std::atomic<std::uint32_t> sight_count = 1;  // uses before it is translated
    std::shared_ptr<const MappedRows> mapped;

    bool are_many() const { return !mapped || !rows.empty(); }
    std::size_t resident_bytes() const {
      return rows.capacity() + listed.capacity() * sizeof(std::uint32_t) +
             (mapped ? mapped->resident_bytes() : 0);
    }
  };
  using Filters = std::vector<std::shared_ptr<const Filter>>;  // most recent first

  // A cached filter, and the rows, ascending, in which it differs.
  struct Known {
    std::shared_ptr<const Filter> filter;
    std::vector<std::uint32_t> changed;
  };

  // A sample for quick comparison, and that comparison.
  static Sample sample_of(Rows rows);
  static bool are_alike(const Sample& one, const Sample& other);
  // The rows that are in only one of two sets; no value if they are many.
  static std::optional<std::vector<std::uint32_t>> changes(Rows one, Rows other);
  static std::optional<std::vector<std::uint32_t>> changes(Listed one, Listed other);
  // No filter if none is similar.
  Known nearest(Listed listed) const;
  // A filter whose rows are not stored counts as equal if the sample is alike and none is closer.
  Known nearest(Rows rows, const Sample& sample) const;
  // The rows as they were when the filter was cached, with the differences applied.
  static std::vector<std::uint8_t> rows_of(const Known& known, Rows rows);
  // The current list of cached filters.
  std::shared_ptr<const Filters> kept() const;

  // The look-up for small and for large sets. Both cache the set if it is worth it.
  std::shared_ptr<const MappedRows> see_few(std::vector<std::uint32_t> listed, const View& view);
  std::shared_ptr<const MappedRows> see_many(Rows rows, std::size_t row_count, const View& view,
                                             bool is_due);
  // The translation of a set that is not cached.
  static std::shared_ptr<const MappedRows> mapped_once(Rows rows, std::size_t row_count,
                                                       const View& view);
  // Puts a filter first in the cache, in place of another one if given. Does nothing if another
  // thread is changing the cache.
  void keep(std::shared_ptr<const Filter> filter, const Filter* instead_of);

  LeftRight<std::shared_ptr<const Filters>> filters_;
  std::mutex writer_mutex_;
};

}  // namespace oneiros::lexical
