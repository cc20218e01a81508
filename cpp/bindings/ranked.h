// The result of a plan as a Python object.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "ranking/plan.h"

namespace oneiros {

// Arrays are created on access.
struct RankedAnswer {
  Ranked ranked;
  bool is_explained;
  std::size_t channel_count;
  std::size_t factor_count;
  std::size_t part_count;

  template <typename T>
  py::object explained(const std::vector<T>& values, std::size_t line_count) const {
    return is_explained ? py::object(copied(values, line_count, ranked.rows.size()))
                        : py::object(py::none());
  }
};

inline RankedAnswer answer_of(Ranked ranked, const Plan& plan, bool is_explained) {
  return {std::move(ranked), is_explained, plan.channels().size(), plan.factor_count(),
          plan.part_count()};
}

}  // namespace oneiros
