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

#include "lexical/mapped_rows.h"
#include "lexical/view.h"
#include "threads/left_right.h"

namespace oneiros::lexical {

// Whoever comes again with the same rows, or with all but a few of them, finds them mapped: a scope
// that is written to and searched by turns is another set each time. Few rows are mapped at once;
// many, when they were seen some times, since mapping them takes longer than a search.
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
  // Words here and there among the rows' bits.
  using Sample = std::array<std::uint64_t, 32>;

  struct Filter {
    std::vector<std::uint8_t> rows;
    Sample sample{};
    std::size_t row_count = 0;
    mutable std::atomic<std::uint32_t> sight_count = 0;  // while it is not mapped
    std::shared_ptr<const MappedRows> mapped;
  };
  using Filters = std::vector<std::shared_ptr<const Filter>>;  // the last one first

  // One that is kept, and the rows, ascending, that are in only one of the two.
  struct Known {
    std::shared_ptr<const Filter> filter;
    std::vector<std::uint32_t> changed;
  };

  static Sample sample_of(std::span<const std::uint8_t> rows);
  static std::optional<std::vector<std::uint32_t>> changes(std::span<const std::uint8_t> one,
                                                           std::span<const std::uint8_t> other);
  // None, if none is near.
  Known nearest(std::span<const std::uint8_t> rows, std::size_t row_count,
                const Sample& sample) const;
  void keep(std::shared_ptr<const Filter> filter, const Filter* instead_of);

  LeftRight<std::shared_ptr<const Filters>> filters_;
  std::mutex writer_mutex_;
};

}  // namespace oneiros::lexical
