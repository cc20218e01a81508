// Many links into a graph that has none.
#pragma once

#include <cstddef>

#include "association/block_pool.h"
#include "association/fresh_blocks.h"
#include "association/link_columns.h"

namespace oneiros {

// Writes the blocks of all rows that have links. Returns false, with nothing of use written, if a
// pair stands twice. REQUIRES: `links` is valid for `row_count` rows.
bool write_all(const LinkColumns& links, std::size_t row_count, BlockPool& pool,
               FreshBlocks& fresh);

}  // namespace oneiros
