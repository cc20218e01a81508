// An impact search, window by window.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_threshold.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Leaves in `space.found` every visible, allowed document of the lists there that may reach what
// the threshold comes to.
//
// Bounds are added up a window of documents at a time. Terms whose bounds together stay below the
// least cannot lift a document alone (MaxScore: Turtle and Flood, 1995): their postings are only
// looked up, for documents that the others found.
void search_densely(const SegmentView& view, const AllowedRows& allowed, ImpactThreshold& threshold,
                    ImpactWorkspace& space);

}  // namespace oneiros::lexical
