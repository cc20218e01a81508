// Reserved addresses by mmap: reserved without access rights, then opened page by page.
//
// Growing ranges lie far below where the system places mappings, and far above where programs lie:
// each has a span of addresses of its own, of which only the front is reserved. A mapping of
// someone else in a span would stop its growth with std::bad_alloc, and harms nothing.
#include "columns/address_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

namespace {

constexpr std::uintptr_t kFirstSpan = std::uintptr_t{3} << 43U;  // 24 TiB
constexpr std::uintptr_t kEndOfSpans = std::uintptr_t{5} << 44U;
constexpr std::size_t kLongestSpan = std::size_t{1} << 40U;

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// The spans of the growing ranges of this process. Thread-safe.
class Spans {
 public:
  // The start of a span of `bytes` that overlaps no other; none if no place is left.
  std::optional<std::uintptr_t> take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (bytes >= refused_) {
      return std::nullopt;
    }
    for (std::uintptr_t start : {next_, kFirstSpan}) {
      for (auto later = taken_.upper_bound(start);; ++later) {
        if (later != taken_.begin()) {
          const auto& [before, size] = *std::prev(later);
          start = std::max(start, before + size);
        }
        const std::uintptr_t end = later == taken_.end() ? kEndOfSpans : later->first;
        if (start <= end && end - start >= bytes) {
          taken_.emplace(start, bytes);
          next_ = start + bytes;
          return start;
        }
        if (later == taken_.end()) {
          break;
        }
      }
    }
    refused_ = bytes;
    return std::nullopt;
  }

  void give_back(std::uintptr_t start) {
    const std::scoped_lock lock(mutex_);
    taken_.erase(start);
    refused_ = kNothingRefused;
  }

 private:
  static constexpr std::size_t kNothingRefused = ~std::size_t{0};

  ForkSafeSharedMutex mutex_;
  std::map<std::uintptr_t, std::size_t> taken_;
  std::uintptr_t next_ = kFirstSpan;
  // No gap is as long as this: once all is taken, none is looked for until one is given back.
  std::size_t refused_ = kNothingRefused;
};

// Never destroyed, as ranges may outlive static objects.
Spans& spans() {
  static Spans& only = *new Spans();
  return only;
}

// Maps addresses without access rights, at a place or anywhere; null if the system refuses.
void* reserved_at(void* place, std::size_t bytes) {
  void* const data =
      mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return nullptr;
  }
  if (place != nullptr && data != place) {  // something lies there
    munmap(data, bytes);
    return nullptr;
  }
  return data;
}

}  // namespace

AddressRange::AddressRange(std::size_t reserved)
    : data_(reserved_at(nullptr, whole_pages(reserved))),
      room_(whole_pages(reserved)),
      reserved_(room_) {
  if (data_ == nullptr) {
    throw std::bad_alloc();
  }
}

AddressRange AddressRange::growing(std::size_t most) {
  const std::size_t room = whole_pages(most);
  const std::size_t first = whole_pages(1);
  if (room > first && room <= kLongestSpan) {
    if (const auto start = spans().take(room)) {
      AddressRange range;
      range.data_ = reserved_at(reinterpret_cast<void*>(*start), first);
      if (range.data_ != nullptr) {
        range.room_ = room;
        range.reserved_ = first;
        return range;
      }
      spans().give_back(*start);
    }
  }
  return AddressRange(most);
}

AddressRange::~AddressRange() { release(); }

AddressRange::AddressRange(AddressRange&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      room_(std::exchange(other.room_, 0)),
      reserved_(std::exchange(other.reserved_, 0)),
      open_(std::exchange(other.open_, 0)) {}

AddressRange& AddressRange::operator=(AddressRange&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    room_ = std::exchange(other.room_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    open_ = std::exchange(other.open_, 0);
  }
  return *this;
}

void AddressRange::reserve(std::size_t bytes) {
  if (bytes <= reserved_) {
    return;
  }
  auto* const end = static_cast<std::byte*>(data_) + reserved_;
  if (reserved_at(end, bytes - reserved_) == nullptr) {
    throw std::bad_alloc();
  }
  reserved_ = bytes;
}

void AddressRange::open(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  assert(wanted <= room_);
  if (wanted <= open_) {
    return;
  }
  reserve(wanted);
  if (mprotect(data_, wanted, PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  open_ = wanted;
}

void AddressRange::open_over(int file, std::uint64_t offset, std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  assert(open_ == 0 && wanted <= room_);
  if (wanted == 0) {
    return;
  }
  reserve(wanted);
  if (mmap(data_, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
           static_cast<off_t>(offset)) == MAP_FAILED) {
    throw std::bad_alloc();
  }
  open_ = wanted;
  std::memset(static_cast<std::byte*>(data_) + bytes, 0, wanted - bytes);
}

void AddressRange::release() noexcept {
  if (data_ == nullptr) {
    return;
  }
  munmap(data_, reserved_);
  spans().give_back(reinterpret_cast<std::uintptr_t>(data_));  // nothing if it is no span's
}

}  // namespace oneiros
