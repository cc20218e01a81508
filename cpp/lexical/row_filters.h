// The filters that searches came with lately.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lexical/mapped_rows.h"
#include "lexical/view.h"
#include "threads/left_right.h"

namespace oneiros::lexical {

// Whoever comes again with the same rows finds them mapped. Few rows should be mapped at once;
// many, when they were seen some times, since mapping them takes longer than a search.
//
// Thread-safe. Nobody waits, but for lock().
class RowFilters {
 public:
  struct Sight {
    std::shared_ptr<const MappedRows> mapped;  // may be null
    bool is_due = false;                       // they should be mapped now, and kept
  };

  // The rows, which a search of the view came with.
  Sight see(std::span<const std::uint8_t> rows, const View& view);
  void keep(std::span<const std::uint8_t> rows, std::shared_ptr<const MappedRows> mapped);

  std::size_t resident_bytes() const;

  // What a fork asks for: see ForkHooks.
  void lock() { writer_mutex_.lock(); }
  void unlock() { writer_mutex_.unlock(); }
  void forget_readers() noexcept { filters_.forget_readers(); }

 private:
  static constexpr std::size_t kMost = 8;
  // Rows that take more bytes are not kept.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  struct Filter {
    std::vector<std::uint8_t> rows;
    mutable std::atomic<std::uint32_t> sight_count = 0;
    std::shared_ptr<const MappedRows> mapped;
  };
  using Filters = std::vector<std::shared_ptr<const Filter>>;  // the last one first

  std::shared_ptr<const Filter> known(std::span<const std::uint8_t> rows) const;

  LeftRight<std::shared_ptr<const Filters>> filters_;
  std::mutex writer_mutex_;
};

}  // namespace oneiros::lexical
