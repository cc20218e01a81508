// Collection of unknown surfaces. A text's repeated new words are stemmed once; all stems are
// requested in one call, since a call into Python costs more than a stem.
#include "analysis/new_surfaces.h"

#include <stdexcept>
#include <utility>

#include "analysis/vocabulary.h"

namespace oneiros {

std::vector<std::string> stems_of(const std::vector<std::string>& words, const Stem& stem) {
  if (!stem || words.empty()) {
    return words;
  }
  std::vector<std::string> stems = stem(words);
  if (stems.size() != words.size()) {
    throw std::invalid_argument("stem: must return one stem for each word, got " +
                                std::to_string(stems.size()) + " for " +
                                std::to_string(words.size()));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (stems[i].empty()) {
      stems[i] = words[i];
    }
  }
  return stems;
}

void fold_in_full(std::vector<std::string>& terms, Folding of_surfaces) {
  if (of_surfaces == Folding::kFull) {
    return;
  }
  FoldedText folded;
  for (std::string& term : terms) {
    folded.assign(term);
    term = folded.slice(0, folded.size());
  }
}

NewSurfaces::NewSurfaces(const TokenList& list, std::span<const TermId> terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i] != Vocabulary::kUnknown) {
      continue;
    }
    const std::uint32_t surface = surfaces_.insert(list.surface(i));
    if (surface == is_literal_.size()) {
      is_literal_.push_back(list.tokens()[i].is_literal);
    }
    gaps_.push_back({i, surface});
  }
}

std::vector<std::string> NewSurfaces::spellings(const AnalyzerOptions& options) const {
  std::vector<std::string> words;
  std::vector<std::string> spellings;
  spellings.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    spellings.emplace_back(surface(i));
    if (!is_literal_[i]) {
      words.emplace_back(surface(i));
    }
  }
  if (options.stem) {
    std::vector<std::string> stems = stems_of(words, options.stem);
    auto next = stems.begin();
    for (std::size_t i = 0; i < size(); ++i) {
      if (!is_literal_[i]) {
        spellings[i] = std::move(*next++);
      }
    }
  }
  fold_in_full(spellings, options.folding);
  return spellings;
}

void NewSurfaces::fill_in(std::span<const TermId> numbers, std::span<TermId> terms) const {
  for (const Gap& gap : gaps_) {
    terms[gap.token] = numbers[gap.surface];
  }
}

}  // namespace oneiros
