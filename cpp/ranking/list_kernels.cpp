// List kernels: values that depend on the whole list (best, worst, neighbours' sums) are computed
// first and passed to a row-wise kernel as further inputs where possible, so that formulas are not
// repeated here.
#include "ranking/list_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/parameter.h"
#include "ranking/session_neighbours.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

constexpr Rule kReach{0.0, 64.0, false, true, "must be a whole number in 0 to 64"};

constexpr Signature kMinmaxFloor{"minmax_floor", {{"scores"}}, {{"low", kShare}}};
constexpr Signature kBlend{"blend", {{"bm25"}, {"cosine"}}, {{"weight", kShare}}};
constexpr Signature kSpreadNeighbours{"spread_neighbours",
                                      {{"scores"}, {"left"}, {"right"}},
                                      {{"share", kWeight}, {"decay", kWeight}, {"reach", kReach}}};
constexpr Signature kWeightedSum{"weighted_sum", {}, {{"weights", kWeight, 0}}};

enum ListKernel : std::size_t { minmax_floor, blend, spread_neighbours, weighted_sum };
constexpr std::array<const Signature*, 4> kListSignatures{&kMinmaxFloor, &kBlend,
                                                          &kSpreadNeighbours, &kWeightedSum};

constexpr std::size_t kPiece = 512;

template <typename Real>
constexpr ElementType kTypeOf = sizeof(Real) == sizeof(float) ? ElementType::f32 : ElementType::f64;

// Calls body(values, begin) for rows [begin, end) of `operand`: viewed if the type fits, otherwise
// converted piece by piece.
template <typename Real, typename Body>
void for_pieces(const Operand& operand, std::size_t begin, std::size_t end, Body body) {
  if (operand.type == kTypeOf<Real>) {
    body(std::span(static_cast<const Real*>(operand.values) + begin, end - begin), begin);
    return;
  }
  const auto type = static_cast<std::size_t>(operand.type);
  const auto& convert = real_loops<Real>(loops_of(simd_path())).convert[type];
  std::array<Real, kPiece> piece{};
  for (; begin < end; begin += kPiece) {
    const std::size_t size = std::min(kPiece, end - begin);
    convert(static_cast<const std::byte*>(operand.values) + begin * kElementBytes[type],
            piece.data(), size);
    body(std::span<const Real>(piece.data(), size), begin);
  }
}

template <typename Real>
Extremes<Real> joined(const Extremes<Real>& a, const Extremes<Real>& b) {
  return {std::min(a.worst, b.worst), std::max(a.best, b.best)};
}

template <typename Real>
Extremes<Real> extremes_of(const Operand& operand, unsigned threads) {
  const auto& extremes = real_loops<Real>(loops_of(simd_path())).extremes;
  std::mutex mutex;
  Extremes<Real> found;
  const std::size_t grain = grain_for(operand.count, threads, kFewestChunkRows);
  for_each_chunk(operand.count, threads, grain, [&](std::size_t begin, std::size_t end) {
    Extremes<Real> its;
    for_pieces<Real>(operand, begin, end, [&](std::span<const Real> values, std::size_t /*row*/) {
      its = joined(its, extremes(values.data(), values.size()));
    });
    const std::scoped_lock lock(mutex);
    found = joined(found, its);
  });
  // -0 becomes 0: which of the two is found first differs between paths.
  return {found.worst + Real(0), found.best + Real(0)};
}

template <typename Real>
Operand one_value(const Real& value) {
  return {kTypeOf<Real>, &value, 1};
}

// Runs a row-wise kernel whose additional inputs are values computed from the whole list.
template <typename Real>
void run_rows(const std::string& kernel, const KernelParameters& parameters,
              std::span<const Operand> inputs, const ListCall<Real>& call) {
  std::vector<ProgramInput> names;
  std::vector<std::size_t> registers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.emplace_back(ValueInput{std::to_string(i), 0.0});
    registers.push_back(i);
  }
  const Program program(std::move(names), {Instruction{kernel, registers, parameters}});
  const std::array<std::size_t, 1> outputs{inputs.size()};
  const std::array<Real*, 1> results{call.result.data()};
  program.run<Real>({inputs, 0.0, call.result.size(), outputs, results, call.threads});
}

template <typename Real>
void run_minmax_floor(const ListCall<Real>& call) {
  const auto [worst, best] = extremes_of<Real>(call.inputs[0], call.threads);
  const std::array<Operand, 3> inputs{call.inputs[0], one_value(worst), one_value(best)};
  run_rows<Real>("minmax_floor_between", {{"low", {call.numbers[0]}}}, inputs, call);
}

template <typename Real>
void run_blend(const ListCall<Real>& call) {
  const Real best = extremes_of<Real>(call.inputs[0], call.threads).best;
  const std::array<Operand, 3> inputs{call.inputs[0], one_value(best), call.inputs[1]};
  run_rows<Real>("blend_with_best", {{"weight", {call.numbers[0]}}}, inputs, call);
}

// The values of `operand`, one per row.
template <typename Real>
std::vector<Real> copy_of(const Operand& operand, std::size_t size) {
  std::vector<Real> values(size);
  const auto copy = [&](std::span<const Real> piece, std::size_t row) {
    std::copy(piece.begin(), piece.end(), values.begin() + static_cast<std::ptrdiff_t>(row));
  };
  for_pieces<Real>(operand, 0, operand.count, copy);
  if (operand.count == 1 && size > 1) {
    std::fill(values.begin(), values.end(), values[0]);
  }
  return values;
}

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

std::vector<std::size_t> neighbours_of(const char* name, const Operand& operand, std::size_t size) {
  const std::vector<double> given = copy_of<double>(operand, size);
  std::vector<std::size_t> neighbours(size);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_row =
        given[i] >= 0 && given[i] < static_cast<double>(size) && given[i] == std::floor(given[i]);
    require(is_row || given[i] == -1, name, "must be -1 or an index of the scores", given[i]);
    neighbours[i] = is_row ? static_cast<std::size_t>(given[i]) : kNobody;
  }
  return neighbours;
}

template <typename Real>
void run_spread_neighbours(const ListCall<Real>& call) {
  const std::size_t size = call.result.size();
  const std::vector<Real> scores = copy_of<Real>(call.inputs[0], size);
  const std::vector<std::size_t> left = neighbours_of("left", call.inputs[1], size);
  const std::vector<std::size_t> right = neighbours_of("right", call.inputs[2], size);
  const auto step = [&](const std::vector<std::size_t>& to, std::size_t row) {
    return row == kNobody ? kNobody : to[row];
  };
  const auto score = [&](std::size_t row) { return row == kNobody ? Real(0) : scores[row]; };
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t before = i;
    std::size_t after = i;
    call.result[i] = spread_score(scores[i], static_cast<Real>(call.numbers[0]),
                                  static_cast<Real>(call.numbers[1]), call.numbers[2], [&] {
                                    before = step(left, before);
                                    after = step(right, after);
                                    return score(before) + score(after);
                                  });
  }
}

template <typename Real>
void run_weighted_sum(const ListCall<Real>& call) {
  if (call.inputs.size() != call.numbers.size()) {
    throw std::invalid_argument("weights: expected one a channel (" +
                                std::to_string(call.inputs.size()) + "), got " +
                                std::to_string(call.numbers.size()));
  }
  std::vector<ProgramInput> names;
  std::vector<Instruction> instructions;
  const std::size_t channels = call.inputs.size();
  for (std::size_t i = 0; i < channels; ++i) {
    names.emplace_back(ValueInput{std::to_string(i), 0.0});
    instructions.push_back({"scale", {i}, {{"factor", {call.numbers[i]}}, {"offset", {0.0}}}});
  }
  for (std::size_t i = 1; i < channels; ++i) {
    const std::size_t so_far = i == 1 ? channels : 2 * channels + i - 2;
    instructions.push_back({"add", {so_far, channels + i}, {}});
  }
  const Program program(std::move(names), instructions);
  const std::array<std::size_t, 1> outputs{program.register_count() - 1};
  const std::array<Real*, 1> results{call.result.data()};
  program.run<Real>({call.inputs, 0.0, call.result.size(), outputs, results, call.threads});
}

}  // namespace

std::span<const Signature* const> list_signatures() noexcept { return kListSignatures; }

template <typename Real>
void run_list_kernel(std::size_t kernel, const ListCall<Real>& call) {
  switch (kernel) {
    case minmax_floor:
      return run_minmax_floor(call);
    case blend:
      return run_blend(call);
    case spread_neighbours:
      return run_spread_neighbours(call);
    default:
      return run_weighted_sum(call);
  }
}

template void run_list_kernel<float>(std::size_t, const ListCall<float>&);
template void run_list_kernel<double>(std::size_t, const ListCall<double>&);

}  // namespace oneiros
