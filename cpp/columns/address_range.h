// Reserved address space: memory that grows in place, so that pointers into it stay valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros {

// Addresses whose front part is committed memory, zero when first accessed. Movable; addresses do
// not change when it moves. Not thread-safe: the owner serialises open().
class AddressRange {
 public:
  AddressRange() = default;
  // Room for `reserved` bytes of addresses. Throws std::bad_alloc if the system refuses.
  //
  // The whole is reserved, which costs no memory but counts as size of the process (ulimit -v).
  explicit AddressRange(std::size_t reserved);
  // The same, without reserving more than what is open: the range lies where nothing else is
  // expected to be mapped, and takes the addresses behind it as it grows. Reserves the whole where
  // the system does not give such a place. Throws std::bad_alloc if it refuses that, too.
  [[nodiscard]] static AddressRange growing(std::size_t most);
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  // Makes the first `bytes` readable and writable; never moves or shrinks the range. Throws
  // std::bad_alloc if the system refuses; the part opened before stays open. REQUIRES: bytes <= the
  // room.
  void open(std::size_t bytes);

  // Maps the first `bytes` to a file from `offset` on, copy-on-write, followed by zeros. Throws as
  // open(). REQUIRES: nothing is open yet, bytes <= the room, and the file does not change.
  void open_over(int file, std::uint64_t offset, std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void release() noexcept;
  // Reserves the first `bytes`. Throws std::bad_alloc if other memory lies there.
  void reserve(std::size_t bytes);

  void* data_ = nullptr;
  std::size_t room_ = 0;
  std::size_t reserved_ = 0;  // less than the room: the range grows
  std::size_t open_ = 0;
};

}  // namespace oneiros
