// A link between two memories. Source: docs/systems/cognitive.md C13, C16, C17.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oneiros {

enum class LinkKind : std::uint8_t {
  co_retrieval,
  ingest,
  explicit_link,
  summary,
  relation,
  distinct,
};

inline constexpr std::array<std::string_view, 6> kLinkKindNames{
    "co_retrieval", "ingest", "explicit", "summary", "relation", "distinct"};

inline constexpr unsigned kLinkRowBits = 28;  // the row limit of Columns

// A link as stored at one of its ends. Two of them fill a cache line.
struct HalfLink {
  double weight;           // in (0, 1], as of `last_seconds`
  double last_seconds;     // of the last co-retrieval; NaN: none, the link does not decay
  double created_seconds;  // finite
  float standing;          // the sort key of link_order.h
  std::uint32_t end;       // the other row; the bits above kLinkRowBits hold the kind

  [[nodiscard]] std::uint32_t neighbour() const { return end & ((1U << kLinkRowBits) - 1U); }
  [[nodiscard]] LinkKind kind() const { return static_cast<LinkKind>(end >> kLinkRowBits); }
  [[nodiscard]] static std::uint32_t end_of(std::uint32_t neighbour, LinkKind kind) {
    return neighbour | static_cast<std::uint32_t>(kind) << kLinkRowBits;
  }
};
static_assert(sizeof(HalfLink) == 32);

}  // namespace oneiros
