// Edits are collected as pairs of ends in a hash table and written row by row: the former links of
// a row are merged with the changed ones in link order, so a row is read and copied once per write,
// however many of its links change.
#include "association/link_edit.h"

#include <algorithm>
#include <utility>

#include "association/link_order.h"

namespace oneiros {

LinkEdit::LinkEdit(const Adjacency& adjacency, IdTable<std::uint64_t>& numbers,
                   std::size_t most_pairs)
    : adjacency_(adjacency), numbers_(numbers), keys_(2 * most_pairs) {
  numbers_.begin(2 * most_pairs);
  ends_.reserve(2 * most_pairs);
}

LinkEdit::End& LinkEdit::end_of(std::uint32_t row, std::uint32_t neighbour) {
  const std::uint64_t key = std::uint64_t{row} << 32U | neighbour;
  const std::uint32_t number = numbers_.number_of(key, keys_.data());
  if (number == ends_.size()) {
    ends_.push_back({.row = row, .neighbour = neighbour});
  }
  return ends_[number];
}

// A pair that was not changed yet is looked up at the end with fewer links.
const HalfLink* LinkEdit::find(std::uint32_t a, std::uint32_t b) {
  const std::size_t known = ends_.size();
  End& end = end_of(a, b);
  if (ends_.size() != known) {
    const bool is_fewer = adjacency_[a].size() <= adjacency_[b].size();
    const std::span<const HalfLink> links = adjacency_[is_fewer ? a : b];
    const std::uint32_t place = place_of(links, is_fewer ? b : a);
    if (place != kNoPlace) {
      end.link = links[place];
      end.link.end = HalfLink::end_of(b, end.link.kind());
      end.is_gone = false;
    }
  }
  return end.is_gone ? nullptr : &end.link;
}

void LinkEdit::set(std::uint32_t a, std::uint32_t b, const HalfLink& link) {
  HalfLink copy = link;  // it may be one of ends_, which may reallocate
  copy.standing = standing_of(link.weight, link.last_seconds);
  for (const auto& [row, neighbour] : {std::pair(a, b), std::pair(b, a)}) {
    End& end = end_of(row, neighbour);
    end.link = copy;
    end.link.end = HalfLink::end_of(neighbour, link.kind());
    end.is_gone = false;
  }
}

void LinkEdit::remove(std::uint32_t a, std::uint32_t b) {
  end_of(a, b).is_gone = true;
  end_of(b, a).is_gone = true;
}

// Reads each row's links once, however many of them change. The search has no branch on what it
// compares, which would be unpredictable.
void LinkEdit::find_places() {
  std::ranges::sort(ends_, {}, [](const End& end) { return std::pair(end.row, end.neighbour); });
  for (auto first = ends_.begin(); first != ends_.end();) {
    const std::uint32_t row = first->row;
    const auto last =
        std::find_if(first, ends_.end(), [row](const End& e) { return e.row != row; });
    const std::span<const HalfLink> links = adjacency_[row];
    for (std::uint32_t place = 0; place < links.size(); ++place) {
      const std::uint32_t neighbour = links[place].neighbour();
      auto end = first;
      for (auto left = last - first; left > 1;) {
        const auto half = left / 2;
        end += end[half].neighbour <= neighbour ? half : 0;
        left -= half;
      }
      if (end->neighbour == neighbour) {
        end->former_place = place;
      }
    }
    first = last;
  }
}

std::ptrdiff_t LinkEdit::write(FreshBlocks& fresh) {
  find_places();
  std::ptrdiff_t more_ends = 0;
  std::erase_if(ends_, [](const End& end) { return end.is_gone && end.former_place == kNoPlace; });
  for (const End& end : ends_) {
    more_ends += end.former_place == kNoPlace ? 1 : 0;
    more_ends -= end.is_gone ? 1 : 0;
  }
  std::ranges::sort(ends_, [](const End& a, const End& b) {
    return a.row != b.row ? a.row < b.row : stands_before(a.link, b.link);
  });
  for (auto first = ends_.begin(); first != ends_.end();) {
    const auto end =
        std::find_if(first, ends_.end(), [&](const End& other) { return other.row != first->row; });
    write_row({first, end}, fresh);
    first = end;
  }
  return more_ends / 2;
}

// Merges the remaining former links with the changed ones, in link order.
void LinkEdit::write_row(std::span<const End> ends, FreshBlocks& fresh) {
  const std::uint32_t row = ends.front().row;
  const std::span<const HalfLink> former = adjacency_[row];
  std::size_t count = former.size();
  replaced_.clear();
  for (const End& end : ends) {
    count += end.is_gone ? 0 : 1;
    if (end.former_place != kNoPlace) {
      replaced_.push_back(end.former_place);
    }
  }
  count -= replaced_.size();
  std::ranges::sort(replaced_);
  replaced_.push_back(kNoPlace);
  HalfLink* into = fresh.add(row, count).data();
  const auto* end = ends.data();
  const auto* const last = end + ends.size();
  const auto put = [&](const End& changed) {
    if (!changed.is_gone) {
      *into++ = changed.link;
    }
  };
  const std::uint32_t* replaced = replaced_.data();
  for (std::uint32_t place = 0; place < former.size(); ++place) {
    if (place == *replaced) {
      ++replaced;
      continue;
    }
    while (end != last && stands_before(end->link, former[place])) {
      put(*end++);
    }
    *into++ = former[place];
  }
  std::for_each(end, last, put);
}

}  // namespace oneiros
