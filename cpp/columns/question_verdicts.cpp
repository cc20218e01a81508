#include "columns/question_verdicts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

#include "columns/cosine_baseline.h"

namespace oneiros {

namespace {

constexpr std::int8_t kEmbedding = 1;
constexpr std::int8_t kWords = 2;
constexpr float kLargestUnit = 127.0F;

double length_of(std::span<const std::int8_t> code) {
  std::int64_t squared = 0;
  for (const std::int8_t unit : code) {
    squared += std::int64_t{unit} * unit;
  }
  return std::sqrt(static_cast<double>(squared));
}

double cosine(std::span<const float> vector, std::span<const std::int8_t> code, double length) {
  double product = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    product += static_cast<double>(vector[i]) * code[i];
  }
  return product / length;
}

// Both ascending, each word once.
std::size_t common_count(std::span<const std::uint32_t> one, std::span<const std::uint32_t> other) {
  std::size_t count = 0;
  auto place = other.begin();
  for (const std::uint32_t word : one) {
    place = std::lower_bound(place, other.end(), word);
    count += place != other.end() && *place == word ? 1 : 0;
  }
  return count;
}

}  // namespace

bool encode_question(std::span<const float> vector, std::span<std::int8_t> code) {
  assert(code.size() == 1 + vector.size());
  float largest = 0;
  for (const float component : vector) {
    if (!std::isfinite(component)) {
      return false;
    }
    largest = std::max(largest, std::abs(component));
  }
  if (largest == 0) {
    return false;
  }
  code[0] = kEmbedding;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double units = static_cast<double>(vector[i]) / largest * kLargestUnit;
    code[1 + i] = static_cast<std::int8_t>(std::nearbyint(units));
  }
  return true;
}

QuestionVerdicts::Held QuestionVerdicts::read(const Verdict& verdict) {
  const std::span<const std::byte> bytes = verdict.question;
  const auto form = bytes.empty() ? std::int8_t{0} : static_cast<std::int8_t>(bytes[0]);
  Held held{.points = verdict.points, .code = {}, .length = 0, .words = {}};
  if (form == kEmbedding) {
    held.code.resize(bytes.size() - 1);
    if (!held.code.empty()) {
      std::memcpy(held.code.data(), bytes.data() + 1, held.code.size());
    }
    held.length = length_of(held.code);
  } else if (form == kWords && bytes.size() % sizeof(std::uint32_t) == 1) {
    for (std::size_t at = 1; at < bytes.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < sizeof(word); ++i) {
        word |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8U * i);
      }
      held.words.push_back(word);
    }
  }
  const bool ascends =
      std::ranges::adjacent_find(held.words, std::ranges::greater_equal{}) == held.words.end();
  const bool is_dropped = form == kEmbedding && held.code.empty();
  if ((held.length == 0 && held.words.empty() && !is_dropped) || !ascends) {
    throw std::invalid_argument("question: not the stored form of one");
  }
  return held;
}

void QuestionVerdicts::set(std::uint64_t sequence, std::span<const Verdict> verdicts) {
  std::vector<Held> held;
  held.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) {
    held.push_back(read(verdict));
  }
  const std::unique_lock alone(mutex_);
  if (held.empty()) {
    verdicts_.erase(sequence);
  } else {
    verdicts_[sequence] = std::move(held);
  }
}

void QuestionVerdicts::clear() {
  const std::unique_lock alone(mutex_);
  verdicts_.clear();
}

std::size_t QuestionVerdicts::size() const {
  const std::shared_lock shared(mutex_);
  return verdicts_.size();
}

double QuestionVerdicts::likeness(const AskedQuestion& question, const Held& held) {
  double alike = 0;
  if (!held.words.empty()) {
    const double sizes =
        static_cast<double>(held.words.size()) * static_cast<double>(question.words.size());
    if (sizes > 0) {
      const auto common = static_cast<double>(common_count(question.words, held.words));
      alike = common / std::sqrt(sizes);
    }
  } else if (!held.code.empty() && held.code.size() == question.vector.size()) {
    alike = above_baseline(cosine(question.vector, held.code, held.length), question.baseline);
  }
  // NaN gives 0, too.
  return alike > question.least ? (std::min(alike, 1.0) - question.least) / (1 - question.least)
                                : 0.0;
}

void QuestionVerdicts::sum(const AskedQuestion& question, std::span<const double> sequences,
                           std::span<double> alike, std::span<double> bad) const {
  assert(sequences.size() == alike.size() && sequences.size() == bad.size());
  const std::shared_lock shared(mutex_);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    alike[i] = bad[i] = 0;
    const auto found = verdicts_.find(static_cast<std::uint64_t>(sequences[i]));
    if (found == verdicts_.end()) {
      continue;
    }
    for (const Held& held : found->second) {
      alike[i] += held.points * likeness(question, held);
      bad[i] += std::min(held.points, 0.0);
    }
  }
}

}  // namespace oneiros
