// Evaluation of clauses on one segment.
//
// Terms are read from their postings, or looked up for the documents of `within` if those are few.
// Phrases intersect the postings of their terms, the rarest first, and then verify positions in the
// documents' occurrences. Prefixes unite the postings of their terms: sorted if they are sparse,
// accumulated by document otherwise. Restrictions to fields are checked in the occurrences.
#include "lexical/query/clause_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "lexical/postings/occurrence_bytes.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// Postings read in the time of one look-up.
constexpr std::size_t kLookUpCost = 32;
// With fewer postings than one per this many documents, they are sorted instead of merged.
constexpr std::size_t kSparse = 16;
// Documents examined between two calls of pause_here().
constexpr std::size_t kDocumentsBetweenPauses = 256;

// Counts the occurrences of a phrase in a document.
class PhraseCounter {
 public:
  PhraseCounter(std::span<const TermId> terms, std::span<const std::uint32_t> positions,
                std::uint8_t fields, const FieldWeights& weights)
      : positions_(positions), fields_(fields), weights_(weights), size_(terms.size()) {
    for (std::uint32_t i = 0; i < terms.size(); ++i) {
      places_.emplace_back(terms[i], i);
    }
    std::ranges::sort(places_);
  }

  std::uint32_t operator()(std::span<const std::uint8_t> bytes) {
    std::uint32_t frequency = 0;
    std::uint8_t field = kTextField;
    for_each_occurrence(bytes, [&](const FieldOccurrence& occurrence) {
      if (occurrence.field != field) {
        frequency += count_starts() * weights_.of(field);
        field = occurrence.field;
      }
      if ((occurrence.field & fields_) == 0) {
        return;
      }
      for (auto place = std::ranges::lower_bound(places_, std::pair(occurrence.term, 0U));
           place != places_.end() && place->first == occurrence.term; ++place) {
        // The position where the phrase would start.
        const std::uint32_t before = positions_[place->second];
        if (occurrence.position >= before) {
          starts_.emplace_back(occurrence.position - before, place->second);
        }
      }
    });
    return frequency + count_starts() * weights_.of(field);
  }

 private:
  // Starts from which all terms are in place.
  std::uint32_t count_starts() {
    std::ranges::sort(starts_);
    const auto repeats = std::ranges::unique(starts_);
    starts_.erase(repeats.begin(), repeats.end());
    std::uint32_t count = 0;
    std::size_t filled = 0;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      filled = i != 0 && starts_[i].first == starts_[i - 1].first ? filled + 1 : 1;
      count += filled == size_ ? 1 : 0;
    }
    starts_.clear();
    return count;
  }

  std::span<const std::uint32_t> positions_;
  std::uint8_t fields_;
  const FieldWeights& weights_;
  std::size_t size_;
  std::vector<std::pair<TermId, std::uint32_t>> places_;         // of each term in the phrase
  std::vector<std::pair<std::uint32_t, std::uint32_t>> starts_;  // and the term that matched there
};

}  // namespace

RawPostings ClauseReader::read_term(TermId term, std::uint8_t fields,
                                    const Documents* within) const {
  RawPostings list = read_list(term, within);
  if (fields == kAllFields) {
    return list;
  }
  return counted(list.documents, [&](std::span<const std::uint8_t> bytes) {
    std::uint32_t frequency = 0;
    for_each_occurrence(bytes, [&](const FieldOccurrence& occurrence) {
      const bool is_counted = occurrence.term == term && (occurrence.field & fields) != 0;
      frequency += is_counted ? weights_.of(occurrence.field) : 0;
    });
    return frequency;
  });
}

RawPostings ClauseReader::read_phrase(std::span<const TermId> terms,
                                      std::span<const std::uint32_t> positions, std::uint8_t fields,
                                      const Documents* within) const {
  assert(!terms.empty() && terms.size() == positions.size());
  if (terms.size() == 1) {
    return read_term(terms[0], fields, within);
  }
  std::vector<std::pair<std::size_t, TermId>> rarest_first;
  for (const TermId term : terms) {
    rarest_first.emplace_back(list_size(term), term);
  }
  std::ranges::sort(rarest_first);
  const auto repeats = std::ranges::unique(rarest_first);
  rarest_first.erase(repeats.begin(), repeats.end());
  Documents documents;
  const Documents* left = within;
  for (const auto& [size, term] : rarest_first) {
    documents = read_list(term, left).documents;
    left = &documents;
  }
  return counted(documents, PhraseCounter(terms, positions, fields, weights_));
}

RawPostings ClauseReader::in_fields(RawPostings united, std::span<const TermId> terms,
                                    std::uint8_t fields) const {
  if (fields == kAllFields) {
    return united;
  }
  std::vector<TermId> sorted(terms.begin(), terms.end());
  std::ranges::sort(sorted);
  return counted(united.documents, [&](std::span<const std::uint8_t> bytes) {
    std::uint32_t frequency = 0;
    for_each_occurrence(bytes, [&](const FieldOccurrence& occurrence) {
      if ((occurrence.field & fields) != 0 && std::ranges::binary_search(sorted, occurrence.term)) {
        frequency += weights_.of(occurrence.field);
      }
    });
    return frequency;
  });
}

RawPostings ClauseReader::read_list(TermId term, const Documents* within) const {
  pause_here();
  RawPostings found;
  if (within != nullptr && within->size() * kLookUpCost < list_size(term)) {
    std::vector<std::uint32_t> frequencies(within->size());
    view_.segment->look_up(term, *within, frequencies);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      if (frequencies[i] != 0) {
        found.documents.push_back((*within)[i]);
        found.frequencies.push_back(frequencies[i]);
      }
    }
    return found;
  }
  RawPostings scratch;
  const PostingList list = view_.segment->list(term, scratch).until(view_.document_limit);
  std::size_t at = 0;  // in `within`
  for (std::size_t index = 0; index < list.block_count(); ++index) {
    const PostingBlock block = list.block(index);
    for (std::size_t i = 0; i < block.size; ++i) {
      const DocumentNumber document = block.documents[i];
      if (within != nullptr) {
        while (at < within->size() && (*within)[at] < document) {
          ++at;
        }
        if (at == within->size()) {
          return found;
        }
      }
      if (within != nullptr ? (*within)[at] == document : is_wanted(document)) {
        found.documents.push_back(document);
        found.frequencies.push_back(block.frequencies[i]);
      }
    }
  }
  return found;
}

RawPostings ClauseReader::unite(std::span<const TermId> terms, const Documents* within) const {
  std::size_t posting_count = 0;
  for (const TermId term : terms) {
    posting_count += list_size(term);
  }
  RawPostings united;
  if (posting_count * kSparse < view_.document_limit) {
    std::vector<std::pair<DocumentNumber, std::uint32_t>> postings;
    for (const TermId term : terms) {
      const RawPostings list = read_list(term, within);
      for (std::size_t i = 0; i < list.documents.size(); ++i) {
        postings.emplace_back(list.documents[i], list.frequencies[i]);
      }
    }
    std::ranges::sort(postings);
    for (const auto& [document, frequency] : postings) {
      if (united.documents.empty() || united.documents.back() != document) {
        united.documents.push_back(document);
        united.frequencies.push_back(0);
      }
      united.frequencies.back() += frequency;
    }
    return united;
  }
  std::vector<std::uint32_t> frequencies(view_.document_limit);
  for (const TermId term : terms) {
    const RawPostings list = read_list(term, within);
    for (std::size_t i = 0; i < list.documents.size(); ++i) {
      frequencies[list.documents[i]] += list.frequencies[i];
    }
  }
  for (DocumentNumber document = 0; document < frequencies.size(); ++document) {
    if (frequencies[document] != 0) {
      united.documents.push_back(document);
      united.frequencies.push_back(frequencies[document]);
    }
  }
  return united;
}

template <typename Count>
RawPostings ClauseReader::counted(const Documents& documents, Count count) const {
  RawPostings found;
  std::vector<std::uint8_t> scratch;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (i % kDocumentsBetweenPauses == 0) {
      pause_here();
    }
    const std::uint32_t frequency =
        count(view_.segment->documents().occurrences(documents[i], scratch));
    if (frequency != 0) {
      found.documents.push_back(documents[i]);
      found.frequencies.push_back(frequency);
    }
  }
  return found;
}

}  // namespace oneiros::lexical
