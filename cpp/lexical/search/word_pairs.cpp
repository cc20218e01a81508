// One pass over the occurrences of each document, which remembers where each word of the query
// stood last. Those of documents ahead are prefetched, since each lies somewhere else: to wait for
// them took half of the time. Weights are added in the order of the pairs, so that the bits of a
// score do not depend on the text's order.
#include "lexical/search/word_pairs.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lexical/postings/occurrence_bytes.h"
#include "lexical/search/document_scores.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// Words of a query between which a pair may span.
constexpr std::size_t kNextWords = 2;
constexpr std::size_t kDocumentsBetweenPauses = 256;
// Documents between what is prefetched and what is read.
constexpr std::size_t kDocumentsAhead = 8;
// With more terms, documents are read without looking up which of them they have.
constexpr std::size_t kFewTerms = 16;

// The pairs that a document has.
class PairFinder {
 public:
  PairFinder(const WordPairs& pairs, std::uint32_t window) : pairs_(pairs.pairs), window_(window) {
    for (const WordPair& pair : pairs_) {
      terms_.push_back(pair.first);
      terms_.push_back(pair.second);
    }
    std::ranges::sort(terms_);
    terms_.erase(std::ranges::unique(terms_).begin(), terms_.end());
    for (const TermId term : terms_) {
      filter_[bit_of(term) / kWordBits] |= std::uint64_t{1} << (bit_of(term) % kWordBits);
    }
    words_.resize(terms_.size());
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      const std::uint32_t first = place_of(pairs_[i].first);
      const std::uint32_t second = place_of(pairs_[i].second);
      words_[first].partners.push_back({second, i});
      words_[second].partners.push_back({first, i});
    }
    is_found_.resize(pairs_.size());
  }

  // The sum of the weights of the pairs in a document.
  double operator()(std::span<const std::uint8_t> bytes) {
    std::ranges::fill(is_found_, std::uint8_t{0});
    std::uint8_t field = 0;
    bool is_any = false;
    for_each_occurrence(bytes, [&](const FieldOccurrence& occurrence) {
      const std::size_t bit = bit_of(occurrence.term);
      if (((filter_[bit / kWordBits] >> (bit % kWordBits)) & 1U) == 0) {
        return;
      }
      const std::uint32_t place = place_of(occurrence.term);
      if (place == terms_.size()) {
        return;
      }
      if (occurrence.field != field) {
        field = occurrence.field;
        for (Word& word : words_) {
          word.last = word.before = kNowhere;
        }
      }
      Word& own = words_[place];
      for (const auto& [partner, pair] : own.partners) {
        const Word& other = words_[partner];
        // Of two words at one position, such as an identifier and its part, neither is near.
        const std::uint32_t at = other.last == occurrence.position ? other.before : other.last;
        if (at != kNowhere && occurrence.position - at <= window_) {
          is_found_[pair] = 1;
          is_any = true;
        }
      }
      if (own.last != occurrence.position) {
        own.before = own.last;
        own.last = occurrence.position;
      }
    });
    double sum = 0.0;
    for (std::size_t i = 0; is_any && i < pairs_.size(); ++i) {
      sum += is_found_[i] != 0 ? pairs_[i].weight : 0.0;
    }
    return sum;
  }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kFilterBits = 4096;

  struct Partner {
    std::uint32_t place;
    std::uint32_t pair;
  };
  // A word of the query, and the last two positions at which it stood in the field.
  struct Word {
    std::vector<Partner> partners;
    std::uint32_t last = kNowhere;
    std::uint32_t before = kNowhere;
  };

  static std::size_t bit_of(TermId term) { return term % kFilterBits; }

  // The place of a term in `terms_`; their number if it is none of them.
  std::uint32_t place_of(TermId term) const {
    const auto found = std::ranges::lower_bound(terms_, term);
    return static_cast<std::uint32_t>(
        found != terms_.end() && *found == term ? found - terms_.begin() : std::ssize(terms_));
  }

  std::span<const WordPair> pairs_;
  std::uint32_t window_;
  std::vector<TermId> terms_;  // ascending
  std::array<std::uint64_t, kFilterBits / kWordBits> filter_{};
  std::vector<Word> words_;             // by place
  std::vector<std::uint8_t> is_found_;  // by pair, 0 or 1
};

// How many words of the query each document has, so that only documents with two of them are read;
// 2 for every document if there are more words than kFewTerms, as reading costs less then. Adds the
// wanted scores.
std::vector<std::uint32_t> count_held(const SegmentView& view, const WeighedQuery& query,
                                      const Bm25& bm25, std::span<const Location> locations,
                                      const LocatedDocuments& located,
                                      std::span<const std::uint8_t> is_wanted,
                                      std::span<double> scores) {
  if (query.terms.size() <= kFewTerms) {
    std::vector<std::uint32_t> held(located.documents.size());
    score_and_count(*view.segment, query, bm25, located, is_wanted, scores, held);
    return held;
  }
  std::vector<Location> wanted(locations.begin(), locations.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = is_wanted[i] != 0 ? wanted[i] : Location{};
  }
  score_documents(view, query, bm25, wanted, scores);
  return std::vector<std::uint32_t>(located.documents.size(), 2);
}

}  // namespace

WordPairs weigh_pairs(std::span<const WordOccurrence> words, const WeighedQuery& query,
                      const Bm25& bm25) {
  std::unordered_map<TermId, double> idfs;
  for (const WeightedTerm& term : query.terms) {
    idfs.emplace(term.term, term.weight);
  }
  std::unordered_map<TermId, double> counts;
  for (const WordOccurrence& word : words) {
    counts[word.term] += 1.0;
  }
  for (auto& [term, weight] : idfs) {
    weight /= std::max(counts[term], 1.0);  // a term weighs its idf times its count
  }
  const double most = greatest_saturation(bm25);
  const auto weight_of = [&](TermId term) {
    const auto found = idfs.find(term);
    return found == idfs.end() ? 0.0 : found->second * most;
  };
  WordPairs found;
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double own = weight_of(words[i].term);
    const std::size_t end = std::min(words.size(), i + 1 + kNextWords);
    for (std::size_t j = i + 1; own > 0.0 && j < end; ++j) {
      const double weight = std::min(own, weight_of(words[j].term));
      if (!(weight > 0.0) || words[i].term == words[j].term ||
          words[i].position == words[j].position) {
        continue;
      }
      const auto [low, high] = std::minmax(words[i].term, words[j].term);
      const std::uint64_t key = std::uint64_t{low} << 32U | high;
      const auto [place, is_new] = places.try_emplace(key, found.pairs.size());
      if (is_new) {
        found.pairs.push_back({.first = words[i].term, .second = words[j].term, .weight = 0.0});
      }
      found.pairs[place->second].weight += weight;
    }
  }
  for (const WordPair& pair : found.pairs) {
    found.possible += pair.weight;
  }
  return found;
}

void score_with_pairs(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                      const WordPairs& pairs, std::uint32_t window,
                      std::span<const Location> locations, std::span<const std::uint8_t> is_wanted,
                      std::span<double> scores, std::span<double> pair_scores) {
  assert(locations.size() == scores.size() && locations.size() == is_wanted.size() &&
         locations.size() == pair_scores.size() && query.clauses.empty());
  const Segment& segment = *view.segment;
  const LocatedDocuments located = documents_in(segment, locations);
  if (located.documents.empty()) {
    return;
  }
  const std::vector<std::uint32_t> held =
      count_held(view, query, bm25, locations, located, is_wanted, scores);
  PairFinder find(pairs, window);
  std::vector<std::uint8_t> scratch;
  const DocumentTable& documents = segment.documents();
  const auto if_read = [&](std::size_t i, const auto& visit) {
    if (i < held.size() && held[i] > 1) {
      visit(located.documents[i]);
    }
  };
  const auto prefetch_sizes = [&](DocumentNumber one) { documents.prefetch_sizes(one); };
  const auto prefetch = [&](DocumentNumber one) { documents.prefetch_occurrences(one); };
  for (std::size_t i = 0; i < 2 * kDocumentsAhead; ++i) {
    if_read(i, prefetch_sizes);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if_read(i + 2 * kDocumentsAhead, prefetch_sizes);
    if_read(i + kDocumentsAhead, prefetch);
    if_read(i, [&](DocumentNumber one) {
      pair_scores[located.places[i]] = find(documents.occurrences(one, scratch));
    });
    if (i % kDocumentsBetweenPauses == 0) {
      pause_here();
    }
  }
}

}  // namespace oneiros::lexical
