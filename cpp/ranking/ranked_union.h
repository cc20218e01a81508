// The union of ranked lists: each id once, with its rank in every list.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oneiros {

// The total number of entries. Throws std::invalid_argument for 2^31 or more.
template <std::integral Id>
[[nodiscard]] std::size_t entry_count(std::span<const std::span<const Id>> rankings);

// Built by build() and append(), otherwise immutable. Rebuilding reuses the memory.
template <std::integral Id>
class RankedUnion {
 public:
  // Unites ranked lists, best first, in order of first appearance, list by list. Ranks start at 1;
  // an id repeated within a list keeps its best. Throws as entry_count(). Expected linear time.
  void build(std::span<const std::span<const Id>> rankings);

  // Appends ids that are in no list. REQUIRES: none is present or repeated.
  void append(std::span<const Id> ids);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t list_count() const noexcept { return list_count_; }
  [[nodiscard]] std::size_t longest() const noexcept {
    return longest_;
  }  // length of the longest list
  [[nodiscard]] std::span<const Id> ids() const noexcept { return std::span(ids_).first(size_); }
  // The rank of each id in one list, 0 if absent. REQUIRES: list < list_count().
  [[nodiscard]] std::span<const std::uint32_t> ranks(std::size_t list) const noexcept {
    return std::span(ranks_).subspan(list * ids_.size(), size_);
  }

 private:
  // Adds the entries of one list.
  void add(std::size_t list, std::span<const Id> ranking);

  std::size_t size_ = 0;
  std::size_t list_count_ = 0;
  std::size_t longest_ = 0;
  std::vector<Id> ids_;               // capacity for every entry of the lists
  std::vector<std::uint32_t> ranks_;  // lists x capacity
};

}  // namespace oneiros
