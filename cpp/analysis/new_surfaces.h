// The surface forms of one text that have no term yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/string_table.h"
#include "analysis/tokens.h"

namespace oneiros {

// The stem of each word; the word itself where there is no stemmer or its stem is empty. All are
// requested in one call. Throws std::invalid_argument if the stemmer returns a different number.
std::vector<std::string> stems_of(const std::vector<std::string>& words, const Stem& stem);

// Folds terms in full, if the analyzer's surfaces are not.
void fold_in_full(std::vector<std::string>& terms, Folding of_surfaces);

// Distinct, in order of appearance. Refers to `list`, which must outlive it.
class NewSurfaces {
 public:
  // Collects the tokens whose term is Vocabulary::kUnknown.
  NewSurfaces(const TokenList& list, std::span<const TermId> terms);

  bool empty() const { return gaps_.empty(); }
  std::size_t size() const { return is_literal_.size(); }
  std::string_view surface(std::size_t i) const {
    return surfaces_.at(static_cast<std::uint32_t>(i));
  }

  // The term of each surface, folded in full: the surface itself if it is literal, if there is no
  // stemmer or if the stem is empty; otherwise its stem. Throws as stems_of().
  std::vector<std::string> spellings(const AnalyzerOptions& options) const;

  // Sets the missing terms: numbers[i] is the term of surface(i). REQUIRES: one number per surface,
  // and the terms passed to the constructor.
  void fill_in(std::span<const TermId> numbers, std::span<TermId> terms) const;

 private:
  struct Gap {
    std::size_t token;
    std::uint32_t surface;
  };

  StringTable surfaces_;
  std::vector<bool> is_literal_;
  std::vector<Gap> gaps_;
};

}  // namespace oneiros
