// What a text states, reduced to what a comparison with another statement needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace oneiros::conflicts {

// Hashes of stems, ascending, each once. Only hashes are kept, so that a statement holds nothing of
// a text that is erased.
using Stems = std::span<const std::uint32_t>;

// One statement. Source: docs/systems/house.md H12.
struct Statement {
  std::uint32_t speaker = 0;  // 0: none is named
  std::uint32_t first = 0;    // the stem of the first word if that is a name
  std::uint32_t second = 0;
  std::uint32_t topics = 0;  // one bit per topic
  // What it states a value of, with the verb: a hash of the stems in order, without articles. 0:
  // it states none of a thing.
  std::uint32_t subject = 0;
  double cue = 0;  // how strongly it announces a change
  std::uint8_t word_count = 0;
  bool adds = false;
  bool is_past = false;
  bool names_relative = false;
  bool denies = false;
  bool asks = false;
  bool is_amount = false;    // after the subject only a number replaces another
  bool value_leads = false;  // a number, date or name is first or second in content after it

  // Stems of all words, of the words that say what it is about, of numbers, dates and names.
  [[nodiscard]] Stems all() const { return list(0); }
  [[nodiscard]] Stems content() const { return list(1); }
  [[nodiscard]] Stems numbers() const { return list(2); }
  [[nodiscard]] Stems dates() const { return list(3); }
  [[nodiscard]] Stems names() const { return list(4); }

  static constexpr std::size_t kLists = 5;
  std::array<std::uint8_t, kLists> sizes{};
  std::vector<std::uint32_t> stems;  // the lists, one after the other, each within the first

 private:
  [[nodiscard]] Stems list(std::size_t number) const {
    std::size_t start = 0;
    for (std::size_t i = 0; i < number; ++i) {
      start += sizes[i];
    }
    return std::span(stems).subspan(start, sizes[number]);
  }
};

// Whether a statement may take part in a conflict: it has words, not too many, and asks nothing.
[[nodiscard]] bool can_conflict(const Statement& statement);

// Appends a statement in a compact form, 32 bytes and 5 for each stem. REQUIRES: fewer words than
// kMostWords, and each list within the first.
void pack(const Statement& statement, std::vector<char>& packed);
// The statement in that form; one without words for other bytes.
[[nodiscard]] Statement unpacked(std::string_view packed);

// The words that statements are read by; oneiros.conflicts.words describes each list.
struct StatementWords {
  std::vector<std::string> stop_words;
  std::vector<std::string> cue_words;
  std::vector<std::pair<double, std::vector<std::string>>> cues;
  std::vector<std::string> additions;
  std::vector<std::string> past;
  std::vector<std::string> relatives;
  std::vector<std::string> denials;
  std::vector<std::string> numbers;
  std::vector<std::string> dates;
  std::vector<std::vector<std::string>> topics;
  std::vector<std::string> states;
  std::vector<std::string> amounts;
  std::vector<std::string> articles;
  std::vector<std::string> particles;
  std::vector<std::string> headings;
  std::vector<std::string> labels;
  std::vector<std::string> prepositions;
};

// Reads statements. Immutable: any number of threads may use one.
class StatementReader {
 public:
  // Throws std::invalid_argument for more than 32 topics or 32 groups of cues.
  explicit StatementReader(const StatementWords& words);

  // Reads a text in UTF-8, in time linear in its length and without a copy of it. A text of
  // `kMostWords` words or more is not read further: it never takes part in a conflict. Words are
  // compared by 64 bits of their hash.
  [[nodiscard]] Statement read(std::string_view text) const;

  static constexpr std::size_t kMostWords = 40;

 private:
  // What a word is, as bits.
  enum Role : std::uint32_t {
    kStop = 1,
    kCueWord = 2,
    kNumber = 4,
    kDate = 8,
    kRelative = 16,
    kDenial = 32,
    kState = 64,
    kAmount = 128,
    kArticle = 256,
    kParticle = 512,
    kHeading = 1024,
    kPreposition = 2048,
    kLabel = 4096,
  };
  // A phrase after its first word, and what it tells: the number of a group of cues, or one of the
  // two below.
  struct Phrase {
    std::vector<std::uint64_t> rest;
    std::uint32_t group;
  };
  static constexpr std::uint32_t kAddition = 32;
  static constexpr std::uint32_t kPast = 33;

  struct Meaning {
    std::uint32_t roles = 0;
    std::vector<Phrase> phrases;
  };

  void add_phrases(const std::vector<std::string>& phrases, std::uint32_t group);
  [[nodiscard]] std::uint32_t roles_of(std::uint64_t word) const;
  // Whether what stands before ": " names a thing, as "Phone number" does, and not who speaks.
  [[nodiscard]] bool is_label(std::string_view name) const;

  std::unordered_map<std::uint64_t, Meaning> meanings_;      // by word
  std::vector<double> strengths_;                            // of the groups of cues
  std::unordered_map<std::uint64_t, std::uint32_t> topics_;  // by stem
};

}  // namespace oneiros::conflicts
