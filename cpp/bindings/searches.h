// The search methods of LexicalIndex.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "lexical/index/lexical_index.h"

namespace oneiros {

using LexicalIndexClass = pybind11::class_<LexicalIndex, std::shared_ptr<LexicalIndex>>;

// The class QueryStatistics.
void register_statistics(pybind11::module_& module);

// REQUIRES: WeighedQuery and QueryStatistics are registered.
void define_searches(LexicalIndexClass& index);

}  // namespace oneiros
