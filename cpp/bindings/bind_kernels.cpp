// The formulas one by one, over float32 or float64 arrays.
#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/operands.h"
#include "bindings/registration.h"
#include "ranking/depth_weight.h"
#include "ranking/replay_delta.h"
#include "ranking/spread_weight.h"
#include "ranking/stability_boost.h"
#include "ranking/time_decay_boost.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

using Out = std::optional<py::array>;

// Rows a chunk: with fewer, a second thread costs more than it brings.
constexpr std::size_t kFewestRows = std::size_t{1} << 15;

// Runs a kernel of one array: kernel(values, factor), cut over threads.
template <typename Real, typename Kernel>
py::array run_unary(const py::array& array, const std::string& name, Out out, unsigned threads,
                    Kernel kernel) {
  const std::span<const Real> values = read_1d<Real>(array, name);
  auto [result, factor] = result_of<Real>(std::move(out), values.size());
  const unsigned parts = checked_threads(threads);
  {
    const ReleasedGil nogil;
    const auto run = [&, into = factor](std::size_t begin, std::size_t end) {
      kernel(values.subspan(begin, end - begin), into.subspan(begin, end - begin));
    };
    for_each_chunk(values.size(), parts, grain_for(values.size(), parts, kFewestRows), run);
  }
  return std::move(result);
}

// As run_unary, for two arrays of one shape.
template <typename Real, typename Kernel>
py::array run_binary(const py::array& first, const std::string& first_name, const py::array& second,
                     const std::string& second_name, Out out, unsigned threads, Kernel kernel) {
  const std::span<const Real> left = read_1d<Real>(first, first_name);
  const std::span<const Real> right = read_1d<Real>(second, second_name);
  if (left.size() != right.size()) {
    throw py::value_error(second_name + ": expected shape " + text(first.attr("shape")) + " like " +
                          first_name + ", got " + text(second.attr("shape")));
  }
  auto [result, factor] = result_of<Real>(std::move(out), left.size());
  const unsigned parts = checked_threads(threads);
  {
    const ReleasedGil nogil;
    const auto run = [&, into = factor](std::size_t begin, std::size_t end) {
      const std::size_t size = end - begin;
      kernel(left.subspan(begin, size), right.subspan(begin, size), into.subspan(begin, size));
    };
    for_each_chunk(left.size(), parts, grain_for(left.size(), parts, kFewestRows), run);
  }
  return std::move(result);
}

py::array bound_time_decay_boost(const py::array& age_days, double boost, double tau_days, Out out,
                                 unsigned threads) {
  return for_real(age_days, "age_days", [&](auto real) {
    using Real = decltype(real);
    return run_unary<Real>(age_days, "age_days", std::move(out), threads,
                           [&](std::span<const Real> ages, std::span<Real> factor) {
                             time_decay_boost<Real>(ages, static_cast<Real>(boost),
                                                    static_cast<Real>(tau_days), factor);
                           });
  });
}

py::array bound_depth_weight(const py::array& depth, const py::array& table, Out out,
                             unsigned threads) {
  const auto weights = read_1d<double>(table, "table");
  if (weights.size() != kDepths) {
    throw py::value_error("table: expected shape (3,), got " + text(table.attr("shape")));
  }
  return for_real(depth, "depth", [&](auto real) {
    using Real = decltype(real);
    const std::array<Real, kDepths> by_depth{static_cast<Real>(weights[0]),
                                             static_cast<Real>(weights[1]),
                                             static_cast<Real>(weights[2])};
    return run_unary<Real>(depth, "depth", std::move(out), threads,
                           [&](std::span<const Real> depths, std::span<Real> factor) {
                             depth_weight<Real>(depths, by_depth, factor);
                           });
  });
}

py::array bound_spread_weight(const py::array& session_spread, double cap, Out out,
                              unsigned threads) {
  return for_real(session_spread, "session_spread", [&](auto real) {
    using Real = decltype(real);
    return run_unary<Real>(session_spread, "session_spread", std::move(out), threads,
                           [&](std::span<const Real> spreads, std::span<Real> factor) {
                             spread_weight<Real>(spreads, static_cast<Real>(cap), factor);
                           });
  });
}

py::array bound_stability_boost(const py::array& age_days, const py::array& stability,
                                double tau_days, double low, double high, Out out,
                                unsigned threads) {
  return for_real(age_days, "age_days", [&](auto real) {
    using Real = decltype(real);
    return run_binary<Real>(
        age_days, "age_days", stability, "stability", std::move(out), threads,
        [&](std::span<const Real> ages, std::span<const Real> values, std::span<Real> factor) {
          stability_boost<Real>(ages, values, static_cast<Real>(tau_days), static_cast<Real>(low),
                                static_cast<Real>(high), factor);
        });
  });
}

py::array bound_replay_delta(const py::array& peer_count, const py::array& age_hours,
                             double max_delta, Out out, unsigned threads) {
  return for_real(peer_count, "peer_count", [&](auto real) {
    using Real = decltype(real);
    return run_binary<Real>(
        peer_count, "peer_count", age_hours, "age_hours", std::move(out), threads,
        [&](std::span<const Real> peers, std::span<const Real> hours, std::span<Real> delta) {
          replay_delta<Real>(peers, hours, static_cast<Real>(max_delta), delta);
        });
  });
}

}  // namespace

void register_kernels(py::module_& module) {
  module.def("time_decay_boost", &bound_time_decay_boost, py::kw_only(), py::arg("age_days"),
             py::arg("boost"), py::arg("tau_days"), py::arg("out"), py::arg("threads"),
             "docs/systems/reverie.md R4; float32 or float64 of shape (n,) in, the same out.");
  module.def("depth_weight", &bound_depth_weight, py::kw_only(), py::arg("depth"), py::arg("table"),
             py::arg("out"), py::arg("threads"), "docs/systems/reverie.md R6.");
  module.def("spread_weight", &bound_spread_weight, py::kw_only(), py::arg("session_spread"),
             py::arg("cap"), py::arg("out"), py::arg("threads"), "docs/systems/reverie.md R7.");
  module.def("stability_boost", &bound_stability_boost, py::kw_only(), py::arg("age_days"),
             py::arg("stability"), py::arg("tau_days"), py::arg("low"), py::arg("high"),
             py::arg("out"), py::arg("threads"), "docs/systems/reverie.md R8.");
  module.def("replay_delta", &bound_replay_delta, py::kw_only(), py::arg("peer_count"),
             py::arg("age_hours"), py::arg("max_delta"), py::arg("out"), py::arg("threads"),
             "docs/systems/reverie.md R17.");
}

}  // namespace oneiros
