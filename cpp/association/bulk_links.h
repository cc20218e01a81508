// Bulk loading of links into an empty graph.
#pragma once

#include <cstddef>

#include "association/block_pool.h"
#include "association/fresh_blocks.h"
#include "association/link_columns.h"

namespace oneiros {

// Writes the blocks of all rows with links. Returns false, with no usable result, if a pair occurs
// twice. Sorts by row instead of editing lists one link at a time. REQUIRES: `links` is valid for
// `row_count` rows.
bool write_all(const LinkColumns& links, std::size_t row_count, BlockPool& pool,
               FreshBlocks& fresh);

}  // namespace oneiros
