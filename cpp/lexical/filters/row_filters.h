// The filters that searches came with lately.
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

// Whoever comes again with the same rows, or with all but a few of them, finds them mapped: a scope
// that is written to and searched by turns is another set each time. Few rows are mapped at once;
// many, when they were seen some times: a set that comes once costs hardly more than a look at some
// of its words, and whoever searches maps it or does not.
//
// Thread-safe. Nobody waits, but for lock().
class RowFilters {
 public:
  struct Sight {
    double share = 1.0;                                  // of the view's documents, about
    std::shared_ptr<const MappedRows> mapped = nullptr;  // null: not worth it yet
  };

  // The rows, which a search of the view came with.
  Sight see(std::span<const std::uint8_t> bits, const View& view);

  std::size_t resident_bytes() const;

  // What a fork asks for: see ForkHooks.
  void lock() { writer_mutex_.lock(); }
  void unlock() { writer_mutex_.unlock(); }
  void forget_readers() noexcept { filters_.forget_readers(); }

 private:
  using Rows = std::span<const std::uint8_t>;
  using Listed = std::span<const std::uint32_t>;

  // Words here and there among the rows' bits.
  using Sample = std::array<std::uint64_t, 128>;

  struct Filter {
    Sample sample{};
    std::vector<std::uint8_t> rows;                      // of many, unless they were seen but once,
    std::vector<std::uint32_t> listed;                   // or of few
    mutable std::atomic<std::uint32_t> sight_count = 1;  // while it is not mapped
    std::shared_ptr<const MappedRows> mapped;

    bool are_many() const { return !mapped || !rows.empty(); }
    std::size_t resident_bytes() const {
      return rows.capacity() + listed.capacity() * sizeof(std::uint32_t) +
             (mapped ? mapped->resident_bytes() : 0);
    }
  };
  using Filters = std::vector<std::shared_ptr<const Filter>>;  // the last one first

  // One that is kept, and the rows, ascending, that are in only one of the two.
  struct Known {
    std::shared_ptr<const Filter> filter;
    std::vector<std::uint32_t> changed;
  };

  static Sample sample_of(Rows rows);
  static bool are_alike(const Sample& one, const Sample& other);
  // The rows that are in only one of two sets; nothing if they are many.
  static std::optional<std::vector<std::uint32_t>> changes(Rows one, Rows other);
  static std::optional<std::vector<std::uint32_t>> changes(Listed one, Listed other);
  // None, if none is near.
  Known nearest(Listed listed) const;
  // One that is only alike, whose rows nobody kept, counts as the same where none is near.
  Known nearest(Rows rows, const Sample& sample) const;
  static std::vector<std::uint8_t> rows_of(const Known& known, Rows rows);
  std::shared_ptr<const Filters> kept() const;

  std::shared_ptr<const MappedRows> see_few(std::vector<std::uint32_t> listed, const View& view);
  std::shared_ptr<const MappedRows> see_many(Rows rows, std::size_t row_count, const View& view);
  static std::shared_ptr<const MappedRows> mapped_once(Rows rows, std::size_t row_count,
                                                       const View& view);
  void keep(std::shared_ptr<const Filter> filter, const Filter* instead_of);

  LeftRight<std::shared_ptr<const Filters>> filters_;
  std::mutex writer_mutex_;
};

}  // namespace oneiros::lexical
