// Sets of interned names. A row's set is a short vector, searched linearly: memories are seen in
// few sessions.
#include "reinforcement/session_sets.h"

#include <algorithm>
#include <iterator>

namespace oneiros {

std::optional<std::vector<std::string>> SessionSets::at(std::uint32_t row) const {
  const std::scoped_lock lock(mutex_);
  const auto found = sets_.find(row);
  if (found == sets_.end()) {
    return std::nullopt;
  }
  std::vector<std::string> words;
  words.reserve(found->second.size());
  for (const std::uint32_t number : found->second) {
    words.push_back(*words_[number]);
  }
  return words;
}

std::size_t SessionSets::size() const {
  const std::scoped_lock lock(mutex_);
  return sets_.size();
}

std::vector<std::uint32_t> SessionSets::rows() const {
  std::vector<std::uint32_t> rows;
  {
    const std::scoped_lock lock(mutex_);
    rows.reserve(sets_.size());
    for (const auto& [row, set] : sets_) {
      rows.push_back(row);
    }
  }
  std::ranges::sort(rows);
  return rows;
}

std::vector<std::uint32_t> SessionSets::absent(std::span<const std::uint32_t> rows) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> absent;
  std::ranges::copy_if(rows, std::back_inserter(absent),
                       [&](std::uint32_t row) { return !sets_.contains(row); });
  return absent;
}

void SessionSets::set(std::uint32_t row, std::span<const std::string> words) {
  const std::scoped_lock lock(mutex_);
  Set set = numbered(words);
  sets_.insert_or_assign(row, std::move(set));
}

void SessionSets::set_if_absent(std::uint32_t row, std::span<const std::string> words) {
  const std::scoped_lock lock(mutex_);
  if (!sets_.contains(row)) {
    sets_.emplace(row, numbered(words));
  }
}

std::vector<bool> SessionSets::contain(std::span<const std::uint32_t> rows,
                                       std::string_view word) const {
  const std::scoped_lock lock(mutex_);
  std::vector<bool> found(rows.size());
  const auto number = numbers_.find(word);
  if (number == numbers_.end()) {
    return found;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto set = sets_.find(rows[i]);
    found[i] =
        set != sets_.end() && std::ranges::find(set->second, number->second) != set->second.end();
  }
  return found;
}

SessionSets::Added SessionSets::add(std::span<const std::uint32_t> rows, const std::string& word) {
  const std::scoped_lock lock(mutex_);
  const std::uint32_t number = number_of(word);
  Added added;
  added.sizes.reserve(rows.size());
  added.joined.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    Set& set = sets_[row];
    if (std::ranges::find(set, number) == set.end()) {
      set.push_back(number);
      added.joined.push_back(row);
    }
    added.sizes.push_back(static_cast<std::uint32_t>(set.size()));
  }
  return added;
}

std::uint32_t SessionSets::number_of(const std::string& word) {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) {
    return found->second;
  }
  const auto number = static_cast<std::uint32_t>(words_.size());
  words_.push_back(nullptr);  // the entry stays unused if the next line throws
  words_.back() = &numbers_.emplace(word, number).first->first;
  return number;
}

SessionSets::Set SessionSets::numbered(std::span<const std::string> words) {
  Set set;
  set.reserve(words.size());
  for (const std::string& word : words) {
    set.push_back(number_of(word));
  }
  std::ranges::sort(set);
  const auto repeated = std::ranges::unique(set);
  set.erase(repeated.begin(), repeated.end());
  return set;
}

}  // namespace oneiros
