// Impact search term by term, for selective filters.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_threshold.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Sets `space.found` to every visible, allowed document whose upper bound reaches the threshold and
// returns true. Returns false as soon as windows are estimated to be faster for the remaining
// lists: nothing is found then, but the threshold may have risen.
//
// Terms are processed by falling maximum contribution. The best bounds so far determine up to which
// length a document can still become a result by the remaining terms alone; only documents up to
// that length become new candidates. REQUIRES: !allowed.are_all().
bool search_sparsely(const SegmentView& view, const AllowedRows& allowed,
                     ImpactThreshold& threshold, ImpactWorkspace& space);

}  // namespace oneiros::lexical
