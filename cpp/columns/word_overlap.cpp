// The largest word overlap (Jaccard similarity) of some texts with others of their group.
//
// Algorithm: an inverted index over the words of the asked rows, then one pass over the other
// texts. Each text's words are looked up; the shared words are counted per asked row, and the
// similarity is shared / (size + words - shared). Words common to many asked rows keep an array of
// counts instead of a list, so that they are added by a vectorised loop.
//
// Pruning: a text that shares no word costs only look-ups. Before a text's words are counted
// exactly, an estimate decides whether it can improve any row's best overlap.
//
// Cost: one hash look-up per word of the texts, plus the shared postings. Source:
// docs/systems/reverie.md R10.
#include "columns/word_overlap.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "columns/each_text.h"
#include "columns/each_word.h"

namespace oneiros {

namespace {

template <typename Number>
std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// REQUIRES: word.size() >= 3.
std::uint64_t hash_of(std::string_view word, std::int64_t group) {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15U;
  const auto mixed = [](std::uint64_t hash, std::uint64_t more) {
    hash = (hash ^ more) * kOdd;
    return hash ^ (hash >> 32U);
  };
  const std::size_t size = word.size();
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(group), size);
  for (std::size_t at = 0; at + 8 < size; at += 8) {
    hash = mixed(hash, number_at<std::uint64_t>(word, at));
  }
  if (size >= 8) {
    return mixed(hash, number_at<std::uint64_t>(word, size - 8));
  }
  const std::uint64_t first =
      size >= 4 ? number_at<std::uint32_t>(word, 0) : number_at<std::uint16_t>(word, 0);
  const std::uint64_t last = size >= 4 ? number_at<std::uint32_t>(word, size - 4)
                                       : number_at<std::uint16_t>(word, size - 2);
  return mixed(hash, first << 32U | last);
}

std::size_t count_different(std::vector<std::string_view>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words.size();
}

// A word of one group, with the asked rows that contain it.
struct HeldWord {
  std::uint64_t hash = 0;
  std::int64_t group = 0;
  std::string_view word;  // empty: a free slot
  std::vector<std::uint32_t> places;
  std::vector<std::uint8_t> counts;  // replaces `places` for common words: 1 at each place
  std::size_t seen = 0;              // the last text in which it was found
};

// A hash table of words by group, with linear probing, at most half full. Addresses are stable.
class HeldWords {
 public:
  explicit HeldWords(std::size_t most) {
    std::size_t size = 16;
    while (size < 2 * most) {
      size *= 2;
    }
    words_.resize(size);
  }

  // The entry of the word, created if necessary.
  HeldWord& at(std::string_view word, std::int64_t group) {
    const std::uint64_t hash = hash_of(word, group);
    HeldWord& held = slot_of(word, group, hash);
    held.hash = hash;
    held.group = group;
    held.word = word;
    return held;
  }

  // Null if no asked row of the group contains the word.
  // REQUIRES: hash is hash_of(word, group).
  HeldWord* find(std::string_view word, std::int64_t group, std::uint64_t hash) {
    HeldWord& held = slot_of(word, group, hash);
    return held.word.empty() ? nullptr : &held;
  }

  // Converts the places of common words (more than one place in kCommon) to counts.
  void settle(std::size_t place_count) {
    constexpr std::size_t kCommon = 16;
    for (HeldWord& held : words_) {
      if (held.places.size() * kCommon > place_count) {
        held.counts.resize(place_count);
        for (const std::uint32_t place : held.places) {
          held.counts[place] = 1;
        }
        held.places.clear();
      }
    }
  }

 private:
  HeldWord& slot_of(std::string_view word, std::int64_t group, std::uint64_t hash) {
    const std::size_t mask = words_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      HeldWord& held = words_[slot];
      const bool is_it = held.hash == hash && held.group == group && held.word == word;
      if (is_it || held.word.empty()) {
        return held;
      }
    }
  }

  std::vector<HeldWord> words_;
};

// Estimates the number of distinct words of a text by a few hash bits; never too high.
class WordCount {
 public:
  // True if the word has not been counted for this text. REQUIRES: texts are numbered from 1.
  bool add(std::uint64_t hash, std::size_t text) {
    std::size_t& last = texts_[hash >> (64U - kBits)];
    const bool is_first = last != text;
    last = text;
    return is_first;
  }

 private:
  static constexpr unsigned kBits = 9;
  std::array<std::size_t, std::size_t{1} << kBits> texts_{};
};

// The inverted index of the asked rows, and their best overlap so far.
class Overlaps {
 public:
  // The reader must outlive the object. REQUIRES: overlap is all 0.
  Overlaps(const TextColumn::Reader& reader, const GroupedRows& asked, std::span<double> overlap)
      : rows_(asked.rows),
        overlap_(overlap),
        held_(words_in(reader, asked.rows)),
        own_(rows_.size()),
        shared_(rows_.size()),
        sizes_(rows_.size()),
        weights_(rows_.size(), std::numeric_limits<float>::infinity()) {
    for_each_text(reader, rows_, [&](std::size_t i, const MemoryText& text) {
      words_.clear();
      for_each_word(text.text, [&](std::string_view word) { words_.push_back(word); });
      count_different(words_);
      for (const std::string_view word : words_) {
        HeldWord& held = held_.at(word, asked.groups[i]);
        held.places.push_back(static_cast<std::uint32_t>(i));
        own_[i].push_back(&held);
      }
      sizes_[i] = static_cast<float>(words_.size());
    });
    held_.settle(rows_.size());
  }

  void compare(std::uint32_t row, std::int64_t group, std::string_view text) {
    words_.clear();
    ++texts_;
    std::size_t found = 0;
    std::size_t different = 0;
    for_each_word(text, [&](std::string_view word) {
      const std::uint64_t hash = hash_of(word, group);
      words_.push_back(word);
      different += word_count_.add(hash, texts_) ? 1 : 0;
      HeldWord* const held = held_.find(word, group, hash);
      if (held != nullptr && held->seen != texts_) {
        held->seen = texts_;
        found += 1;
        add(*held);
      }
    });
    if (found > 0) {
      if (found > kMostCounted || may_raise_any(static_cast<float>(different))) {
        raise(row, static_cast<float>(different), found > kMostCounted);
      }
      std::fill(shared_.begin(), shared_.end(), std::uint8_t{0});
    }
  }

 private:
  static constexpr std::size_t kMostCounted = 255;
  static constexpr double kSlack = 1e-5;  // above the rounding error of a float

  static std::size_t words_in(const TextColumn::Reader& reader,
                              std::span<const std::uint32_t> rows) {
    std::size_t count = 0;
    for_each_text(reader, rows, [&](std::size_t, const MemoryText& text) {
      for_each_word(text.text, [&](std::string_view) { ++count; });
    });
    return count;
  }

  void add(const HeldWord& held) {
    for (const std::uint32_t place : held.places) {
      ++shared_[place];
    }
    if (!held.counts.empty()) {
      std::uint8_t* const shared = shared_.data();
      const std::uint8_t* const counts = held.counts.data();
      for (std::size_t place = 0; place < shared_.size(); ++place) {
        shared[place] = static_cast<std::uint8_t>(shared[place] + counts[place]);
      }
    }
  }

  // True if a text with at least that many words and this many shared ones could improve a row:
  // shared / (size + words - shared) > overlap, solved for the words.
  [[nodiscard]] bool may_raise(std::size_t place, float words) const {
    return static_cast<float>(shared_[place]) * weights_[place] - sizes_[place] > words;
  }

  [[nodiscard]] bool may_raise_any(float words) const {
    unsigned char any = 0;
    for (std::size_t place = 0; place < shared_.size(); ++place) {
      any = static_cast<unsigned char>(any | (may_raise(place, words) ? 1 : 0));
    }
    return any != 0;
  }

  // Examines the rows that can improve; all rows if more words are shared than can be counted.
  void raise(std::uint32_t row, float words, bool all) {
    const std::size_t different = count_different(words_);
    for (std::size_t place = 0; place < shared_.size(); ++place) {
      if (rows_[place] == row || !(all || may_raise(place, words))) {
        continue;
      }
      const auto shared = static_cast<std::size_t>(
          std::count_if(own_[place].begin(), own_[place].end(),
                        [&](const HeldWord* held) { return held->seen == texts_; }));
      const std::size_t together = own_[place].size() + different - shared;
      const double overlap = static_cast<double>(shared) / static_cast<double>(together);
      if (overlap > overlap_[place]) {
        overlap_[place] = overlap;
        weights_[place] = static_cast<float>((1.0 + kSlack) * (1.0 + 1.0 / overlap));
      }
    }
  }

  std::span<const std::uint32_t> rows_;
  std::span<double> overlap_;
  HeldWords held_;
  std::vector<std::vector<const HeldWord*>> own_;  // by place
  std::vector<std::uint8_t> shared_;               // with the current text
  std::vector<float> sizes_;                       // number of words by place
  std::vector<float> weights_;                     // 1 + 1 / overlap, slightly more
  std::vector<std::string_view> words_;
  WordCount word_count_;
  std::size_t texts_ = 0;
};

}  // namespace

void largest_word_overlaps(const TextColumn& texts, const GroupedRows& asked,
                           const GroupedRows& among, std::span<double> overlap) {
  assert(asked.rows.size() == asked.groups.size() && among.rows.size() == among.groups.size());
  assert(overlap.size() == asked.rows.size());
  const TextColumn::Reader reader(texts);
  Overlaps overlaps(reader, asked, overlap);
  for_each_text(reader, among.rows, [&](std::size_t i, const MemoryText& held) {
    overlaps.compare(among.rows[i], among.groups[i], held.text);
  });
}

}  // namespace oneiros
