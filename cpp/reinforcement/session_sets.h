// The sessions in which each memory was seen, by row.
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

// Sets of session names by row. A row may be unknown, which differs from an empty set. Each name is
// stored once. Thread-safe; every method holds the mutex for its duration.
class SessionSets {
 public:
  // The names of a row in arbitrary order; no value if the row is unknown.
  [[nodiscard]] std::optional<std::vector<std::string>> at(std::uint32_t row) const;
  // The number of known rows, and these rows, ascending.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::uint32_t> rows() const;
  // The unknown rows among the given ones.
  [[nodiscard]] std::vector<std::uint32_t> absent(std::span<const std::uint32_t> rows) const;

  // Sets the names of a row, replacing former ones; repetitions count once.
  void set(std::uint32_t row, std::span<const std::string> words);
  // The same for unknown rows; others are unchanged.
  void set_if_absent(std::uint32_t row, std::span<const std::string> words);

  // By row: true if its set contains the name.
  [[nodiscard]] std::vector<bool> contain(std::span<const std::uint32_t> rows,
                                          std::string_view word) const;
  struct Added {
    std::vector<std::uint32_t> sizes;   // of the sets, by row
    std::vector<std::uint32_t> joined;  // rows whose set did not have the name
  };
  // Adds the name to each row's set, which is known from then on.
  Added add(std::span<const std::uint32_t> rows, const std::string& word);

 private:
  struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const noexcept {
      return std::hash<std::string_view>{}(word);
    }
  };
  using Set = std::vector<std::uint32_t>;  // numbers of names, each once

  // REQUIRE: the caller holds mutex_.
  std::uint32_t number_of(const std::string& word);
  [[nodiscard]] Set numbered(std::span<const std::string> words);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t, WordHash, std::equal_to<>> numbers_;
  std::vector<const std::string*>
      words_;  // by their numbers: keys of numbers_, which stay in place
  std::unordered_map<std::uint32_t, Set> sets_;
};

}  // namespace oneiros
