// Substring, tag and trigram comparisons over texts of rows.
//
// Words are found by comparing the two letters that are rarest in text at all positions of a block
// at once, and verifying the few candidates; compilers vectorise the loop. Trigrams are packed into
// 63 bits, deduplicated by a small hash table, and counted against those of the query; a bound by
// counts rejects texts that cannot reach the required similarity. Equal starts are found by hash
// tables of canonical starts; where most rows match none, a table of the first 16 characters
// rejects them before their whole start is computed.
#include "columns/text_matching.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/utf8.h"
#include "columns/canonical_form.h"
#include "columns/each_text.h"
#include "ranking/id_table.h"

namespace oneiros {

namespace {

// Substring search by the word's two rarest letters, one block of the text at a time.
class SoughtWord {
 public:
  explicit SoughtWord(std::string_view word) : word_(word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (commonness(word[i]) < commonness(word[rare_])) {
        rare_ = i;
      }
    }
    other_ = rare_ == 0 && word.size() > 1 ? 1 : 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (i != rare_ && commonness(word[i]) < commonness(word[other_])) {
        other_ = i;
      }
    }
  }

  [[nodiscard]] bool is_in(std::string_view text) const {
    if (word_.empty() || word_.size() > text.size()) {
      return word_.empty();
    }
    const std::size_t starts = text.size() - word_.size() + 1;
    std::size_t at = 0;
    for (; at + kBlock <= starts; at += kBlock) {
      if (may_start_in_block(text.data() + at) && starts_within(text.data() + at, kBlock)) {
        return true;
      }
    }
    // An overlapping last block is cheaper than checking its places one by one.
    if (at < starts && starts >= kBlock) {
      const char* const last = text.data() + (starts - kBlock);
      return may_start_in_block(last) && starts_within(last, kBlock);
    }
    return starts_within(text.data() + at, starts - at);
  }

 private:
  static constexpr std::size_t kBlock = 32;  // compiled to vector instructions

  // True if both letters are in position for a word that starts in the block.
  [[nodiscard]] bool may_start_in_block(const char* text) const {
    const char* const rare = text + rare_;
    const char* const other = text + other_;
    const char rare_letter = word_[rare_];
    const char other_letter = word_[other_];
    unsigned char any = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto here = static_cast<unsigned char>(rare[i] == rare_letter ? 1 : 0);
      const auto there = static_cast<unsigned char>(other[i] == other_letter ? 1 : 0);
      any = static_cast<unsigned char>(any | (here & there));
    }
    return any != 0;
  }

  [[nodiscard]] bool starts_within(const char* text, std::size_t starts) const {
    for (std::size_t i = 0; i < starts; ++i) {
      if (text[i + rare_] == word_[rare_] &&
          std::memcmp(text + i, word_.data(), word_.size()) == 0) {
        return true;
      }
    }
    return false;
  }

  // Rank by frequency of letters in text; other bytes rank before all letters.
  static int commonness(char letter) {
    constexpr std::string_view kRarestFirst = "zqxjkvbpygfwmucldrhsnioate";
    const std::size_t place = kRarestFirst.find(letter);
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
  }

  std::string_view word_;
  std::size_t rare_ = 0;
  std::size_t other_ = 0;
};

// Calls visit(trigram) for each three consecutive characters while it returns true.
template <typename Visit>
void for_each_trigram(std::string_view text, Visit visit) {
  constexpr std::uint64_t kThree = (std::uint64_t{1} << 63) - 1;  // 21 bits each
  std::uint64_t last = 0;
  std::size_t at = 0;
  for (std::size_t read = 0; at < text.size(); ++read) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const Decoded decoded = byte < 0x80 ? Decoded{byte, 1} : decode_utf8(text, at);
    last = ((last << 21U) | decoded.code_point) & kThree;
    at += decoded.length;
    if (read >= 2 && !visit(static_cast<std::int64_t>(last))) {
      return;
    }
  }
}

// True if a text equals one of the lines.
bool is_line_of(std::string_view lines, std::string_view text) {
  for (std::size_t begin = 0; begin <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    if (lines.substr(begin, end - begin) == text) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

// Collects the distinct trigrams of one text after another, reusing its memory.
class TrigramSet {
 public:
  void begin(std::size_t most) {
    numbers_.begin(most);
    held_.resize(most);
  }
  // Returns true if the trigram is new.
  bool add(std::int64_t trigram) {
    const std::size_t before = size();
    return numbers_.number_of(trigram, held_.data()) == before;
  }
  [[nodiscard]] bool contains(std::int64_t trigram) const {
    return numbers_.find(trigram, held_.data()) != size();
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  IdTable<std::int64_t> numbers_;
  std::vector<std::int64_t> held_;
};

}  // namespace

void count_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> words, std::span<std::uint32_t> found) {
  assert(found.size() == rows.size());
  const std::vector<SoughtWord> sought(words.begin(), words.end());
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    found[i] = static_cast<std::uint32_t>(
        std::count_if(sought.begin(), sought.end(),
                      [&](const SoughtWord& word) { return word.is_in(held.text); }));
  });
}

void count_canonical_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                           std::span<const WordAndStem> words, std::span<std::uint32_t> found) {
  assert(found.size() == rows.size());
  std::vector<std::pair<SoughtWord, std::optional<SoughtWord>>> sought;
  for (const auto [word, stem] : words) {
    sought.emplace_back(word, stem.empty() ? std::nullopt : std::optional<SoughtWord>(stem));
  }
  CanonicalForm form;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    const std::string_view searched = form.of_both(held.text, held.tags);
    found[i] = static_cast<std::uint32_t>(
        std::count_if(sought.begin(), sought.end(), [&](const auto& word) {
          return word.first.is_in(searched) || (word.second && word.second->is_in(searched));
        }));
  });
}

void count_tags(const TextColumn& texts, std::span<const std::uint32_t> rows,
                std::span<const std::string_view> words, std::span<std::uint32_t> found) {
  assert(found.size() == rows.size());
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    found[i] = static_cast<std::uint32_t>(
        std::count_if(words.begin(), words.end(),
                      [&](std::string_view word) { return is_line_of(held.tags, word); }));
  });
}

void trigram_similarities(const TextColumn& texts, std::span<const std::uint32_t> rows,
                          std::string_view text, std::size_t characters, double least,
                          std::span<double> similarity) {
  assert(similarity.size() == rows.size());
  TrigramSet sought;
  sought.begin(text.size());
  for_each_trigram(text, [&](std::int64_t trigram) {
    sought.add(trigram);
    return true;
  });
  std::ranges::fill(similarity, 0.0);
  if (sought.size() == 0) {
    return;
  }
  const auto own = static_cast<double>(sought.size());
  // A text with more trigrams cannot reach `least` even if it has all of them; plus one for
  // rounding.
  const auto most =
      static_cast<std::size_t>(std::min(own / least + 1, static_cast<double>(characters)));
  TrigramSet held;
  CanonicalForm form;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& kept) {
    const std::string_view start = form.of(first_characters(kept.text, characters));
    held.begin(start.size());
    std::size_t shared = 0;
    for_each_trigram(start, [&](std::int64_t trigram) {
      shared += held.add(trigram) && sought.contains(trigram) ? 1 : 0;
      return held.size() <= most;
    });
    const auto all = static_cast<double>(sought.size() + held.size() - shared);
    const double share = static_cast<double>(shared) / all;
    similarity[i] = share >= least && held.size() <= most ? share : 0.0;
  });
}

void first_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::size_t characters, std::span<std::uint32_t> first) {
  assert(first.size() == rows.size());
  std::unordered_map<std::string, std::uint32_t> seen;
  CanonicalForm form;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    const auto place = static_cast<std::uint32_t>(i);
    const std::string_view start = form.of(held.text, characters);
    first[i] = start.empty() ? place : seen.try_emplace(std::string(start), place).first->second;
  });
}

void which_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> sought, std::size_t characters,
                 std::span<std::uint32_t> which) {
  assert(which.size() == rows.size());
  // Most rows differ within the first characters; only the others need their whole start computed.
  constexpr std::size_t kOpening = 16;
  std::unordered_map<std::string_view, std::uint32_t> places;
  std::unordered_set<std::string_view> openings;
  for (std::size_t i = 0; i < sought.size(); ++i) {
    if (const std::string_view start = first_characters(sought[i], characters); !start.empty()) {
      places.try_emplace(start, static_cast<std::uint32_t>(i));
      openings.insert(first_characters(start, kOpening));
    }
  }
  const auto none = static_cast<std::uint32_t>(sought.size());
  CanonicalForm form;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    which[i] = none;
    if (openings.contains(form.of(held.text, std::min(characters, kOpening)))) {
      const auto found = places.find(form.of(held.text, characters));
      which[i] = found == places.end() ? none : found->second;
    }
  });
}

}  // namespace oneiros
