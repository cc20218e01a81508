// The analyzer: text to term numbers, by word breaks, lower case, identifiers, stop words, stems
// and folding. Texts and queries have the same words, but that a text of a script without spaces
// also has the single characters of its pairs (word_breaks.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/folded_text.h"

namespace oneiros {

class SnapshotReader;
class SnapshotWriter;

using TermId = std::uint32_t;
// Raised when the rules by which texts become terms change, so that an index made before is not
// read: queries would look for terms that it does not have.
inline constexpr int kAnalysisVersion = 2;
inline constexpr TermId kUnknownTerm = 0xFFFFFFFF;  // a word that no indexed text contains

// Stems of surface forms, in the same order. Called without any lock held, from any thread.
using Stem = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

// The settings of an analyzer. Indexing and querying must use equal settings.
struct AnalyzerOptions {
  // Words to omit, in any spelling that folds to theirs. Entries that are not a single word have no
  // effect.
  std::vector<std::string> stop_words;
  bool identifiers = true;  // identifiers become a token as a whole, and one per part
  // The folding of surface forms, which stop words and stemmers see. Terms are folded in full in
  // any case, after stemming.
  Folding folding = Folding::kFull;
  Stem stem;  // empty: surface forms are terms
  // Words that say little of what a query is about, such as "what" or "did". They are indexed and
  // found as all others; analyze_words() marks their terms. Entries that are not a single word have
  // no effect.
  std::vector<std::string> function_words = {};
  // Words that are spelt right, whether texts hold them or not: slipped_words() leaves them out.
  // Entries that are not a single word have no effect.
  std::vector<std::string> known_words = {};
};

// A word of the text. An identifier and its parts are separate occurrences.
struct Occurrence {
  TermId term;
  std::uint32_t position;  // from 0, in text order; stop words leave gaps
  bool is_single = false;  // a character within a pair: it adds nothing to the text's length
};

// The result of analyze().
struct AnalyzedText {
  std::vector<Occurrence> occurrences;  // by position
  std::size_t cut_token_count = 0;      // tokens longer than kMaxTokenBytes, which were cut
};

// The terms of a query that the vocabulary contains.
struct AnalyzedQuery {
  std::vector<TermId> terms;           // in text order, with repetitions
  std::size_t unknown_term_count = 0;  // distinct unknown terms, omitted
};

// A word of a query, known or unknown.
struct WordOccurrence {
  TermId term;  // or kUnknownTerm
  std::uint32_t position;
  bool is_part;  // of an identifier that is an occurrence itself
  bool is_function_word = false;
  std::uint32_t unknown = 0;  // of an unknown term: its place in AnalyzedWords::unknown
};

// The words of a query with their positions, for phrases.
struct AnalyzedWords {
  std::vector<WordOccurrence> occurrences;  // in text order, without stop words
  std::vector<std::string> unknown;         // terms that no indexed text contains, distinct, as met
};

// A term that the vocabulary has, and the word one slip away from another that it is the term of.
struct NearTerm {
  TermId term;
  std::string word;
};

// A word of a query, and the terms that it may have been meant for.
struct SlippedWord {
  std::string word;            // as in the query, folded
  TermId term;                 // or kUnknownTerm
  std::string spelling;        // of its term
  std::vector<NearTerm> near;  // distinct, in byte order of their spelling; never empty
};

// A query text split into complete words and a prefix.
struct AnalyzedPrefix {
  AnalyzedWords words;     // complete words before the prefix
  std::string prefix;      // folded in full; empty if the text ends with a complete word
  bool is_phrase = false;  // of a script without spaces: only words, adjacent to each other
};

// Thread-safe: any number of threads may analyze and query. The vocabulary only grows. Costs are
// linear in the text; a surface form is stemmed once.
class Analyzer {
 public:
  static constexpr std::size_t kMaxTokenBytes = 256;

  // Copies the options.
  explicit Analyzer(AnalyzerOptions options);
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // Analyses a text to be indexed; new terms enter the vocabulary. Accepts any bytes. Throws what
  // `stem` throws, with the vocabulary then possibly grown.
  AnalyzedText analyze(std::string_view utf8);

  // Adds terms, as term() returns them, that no text here has shown: queries then know them. No
  // surface form leads to them, so that no prefix finds them.
  void learn_terms(std::span<const std::string> terms);

  // The terms of a query in text order with repetitions; unknown words are omitted.
  std::vector<TermId> analyze_query(std::string_view utf8) const;
  // The same, with the number of omitted words.
  AnalyzedQuery analyze_whole_query(std::string_view utf8) const;

  // The same with positions, for phrases; includes unknown words.
  AnalyzedWords analyze_words(std::string_view utf8) const;

  // Of the words of a query that are unknown or whose term is one of `missing`, in text order:
  // those of which one slip of the hand makes others that the vocabulary has the terms of
  // (slips.h). Only words of letters, and neither function words, known words nor stop words; at
  // most kMostSlippedWords are looked at. Whether a term is near does not depend on other terms.
  // Cost: some 300 stems for a word of nine letters.
  static constexpr std::size_t kMostSlippedWords = 8;
  std::vector<SlippedWord> slipped_words(std::string_view utf8,
                                         std::span<const TermId> missing) const;

  // Analyses a text whose last word is a prefix.
  AnalyzedPrefix analyze_prefix(std::string_view utf8) const;

  // The terms of surface forms that start with a prefix from analyze_prefix(), in byte order; at
  // most `most`, plus one if there are more. The first call after the vocabulary has grown sorts
  // the new entries.
  std::vector<TermId> terms_with_prefix(std::string_view prefix, std::size_t most) const;

  // Of each term that is a pair of characters of a script without spaces, the terms of the two;
  // kUnknownTerm twice of any other.
  std::vector<std::array<TermId, 2>> singles_of(std::span<const TermId> terms) const;

  std::size_t vocabulary_size() const;            // number of terms
  std::string term(TermId id) const;              // REQUIRES: id < vocabulary_size()
  TermId find_term(std::string_view term) const;  // or kUnknownTerm
  std::size_t resident_bytes() const;             // an estimate

  // Writes the current vocabulary to a snapshot.
  void write(SnapshotWriter& snapshot) const;
  // Loads the vocabulary of an analyzer with equal options. Throws SnapshotDamaged if it is
  // inconsistent, std::invalid_argument if this analyzer has learnt terms already; it is unchanged
  // then.
  void read(const SnapshotReader& snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oneiros
