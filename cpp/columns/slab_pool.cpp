// Slabs by mmap, at multiples of the size of a large page. The first is in small pages as long as
// it is the only one: a large page would take 2 MiB from a process that needs a tenth of it.
#include "columns/slab_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <mutex>
#include <new>

namespace oneiros {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20U;
constexpr std::size_t kFewestPlaces = 16;  // of a slab: what is left over at its end is little

std::byte* mapped(std::size_t bytes) {
  void* const data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(data);
}

void unmap(std::byte* begin, const std::byte* end) noexcept {
  if (begin != end) {
    munmap(begin, static_cast<std::size_t>(end - begin));
  }
}

// Maps more than is wanted, and gives back what lies before and behind.
std::byte* mapped_at_large_page(std::size_t bytes) {
  std::byte* const data = mapped(bytes + kLargePage);
  const auto beyond = reinterpret_cast<std::uintptr_t>(data) % kLargePage;
  std::byte* const begin = beyond == 0 ? data : data + (kLargePage - beyond);
  unmap(data, begin);
  unmap(begin + bytes, data + bytes + kLargePage);
  return begin;
}

void ask_for_large_pages(std::byte* slab, std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  static_cast<void>(madvise(slab, bytes, MADV_HUGEPAGE));  // refused where there are none
#else
  static_cast<void>(slab);
  static_cast<void>(bytes);
#endif
}

// Gives the whole pages back to the system; the addresses stay mapped.
void drop_pages(std::byte* begin, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  if (before < bytes) {
    static_cast<void>(madvise(begin + before, (bytes - before) / page * page, MADV_DONTNEED));
  }
}

}  // namespace

SlabPool::SlabPool(std::size_t bytes)
    : bytes_of_place_(bytes),
      bytes_of_slab_((kFewestPlaces * bytes + kLargePage - 1) / kLargePage * kLargePage) {
  assert(bytes != 0 && bytes % 64 == 0);
}

SlabPool::~SlabPool() {
  assert(free_.size() == slabs_.size() * (bytes_of_slab_ / bytes_of_place_));
  for (std::byte* const slab : slabs_) {
    munmap(slab, bytes_of_slab_);
  }
}

SlabPool::Place SlabPool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    add_slab();
  }
  std::byte* const data = free_.back();
  free_.pop_back();
  return {*this, data};
}

void SlabPool::give_back(std::byte* data) noexcept {
  drop_pages(data, bytes_of_place_);
  const std::scoped_lock lock(mutex_);
  free_.push_back(data);
}

void SlabPool::add_slab() {
  const std::size_t places = bytes_of_slab_ / bytes_of_place_;
  free_.reserve((slabs_.size() + 1) * places);
  slabs_.reserve(slabs_.size() + 1);
  std::byte* const slab = mapped_at_large_page(bytes_of_slab_);
  slabs_.push_back(slab);
  if (slabs_.size() > 1) {
    ask_for_large_pages(slab, bytes_of_slab_);
  }
  if (slabs_.size() == 2) {
    ask_for_large_pages(slabs_.front(), bytes_of_slab_);
  }
  for (std::size_t place = places; place-- != 0;) {
    free_.push_back(slab + place * bytes_of_place_);
  }
}

}  // namespace oneiros
