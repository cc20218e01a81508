#include "analysis/analyzer.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <unordered_set>
#include <utility>

#include "analysis/broken_text.h"
#include "analysis/new_surfaces.h"
#include "analysis/vocabulary.h"
#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

struct Analyzer::State {
  explicit State(AnalyzerOptions given) : options(std::move(given)) {
    for (const std::string& word : options.stop_words) {
      const BrokenText broken(word, options);
      if (broken.list().tokens().size() == 1) {
        vocabulary.add_stop_word(broken.list().surface(0));
      }
    }
  }

  // Terms of the tokens, kUnknown for surfaces not met before.
  void look_up(BrokenText& text) const {
    const std::shared_lock lock(mutex);
    vocabulary.of_surfaces([&text](std::size_t i) { return text.list().surface(i); }, text.terms());
  }

  // Makes the unknown surfaces known. Stems are asked for without the lock; should another thread
  // learn a surface meanwhile, its answer stays.
  void learn(BrokenText& text) {
    const NewSurfaces fresh(text.list(), text.terms());
    const std::vector<std::string> spellings = fresh.spellings(options);
    std::vector<TermId> numbers(fresh.size());
    {
      const std::unique_lock lock(mutex);
      for (std::size_t i = 0; i < fresh.size(); ++i) {
        numbers[i] = vocabulary.learn(fresh.surface(i), spellings[i]);
      }
    }
    fresh.fill_in(numbers, text.terms());
  }

  // The same without learning: what no term is spelt like stays unknown. Returns how many distinct
  // terms that is.
  std::size_t find_by_stem(BrokenText& text) const {
    const NewSurfaces fresh(text.list(), text.terms());
    const std::vector<std::string> spellings = fresh.spellings(options);
    std::vector<TermId> numbers(fresh.size());
    {
      const std::shared_lock lock(mutex);
      std::transform(spellings.begin(), spellings.end(), numbers.begin(),
                     [this](const std::string& term) { return vocabulary.of_term(term); });
    }
    fresh.fill_in(numbers, text.terms());
    std::unordered_set<std::string_view> unknown;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (numbers[i] == Vocabulary::kUnknown) {
        unknown.insert(spellings[i]);
      }
    }
    return unknown.size();
  }

  const AnalyzerOptions options;
  mutable ForkSafeSharedMutex mutex;  // guards vocabulary
  Vocabulary vocabulary;
};

namespace {

bool has_unknown(const std::vector<TermId>& terms) {
  return std::find(terms.begin(), terms.end(), Vocabulary::kUnknown) != terms.end();
}

}  // namespace

Analyzer::Analyzer(AnalyzerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Analyzer::~Analyzer() = default;

AnalyzedText Analyzer::analyze(std::string_view utf8) {
  BrokenText text(utf8, state_->options);
  state_->look_up(text);
  if (has_unknown(text.terms())) {
    state_->learn(text);
  }
  AnalyzedText analyzed;
  analyzed.cut_token_count = text.list().cut_count();
  analyzed.occurrences.reserve(text.terms().size());
  for (std::size_t i = 0; i < text.terms().size(); ++i) {
    if (text.terms()[i] != Vocabulary::kStopWord) {
      analyzed.occurrences.push_back({text.terms()[i], text.list().tokens()[i].position});
    }
  }
  return analyzed;
}

std::vector<TermId> Analyzer::analyze_query(std::string_view utf8) const {
  return analyze_whole_query(utf8).terms;
}

AnalyzedQuery Analyzer::analyze_whole_query(std::string_view utf8) const {
  BrokenText text(utf8, state_->options);
  state_->look_up(text);
  AnalyzedQuery query;
  if (has_unknown(text.terms())) {
    query.unknown_term_count = state_->find_by_stem(text);
  }
  query.terms.reserve(text.terms().size());
  std::copy_if(
      text.terms().begin(), text.terms().end(), std::back_inserter(query.terms),
      [](TermId term) { return term != Vocabulary::kStopWord && term != Vocabulary::kUnknown; });
  return query;
}

std::size_t Analyzer::vocabulary_size() const {
  const std::shared_lock lock(state_->mutex);
  return state_->vocabulary.term_count();
}

std::string Analyzer::term(TermId id) const {
  const std::shared_lock lock(state_->mutex);
  assert(id < state_->vocabulary.term_count());
  return std::string(state_->vocabulary.term(id));
}

std::size_t Analyzer::resident_bytes() const {
  const std::shared_lock lock(state_->mutex);
  return sizeof(State) + state_->vocabulary.resident_bytes();
}

}  // namespace oneiros
