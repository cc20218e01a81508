#include "columns/text_matching.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/utf8.h"
#include "columns/each_text.h"
#include "ranking/id_table.h"

namespace oneiros {

namespace {

// A word that is sought by its two rarest letters, block by block of a text.
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
    // A last block that overlaps the one before it is cheaper than its places one by one.
    if (at < starts && starts >= kBlock) {
      const char* const last = text.data() + (starts - kBlock);
      return may_start_in_block(last) && starts_within(last, kBlock);
    }
    return starts_within(text.data() + at, starts - at);
  }

 private:
  static constexpr std::size_t kBlock = 32;  // what compilers make of it are vectors

  // Whether both letters stand where they should for a word that starts in the block.
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

  // Place in the order of how often letters stand in text; other bytes before all letters.
  static int commonness(char letter) {
    constexpr std::string_view kRarestFirst = "zqxjkvbpygfwmucldrhsnioate";
    const std::size_t place = kRarestFirst.find(letter);
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
  }

  std::string_view word_;
  std::size_t rare_ = 0;
  std::size_t other_ = 0;
};

// How many bytes of ASCII a text begins with, or some fewer.
std::size_t ascii_length(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    if ((eight & 0x8080'8080'8080'8080U) != 0) {
      break;
    }
  }
  return at;
}

std::string_view start_of(std::string_view text, std::size_t characters) {
  std::size_t at = ascii_length(text.substr(0, characters));
  for (characters -= at; at < text.size() && characters > 0; --characters) {
    at += decode_utf8(text, at).length;
  }
  return text.substr(0, at);
}

// Calls visit(trigram) for each three characters in a row within the first `characters`, while it
// returns true.
template <typename Visit>
void for_each_trigram(std::string_view text, std::size_t characters, Visit visit) {
  constexpr std::uint64_t kThree = (std::uint64_t{1} << 63) - 1;  // 21 bits each
  std::uint64_t last = 0;
  std::size_t at = 0;
  for (std::size_t read = 0; at < text.size() && read < characters; ++read) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const Decoded decoded = byte < 0x80 ? Decoded{byte, 1} : decode_utf8(text, at);
    last = ((last << 21U) | decoded.code_point) & kThree;
    at += decoded.length;
    if (read >= 2 && !visit(static_cast<std::int64_t>(last))) {
      return;
    }
  }
}

// The different trigrams of one text after the other.
class TrigramSet {
 public:
  void begin(std::size_t most) {
    numbers_.begin(most);
    held_.resize(most);
  }
  // Returns whether it is new.
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
                 std::span<const std::string_view> words, Searched searched,
                 std::span<std::uint32_t> found) {
  assert(found.size() == rows.size());
  const std::vector<SoughtWord> sought(words.begin(), words.end());
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    found[i] = static_cast<std::uint32_t>(
        std::count_if(sought.begin(), sought.end(), [&](const SoughtWord& word) {
          return word.is_in(held.text) ||
                 (searched == Searched::kTextAndTags && word.is_in(held.tags));
        }));
  });
}

void trigram_similarities(const TextColumn& texts, std::span<const std::uint32_t> rows,
                          std::string_view text, std::size_t characters, double least,
                          std::span<double> similarity) {
  assert(similarity.size() == rows.size());
  TrigramSet sought;
  sought.begin(std::min(characters, text.size()));
  for_each_trigram(text, characters, [&](std::int64_t trigram) {
    sought.add(trigram);
    return true;
  });
  std::ranges::fill(similarity, 0.0);
  if (sought.size() == 0) {
    return;
  }
  const auto own = static_cast<double>(sought.size());
  // With more, even a text that holds all that is sought is less alike; one more, for the rounding.
  const auto most =
      static_cast<std::size_t>(std::min(own / least + 1, static_cast<double>(characters)));
  TrigramSet held;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& kept) {
    held.begin(std::min(characters, kept.text.size()));
    std::size_t shared = 0;
    for_each_trigram(kept.text, characters, [&](std::int64_t trigram) {
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
  std::unordered_map<std::string_view, std::uint32_t> seen;
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    const auto place = static_cast<std::uint32_t>(i);
    const std::string_view start = start_of(held.text, characters);
    first[i] = start.empty() ? place : seen.try_emplace(start, place).first->second;
  });
}

void which_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> sought, std::size_t characters,
                 std::span<std::uint32_t> which) {
  assert(which.size() == rows.size());
  std::unordered_map<std::string_view, std::uint32_t> places;
  for (std::size_t i = 0; i < sought.size(); ++i) {
    if (const std::string_view start = start_of(sought[i], characters); !start.empty()) {
      places.try_emplace(start, static_cast<std::uint32_t>(i));
    }
  }
  const auto none = static_cast<std::uint32_t>(sought.size());
  for_each_text(TextColumn::Reader(texts), rows, [&](std::size_t i, const MemoryText& held) {
    const auto found = places.find(start_of(held.text, characters));
    which[i] = found == places.end() ? none : found->second;
  });
}

}  // namespace oneiros
