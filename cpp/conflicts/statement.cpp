#include "conflicts/statement.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

namespace oneiros::conflicts {

namespace {

constexpr std::size_t kLongestSpeaker = 21;
constexpr std::size_t kShortestStem = 3;

// Letters, digits and all bytes beyond ASCII, which are letters in nearly all texts.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool joins(char c) { return c == '.' || c == ',' || c == ':' || c == '/' || c == '-'; }

std::string lowered(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (is_upper(c)) {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::string_view stem_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kEndings{"ing", "ed", "es", "ly", "s"};
  for (const std::string_view ending : kEndings) {
    if (word.ends_with(ending) && word.size() - ending.size() >= kShortestStem) {
      return word.substr(0, word.size() - ending.size());
    }
  }
  return word;
}

// FNV-1a; never 0, which stands for no stem.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash == 0 ? 1 : hash;
}

// The length of a name before ": " at the start of a text; 0 if there is none.
std::size_t speaker_length(std::string_view text) {
  if (text.empty() || !is_upper(text.front())) {
    return 0;
  }
  for (std::size_t i = 1; i + 1 < text.size() && i <= kLongestSpeaker; ++i) {
    const char c = text[i];
    if (c == ':') {
      return text[i + 1] == ' ' ? i : 0;
    }
    const bool is_ascii_word = static_cast<unsigned char>(c) < 0x80 && is_word(c);
    if (!is_ascii_word && c != '_' && c != ' ' && c != '.') {
      return 0;
    }
  }
  return 0;
}

// The words of a text: runs of word characters, joined by single marks as in "10:30" or "e-mail".
std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < text.size() && words.size() < most) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < text.size() &&
           (is_word(text[i]) || (joins(text[i]) && i + 1 < text.size() && is_word(text[i + 1])))) {
      ++i;
    }
    words.push_back(text.substr(start, i - start));
  }
  return words;
}

void sort_once(Stems& stems) {
  std::ranges::sort(stems);
  const auto rest = std::ranges::unique(stems);
  stems.erase(rest.begin(), rest.end());
}

}  // namespace

StatementReader::StatementReader(const StatementWords& words) {
  if (words.topics.size() > 32 || words.cues.size() > 32) {
    throw std::invalid_argument("words: at most 32 topics and 32 groups of cues");
  }
  const auto add = [this](const std::vector<std::string>& given, Role role) {
    for (const std::string& word : given) {
      roles_[word] |= role;
    }
  };
  add(words.stop_words, kStop);
  add(words.cue_words, kCueWord);
  add(words.numbers, kNumber);
  add(words.dates, kDate);
  add(words.relatives, kRelative);
  add(words.denials, kDenial);
  for (const auto& [strength, phrases] : words.cues) {
    add_phrases(phrases, static_cast<std::uint32_t>(strengths_.size()));
    strengths_.push_back(strength);
  }
  add_phrases(words.additions, kAddition);
  add_phrases(words.past, kPast);
  for (std::size_t topic = 0; topic < words.topics.size(); ++topic) {
    for (const std::string& word : words.topics[topic]) {
      topics_[hash_of(stem_of(word))] |= 1U << topic;
    }
  }
}

void StatementReader::add_phrases(const std::vector<std::string>& phrases, std::uint32_t group) {
  for (const std::string& phrase : phrases) {
    const std::vector<std::string_view> words = words_of(phrase, phrase.size());
    if (words.empty()) {
      throw std::invalid_argument("words: a phrase without a word");
    }
    phrases_[std::string(words.front())].push_back({{words.begin() + 1, words.end()}, group});
  }
}

Statement StatementReader::read(std::string_view text) const {
  Statement statement;
  if (const std::size_t length = speaker_length(text); length > 0) {
    statement.speaker = hash_of(text.substr(0, length));
    text.remove_prefix(length + 2);
  }
  const std::vector<std::string_view> words = words_of(text, kMostWords);
  statement.word_count = words.size();
  if (words.size() >= kMostWords) {
    return statement;
  }
  std::vector<std::string> lower;
  lower.reserve(words.size());
  for (const std::string_view word : words) {
    lower.push_back(lowered(word));
  }
  std::uint64_t groups = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = lower[i];
    const std::uint64_t stem = hash_of(stem_of(word));
    const auto known = roles_.find(word);
    const std::uint32_t roles = known == roles_.end() ? 0 : known->second;
    statement.all.push_back(stem);
    if ((roles & kDate) != 0) {
      statement.dates.push_back(stem);
    } else if ((roles & kNumber) != 0 || std::ranges::any_of(word, is_digit)) {
      statement.numbers.push_back(stem);
    } else if (is_upper(words[i].front()) && (roles & kStop) == 0) {
      statement.names.push_back(stem);
    }
    if (word.size() > 1 && (roles & (kStop | kCueWord)) == 0) {
      statement.content.push_back(stem);
    }
    statement.names_relative |= (roles & kRelative) != 0;
    statement.denies |= (roles & kDenial) != 0;
    if (const auto topic = topics_.find(stem); topic != topics_.end()) {
      statement.topics |= topic->second;
    }
    if (const auto starts = phrases_.find(word); starts != phrases_.end()) {
      for (const Phrase& phrase : starts->second) {
        if (i + phrase.rest.size() < lower.size() &&
            std::ranges::equal(phrase.rest, std::span(lower).subspan(i + 1, phrase.rest.size()))) {
          groups |= std::uint64_t{1} << phrase.group;
        }
      }
    }
  }
  for (std::size_t group = 0; group < strengths_.size(); ++group) {
    statement.cue += (groups >> group & 1U) != 0 ? strengths_[group] : 0.0;
  }
  statement.adds = (groups >> kAddition & 1U) != 0;
  statement.is_past = (groups >> kPast & 1U) != 0;
  const std::size_t end = text.find_last_not_of(" \t\n\r");
  statement.asks = end != std::string_view::npos && text[end] == '?';
  if (!statement.all.empty()) {
    const std::uint64_t first = statement.all.front();
    statement.first =
        std::ranges::find(statement.names, first) == statement.names.end() ? 0 : first;
    statement.second = statement.all.size() > 1 ? statement.all[1] : 0;
  }
  for (Stems* stems : {&statement.all, &statement.content, &statement.numbers, &statement.dates,
                       &statement.names}) {
    sort_once(*stems);
  }
  return statement;
}

}  // namespace oneiros::conflicts
