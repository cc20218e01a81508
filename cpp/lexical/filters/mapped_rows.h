// A filter's rows, translated to documents of the sealed segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/filters/count_cache.h"
#include "lexical/filters/row_mapping.h"
#include "lexical/index/view.h"

namespace oneiros::lexical {

class MappedRows;

// A set of rows to be translated.
struct UnmappedRows {
  RowMapping mapping;
  // A similar set that is translated already, perhaps for an older view, and the rows, ascending,
  // that are in only one of the two sets.
  std::shared_ptr<const MappedRows> former = nullptr;
  std::vector<std::uint32_t> changed = {};
};

// The documents of a set of rows in each sealed segment of a view. Immutable; parts are shared with
// other sets.
class MappedRows {
 public:
  // Translates the rows, reusing what it can. Returns `rows.former` itself if it fits unchanged.
  static std::shared_ptr<const MappedRows> of(UnmappedRows rows, const View& view);

  // Null for a segment that is not part of the view.
  const AllowedDocuments* find(std::uint32_t serial) const;
  // What is remembered about these documents; likewise.
  CountCache* counts(std::uint32_t serial) const;
  // True if all sealed segments of the view are covered.
  bool covers(const View& view) const;
  std::size_t resident_bytes() const;

 private:
  // The documents in one segment, shared by all sets that have the same there.
  struct Part {
    std::uint32_t serial = 0;
    std::shared_ptr<const AllowedDocuments> documents;
    std::shared_ptr<CountCache> counts;
  };

  const Part* part(std::uint32_t serial) const;

  std::vector<Part> segments_;
};

}  // namespace oneiros::lexical
