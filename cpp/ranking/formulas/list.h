// The list of all row-wise kernels. A kernel's number is its position here.
#pragma once

#include <cstddef>

#include "ranking/formulas/ciar.h"
#include "ranking/formulas/cognitive.h"
#include "ranking/formulas/house.h"
#include "ranking/formulas/mnemosyne.h"
#include "ranking/formulas/omega.h"
#include "ranking/formulas/primitives.h"
#include "ranking/formulas/reverie.h"

namespace oneiros::formulas {

// A compile-time list of formula types.
template <typename... Formula>
struct FormulaList {
  static constexpr std::size_t kSize = sizeof...(Formula);
};

using AllFormulas = FormulaList<
    // primitives
    Add, Subtract, Multiply, Divide, Power, Minimum, Maximum, Negate, Absolute, Floor, SquareRoot,
    Exponential, NaturalLogarithm, LogarithmOfOnePlus, BinaryLogarithm, Clip, Scale, Select, Less,
    LessEqual, Greater, GreaterEqual, Equal, NotEqual, IsNan, Lookup,
    // reverie
    TimeDecayBoost, DepthWeight, SpreadWeight, StabilityBoost, ReplayDelta, ScanPriority, Downscale,
    Staleness, Signal,
    // cognitive
    Retention, RetentionScore, SpacingFactor, ReinforceStability, AssociationDecay,
    // mnemosyne
    RecencyBlend, WeibullRetention,
    // omega
    MinmaxFloorBetween, TemporalProximity, KindWeight, FeedbackFactor, PriorityFactor, FlooredDecay,
    DecisionRate, ThompsonBoost, ConsolidationBoost, OverlapBoost, ContextBoost, ClusterBoost,
    TieBreak, Freshness,
    // ciar
    CiarDecay, CiarReinforcement, Ciar, CiarShippedDecay, CiarShippedReinforcement, CiarShipped,
    // oneiros
    BlendWithBest, Damp, HalfLifeDecay>;

}  // namespace oneiros::formulas

namespace oneiros {

inline constexpr std::size_t kKernelCount = formulas::AllFormulas::kSize;

}  // namespace oneiros
