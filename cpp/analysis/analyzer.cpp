#include "analysis/analyzer.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

#include "analysis/folded_text.h"
#include "analysis/stop_words.h"
#include "analysis/string_table.h"
#include "analysis/tokens.h"
#include "analysis/vocabulary.h"
#include "analysis/word_breaks.h"

namespace oneiros {
namespace {

// The words of one text. Made anew for every text: analysis may be entered again from Stem.
class BrokenText {
 public:
  BrokenText(std::string_view utf8, bool identifiers) : tokens_(text_) {
    text_.assign(utf8);
    break_words(text_, identifiers, tokens_);
  }
  const TokenList& list() const { return tokens_; }

 private:
  FoldedText text_;
  TokenList tokens_;
};

// Surfaces without a term as yet, each once, and the terms that stemming gives them.
class NewSurfaces {
 public:
  // Returns the number of the surface among the new ones.
  std::uint32_t add(std::string_view surface, bool is_literal) {
    const std::uint32_t number = surfaces_.insert(surface);
    if (number == is_literal_.size()) {
      is_literal_.push_back(is_literal);
    }
    return number;
  }

  bool empty() const { return is_literal_.empty(); }
  std::size_t size() const { return is_literal_.size(); }
  std::string_view surface(std::uint32_t number) const { return surfaces_.at(number); }
  const std::string& term(std::uint32_t number) const { return terms_[number]; }

  // Throws std::invalid_argument if there is not one stem for each surface.
  void find_terms(const Stem& stem) {
    terms_.clear();
    std::vector<std::string> asked;
    for (std::uint32_t number = 0; number < size(); ++number) {
      terms_.emplace_back(surface(number));
      if (stem && !is_literal_[number]) {
        asked.emplace_back(surface(number));
      }
    }
    if (!asked.empty()) {
      take_stems(stem(asked), asked.size());
    }
  }

 private:
  void take_stems(std::vector<std::string> stems, std::size_t asked_count) {
    if (stems.size() != asked_count) {
      throw std::invalid_argument("stem: must return one stem for each word, got " +
                                  std::to_string(stems.size()) + " for " +
                                  std::to_string(asked_count));
    }
    auto next = stems.begin();
    for (std::uint32_t number = 0; number < size(); ++number) {
      if (!is_literal_[number]) {
        if (!next->empty()) {  // a word whose stem is nothing stays itself
          terms_[number] = std::move(*next);
        }
        ++next;
      }
    }
  }

  StringTable surfaces_;
  std::vector<bool> is_literal_;
  std::vector<std::string> terms_;
};

}  // namespace

struct Analyzer::State {
  explicit State(AnalyzerOptions given)
      : options(std::move(given)),
        vocabulary(options.stop_words ? english_stop_words()
                                      : std::span<const std::string_view>{}) {}

  // Adds what is known of the tokens' terms to `terms`, kUnknown where nothing is.
  void look_up(const TokenList& list, std::vector<TermId>& terms) const {
    terms.resize(list.tokens().size());
    const std::shared_lock lock(mutex);
    vocabulary.of_surfaces(
        terms.size(), [&](std::size_t i) { return list.surface(i); },
        [&](std::size_t i, TermId term) { terms[i] = term; });
  }

  // Fills in the terms that are unknown: stems are asked for without the lock.
  void learn(const TokenList& list, std::vector<TermId>& terms) {
    NewSurfaces fresh;
    std::vector<std::pair<std::size_t, std::uint32_t>> gaps;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i] == Vocabulary::kUnknown) {
        gaps.emplace_back(i, fresh.add(list.surface(i), list.tokens()[i].is_literal));
      }
    }
    if (fresh.empty()) {
      return;
    }
    fresh.find_terms(options.stem);
    std::vector<TermId> learnt(fresh.size());
    {
      const std::unique_lock lock(mutex);
      for (std::uint32_t number = 0; number < fresh.size(); ++number) {
        learnt[number] = vocabulary.learn(fresh.surface(number), fresh.term(number));
      }
    }
    for (const auto& [i, number] : gaps) {
      terms[i] = learnt[number];
    }
  }

  // The same without learning: what no term is spelt like stays unknown. Returns how many distinct
  // terms do.
  std::size_t find_stemmed(const TokenList& list, std::vector<TermId>& terms) const {
    NewSurfaces fresh;
    std::vector<std::pair<std::size_t, std::uint32_t>> gaps;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i] == Vocabulary::kUnknown) {
        gaps.emplace_back(i, fresh.add(list.surface(i), list.tokens()[i].is_literal));
      }
    }
    if (fresh.empty()) {
      return 0;
    }
    fresh.find_terms(options.stem);
    StringTable unknown;
    std::size_t unknown_count = 0;
    const std::shared_lock lock(mutex);
    for (const auto& [i, number] : gaps) {
      terms[i] = vocabulary.of_term(fresh.term(number));
      if (terms[i] == Vocabulary::kUnknown) {
        unknown_count =
            std::max<std::size_t>(unknown_count, unknown.insert(fresh.term(number)) + 1);
      }
    }
    return unknown_count;
  }

  const AnalyzerOptions options;
  mutable std::shared_mutex mutex;  // guards vocabulary
  Vocabulary vocabulary;
};

Analyzer::Analyzer(AnalyzerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Analyzer::~Analyzer() = default;

AnalyzedText Analyzer::analyze(std::string_view utf8) {
  const BrokenText broken(utf8, state_->options.identifiers);
  const TokenList& list = broken.list();
  std::vector<TermId> terms;
  state_->look_up(list, terms);
  state_->learn(list, terms);
  AnalyzedText analyzed;
  analyzed.cut_token_count = list.cut_count();
  analyzed.occurrences.reserve(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i] != Vocabulary::kStopWord) {
      analyzed.occurrences.push_back({terms[i], list.tokens()[i].position});
    }
  }
  return analyzed;
}

std::vector<TermId> Analyzer::analyze_query(std::string_view utf8) const {
  return analyze_whole_query(utf8).terms;
}

AnalyzedQuery Analyzer::analyze_whole_query(std::string_view utf8) const {
  const BrokenText broken(utf8, state_->options.identifiers);
  AnalyzedQuery query;
  state_->look_up(broken.list(), query.terms);
  query.unknown_term_count = state_->find_stemmed(broken.list(), query.terms);
  std::erase_if(query.terms, [](TermId term) {
    return term == Vocabulary::kStopWord || term == Vocabulary::kUnknown;
  });
  return query;
}

std::size_t Analyzer::vocabulary_size() const {
  const std::shared_lock lock(state_->mutex);
  return state_->vocabulary.term_count();
}

std::string Analyzer::term(TermId id) const {
  const std::shared_lock lock(state_->mutex);
  return std::string(state_->vocabulary.term(id));
}

std::size_t Analyzer::resident_bytes() const {
  const std::shared_lock lock(state_->mutex);
  return sizeof(State) + state_->vocabulary.resident_bytes();
}

}  // namespace oneiros
