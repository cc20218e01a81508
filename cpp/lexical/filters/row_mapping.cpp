// Translation in the direction that is cheaper for the segment: few rows are looked up, otherwise
// the rows of all documents are tested.
#include "lexical/filters/row_mapping.h"

#include "lexical/filters/allowed_rows.h"
#include "lexical/filters/set_bits.h"

namespace oneiros::lexical {

namespace {

// Documents scanned in the time of looking up one row.
constexpr std::size_t kRowCost = 4;

}  // namespace

RowMapping::RowMapping(std::span<const std::uint8_t> bits, std::size_t count,
                       std::size_t document_count)
    : bits_(bits),
      count_(count),
      are_few_(count * kRowCost <= document_count),
      is_listed_(false),
      is_in_order_(false) {}

RowMapping::RowMapping(std::span<const std::uint32_t> listed)
    : count_(listed.size()), listed_(listed) {}

AllowedDocuments RowMapping::of(const DocumentTable& documents) {
  if (!are_few_) {
    const AllowedRows allowed(bits_);
    const DocumentRows held = documents.rows();
    return {documents.size(), [&](DocumentNumber one) { return allowed.contains(held[one]); }};
  }
  const DocumentTable::CountedUp counted_up = documents.counted_up(count_);
  if (!counted_up.documents.empty()) {
    return {counted_up.documents, counted_up.first_row, listed(false)};
  }
  return {documents.size(), documents.find_each(listed(true))};
}

std::span<const std::uint32_t> RowMapping::listed(bool in_order) {
  if (!is_listed_ || (in_order && !is_in_order_)) {
    own_ = in_order ? list_bits(bits_, count_) : list_bits_unordered(bits_, count_);
    listed_ = own_;
    is_listed_ = true;
    is_in_order_ = in_order;
  }
  return listed_;
}

}  // namespace oneiros::lexical
