// The sessions that have seen each memory, by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace oneiros {

// Sets of words by row; a row may have none on record, which is not the same as an empty one.
// Words are kept once. Thread-safe.
class SessionSets {
 public:
  // The words of a row, in no order of meaning; nothing where none are on record.
  [[nodiscard]] std::optional<std::vector<std::string>> at(std::uint32_t row) const;
  // The rows on record: how many, and which, ascending.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::uint32_t> rows() const;
  // Those of the rows that have none on record.
  [[nodiscard]] std::vector<std::uint32_t> absent(std::span<const std::uint32_t> rows) const;

  // Puts the words of a row on record, in place of those that are; one given twice counts once.
  void set(std::uint32_t row, std::span<const std::string> words);
  // The same, where none are on record.
  void set_if_absent(std::uint32_t row, std::span<const std::string> words);

  // Whether each row's set holds the word.
  [[nodiscard]] std::vector<bool> contain(std::span<const std::uint32_t> rows,
                                          std::string_view word) const;
  // Adds the word to each row's set, which is on record from now on; returns the sets' sizes.
  std::vector<std::uint32_t> add(std::span<const std::uint32_t> rows, const std::string& word);

 private:
  struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const noexcept {
      return std::hash<std::string_view>{}(word);
    }
  };
  using Set = std::vector<std::uint32_t>;  // numbers of words, each once

  // These REQUIRE that the caller holds mutex_.
  std::uint32_t number_of(const std::string& word);
  [[nodiscard]] Set numbered(std::span<const std::string> words);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t, WordHash, std::equal_to<>> numbers_;
  std::vector<const std::string*>
      words_;  // by their numbers: keys of numbers_, which stay in place
  std::unordered_map<std::uint32_t, Set> sets_;
};

}  // namespace oneiros
