// The signals of a query: one value per candidate (or one for all) under a name that factors and
// rules of a profile read. Only the signals that the plan needs are computed; each is one pass over
// the candidates' texts or columns.
#include <algorithm>
#include <cmath>

#include "columns/text_matching.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

bool has_bit(std::span<const std::uint8_t> bits, std::uint32_t row) {
  return row / 8U < bits.size() && ((bits[row / 8U] >> (row % 8U)) & 1U) != 0;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

using Count = void (*)(const TextColumn&, std::span<const std::uint32_t>,
                       std::span<const std::string_view>, std::span<std::uint32_t>);

// Calls a counting function of text_matching.h and converts its result.
std::vector<double> counted(Count count, const TextColumn& texts,
                            std::span<const std::uint32_t> rows,
                            const std::vector<std::string>& words) {
  std::vector<std::uint32_t> found(rows.size());
  count(texts, rows, views_of(words), found);
  return {found.begin(), found.end()};
}

// The same over plain lower-case texts, which are stored only where NFKC makes a difference.
// Source: docs/systems/omega.md O20.
std::vector<double> counted_in_lower_case(Count count, const ReadView& view,
                                          std::span<const std::uint32_t> rows,
                                          const std::vector<std::string>& words) {
  std::vector<double> found = counted(count, *view.texts, rows, words);
  if (view.lowered == nullptr || view.lowered->size() == 0) {
    return found;
  }
  std::vector<std::size_t> places;
  std::vector<std::uint32_t> composed;
  {
    const TextColumn::Reader reader(*view.lowered);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const MemoryText text = reader.at(rows[i]);
      if (!text.text.empty() || !text.tags.empty()) {
        places.push_back(i);
        composed.push_back(rows[i]);
      }
    }
  }
  const std::vector<double> own = counted(count, *view.lowered, composed, words);
  for (std::size_t i = 0; i < places.size(); ++i) {
    found[places[i]] = own[i];
  }
  return found;
}

// The case of each row under O22 or H10: 1 inside the time, `outside(has_own_date)` elsewhere.
template <typename Outside>
std::vector<double> time_cases(const Columns& columns, std::span<const std::uint32_t> rows,
                               const NamedTime& time, Outside outside) {
  const Columns::Reader reader(columns);
  const auto event = reader.values<Column::event_at>();
  const auto created = reader.values<Column::created_at>();
  std::vector<double> cases;
  cases.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    const bool has_own_date = !std::isnan(event[row]);
    const double at = has_own_date ? event[row] : created[row];
    cases.push_back(at >= time.start && at <= time.end ? 1.0 : outside(has_own_date));
  }
  return cases;
}

}  // namespace

// The share of words that occur anywhere in each row's text, also inside longer words. Source:
// docs/systems/omega.md O3.
std::vector<double> SearchRun::shares(const SoughtWords& words,
                                      std::span<const std::uint32_t> rows) const {
  if (words.count == 0) {
    return std::vector<double>(rows.size());
  }
  std::vector<double> found = counted(&count_words, *view_.texts, rows, words.words);
  for (double& share : found) {
    share /= static_cast<double>(words.count);
  }
  return found;
}

// The share of words found as whole words in each row's text and tags. Source:
// docs/systems/omega.md O18.
std::vector<double> SearchRun::overlaps(std::span<const std::uint32_t> rows) const {
  const SoughtWords& words = request_.overlap;
  std::vector<double> found(rows.size());
  if (words.count == 0) {
    return found;
  }
  std::vector<WordAndStem> sought;
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    sought.push_back({words.words[i], words.stems[i]});
  }
  std::vector<std::uint32_t> counts(rows.size());
  count_canonical_words(*view_.texts, rows, sought, counts);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found[i] = counts[i] / static_cast<double>(words.count);
  }
  return found;
}

// Computes the signals that the plan needs, by name. Signals with a single value hold for all rows.
// Callbacks run first, since they may be slow and raise.
SearchRun::SignalMap SearchRun::signals_for(const Attempt& attempt,
                                            std::span<const std::uint32_t> rows,
                                            Outside& outside) const {
  const SignalNeeds& needs = attempt.plan->needs;
  SignalMap signals;
  if (needs.has_functions) {
    for (auto& [name, values] : outside.factor_values(rows)) {
      signals[name] = std::move(values);
    }
  }
  if (request_.is_deep) {
    std::vector<double>& lapsed = signals["lapsed"];
    for (const std::uint32_t row : rows) {
      lapsed.push_back(std::ranges::binary_search(request_.lapsed, row) ? 1.0 : 0.0);
    }
  }
  if (needs.overlap) {
    signals["word_ratio"] = overlaps(rows);
  }
  if (needs.lexical_share && request_.words.count > 0) {
    signals["lexical_share"] = shares(request_.words, rows);
    signals["query_words"] = {static_cast<double>(request_.words.count)};
  }
  for (const auto& [name, value] : request_.constants) {
    signals[name] = {value};
  }
  if (const NamedTime* const time = time_of(attempt)) {
    if (needs.temporal) {
      signals["temporal_case"] = time_cases(*view_.columns, rows, *time, [time](bool has_own_date) {
        return time->is_soft ? 2.0 : has_own_date ? 3.0 : 4.0;
      });
    }
    if (needs.named_time) {
      signals["named_time_case"] =
          time_cases(*view_.columns, rows, *time, [time](bool) { return time->outside; });
    }
  }
  if (request_.surroundings) {
    const Surroundings& here = *request_.surroundings;
    if (here.project) {
      std::vector<double>& match = signals["project_match"];
      for (const std::uint32_t row : rows) {
        match.push_back(has_bit(*here.project, row) ? 1.0 : 0.0);
      }
    }
    if (!here.words.empty() && view_.texts != nullptr) {
      signals["tag_overlap"] = counted_in_lower_case(&count_tags, view_, rows, here.words);
      signals["content_match"] = counted_in_lower_case(&count_words, view_, rows, here.words);
    }
  }
  if (request_.questions) {
    const QuestionFeedback& given = *request_.questions;
    std::vector<double> numbers;
    numbers.reserve(rows.size());
    {
      const Columns::Reader reader(*view_.columns);
      const auto sequences = reader.values<Column::sequence>();
      for (const std::uint32_t row : rows) {
        numbers.push_back(sequences[row]);
      }
    }
    std::vector<double>& alike = signals["question_feedback"];
    std::vector<double>& bad = signals["unhelpful_for_questions"];
    alike.resize(rows.size());
    bad.resize(rows.size());
    given.verdicts->sum({request_.vector, given.words, given.least, attempt.baseline}, numbers,
                        alike, bad);
  }
  if (!request_.by_kind.empty()) {
    const Columns::Reader reader(*view_.columns);
    const auto kinds = reader.values<Column::kind>();
    for (const KindSignal& signal : request_.by_kind) {
      std::vector<double>& values = signals[signal.name];
      for (const std::uint32_t row : rows) {
        const std::size_t code = kinds[row];
        values.push_back(code < signal.values.size() ? signal.values[code] : signal.otherwise);
      }
    }
  }
  return signals;
}

}  // namespace oneiros::search
