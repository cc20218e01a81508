// Reserved address space: memory that grows in place, so that what points into it stays valid.
#pragma once

#include <cstddef>

namespace oneiros {

// `reserved` bytes of addresses, of which a growing front part is memory (zero when first seen).
// A reservation costs no memory. Movable; the addresses move to the new owner unchanged.
// Not thread-safe: the owner serialises open().
class AddressRange {
 public:
  AddressRange() = default;
  // Reserves at least `reserved` bytes. Throws std::bad_alloc when the system refuses.
  explicit AddressRange(std::size_t reserved);
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  // Makes the first `bytes` readable and writable. Never moves, never shrinks.
  // REQUIRES: bytes <= the size reserved. Throws std::bad_alloc when the system refuses; what was
  // open stays open.
  void open(std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t open_ = 0;
};

}  // namespace oneiros
