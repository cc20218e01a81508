// A hash table from row to latest document, with a link from each document to the previous one of
// its row.
#include "lexical/segments/mutable_rows.h"

namespace oneiros::lexical {

void MutableRows::reserve() {
  slots_.reserve();
  latest_.reserve_ahead(latest_.size() + 1);
  previous_.reserve_ahead(previous_.size() + 1);
}

void MutableRows::append(std::uint32_t row) noexcept {
  const auto document = static_cast<DocumentNumber>(previous_.size());
  const std::uint32_t slot = slots_.find(row);
  // A reader that finds a document also finds its predecessor.
  if (slot == TermTable::kAbsent) {
    previous_.push_back(kNoDocument);
    latest_.push_back(Latest(document));
    slots_.find_or_insert(row);
  } else {
    Latest& latest = latest_.elements()[slot];
    previous_.push_back(latest.get());
    latest.set(document);
  }
}

DocumentNumber MutableRows::find(std::uint32_t row, DocumentNumber limit) const {
  const std::uint32_t slot = slots_.find(row);
  if (slot == TermTable::kAbsent) {
    return kNoDocument;
  }
  DocumentNumber document = latest_.elements()[slot].get();
  while (document != kNoDocument && document >= limit) {
    document = previous_.elements()[document];
  }
  return document;
}

std::size_t MutableRows::resident_bytes() const {
  return slots_.resident_bytes() + latest_.resident_bytes() + previous_.resident_bytes();
}

}  // namespace oneiros::lexical
