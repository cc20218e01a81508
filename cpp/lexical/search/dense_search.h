// Impact search over windows of documents, for queries without a selective filter.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_threshold.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Adds to `space.found` every visible, allowed document whose upper bound reaches the threshold.
// May add others; the caller scores all of them exactly.
//
// Bounds are added up for a window of documents at a time. Terms whose bounds together stay below
// the threshold cannot make a document a result alone (MaxScore: Turtle & Flood 1995). Their
// postings are looked up only for documents found by the other terms.
//
// REQUIRES: find_lists() has filled `space`, and `threshold` has been started.
void search_densely(const SegmentView& view, const AllowedRows& allowed, ImpactThreshold& threshold,
                    ImpactWorkspace& space);

}  // namespace oneiros::lexical
