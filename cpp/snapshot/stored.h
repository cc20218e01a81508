// An array that is either owned or mapped from a file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace oneiros {

// Copy-on-write at the granularity of the array: own() copies mapped elements once, before the
// first change. Concurrent reads are allowed.
template <typename T>
requires std::is_trivially_copyable_v<T>
class Stored {
 public:
  Stored() = default;  // empty
  explicit Stored(std::vector<T> own) : own_(std::move(own)) {}
  // `keeper` keeps the elements alive; not null.
  Stored(std::span<const T> elements, std::shared_ptr<const void> keeper)
      : borrowed_(elements), keeper_(std::move(keeper)) {}

  std::span<const T> elements() const { return keeper_ ? borrowed_ : std::span<const T>(own_); }
  const T* data() const { return elements().data(); }
  std::size_t size() const { return elements().size(); }
  const T& operator[](std::size_t i) const { return elements()[i]; }

  // The elements for modification.
  std::vector<T>& own() {
    if (keeper_) {
      own_.assign(borrowed_.begin(), borrowed_.end());
      borrowed_ = {};
      keeper_.reset();
    }
    return own_;
  }

  // Includes mapped elements.
  std::size_t resident_bytes() const {
    return keeper_ ? borrowed_.size_bytes() : own_.capacity() * sizeof(T);
  }

 private:
  std::vector<T> own_;
  std::span<const T> borrowed_;
  std::shared_ptr<const void> keeper_;
};

}  // namespace oneiros
