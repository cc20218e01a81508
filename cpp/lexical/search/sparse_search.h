// An impact search among few allowed documents, term by term.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_threshold.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Leaves in `space.found` every visible, allowed document of the lists there that may reach what
// the threshold comes to, and returns true; or false, once windows are the quicker way for the
// lists that are left: then it found nothing, but the threshold may have risen.
//
// Terms come by falling worth. What the best documents are worth by the terms so far says up to
// which length a document may still be one of the best by the terms to come; only so far do those
// bring new ones. REQUIRES: !allowed.are_all().
bool search_sparsely(const SegmentView& view, const AllowedRows& allowed,
                     ImpactThreshold& threshold, ImpactWorkspace& space);

}  // namespace oneiros::lexical
