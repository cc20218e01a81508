// What a text states, reduced to what a comparison with another statement needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace oneiros::conflicts {

// Hashes of stems, ascending, each once. Only hashes are kept, so that a cached statement holds
// nothing of a text that is erased.
using Stems = std::vector<std::uint64_t>;

// One statement. Source: docs/systems/house.md H12.
struct Statement {
  std::uint64_t speaker = 0;  // 0: none is named
  std::size_t word_count = 0;
  Stems all;      // of all words
  Stems content;  // of the words that say what it is about
  Stems numbers;
  Stems dates;
  Stems names;
  std::uint64_t first = 0;  // the stem of the first word if that is a name
  std::uint64_t second = 0;
  double cue = 0;  // how strongly it announces a change
  bool adds = false;
  bool is_past = false;
  bool names_relative = false;
  bool denies = false;
  bool asks = false;
  std::uint32_t topics = 0;  // one bit per topic
};

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
};

// Reads statements. Immutable: any number of threads may use one.
class StatementReader {
 public:
  // Throws std::invalid_argument for more than 32 topics or 32 groups of cues.
  explicit StatementReader(const StatementWords& words);

  // Reads a text in UTF-8, in time linear in its length. A text of `kMostWords` words or more is
  // not read further: it never takes part in a conflict.
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
  };
  // A phrase after its first word, and what it tells: the number of a group of cues, or one of the
  // two below.
  struct Phrase {
    std::vector<std::string> rest;
    std::uint32_t group;
  };
  static constexpr std::uint32_t kAddition = 32;
  static constexpr std::uint32_t kPast = 33;

  void add_phrases(const std::vector<std::string>& phrases, std::uint32_t group);

  std::unordered_map<std::string, std::uint32_t> roles_;
  std::unordered_map<std::string, std::vector<Phrase>> phrases_;  // by first word
  std::vector<double> strengths_;                                 // of the groups of cues
  std::unordered_map<std::uint64_t, std::uint32_t> topics_;       // by stem
};

}  // namespace oneiros::conflicts
