// Text in, term numbers out: word breaks, lower case, identifiers, stop words, stems, folding.
#pragma once

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
inline constexpr TermId kUnknownTerm = 0xFFFFFFFF;  // of a word that no indexed text holds

// Stems of surface forms, in their order. Called without any lock held, from any thread.
using Stem = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

struct AnalyzerOptions {
  // Words to leave out, in any spelling that folds to theirs. What is not one word leaves out
  // nothing.
  std::vector<std::string> stop_words;
  bool identifiers = true;  // an identifier is a token whole, and its parts are tokens too
  // Of surface forms: what stop words and stems are told by. Terms are folded in full whatever it
  // is, after stemming.
  Folding folding = Folding::kFull;
  Stem stem;  // empty: surface forms are terms
};

// A word of the text. An identifier and its parts are occurrences of their own.
struct Occurrence {
  TermId term;
  std::uint32_t position;  // from 0, in text order; stop words leave gaps
};

struct AnalyzedText {
  std::vector<Occurrence> occurrences;  // by position
  std::size_t cut_token_count = 0;      // tokens longer than kMaxTokenBytes, cut to it
};

struct AnalyzedQuery {
  std::vector<TermId> terms;           // in text order, repeats kept
  std::size_t unknown_term_count = 0;  // distinct ones that no indexed text holds, left out
};

struct WordOccurrence {
  TermId term;  // or kUnknownTerm
  std::uint32_t position;
  bool is_part;  // of an identifier that is an occurrence too
};

struct AnalyzedWords {
  std::vector<WordOccurrence> occurrences;  // in text order, stop words left out
  std::vector<std::string> unknown;         // terms that no indexed text holds, once each
};

struct AnalyzedPrefix {
  AnalyzedWords words;     // whole ones before the prefix
  std::string prefix;      // folded in full; empty if nothing is to be continued
  bool is_phrase = false;  // of a script without spaces: there are words alone, side by side
};

// Thread-safe. The vocabulary only grows.
class Analyzer {
 public:
  static constexpr std::size_t kMaxTokenBytes = 256;

  explicit Analyzer(AnalyzerOptions options);
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // Terms of a text to be indexed; new ones enter the vocabulary. Any bytes are accepted.
  AnalyzedText analyze(std::string_view utf8);

  // Terms of a query in text order, repeats kept; words that no indexed text holds are left out.
  std::vector<TermId> analyze_query(std::string_view utf8) const;
  // The same, and how many were left out.
  AnalyzedQuery analyze_whole_query(std::string_view utf8) const;

  // The same with places, for phrases; unknown words too.
  AnalyzedWords analyze_words(std::string_view utf8) const;

  // A text whose last word may go on.
  AnalyzedPrefix analyze_prefix(std::string_view utf8) const;

  // Terms of the surfaces that begin with a prefix that analyze_prefix gave, in byte order of the
  // terms; at most `most`, and one more if there are more. The first call after the vocabulary has
  // grown sorts what is new.
  std::vector<TermId> terms_with_prefix(std::string_view prefix, std::size_t most) const;

  std::size_t vocabulary_size() const;  // terms
  std::string term(TermId id) const;    // REQUIRES: id < vocabulary_size()
  std::size_t resident_bytes() const;   // an estimate, for reports

  // Puts the vocabulary of this moment into a snapshot.
  void write(SnapshotWriter& snapshot) const;
  // Takes over the vocabulary of an analyzer of the same options. Throws SnapshotDamaged where it
  // makes no sense, std::invalid_argument if this one has learnt terms already; it is then as it
  // was.
  void read(const SnapshotReader& snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oneiros
