#include "conflicts/statement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace oneiros::conflicts {

namespace {

constexpr std::size_t kLongestSpeaker = 21;
constexpr std::size_t kShortestStem = 3;
constexpr std::uint64_t kFirstHash = 0xcbf29ce484222325U;  // FNV-1a

// Letters, digits and all bytes beyond ASCII, which are letters in nearly all texts.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool joins(char c) { return c == '.' || c == ',' || c == ':' || c == '/' || c == '-'; }

char lowered(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::uint64_t with(std::uint64_t hash, char c) {
  return (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
}

// 32 bits of a hash; never 0, which stands for no stem.
std::uint32_t short_of(std::uint64_t hash) {
  const auto folded = static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  return folded == 0 ? 1 : folded;
}

// A word in lower case: hashes of the whole and of its stem.
struct Word {
  std::uint64_t hash = kFirstHash;
  std::uint64_t stem = kFirstHash;
  std::size_t size = 0;
  bool is_upper = false;
  bool has_digit = false;
  bool ends_in_ing = false;
};

// Hashes a word while it is read. The stem is the word without its ending, whose hash is among the
// last few.
class WordReader {
 public:
  void take(char c) {
    const char lower = lowered(c);
    word_.is_upper |= word_.size == 0 && is_upper(c);
    word_.has_digit |= is_digit(c);
    earlier_[word_.size % kKept] = word_.hash;
    last_[word_.size % kKept] = lower;
    word_.hash = with(word_.hash, lower);
    ++word_.size;
  }

  Word end() {
    constexpr std::array<std::string_view, 5> kEndings{"ing", "ed", "es", "ly", "s"};
    word_.stem = word_.hash;
    word_.ends_in_ing = word_.size >= kEndings.front().size() && ends_with(kEndings.front());
    for (const std::string_view ending : kEndings) {
      if (word_.size >= kShortestStem + ending.size() && ends_with(ending)) {
        word_.stem = earlier_[(word_.size - ending.size()) % kKept];
        break;
      }
    }
    return std::exchange(word_, {});
  }

 private:
  static constexpr std::size_t kKept = 4;

  [[nodiscard]] bool ends_with(std::string_view ending) const {
    for (std::size_t i = 0; i < ending.size(); ++i) {
      if (last_[(word_.size - ending.size() + i) % kKept] != ending[i]) {
        return false;
      }
    }
    return true;
  }

  Word word_;
  std::array<std::uint64_t, kKept> earlier_{};  // the hash before each of the last characters
  std::array<char, kKept> last_{};
};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kFirstHash;
  for (const char c : text) {
    hash = with(hash, c);
  }
  return hash;
}

std::uint64_t hash_in_lower_case(std::string_view text) {
  std::uint64_t hash = kFirstHash;
  for (const char c : text) {
    hash = with(hash, lowered(c));
  }
  return hash;
}

// The length of a name or label before ": " at the start of a text; 0 if there is none.
std::size_t leading_length(std::string_view text) {
  if (text.empty() || (!is_upper(text.front()) && !is_lower(text.front()))) {
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

// The words of a text, at most as many as `words` has room for: runs of word characters, joined by
// single marks as in "10:30" or "e-mail". Returns their number.
std::size_t read_words(std::string_view text, std::span<Word> words) {
  WordReader reader;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size() && count < words.size(); ++i) {
    if (!is_word(text[i])) {
      continue;
    }
    while (i < text.size() &&
           (is_word(text[i]) || (joins(text[i]) && i + 1 < text.size() && is_word(text[i + 1])))) {
      reader.take(text[i++]);
    }
    words[count++] = reader.end();
  }
  return count;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words(text.size());
  words.resize(read_words(text, words));
  return words;
}

// True if a question mark of any script stands before the white space at the end of a text.
bool ends_with_question_mark(std::string_view text) {
  constexpr std::array<std::string_view, 6> kMarks{"?",      "\uFF1F", "\u061F",
                                                   "\u2047", "\u2048", "\u2049"};
  const std::string_view trimmed = text.substr(0, text.find_last_not_of(" \t\n\r") + 1);
  return std::ranges::any_of(kMarks,
                             [&](std::string_view mark) { return trimmed.ends_with(mark); });
}

// What a statement says a value of, found word by word: all words up to the first verb of a state
// that is not the first word, and a preposition after it, or those of a label.
class SubjectReader {
 public:
  explicit SubjectReader(std::size_t label_count) : label_count_(label_count) {}

  struct Role {
    bool is_verb;
    bool is_amount;
    bool is_article;
    bool is_content;  // and no value
    bool is_value;    // a number, date or name
    bool is_number;
    bool is_preposition;
    bool is_open;  // "to", "with" or "...ing": after the verb no state, or one of many
  };

  void take(std::uint32_t stem, const Role& role) {
    if (is_whole_) {
      if (!has_follower_ && label_count_ == 0) {
        is_open_ |= role.is_open;
        has_content_ |= has_name_ && role.is_number;
        if (role.is_preposition) {
          add(stem);
        }
      }
      has_follower_ = true;
      is_led_away_ |= is_amount_ && role.is_preposition;
      if (role.is_value) {
        value_leads_ |= !has_value_ && !is_led_away_ && content_count_ <= 1;
        has_value_ = true;
      }
      content_count_ += role.is_content ? 1U : 0U;
    } else {
      if (!role.is_article) {
        add(stem);
      }
      has_content_ |= role.is_content;
      has_name_ |= role.is_value && !role.is_number;
      is_open_ |= role.is_number && place_ == 0 && label_count_ == 0;
      const bool is_label = label_count_ != 0;
      is_whole_ = is_label ? place_ + 1 == label_count_ : role.is_verb && place_ > 0;
      is_amount_ = is_whole_ && !is_label && role.is_amount;
    }
    ++place_;
  }

  void end(Statement& statement) const {
    if (is_whole_ && !is_open_ && (label_count_ != 0 || is_amount_ || has_content_)) {
      statement.subject = short_of(label_count_ != 0 ? ~hash_ : hash_);
      statement.is_amount = is_amount_;
      statement.value_leads = value_leads_;
    }
  }

 private:
  void add(std::uint32_t stem) { hash_ = (hash_ ^ stem) * 0x9e3779b97f4a7c15U; }

  std::size_t label_count_;
  std::size_t place_ = 0;
  std::uint64_t hash_ = kFirstHash;
  std::size_t content_count_ = 0;  // after the subject
  bool is_whole_ = false;
  bool is_amount_ = false;
  bool has_content_ = false;
  bool has_follower_ = false;
  bool has_name_ = false;
  bool is_open_ = false;
  bool is_led_away_ = false;  // from an amount, by a preposition
  bool has_value_ = false;
  bool value_leads_ = false;
};

// Stems of one list.
struct Gathered {
  std::array<std::uint32_t, StatementReader::kMostWords> stems{};
  std::size_t count = 0;

  void add(std::uint32_t stem) { stems[count++] = stem; }
  [[nodiscard]] bool has(std::uint32_t stem) const {
    return std::find(stems.begin(), stems.begin() + count, stem) != stems.begin() + count;
  }
};

// A packed statement's first bytes. The stems of all words follow, then a byte for each of them
// that has a bit for each further list with that stem.
struct Head {
  std::uint32_t speaker;
  std::uint32_t first;
  std::uint32_t second;
  std::uint32_t topics;
  double cue;
  std::uint8_t stem_count;
  std::uint8_t word_count;
  std::uint8_t bits;
  std::uint8_t unused;
  std::uint32_t subject;
};
static_assert(sizeof(Head) == 32 && std::is_trivially_copyable_v<Head>);

}  // namespace

bool can_conflict(const Statement& statement) {
  return statement.word_count != 0 && statement.word_count < StatementReader::kMostWords &&
         !statement.asks;
}

void pack(const Statement& statement, std::vector<char>& packed) {
  const auto bit = [](bool value, std::size_t place) {
    return static_cast<std::uint8_t>((value ? 1U : 0U) << place);
  };
  const Stems all = statement.all();
  const Head head{
      .speaker = statement.speaker,
      .first = statement.first,
      .second = statement.second,
      .topics = statement.topics,
      .cue = statement.cue,
      .stem_count = static_cast<std::uint8_t>(all.size()),
      .word_count = statement.word_count,
      .bits = static_cast<std::uint8_t>(
          bit(statement.adds, 0) | bit(statement.is_past, 1) | bit(statement.names_relative, 2) |
          bit(statement.denies, 3) | bit(statement.asks, 4) | bit(statement.is_amount, 5) |
          bit(statement.value_leads, 6)),
      .unused = 0,
      .subject = statement.subject};
  std::array<std::uint8_t, StatementReader::kMostWords> roles{};
  const std::array<Stems, Statement::kLists - 1> lists{statement.content(), statement.numbers(),
                                                       statement.dates(), statement.names()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t list = 0; list < lists.size(); ++list) {
      roles[i] |= bit(std::ranges::binary_search(lists[list], all[i]), list);
    }
  }
  const auto append = [&](const void* bytes, std::size_t size) {
    const std::size_t start = packed.size();
    packed.resize(start + size);
    std::memcpy(packed.data() + start, bytes, size);
  };
  append(&head, sizeof(head));
  append(all.data(), all.size_bytes());
  append(roles.data(), all.size());
}

Statement unpacked(std::string_view packed) {
  Head head{};
  if (packed.size() < sizeof(head)) {
    return {};
  }
  std::memcpy(&head, packed.data(), sizeof(head));
  packed.remove_prefix(sizeof(head));
  const std::size_t count = head.stem_count;
  if (packed.size() != count * (sizeof(std::uint32_t) + 1)) {
    return {};
  }
  Statement statement{.speaker = head.speaker,
                      .first = head.first,
                      .second = head.second,
                      .topics = head.topics,
                      .subject = head.subject,
                      .cue = head.cue,
                      .word_count = head.word_count,
                      .adds = (head.bits & 1U) != 0,
                      .is_past = (head.bits & 2U) != 0,
                      .names_relative = (head.bits & 4U) != 0,
                      .denies = (head.bits & 8U) != 0,
                      .asks = (head.bits & 16U) != 0,
                      .is_amount = (head.bits & 32U) != 0,
                      .value_leads = (head.bits & 64U) != 0,
                      .sizes = {},
                      .stems = {}};
  const std::string_view roles = packed.substr(count * sizeof(std::uint32_t));
  statement.stems.resize(Statement::kLists * count);
  std::memcpy(statement.stems.data(), packed.data(), count * sizeof(std::uint32_t));
  statement.sizes[0] = head.stem_count;
  std::size_t size = count;
  for (std::size_t list = 1; list < Statement::kLists; ++list) {
    const std::size_t start = size;
    // Each stem is written, and the place for the next one moves only if it is of the list.
    for (std::size_t i = 0; i < count; ++i) {
      statement.stems[size] = statement.stems[i];
      size += static_cast<unsigned char>(roles[i]) >> (list - 1) & 1U;
    }
    statement.sizes[list] = static_cast<std::uint8_t>(size - start);
  }
  statement.stems.resize(size);
  return statement;
}

StatementReader::StatementReader(const StatementWords& words) {
  if (words.topics.size() > 32 || words.cues.size() > 32) {
    throw std::invalid_argument("words: at most 32 topics and 32 groups of cues");
  }
  const auto add = [this](const std::vector<std::string>& given, Role role) {
    for (const std::string& word : given) {
      meanings_[hash_of(word)].roles |= role;
    }
  };
  add(words.stop_words, kStop);
  add(words.cue_words, kCueWord);
  add(words.numbers, kNumber);
  add(words.dates, kDate);
  add(words.relatives, kRelative);
  add(words.denials, kDenial);
  add(words.states, kState);
  add(words.amounts, kAmount);
  add(words.articles, kArticle);
  add(words.particles, kParticle);
  add(words.headings, kHeading);
  add(words.labels, kLabel);
  add(words.prepositions, kPreposition);
  for (const auto& [strength, phrases] : words.cues) {
    add_phrases(phrases, static_cast<std::uint32_t>(strengths_.size()));
    strengths_.push_back(strength);
  }
  add_phrases(words.additions, kAddition);
  add_phrases(words.past, kPast);
  for (std::size_t topic = 0; topic < words.topics.size(); ++topic) {
    for (const std::string& word : words.topics[topic]) {
      for (const Word& each : words_of(word)) {
        topics_[each.stem] |= 1U << topic;
      }
    }
  }
}

void StatementReader::add_phrases(const std::vector<std::string>& phrases, std::uint32_t group) {
  for (const std::string& phrase : phrases) {
    const std::vector<Word> words = words_of(phrase);
    if (words.empty()) {
      throw std::invalid_argument("words: a phrase without a word");
    }
    Phrase made{.rest = {}, .group = group};
    for (const Word& word : std::span(words).subspan(1)) {
      made.rest.push_back(word.hash);
    }
    meanings_[words.front().hash].phrases.push_back(std::move(made));
  }
}

std::uint32_t StatementReader::roles_of(std::uint64_t word) const {
  const auto known = meanings_.find(word);
  return known == meanings_.end() ? 0 : known->second.roles;
}

bool StatementReader::is_label(std::string_view name) const {
  const std::string_view last = name.substr(name.rfind(' ') + 1);  // all, if there is no blank
  if ((roles_of(hash_of(last)) & kHeading) != 0) {
    return false;
  }
  if (last.size() == name.size()) {
    return (roles_of(hash_in_lower_case(name)) & kLabel) != 0;
  }
  for (std::size_t at = name.find(' '); at != std::string_view::npos; at = name.find(' ')) {
    name.remove_prefix(at + 1);
    const std::string_view word = name.substr(0, name.find(' '));
    if (!word.empty() && is_lower(word.front()) && (roles_of(hash_of(word)) & kParticle) == 0) {
      return true;
    }
  }
  return false;
}

Statement StatementReader::read(std::string_view text) const {
  Statement statement;
  std::size_t label_count = 0;
  if (const std::size_t length = leading_length(text); length > 0) {
    const std::string_view name = text.substr(0, length);
    if (is_label(name)) {
      label_count = words_of(name).size();
    } else if (is_upper(text.front())) {
      statement.speaker = short_of(hash_of(name));
      text.remove_prefix(length + 2);
    }
  }
  std::array<Word, kMostWords> room;
  const std::span<const Word> words = std::span(room).first(read_words(text, room));
  statement.word_count = static_cast<std::uint8_t>(words.size());
  if (words.size() >= kMostWords) {
    return statement;
  }
  std::uint64_t groups = 0;
  static const std::uint64_t kTo = hash_of("to");
  static const std::uint64_t kWith = hash_of("with");
  SubjectReader subject(label_count);
  std::array<Gathered, Statement::kLists> lists;
  auto& [all, content, numbers, dates, names] = lists;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    const std::uint32_t stem = short_of(word.stem);
    const auto known = meanings_.find(word.hash);
    const std::uint32_t roles = known == meanings_.end() ? 0 : known->second.roles;
    all.add(stem);
    bool is_value = true;
    const bool is_date = (roles & kDate) != 0;
    const bool is_number = !is_date && ((roles & kNumber) != 0 || word.has_digit);
    if (is_date) {
      dates.add(stem);
    } else if (is_number) {
      numbers.add(stem);
    } else if (word.is_upper && (roles & kStop) == 0 && (i > 0 || label_count == 0)) {
      names.add(stem);
    } else {
      is_value = false;
    }
    const bool is_content = word.size > 1 && (roles & (kStop | kCueWord)) == 0;
    if (is_content) {
      content.add(stem);
    }
    subject.take(stem, {.is_verb = (roles & (kState | kAmount)) != 0,
                        .is_amount = (roles & kAmount) != 0,
                        .is_article = (roles & kArticle) != 0,
                        .is_content = is_content && !is_value,
                        .is_value = is_value,
                        .is_number = is_number,
                        .is_preposition = (roles & kPreposition) != 0,
                        .is_open = word.ends_in_ing || word.hash == kTo || word.hash == kWith});
    statement.names_relative |= (roles & kRelative) != 0;
    statement.denies |= (roles & kDenial) != 0;
    if (const auto topic = topics_.find(word.stem); topic != topics_.end()) {
      statement.topics |= topic->second;
    }
    if (known != meanings_.end()) {
      for (const Phrase& phrase : known->second.phrases) {
        if (i + phrase.rest.size() < words.size() &&
            std::ranges::equal(phrase.rest, words.subspan(i + 1, phrase.rest.size()), {}, {},
                               &Word::hash)) {
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
  statement.asks = ends_with_question_mark(text);
  subject.end(statement);
  if (all.count > 0) {
    statement.first = names.has(all.stems[0]) ? all.stems[0] : 0;
    statement.second = all.count > 1 ? all.stems[1] : 0;
  }
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::span<std::uint32_t> stems = std::span(lists[i].stems).first(lists[i].count);
    std::ranges::sort(stems);
    const auto rest = std::ranges::unique(stems);
    statement.sizes[i] = static_cast<std::uint8_t>(rest.begin() - stems.begin());
    statement.stems.insert(statement.stems.end(), stems.begin(), rest.begin());
  }
  return statement;
}

}  // namespace oneiros::conflicts
