// The statistics of the documents of some rows, counted in one view of the index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/filters/mapped_rows.h"
#include "lexical/search/term_statistics.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// N and total length, and the number of documents with each term, parallel to the terms.
struct CountedTerms {
  DocumentCounts counts;
  std::vector<std::uint64_t> df;
};

// Counts the visible documents of `rows`. `mapped`, if not null, is their translation for the
// view, which remembers the counts. Calls pause_here(). REQUIRES: !rows.are_all(); distinct terms.
CountedTerms count_documents(std::span<const SegmentView> segments, const AllowedRows& rows,
                             const MappedRows* mapped, std::span<const TermId> terms);

}  // namespace oneiros::lexical
