// Reserved address space: memory that grows in place, so that what points into it stays valid.
#pragma once

#include <cstddef>
#include <cstdint>

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

  // Makes the first `bytes` those of a file from `offset` on, zeros behind them; what is written
  // to them stays here. Throws as open(), which REQUIRES the rest: it is not open yet. The file
  // must stay as it is.
  void open_over(int file, std::uint64_t offset, std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t open_ = 0;
};

}  // namespace oneiros
