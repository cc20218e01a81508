// Reserved address space: memory that grows in place, so that pointers into it stay valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros {

// A reservation of addresses whose front part is committed memory, zero when first accessed. The
// reservation itself costs no memory. Movable; addresses do not change when it moves. Not
// thread-safe: the owner serialises open().
class AddressRange {
 public:
  AddressRange() = default;
  // Reserves at least `reserved` bytes of addresses. Throws std::bad_alloc if the system refuses.
  explicit AddressRange(std::size_t reserved);
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  // Makes the first `bytes` readable and writable; never moves or shrinks the range. Throws
  // std::bad_alloc if the system refuses; the part opened before stays open. REQUIRES: bytes <= the
  // reserved size.
  void open(std::size_t bytes);

  // Maps the first `bytes` to a file from `offset` on, copy-on-write, followed by zeros. Throws as
  // open(). REQUIRES: nothing is open yet, bytes <= the reserved size, and the file does not
  // change.
  void open_over(int file, std::uint64_t offset, std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t open_ = 0;
};

}  // namespace oneiros
