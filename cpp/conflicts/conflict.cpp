#include "conflicts/conflict.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "simd/exponential.h"

namespace oneiros::conflicts {

namespace {

// The number of values in both of two ascending lists. Which list goes on next is as good as
// random, so no branch depends on it.
std::size_t in_both(Stems one, Stems other) {
  std::size_t count = 0;
  for (std::size_t a = 0, b = 0; a < one.size() && b < other.size();) {
    const std::uint32_t first = one[a];
    const std::uint32_t second = other[b];
    count += static_cast<std::size_t>(first == second);
    a += static_cast<std::size_t>(first <= second);
    b += static_cast<std::size_t>(second <= first);
  }
  return count;
}

// Whether each has a value that is nowhere in the other.
bool differ(Stems own, Stems other_all, Stems others, Stems own_all) {
  return in_both(own, other_all) < own.size() && in_both(others, own_all) < others.size();
}

double capped(std::size_t count, std::size_t most) {
  return static_cast<double>(std::min(count, most)) / static_cast<double>(most);
}

double share(std::size_t count, std::size_t whole) {
  return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(whole, 1));
}

// Whether the content of both is the same but for numbers. Runs for nearly all pairs of a search,
// so it makes no lists.
bool say_the_same(const Statement& one, const Statement& other) {
  const auto next = [](Stems content, Stems numbers, std::size_t i) {
    while (i < content.size() && std::ranges::binary_search(numbers, content[i])) {
      ++i;
    }
    return i;
  };
  const Stems first = one.content();
  const Stems second = other.content();
  std::size_t a = next(first, one.numbers(), 0);
  std::size_t b = next(second, other.numbers(), 0);
  while (a < first.size() && b < second.size() && first[a] == second[b]) {
    a = next(first, one.numbers(), a + 1);
    b = next(second, other.numbers(), b + 1);
  }
  return a == first.size() && b == second.size();
}

// Whether they are one sentence with other numbers, and the newer announces no change: items of a
// list, or one event after another.
bool are_of_a_series(const Statement& older, const Statement& newer) {
  return newer.cue == 0 && !std::ranges::equal(older.numbers(), newer.numbers()) &&
         say_the_same(older, newer);
}

// The kinds of values of which each has one that is nowhere in the other.
struct Differences {
  bool number;
  bool date;
  bool name;

  [[nodiscard]] bool any() const { return number || date || name; }
};

Differences differences(const Statement& older, const Statement& newer) {
  return {.number = differ(older.numbers(), newer.all(), newer.numbers(), older.all()),
          .date = differ(older.dates(), newer.all(), newer.dates(), older.all()),
          .name = differ(older.names(), newer.all(), newer.names(), older.all())};
}

// Whether both state of one thing, and the newer one does not only add to the older.
bool have_one_subject(const Statement& older, const Statement& newer) {
  return older.subject != 0 && older.subject == newer.subject && !newer.adds;
}

// The content that is neither number, date nor name.
std::vector<std::uint32_t> plain_content(const Statement& statement) {
  std::vector<std::uint32_t> plain;
  std::ranges::copy_if(statement.content(), std::back_inserter(plain), [&](std::uint32_t stem) {
    const auto has = [&](Stems list) { return std::ranges::binary_search(list, stem); };
    return !has(statement.numbers()) && !has(statement.dates()) && !has(statement.names());
  });
  return plain;
}

// Whether both state a value of one thing, in the same words but for numbers and dates, or but for
// names.
bool is_restated(const Statement& older, const Statement& newer) {
  if (!have_one_subject(older, newer) || !older.value_leads || !newer.value_leads) {
    return false;
  }
  const Differences differ = differences(older, newer);
  if (!differ.number && (older.is_amount || !differ.any())) {
    return false;
  }
  if ((differ.number || differ.date) && !std::ranges::equal(older.names(), newer.names())) {
    return false;  // "version 14 of Postgres", "version 16 of Nginx"
  }
  const std::vector<std::uint32_t> plain = plain_content(older);
  return !plain.empty() && plain == plain_content(newer);
}

// Whether both state of one thing, each in a few words of its own, and no number, date or name.
bool is_reworded(const Statement& older, const Statement& newer, std::size_t shared,
                 const Differences& differ) {
  constexpr std::size_t kMostOwn = 2;
  const auto is_few = [](std::size_t count) { return count > 0 && count <= kMostOwn; };
  if (!have_one_subject(older, newer) || older.is_amount || differ.any() ||
      !is_few(older.content().size() - shared) || !is_few(newer.content().size() - shared)) {
    return false;
  }
  std::vector<std::uint32_t> both;
  std::ranges::set_intersection(older.content(), newer.content(), std::back_inserter(both));
  return both.size() >= in_both(both, older.names()) + 2;
}

bool cannot_conflict(const Statement& older, const Statement& newer) {
  return !can_conflict(older) || !can_conflict(newer) ||
         std::ranges::equal(older.all(), newer.all()) ||
         (are_of_a_series(older, newer) && !is_restated(older, newer)) ||
         (older.speaker != 0 && newer.speaker != 0 && older.speaker != newer.speaker);
}

// The places in kFeatures of those that take longest to find.
constexpr std::size_t kNumber = 7;
constexpr std::size_t kName = 8;
constexpr std::size_t kNamed = 9;
constexpr std::size_t kTopic = 17;
constexpr std::size_t kTopicAndValue = 20;
constexpr std::size_t kRestated = 22;
constexpr std::size_t kReworded = 23;
static_assert(kFeatures[kNumber] == "number" && kFeatures[kName] == "name" &&
              kFeatures[kNamed] == "named" && kFeatures[kTopic] == "topic" &&
              kFeatures[kTopicAndValue] == "topic_and_value" &&
              kFeatures[kRestated] == "restated" && kFeatures[kReworded] == "reworded");

// The features of a pair with this number of shared words of content, but for those six, which are
// 0.
Weights quick_features(const Statement& older, const Statement& newer, std::size_t shared) {
  constexpr double kStrongestCue = 4.0;
  const double cue = std::min(newer.cue, kStrongestCue) / kStrongestCue;
  const double topic =
      capped(static_cast<std::size_t>(std::popcount(older.topics & newer.topics)), 2);
  const bool other_subject = older.first != 0 && newer.first != 0 && older.first != newer.first &&
                             older.second == newer.second;
  return Weights{capped(shared, 4),
                 shared == 0 ? 1.0 : 0.0,
                 share(shared, older.content().size()),
                 share(shared, newer.content().size()),
                 capped(older.content().size() - shared, 10),
                 capped(newer.content().size() - shared, 10),
                 capped(older.word_count, StatementReader::kMostWords),
                 0.0,
                 0.0,
                 0.0,
                 cue,
                 std::min(older.cue, kStrongestCue) / kStrongestCue,
                 newer.adds ? 1.0 : 0.0,
                 newer.is_past ? 1.0 : 0.0,
                 older.is_past ? 1.0 : 0.0,
                 older.names_relative != newer.names_relative ? 1.0 : 0.0,
                 older.denies != newer.denies ? 1.0 : 0.0,
                 topic,
                 topic == 0.0 ? 1.0 : 0.0,
                 topic * cue,
                 0.0,
                 other_subject ? 1.0 : 0.0,
                 0.0,
                 0.0};
}

// Whether each has a number, a date or a name of its own, and whether the newer has one of the
// older.
Weights with_values(Weights features, const Differences& differ, bool is_named) {
  features[kNumber] = differ.number ? 1.0 : 0.0;
  features[kName] = differ.name ? 1.0 : 0.0;
  features[kNamed] = is_named ? 1.0 : 0.0;
  features[kTopicAndValue] = differ.any() ? features[kTopic] : 0.0;
  return features;
}

// Those six, at most.
Weights highest_features(const Weights& quick, const Statement& older, const Statement& newer) {
  const auto both_have = [](Stems one, Stems other) { return !one.empty() && !other.empty(); };
  const Differences differ{.number = both_have(older.numbers(), newer.numbers()),
                           .date = both_have(older.dates(), newer.dates()),
                           .name = both_have(older.names(), newer.names())};
  const bool is_named =
      !older.numbers().empty() || !older.dates().empty() || !older.names().empty();
  Weights features = with_values(quick, differ, is_named);
  features[kRestated] = features[kReworded] = have_one_subject(older, newer) ? 1.0 : 0.0;
  return features;
}

Weights all_features(const Weights& quick, const Statement& older, const Statement& newer,
                     std::size_t shared) {
  const Differences differ = differences(older, newer);
  const bool is_named = in_both(older.numbers(), newer.all()) +
                            in_both(older.dates(), newer.all()) +
                            in_both(older.names(), newer.all()) >
                        0;
  Weights features = with_values(quick, differ, is_named);
  features[kRestated] = is_restated(older, newer) ? 1.0 : 0.0;
  features[kReworded] = is_reworded(older, newer, shared, differ) ? 1.0 : 0.0;
  return features;
}

constexpr double kRounding = 1e-12;  // above that of a sum of weighed features, by its magnitude

// True if the log odds cannot reach `least`, whatever those six are.
bool is_below(double least, const Weights& highest, const Model& model) {
  double most = model.constant;
  double magnitude = std::abs(model.constant);
  for (std::size_t i = 0; i < highest.size(); ++i) {
    const bool is_highest = i == kNumber || i == kName || i == kNamed || i == kTopicAndValue ||
                            i == kRestated || i == kReworded;
    const double part = model.weights[i] * highest[i];
    most += is_highest ? std::max(part, 0.0) : part;
    magnitude += std::abs(part);
  }
  return most + kRounding * magnitude < least;  // false for NaN
}

// The confidence of a pair, or 0 if that is below the least. The features that are quick to find
// bound the log odds, which are low for most pairs.
double confidence_from(double least_log_odds, const Statement& older, const Statement& newer,
                       std::size_t shared, const Model& model) {
  const Weights quick = quick_features(older, newer, shared);
  if (is_below(least_log_odds, highest_features(quick, older, newer), model) ||
      cannot_conflict(older, newer)) {
    return 0.0;
  }
  const Weights values = all_features(quick, older, newer, shared);
  double total = model.constant;
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += model.weights[i] * values[i];
  }
  return 1.0 / (1.0 + exponential(-total));
}

// How many words of content each two statements share, at [later * count + earlier]. A table holds
// each word with the last statement that has it, and that one the statement before.
std::vector<std::uint8_t> shared_content(std::span<const Statement> statements) {
  struct Holder {
    std::uint32_t stem;
    std::uint32_t statement;
    std::uint32_t before;  // the holder of the same stem before this one
  };
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::size_t word_count = 0;
  for (const Statement& statement : statements) {
    word_count += statement.content().size();
  }
  std::vector<Holder> holders;
  holders.reserve(word_count);
  const std::size_t slot_count = std::bit_ceil(2 * word_count + 1);
  std::vector<std::uint32_t> last(slot_count, kNone);
  const std::size_t count = statements.size();
  std::vector<std::uint8_t> shared(count * count);
  for (std::size_t at = 0; at < count; ++at) {
    for (const std::uint32_t stem : statements[at].content()) {
      std::size_t slot = stem % slot_count;
      while (last[slot] != kNone && holders[last[slot]].stem != stem) {
        slot = (slot + 1) % slot_count;
      }
      for (std::uint32_t holder = last[slot]; holder != kNone; holder = holders[holder].before) {
        ++shared[at * count + holders[holder].statement];
      }
      holders.push_back({stem, static_cast<std::uint32_t>(at), last[slot]});
      last[slot] = static_cast<std::uint32_t>(holders.size() - 1);
    }
  }
  return shared;
}

// The places in kFeatures of those that depend on the older statement alone, if no content is
// shared, and on the newer one alone.
constexpr std::array<std::size_t, 4> kOfOlder{4, 6, 11, 14};
constexpr std::array<std::size_t, 4> kOfNewer{5, 10, 12, 13};
constexpr std::size_t kNoneShared = 1;
static_assert(kFeatures[4] == "only_older" && kFeatures[6] == "length" &&
              kFeatures[11] == "cue_of_older" && kFeatures[14] == "past_of_older" &&
              kFeatures[5] == "only_newer" && kFeatures[10] == "cue" &&
              kFeatures[12] == "addition" && kFeatures[13] == "past" &&
              kFeatures[kNoneShared] == "none_shared");

double sum_of(const Weights& features, const Model& model, std::span<const std::size_t> places) {
  double sum = 0;
  for (const std::size_t place : places) {
    sum += model.weights[place] * features[place];
  }
  return sum;
}

// What those two sums must reach for log odds of at least `least`, whatever the other features are.
// All features are at most 1.
double unshared_limit(double least, const Model& model) {
  const auto is_one_of = [](std::span<const std::size_t> places, std::size_t place) {
    return std::ranges::find(places, place) != places.end();
  };
  double most = model.constant + model.weights[kNoneShared];
  double magnitude = std::abs(model.constant);
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    magnitude += std::abs(model.weights[i]);
    // Who states something of one thing shares content: is_restated(), is_reworded().
    const bool is_unshared = i != kRestated && i != kReworded;
    if (is_unshared && i != kNoneShared && !is_one_of(kOfOlder, i) && !is_one_of(kOfNewer, i)) {
      most += std::max(model.weights[i], 0.0);
    }
  }
  return least - most - kRounding * magnitude;
}

}  // namespace

std::optional<Weights> features(const Statement& older, const Statement& newer) {
  if (cannot_conflict(older, newer)) {
    return std::nullopt;
  }
  const std::size_t shared = in_both(older.content(), newer.content());
  return all_features(quick_features(older, newer, shared), older, newer, shared);
}

double confidence(const Statement& older, const Statement& newer, const Model& model) {
  return confidence_from(-std::numeric_limits<double>::infinity(), older, newer,
                         in_both(older.content(), newer.content()), model);
}

StatementPairs::StatementPairs(std::span<const Statement> statements, const Model& model,
                               double least_log_odds)
    : statements_(statements),
      model_(&model),
      least_log_odds_(least_log_odds),
      shared_(shared_content(statements)),
      unshared_limit_(unshared_limit(least_log_odds, model)) {
  const Statement none;
  for (const Statement& statement : statements) {
    as_older_.push_back(sum_of(quick_features(statement, none, 0), model, kOfOlder));
    as_newer_.push_back(sum_of(quick_features(none, statement, 0), model, kOfNewer));
  }
}

double StatementPairs::confidence(std::size_t older, std::size_t newer) const {
  const auto [earlier, later] = std::minmax(older, newer);
  const std::size_t shared = older == newer ? statements_[older].content().size()
                                            : shared_[later * statements_.size() + earlier];
  if (shared == 0 && as_older_[older] + as_newer_[newer] < unshared_limit_) {
    return 0.0;
  }
  return confidence_from(least_log_odds_, statements_[older], statements_[newer], shared, *model_);
}

double log_odds(double confidence) {
  const double p = std::min(confidence, 0.999);
  return std::log(p / (1 - p));
}

}  // namespace oneiros::conflicts
