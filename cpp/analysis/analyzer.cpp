// The analyzer's two-phase use of the vocabulary.
//
// Texts are broken into tokens and looked up under a shared lock. Only if a text has unknown
// surfaces are their stems computed, without a lock, and then added under an exclusive one. In
// steady state, when nearly all words are known, analysing threads do not contend. The prefix index
// is built when it is first needed and extended by the surfaces learnt since.
#include "analysis/analyzer.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/broken_text.h"
#include "analysis/character_class.h"
#include "analysis/new_surfaces.h"
#include "analysis/prefix.h"
#include "analysis/slips.h"
#include "analysis/surface_index.h"
#include "analysis/utf8.h"
#include "analysis/vocabulary.h"
#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

namespace {

// The place of each unknown surface's term among the unknown terms.
using UnknownPlaces = std::unordered_map<std::string, std::uint32_t>;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

// The end of a character of a script without spaces and the marks behind it; `at` if there is none.
std::size_t unspaced_end(std::string_view term, std::size_t at) {
  for (CharacterClass wanted = CharacterClass::kUnspaced; at < term.size();
       wanted = CharacterClass::kMark) {
    const Decoded read = decode_utf8(term, at);
    if (character_record(character_tables.folded, read.code_point).kind != wanted) {
      break;
    }
    at += read.length;
  }
  return at;
}

using Terms = std::unordered_set<std::string, TextHash, std::equal_to<>>;

bool has_unknown(const std::vector<TermId>& terms) {
  return std::find(terms.begin(), terms.end(), kUnknownTerm) != terms.end();
}

}  // namespace

struct Analyzer::State {
  explicit State(AnalyzerOptions given) : options(std::move(given)) {
    for (const std::string& word : options.stop_words) {
      const BrokenText broken(word, options, Breaking::kQuery);
      if (broken.list().tokens().size() == 1) {
        vocabulary.add_stop_word(broken.list().surface(0));
      }
    }
    collect_terms(options.function_words, function_terms);
    collect_terms(options.known_words, known_terms);
  }

  // Adds the terms of words that are single ones, all stemmed in one call.
  void collect_terms(const std::vector<std::string>& words, Terms& terms) const {
    std::string single;
    for (const std::string& word : words) {
      const BrokenText broken(word, options, Breaking::kQuery);
      if (broken.list().tokens().size() == 1) {
        single.append(word).push_back('\n');
      }
    }
    BrokenText text(single, options, Breaking::kQuery);
    look_up(text);
    const NewSurfaces fresh(text.list(), text.terms());
    for (std::string& term : fresh.spellings(options)) {
      terms.insert(std::move(term));
    }
  }

  // The terms of the tokens, kUnknown for new surfaces.
  void look_up(BrokenText& text) const {
    const std::shared_lock lock(mutex);
    vocabulary.of_surfaces([&text](std::size_t i) { return text.list().surface(i); }, text.terms());
  }

  // Adds the unknown surfaces to the vocabulary. Stems are requested without the lock; if another
  // thread learns a surface meanwhile, its assignment is kept.
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

  // The same without learning: surfaces whose term is unknown stay unknown. Returns those terms,
  // distinct, in order of appearance, and writes the place of each surface's term among them.
  std::vector<std::string> find_by_stem(BrokenText& text, UnknownPlaces* places) const {
    const NewSurfaces fresh(text.list(), text.terms());
    std::vector<std::string> spellings = fresh.spellings(options);
    std::vector<TermId> numbers(fresh.size());
    {
      const std::shared_lock lock(mutex);
      std::transform(spellings.begin(), spellings.end(), numbers.begin(),
                     [this](const std::string& term) { return vocabulary.of_term(term); });
    }
    fresh.fill_in(numbers, text.terms());
    std::vector<std::string> unknown;
    std::unordered_map<std::string, std::uint32_t> seen;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (numbers[i] == Vocabulary::kUnknown) {
        const auto [place, is_new] =
            seen.try_emplace(spellings[i], static_cast<std::uint32_t>(unknown.size()));
        if (is_new) {
          unknown.push_back(spellings[i]);
        }
        if (places != nullptr) {
          places->emplace(fresh.surface(i), place->second);
        }
      }
    }
    return unknown;
  }

  // The terms of a query's tokens. Returns the unknown ones, and writes their places by surface.
  std::vector<std::string> find(BrokenText& text, UnknownPlaces* places = nullptr) const {
    look_up(text);
    return has_unknown(text.terms()) ? find_by_stem(text, places) : std::vector<std::string>{};
  }

  // Marks the occurrences that are function words. REQUIRES: terms of this vocabulary.
  void mark(AnalyzedWords& words) const {
    if (function_terms.empty()) {
      return;
    }
    const std::shared_lock lock(mutex);
    for (WordOccurrence& word : words.occurrences) {
      word.is_function_word =
          word.term == kUnknownTerm
              ? function_terms.contains(std::string_view(words.unknown[word.unknown]))
              : function_terms.contains(vocabulary.term(word.term));
    }
  }

  // The terms of words that are no literals, kUnknown and kStopWord among them; nothing is learnt.
  std::vector<TermId> terms_of(const std::vector<std::string>& words) const {
    std::vector<TermId> terms(words.size());
    std::vector<std::string> unknown;
    {
      const std::shared_lock lock(mutex);
      vocabulary.of_surfaces([&words](std::size_t i) { return std::string_view(words[i]); }, terms);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (terms[i] == Vocabulary::kUnknown) {
        unknown.push_back(words[i]);
      }
    }
    std::vector<std::string> spellings = stems_of(unknown, options.stem);
    fold_in_full(spellings, options.folding);
    auto next = spellings.begin();
    const std::shared_lock lock(mutex);
    for (TermId& term : terms) {
      if (term == Vocabulary::kUnknown) {
        term = vocabulary.of_term(*next++);
      }
    }
    return terms;
  }

  // The terms of the words, distinct, each with the first of its words, in byte order.
  std::vector<NearTerm> distinct(std::span<std::string> words,
                                 std::span<const TermId> terms) const {
    std::vector<std::pair<std::string_view, NearTerm>> found;
    const std::shared_lock lock(mutex);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (terms[i] == Vocabulary::kUnknown || terms[i] == Vocabulary::kStopWord) {
        continue;
      }
      const std::string_view spelling = vocabulary.term(terms[i]);
      if (!function_terms.contains(spelling)) {
        found.emplace_back(spelling, NearTerm{terms[i], std::move(words[i])});
      }
    }
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
    std::vector<NearTerm> near;
    for (auto& [spelling, one] : found) {
      if (near.empty() || near.back().term != one.term) {
        near.push_back(std::move(one));
      }
    }
    return near;
  }

  // True if every surface of the vocabulary is in `surfaces`. REQUIRES: surfaces_mutex is held.
  bool has_all_surfaces() const {
    const std::shared_lock lock(mutex);
    return surfaces.size() == vocabulary.surface_count();
  }

  // REQUIRES: surfaces_mutex is held exclusively.
  void add_surfaces() const {
    std::vector<SurfaceIndex::Entry> entries;
    {
      const std::shared_lock lock(mutex);
      for (std::size_t i = surfaces.size(); i < vocabulary.surface_count(); ++i) {
        entries.push_back({vocabulary.surface(i), vocabulary.term_of(i)});
      }
    }
    if (options.folding != Folding::kFull) {
      FoldedText folded;
      for (SurfaceIndex::Entry& entry : entries) {
        folded.assign(entry.spelling);
        if (folded.slice(0, folded.size()) != entry.spelling) {
          entry.spelling = folded_surfaces.emplace_back(folded.slice(0, folded.size()));
        }
      }
    }
    surfaces.add(std::move(entries));
  }

  const AnalyzerOptions options;
  Terms function_terms;
  Terms known_terms;
  mutable ForkSafeSharedMutex mutex;  // guards vocabulary
  Vocabulary vocabulary;
  mutable ForkSafeSharedMutex surfaces_mutex;  // guards the members below; locked before `mutex`
  mutable SurfaceIndex surfaces;               // of the vocabulary, folded in full
  mutable std::deque<std::string>
      folded_surfaces;  // foldings that differ from the vocabulary's spelling
};

Analyzer::Analyzer(AnalyzerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Analyzer::~Analyzer() = default;

AnalyzedText Analyzer::analyze(std::string_view utf8) {
  BrokenText text(utf8, state_->options, Breaking::kText);
  state_->look_up(text);
  if (has_unknown(text.terms())) {
    state_->learn(text);
  }
  AnalyzedText analyzed;
  analyzed.cut_token_count = text.list().cut_count();
  analyzed.occurrences.reserve(text.terms().size());
  for (std::size_t i = 0; i < text.terms().size(); ++i) {
    if (text.terms()[i] != Vocabulary::kStopWord) {
      const Token& token = text.list().tokens()[i];
      analyzed.occurrences.push_back({text.terms()[i], token.position, token.is_single});
    }
  }
  return analyzed;
}

void Analyzer::learn_terms(std::span<const std::string> terms) {
  const std::unique_lock lock(state_->mutex);
  for (const std::string& term : terms) {
    state_->vocabulary.learn_term(term);
  }
}

std::vector<TermId> Analyzer::analyze_query(std::string_view utf8) const {
  return analyze_whole_query(utf8).terms;
}

AnalyzedQuery Analyzer::analyze_whole_query(std::string_view utf8) const {
  BrokenText text(utf8, state_->options, Breaking::kQuery);
  AnalyzedQuery query;
  query.unknown_term_count = state_->find(text).size();
  query.terms.reserve(text.terms().size());
  std::copy_if(
      text.terms().begin(), text.terms().end(), std::back_inserter(query.terms),
      [](TermId term) { return term != Vocabulary::kStopWord && term != Vocabulary::kUnknown; });
  return query;
}

AnalyzedWords Analyzer::analyze_words(std::string_view utf8) const {
  BrokenText text(utf8, state_->options, Breaking::kQuery);
  AnalyzedWords words;
  UnknownPlaces places;
  words.unknown = state_->find(text, &places);
  std::size_t whole_begin = 0;
  std::size_t whole_end = 0;
  const std::vector<Token>& tokens = text.list().tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t begin = tokens[i].begin;
    const std::size_t end = begin + tokens[i].length;
    const bool is_part = begin >= whole_begin && end <= whole_end;
    if (!is_part) {
      whole_begin = begin;
      whole_end = end;
    }
    if (text.terms()[i] != Vocabulary::kStopWord) {
      WordOccurrence& word =
          words.occurrences.emplace_back(text.terms()[i], tokens[i].position, is_part);
      if (word.term == kUnknownTerm) {
        word.unknown = places.at(std::string(text.list().surface(i)));
      }
    }
  }
  state_->mark(words);
  return words;
}

std::vector<SlippedWord> Analyzer::slipped_words(std::string_view utf8,
                                                 std::span<const TermId> missing) const {
  std::vector<SlippedWord> slipped;
  std::vector<std::string> others;  // of all of them, so that they are stemmed in one call
  std::vector<std::size_t> ends;    // of those of each word
  {
    BrokenText text(utf8, state_->options, Breaking::kQuery);
    UnknownPlaces places;
    const std::vector<std::string> unknown = state_->find(text, &places);
    const std::shared_lock lock(state_->mutex);
    for (std::size_t i = 0; i < text.terms().size() && slipped.size() < kMostSlippedWords; ++i) {
      const TermId term = text.terms()[i];
      const bool is_missing =
          term == kUnknownTerm || std::ranges::find(missing, term) != missing.end();
      if (!is_missing || text.list().tokens()[i].is_literal) {
        continue;
      }
      std::string word(text.list().surface(i));
      std::string spelling = term == kUnknownTerm ? unknown[places.at(word)]
                                                  : std::string(state_->vocabulary.term(term));
      if (state_->function_terms.contains(spelling) || state_->known_terms.contains(spelling) ||
          std::ranges::find(slipped, spelling, &SlippedWord::spelling) != slipped.end()) {
        continue;
      }
      if (std::vector<std::string> made = one_slip_away(word); !made.empty()) {
        slipped.push_back({std::move(word), term, std::move(spelling), {}});
        std::ranges::move(made, std::back_inserter(others));
        ends.push_back(others.size());
      }
    }
  }
  const std::vector<TermId> terms = state_->terms_of(others);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < slipped.size(); ++i) {
    const std::size_t count = ends[i] - begin;
    slipped[i].near = state_->distinct(std::span(others).subspan(begin, count),
                                       std::span(terms).subspan(begin, count));
    begin = ends[i];
  }
  std::erase_if(slipped, [](const SlippedWord& word) { return word.near.empty(); });
  return slipped;
}

AnalyzedPrefix Analyzer::analyze_prefix(std::string_view utf8) const {
  FoldedText text;
  text.assign(utf8, state_->options.folding);
  const PrefixPlace place = prefix_of(text, state_->options.identifiers);
  if (place.is_phrase) {
    return {analyze_words(utf8), {}, true};
  }
  AnalyzedPrefix analyzed;
  analyzed.words = analyze_words(text.slice(0, place.begin));
  FoldedText folded;
  folded.assign(text.slice(place.begin, text.size()));
  analyzed.prefix = folded.slice(0, folded.size());
  return analyzed;
}

std::vector<TermId> Analyzer::terms_with_prefix(std::string_view prefix, std::size_t most) const {
  const State& state = *state_;
  std::unordered_set<TermId> found;
  std::shared_lock shared(state.surfaces_mutex);
  if (state.has_all_surfaces()) {
    found = state.surfaces.terms_with_prefix(prefix, most);
  } else {
    shared.unlock();
    const std::unique_lock alone(state.surfaces_mutex);
    state.add_surfaces();
    found = state.surfaces.terms_with_prefix(prefix, most);
  }
  std::vector<TermId> terms(found.begin(), found.end());
  const std::shared_lock lock(state.mutex);
  std::sort(terms.begin(), terms.end(), [&state](TermId a, TermId b) {
    return state.vocabulary.term(a) < state.vocabulary.term(b);
  });
  return terms;
}

std::vector<std::array<TermId, 2>> Analyzer::singles_of(std::span<const TermId> terms) const {
  std::vector<std::array<TermId, 2>> singles(terms.size(), {kUnknownTerm, kUnknownTerm});
  const std::shared_lock lock(state_->mutex);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::string_view term = state_->vocabulary.term(terms[i]);
    const std::size_t middle = unspaced_end(term, 0);
    if (middle > 0 && middle < term.size() && unspaced_end(term, middle) == term.size()) {
      singles[i] = {state_->vocabulary.of_term(term.substr(0, middle)),
                    state_->vocabulary.of_term(term.substr(middle))};
    }
  }
  return singles;
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

TermId Analyzer::find_term(std::string_view term) const {
  const std::shared_lock lock(state_->mutex);
  return state_->vocabulary.of_term(term);
}

void Analyzer::write(SnapshotWriter& snapshot) const {
  Vocabulary::Image image;
  {
    const std::shared_lock lock(state_->mutex);
    image = state_->vocabulary.image();
  }
  Vocabulary::write(image, snapshot);
}

void Analyzer::read(const SnapshotReader& snapshot) {
  Vocabulary vocabulary = Vocabulary::read(snapshot);
  const std::unique_lock lock(state_->mutex);
  if (state_->vocabulary.term_count() != 0) {
    throw std::invalid_argument("analyzer: must not have met a text yet");
  }
  state_->vocabulary = std::move(vocabulary);
}

std::size_t Analyzer::resident_bytes() const {
  const std::shared_lock surfaces(state_->surfaces_mutex);
  const std::shared_lock lock(state_->mutex);
  return sizeof(State) + state_->vocabulary.resident_bytes() + state_->surfaces.resident_bytes();
}

}  // namespace oneiros
