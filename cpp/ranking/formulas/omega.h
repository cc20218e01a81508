// The formulas of docs/systems/omega.md as row-wise kernels. Factors multiply a relevance, so a
// neutral value is 1. Parameters are validated by the rules of each signature.
#pragma once

#include <limits>

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/formulas/of_count.h"
#include "ranking/formulas/primitives.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// O3: low + (1 - low) (s - worst) / (best - worst); 1 if all are equal. The kernel minmax_floor
// finds worst and best in the list itself.
struct MinmaxFloorBetween {
  static constexpr Signature kSignature{
      "minmax_floor_between", {{"score"}, {"worst"}, {"best"}}, {{"low", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real score, Real worst, Real best) {
    const Real low = numbers[0];
    // Halved where the difference of two finite numbers overflows; only there, since half of the
    // smallest number is 0.
    const Real part = best - worst > std::numeric_limits<Real>::max() ? Real(0.5) : Real(1);
    const Real range = best * part - worst * part;
    const Real share = (score * part - worst * part) / range;
    const Real placed = low + (Real(1) - low) * share;
    const Real alone = is_nan(score) ? score : Real(1);
    return best == worst ? alone : placed;
  }
};

// O4: 1 in the range, otherwise 1 / (1 + days away / days of the range); 0 beyond as many days away
// as the range has. The range's days are rounded down, at least one. A fraction of a day counts as
// a whole day before the start and as none after the end. Times in seconds.
struct TemporalProximity {
  static constexpr Signature kSignature{"temporal_proximity", {{"time"}, {"start"}, {"end"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*numbers*/, Real time, Real start,
                                          Real end) {
    const Real day = Real(86400);
    const Real range_days = at_least(rounded_down((end - start) / day), Real(1));
    // At least one day: the quotient of a few subnormal seconds may be 0.
    const Real days_before = at_least(-rounded_down((time - start) / day), Real(1));
    const Real days_after = rounded_down((time - end) / day);
    const Real days = time < start ? days_before : days_after;
    const Real near = Real(1) / (Real(1) + days / range_days);
    // Infinite times have a proximity only inside the range.
    const Real reach = at_most(range_days, std::numeric_limits<Real>::max());
    const Real outside = (days <= reach) & (start <= end) ? near : Real(0);
    const bool is_within = (start <= time) & (time <= end);
    const bool is_known = (time == time) & (start == start) & (end == end);
    const Real value = is_within ? Real(1) : outside;
    return is_known ? value : kNaN<Real>;
  }
};

// O11: table[kind], the weight of a memory's kind, or `otherwise` for codes beyond the table.
struct KindWeight {
  static constexpr Signature kSignature{
      "kind_weight", {{"kind"}}, {{"otherwise", kWeight}, {"table", kWeight, 0}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* table, std::size_t table_size, Real kind) {
    return looked_up(table, table_size, kind);
  }
};

// O12: f > 0: 1 + gain min(f, most); f < 0: max(floor, 1 + loss f). Net user feedback f; 0 gives 1.
struct FeedbackFactor {
  static constexpr Signature kSignature{
      "feedback_factor",
      {{"feedback"}},
      {{"gain", kWeight}, {"most", kWeight}, {"loss", kWeight}, {"floor", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real feedback) {
    const Real good = Real(1) + numbers[0] * at_most(feedback, numbers[1]);
    const Real bad = at_least(Real(1) + numbers[2] * feedback, numbers[3]);
    const Real factor = feedback > Real(0) ? good : bad;
    return feedback == Real(0) ? Real(1) : factor;
  }
};

// O13: base + step p, with the priority p clamped to 1 to 5.
struct PriorityFactor {
  static constexpr Signature kSignature{
      "priority_factor", {{"priority"}}, {{"base", kWeight}, {"step", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real priority) {
    return numbers[0] + numbers[1] * clamped(priority, Real(1), Real(5));
  }
};

// O14: max(floor, exp(-rate age)). No timestamp: 1.
struct FlooredDecay {
  static constexpr Signature kSignature{"floored_decay", {{"age_days"}, {"rate"}, {"floor"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*numbers*/, Real age_days, Real rate,
                                          Real floor) {
    // Without decay even an infinite age has no effect.
    const Real exponent = rate == Real(0) ? Real(0) : elapsed(age_days) * rate;
    const Real decayed = at_least(decay(exponent), floor);
    const Real timed = is_nan(age_days) ? Real(1) : decayed;
    return is_nan(rate + floor) ? kNaN<Real> : timed;
  }
};

// O14: the decay rate of a decision: max(least, rate x base^min(accesses, most)): accesses slow the
// decay. Tabulated for small counts.
struct DecisionRate {
  static constexpr Signature kSignature{"decision_rate",
                                        {{"rate"}, {"access_count"}},
                                        {{"base", kShare}, {"most", kWeight}, {"least", kWeight}}};

  using ByRow = OfCount<DecisionRate>;

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real count(const Real* numbers, Real /*rate*/, Real access_count) {
    return at_most(access_count, numbers[1]);
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* numbers, Real counted) {
    return power(numbers[0], counted);
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real with_count(const Real* numbers, Real slowing, Real rate,
                                               Real access_count) {
    const Real slowed = rate * slowing;
    return is_nan(access_count) ? access_count : at_least(slowed, numbers[2]);
  }
};

// O15: base + spread x the mean of Beta(1 + good, 1 + bad), a deterministic form of Thompson
// sampling; 1 with fewer than `least` observations.
struct ThompsonBoost {
  static constexpr Signature kSignature{
      "thompson_boost",
      {{"good", &kNotNegative}, {"bad", &kNotNegative}},
      {{"base", kWeight}, {"spread", kWeight}, {"least", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real good, Real bad) {
    const Real seen = as_count(good) + as_count(bad);
    const Real mean = (Real(1) + good) / (Real(2) + seen);
    const Real boost = numbers[0] + numbers[1] * mean;
    return seen < numbers[2] ? Real(1) : boost;
  }
};

// O17: cq > 0: 1 + gain min(cq, most); else 1.
struct ConsolidationBoost {
  static constexpr Signature kSignature{
      "consolidation_boost", {{"quality"}}, {{"gain", kWeight}, {"most", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real quality) {
    return Real(1) + numbers[0] * clamped(quality, Real(0), numbers[1]);
  }
};

// O18: 1 + gain x word ratio x (disliked where feedback < 0, else 1) x weight.
struct OverlapBoost {
  static constexpr Signature kSignature{"overlap_boost",
                                        {{"word_ratio"}, {"feedback"}, {"weight"}},
                                        {{"gain", kWeight}, {"disliked", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real word_ratio, Real feedback,
                                          Real weight) {
    const Real liked = feedback < Real(0) ? numbers[1] : Real(1);
    const Real mood = is_nan(feedback) ? feedback : liked;
    return Real(1) + word_ratio * numbers[0] * mood * weight;
  }
};

// O20: 1 + (tag x tags + project x match + content x min(words, most)) x weight.
struct ContextBoost {
  static constexpr Signature kSignature{
      "context_boost",
      {{"tag_overlap"}, {"project_match"}, {"content_match"}, {"weight"}},
      {{"tag", kWeight}, {"project", kWeight}, {"content", kWeight}, {"most_content", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real tag_overlap, Real project_match,
                                          Real content_match, Real weight) {
    const Real words = at_most(content_match, numbers[3]);
    const Real shared = tag_overlap * numbers[0] + project_match * numbers[1] + words * numbers[2];
    return Real(1) + shared * weight;
  }
};

// O21: c > least: 1 + min(gain (c - least), most); otherwise 1. c is the cosine to the centre of
// the best candidates.
struct ClusterBoost {
  static constexpr Signature kSignature{
      "cluster_boost", {{"cosine"}}, {{"least", kFinite}, {"gain", kWeight}, {"most", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real cosine) {
    const Real above = at_least(cosine - numbers[0], Real(0));
    return Real(1) + at_most(numbers[1] * above, numbers[2]);
  }
};

// O32: what omega-bounded adds within `window` of the best: priority_gain (p - 1) / 4 + access_gain
// min(accesses, most_accesses) / most_accesses, likewise for the quality.
struct TieBreak {
  static constexpr Signature kSignature{
      "tie_break",
      {{"relevance"}, {"best_relevance"}, {"priority"}, {"access_count"}, {"quality"}},
      {{"window", kWeight},
       {"priority_gain", kWeight},
       {"access_gain", kWeight},
       {"most_accesses", kPositive},
       {"quality_gain", kWeight},
       {"most_quality", kPositive}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real relevance, Real best_relevance,
                                          Real priority, Real access_count, Real quality) {
    const Real by_priority =
        numbers[1] * ((clamped(priority, Real(1), Real(5)) - Real(1)) / Real(4));
    const Real by_access = numbers[2] * (at_most(access_count, numbers[3]) / numbers[3]);
    const Real by_quality = numbers[4] * (clamped(quality, Real(0), numbers[5]) / numbers[5]);
    const Real merits = by_priority + by_access + by_quality;
    const Real bonus = best_relevance - relevance <= numbers[0] ? merits : Real(0);
    return is_nan(relevance + best_relevance + merits) ? kNaN<Real> : bonus;
  }
};

// O32: the added term for recency: gain exp(-age / tau). No timestamp: 0.
struct Freshness {
  static constexpr Signature kSignature{
      "freshness", {{"age_days"}}, {{"gain", kWeight}, {"tau_days", kPositive}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    const Real bonus = numbers[0] * decay(age_days * rate_of(numbers[1]));
    return is_nan(age_days) ? Real(0) : bonus;
  }
};

}  // namespace oneiros::formulas
