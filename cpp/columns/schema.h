// The columns of a memory, declared once: names, types, defaults and ranges. Enumerators, traits,
// checks and the Python names are generated from this list. Source: docs/systems/fields.md.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

namespace oneiros {

// Times are seconds since the Unix epoch, UTC; NaN means none.
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

// Sequence numbers of the store, exact in a double; 0 for a row without a memory.
inline constexpr double kMostSequence = 9007199254740992.0;  // 2 ** 53

// The columns, grouped as in fields.md:
//   - kind, category and the codes of words, such as project_code: numbers of words that the store
//     keeps in tables;
//   - created_at to valid_until: times; ttl: a duration in seconds;
//   - importance to pinned: given by the caller; feedback: the sum of the user's verdicts;
//   - access_count to session_spread: counters, saturating; session_spread is the number of
//   sessions
//     in which a memory was seen;
//   - strength, depth, stability, consolidation_quality: lifecycle state of the published systems;
//   - importance_tag to tier: codes and times that dream cycles change;
//   - deleted_at, superseded: removal; asks: the share of the text that consists of questions;
//     names_time: whether it names a time;
//   - sequence: the memory's number in the store, which orders equal scores.
//
// X(name, type, default, lowest, highest). Columns with a NaN default accept NaN; no column accepts
// an infinity. Codes of enumerations follow the order of words in fields.md. A default with all
// bits zero costs nothing, since new pages are zero.
#define ONEIROS_COLUMNS(X)                                                           \
  X(kind, std::uint16_t, 0, 0, std::numeric_limits<std::uint16_t>::max())            \
  X(category, std::uint8_t, 1, 0, 2)                                                 \
  X(topic_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())      \
  X(project_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())    \
  X(session_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())    \
  X(user_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())       \
  X(agent_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())      \
  X(namespace_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())  \
  X(source_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())     \
  X(source_ref_code, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max()) \
  X(created_at, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(updated_at, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(last_accessed_at, double, kNoTime, kLowest<double>, kHighest<double>)            \
  X(learned_at, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(event_at, double, kNoTime, kLowest<double>, kHighest<double>)                    \
  X(valid_from, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(valid_until, double, kNoTime, kLowest<double>, kHighest<double>)                 \
  X(ttl, double, kNoTime, 0, kHighest<double>)                                       \
  X(importance, float, 0.5F, 0, 1)                                                   \
  X(certainty, float, 1.0F, 0, 1)                                                    \
  X(impact, float, 0.5F, 0, 1)                                                       \
  X(priority, std::uint8_t, 3, 1, 5)                                                 \
  X(veracity, std::uint8_t, 1, 0, 4)                                                 \
  X(pinned, std::uint8_t, 0, 0, 1)                                                   \
  X(trust, float, 1.0F, 0, 1)                                                        \
  X(feedback, std::int16_t, 0, kLowest<std::int16_t>, kHighest<std::int16_t>)        \
  X(access_count, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())    \
  X(revision_count, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max())  \
  X(duplicate_count, std::uint32_t, 0, 0, std::numeric_limits<std::uint32_t>::max()) \
  X(session_spread, std::uint32_t, 1, 1, std::numeric_limits<std::uint32_t>::max())  \
  X(strength, float, 1.0F, 0, 1)                                                     \
  X(depth, std::uint8_t, 2, 1, 3)                                                    \
  X(stability, float, 1.0F, 0, kHighest<float>)                                      \
  X(consolidation_quality, float, 0.0F, 0, kHighest<float>)                          \
  X(importance_tag, std::uint8_t, 0, 0, 4)                                           \
  X(status, std::uint8_t, 0, 0, 3)                                                   \
  X(core, std::uint8_t, 0, 0, 1)                                                     \
  X(canonical_layer, std::uint8_t, 1, 0, 2)                                          \
  X(at_floor_since, double, kNoTime, kLowest<double>, kHighest<double>)              \
  X(cold_since, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(tier, std::uint8_t, 0, 0, 2)                                                     \
  X(deleted_at, double, kNoTime, kLowest<double>, kHighest<double>)                  \
  X(superseded, std::uint8_t, 0, 0, 1)                                               \
  X(asks, float, 0.0F, 0, 1)                                                         \
  X(names_time, std::uint8_t, 0, 0, 1)                                               \
  X(sequence, double, 0, 0, kMostSequence)

template <typename T>
inline constexpr T kLowest = std::numeric_limits<T>::lowest();
template <typename T>
inline constexpr T kHighest = std::numeric_limits<T>::max();

// The default of a column, and the range of values it accepts.
template <typename T>
struct ColumnRule {
  using Value = T;
  T initial;
  T low;
  T high;
};

// True if a column with this rule accepts the value.
template <typename T>
bool is_inside(T value, const ColumnRule<T>& rule) {
  if (value >= rule.low && value <= rule.high) {
    return true;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) && std::isnan(rule.initial);  // "none"
  }
  return false;
}

using AnyColumnRule =
    std::variant<ColumnRule<std::uint8_t>, ColumnRule<std::uint16_t>, ColumnRule<std::uint32_t>,
                 ColumnRule<std::int16_t>, ColumnRule<float>, ColumnRule<double>>;

// A column's name and rule, in the order of the list.
struct ColumnInfo {
  std::string_view name;
  AnyColumnRule rule;
};

enum class Column : std::uint8_t {
#define ONEIROS_NAME(name, type, initial, low, high) name,
  ONEIROS_COLUMNS(ONEIROS_NAME)
#undef ONEIROS_NAME
};

inline constexpr auto kColumns = std::to_array<ColumnInfo>({
#define ONEIROS_INFO(name, type, initial, low, high) {#name, ColumnRule<type>{initial, low, high}},
    ONEIROS_COLUMNS(ONEIROS_INFO)
#undef ONEIROS_INFO
});

inline constexpr std::size_t kColumnCount = kColumns.size();

template <Column Which>
struct ColumnTraits;
#define ONEIROS_TRAITS(name, type, initial, low, high) \
  template <>                                          \
  struct ColumnTraits<Column::name> {                  \
    using Value = type;                                \
  };
ONEIROS_COLUMNS(ONEIROS_TRAITS)
#undef ONEIROS_TRAITS
#undef ONEIROS_COLUMNS

// The element type of a column.
template <Column Which>
using ValueOf = typename ColumnTraits<Which>::Value;

// The column of this name, if there is one.
[[nodiscard]] std::optional<Column> column_named(std::string_view name);

}  // namespace oneiros
