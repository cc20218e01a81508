#include "lexical/segments/fields.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace oneiros::lexical {

namespace {

constexpr double kFinest = 0.25;
// Ensures that no frequency or length of a document with three fields exceeds 32 bits.
constexpr double kLargest = 8.0;

// Rejects NaN as well.
void check_weight(const char* field, double weight) {
  const bool is_within = weight >= kFinest && weight <= kLargest;
  if (!is_within || weight / kFinest != std::floor(weight / kFinest)) {
    std::ostringstream message;
    message << field << ": must be a multiple of " << kFinest << " from " << kFinest << " to "
            << kLargest << ", got " << weight;
    throw std::invalid_argument(message.str());
  }
}

bool is_whole(double value) { return value == std::floor(value); }

}  // namespace

FieldWeights make_field_weights(double title, double tags, double title_length) {
  check_weight("title_weight", title);
  check_weight("tags_weight", tags);
  const double counted = title * title_length;
  if (!(title_length >= 0.0 && title_length <= 1.0) || !is_whole(counted / kFinest)) {
    std::ostringstream message;
    message << "title_length: must be from 0 to 1 and, times title_weight, a multiple of "
            << kFinest << ", got " << title_length;
    throw std::invalid_argument(message.str());
  }
  double part = 1.0;
  while (!is_whole(title / part) || !is_whole(tags / part) || !is_whole(counted / part)) {
    part /= 2.0;
  }
  const auto parts = [part](double weight) { return static_cast<std::uint32_t>(weight / part); };
  return {.parts = {parts(title), parts(1.0), parts(tags)},
          .lengths = {parts(counted), parts(1.0), parts(tags)},
          .part = part};
}

}  // namespace oneiros::lexical
