// Reserved addresses by mmap: reserved without access rights, then opened page by page.
#include "columns/address_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace oneiros {

namespace {

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

AddressRange::AddressRange(std::size_t reserved) : reserved_(whole_pages(reserved)) {
  void* const data =
      mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    throw std::bad_alloc();
  }
  data_ = data;
}

AddressRange::~AddressRange() { release(); }

AddressRange::AddressRange(AddressRange&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      reserved_(std::exchange(other.reserved_, 0)),
      open_(std::exchange(other.open_, 0)) {}

AddressRange& AddressRange::operator=(AddressRange&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    reserved_ = std::exchange(other.reserved_, 0);
    open_ = std::exchange(other.open_, 0);
  }
  return *this;
}

void AddressRange::open(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  assert(wanted <= reserved_);
  if (wanted <= open_) {
    return;
  }
  if (mprotect(data_, wanted, PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  open_ = wanted;
}

void AddressRange::open_over(int file, std::uint64_t offset, std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  assert(open_ == 0 && wanted <= reserved_);
  if (wanted == 0) {
    return;
  }
  if (mmap(data_, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
           static_cast<off_t>(offset)) == MAP_FAILED) {
    throw std::bad_alloc();
  }
  open_ = wanted;
  std::memset(static_cast<std::byte*>(data_) + bytes, 0, wanted - bytes);
}

void AddressRange::release() noexcept {
  if (data_ != nullptr) {
    munmap(data_, reserved_);
  }
}

}  // namespace oneiros
