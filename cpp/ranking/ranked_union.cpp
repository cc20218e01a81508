// The union by a thread-local hash table (id_table.h), reused without clearing.
#include "ranking/ranked_union.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ranking/id_table.h"

namespace oneiros {

namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 31;
constexpr std::size_t kKeptEntries = std::size_t{1} << 16;

// Not inlined: in a loop, compilers may repeat the look-up of a thread-local object.
template <std::integral Id>
__attribute__((noinline)) IdTable<Id>& table_of_thread() {
  thread_local IdTable<Id> table;
  return table;
}

}  // namespace

template <std::integral Id>
std::size_t entry_count(std::span<const std::span<const Id>> rankings) {
  std::size_t entries = 0;
  for (const auto ranking : rankings) {
    entries += ranking.size();
  }
  if (entries >= kMostEntries) {
    throw std::invalid_argument("rankings: fewer than 2^31 entries, got " +
                                std::to_string(entries));
  }
  return entries;
}

template <std::integral Id>
void RankedUnion<Id>::build(std::span<const std::span<const Id>> rankings) {
  const std::size_t entries = entry_count(rankings);
  longest_ = 0;
  for (const auto ranking : rankings) {
    longest_ = std::max(longest_, ranking.size());
  }
  list_count_ = rankings.size();
  size_ = 0;
  ids_.resize(entries);
  ranks_.assign(rankings.size() * entries, 0);
  table_of_thread<Id>().begin(entries);
  for (std::size_t list = 0; list < rankings.size(); ++list) {
    add(list, rankings[list]);
  }
  if (table_of_thread<Id>().slot_count() > 4 * kKeptEntries) {
    table_of_thread<Id>() = {};
  }
}

template <std::integral Id>
void RankedUnion<Id>::append(std::span<const Id> ids) {
  const std::size_t size = size_ + ids.size();
  std::vector<std::uint32_t> its_ranks(list_count_ * size, 0);
  for (std::size_t list = 0; list < list_count_; ++list) {
    std::ranges::copy(ranks(list), its_ranks.begin() + static_cast<std::ptrdiff_t>(list * size));
  }
  ids_.resize(size_);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  ranks_ = std::move(its_ranks);
  size_ = size;
}

template <std::integral Id>
void RankedUnion<Id>::add(std::size_t list, std::span<const Id> ranking) {
  IdTable<Id>& table = table_of_thread<Id>();
  Id* const ids = ids_.data();
  std::uint32_t* const ranks = ranks_.data() + list * ids_.size();
  std::uint32_t rank = 0;
  for (const Id id : ranking) {
    ++rank;
    const std::uint32_t number = table.number_of(id, ids);
    ranks[number] = ranks[number] == 0 ? rank : ranks[number];
  }
  size_ = table.size();
}

template std::size_t entry_count(std::span<const std::span<const std::uint32_t>>);
template std::size_t entry_count(std::span<const std::span<const std::int64_t>>);
template class RankedUnion<std::uint32_t>;

}  // namespace oneiros
