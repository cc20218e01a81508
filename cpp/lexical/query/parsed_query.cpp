// A hand-written parser without errors: everything that is not valid syntax is literal text.
#include "lexical/query/parsed_query.h"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "analysis/utf8.h"

namespace oneiros::lexical {
namespace {

struct Field {
  std::string_view sign;
  std::uint8_t mask;
};

constexpr std::array<Field, 3> kFields = {
    {{"title:", kTitleField}, {"text:", kTextField}, {"tags:", kTagsField}}};

// Unicode white space, and the four ASCII separators.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_sign(char byte) { return byte == '+' || byte == '-'; }

// Reads left to right; each byte is examined a bounded number of times.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), last_quote_(text.rfind('"')) {}

  void skip_spaces() {
    while (!is_at_end() && starts_space(at_)) {
      at_ += decode_utf8(text_, at_).length;
    }
  }
  bool is_at_end() const { return at_ >= text_.size(); }

  // Consumes an operator and returns it; kShould, consuming nothing, if there is none or nothing
  // follows that it could apply to.
  Occur take_sign() {
    if (!is_sign(text_[at_]) || !goes_on(at_ + 1) || is_sign(text_[at_ + 1])) {
      return Occur::kShould;
    }
    return text_[at_++] == '+' ? Occur::kMust : Occur::kMustNot;
  }

  // The same for the name of a field.
  std::uint8_t take_field() {
    for (const Field& field : kFields) {
      if (text_.substr(at_).starts_with(field.sign) && goes_on(at_ + field.sign.size())) {
        at_ += field.sign.size();
        return field.mask;
      }
    }
    return kAllFields;
  }

  // True if a phrase starts here and is terminated.
  bool is_phrase() const {
    return text_[at_] == '"' && last_quote_ != std::string_view::npos && at_ < last_quote_;
  }
  // REQUIRES: is_phrase().
  std::string_view take_phrase() {
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find('"', begin);
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  // Everything up to the next white space.
  std::string_view take_run() {
    const std::size_t begin = at_;
    while (!is_at_end() && !starts_space(at_)) {
      at_ += decode_utf8(text_, at_).length;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  bool starts_space(std::size_t at) const { return is_space(decode_utf8(text_, at).code_point); }
  bool goes_on(std::size_t at) const { return at < text_.size() && !starts_space(at); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t last_quote_;
};

bool is_prefix(std::string_view run) { return run.size() > 1 && run.find('*') == run.size() - 1; }

ParsedClause next_clause(Reader& reader) {
  ParsedClause clause;
  clause.occur = reader.take_sign();
  clause.fields = reader.take_field();
  if (reader.is_phrase()) {
    clause.kind = ClauseKind::kPhrase;
    clause.text = reader.take_phrase();
    return clause;
  }
  clause.text = reader.take_run();
  if (is_prefix(clause.text)) {
    clause.kind = ClauseKind::kPrefix;
    clause.text.remove_suffix(1);
  }
  return clause;
}

}  // namespace

QuerySyntax syntax_of(std::string_view name) {
  if (name == "plain") {
    return QuerySyntax::kPlain;
  }
  if (name == "query") {
    return QuerySyntax::kQuery;
  }
  throw std::invalid_argument("syntax: must be 'plain' or 'query', got '" + std::string(name) +
                              "'");
}

ParsedQuery parse_query(std::string_view utf8, QuerySyntax syntax) {
  ParsedQuery query;
  Reader reader(utf8);
  for (reader.skip_spaces(); !reader.is_at_end(); reader.skip_spaces()) {
    ParsedClause clause;
    if (syntax == QuerySyntax::kQuery) {
      clause = next_clause(reader);
    } else {
      clause.text = reader.take_run();
    }
    if (!clause.text.empty()) {  // an empty phrase
      query.clauses.push_back(clause);
    }
  }
  return query;
}

}  // namespace oneiros::lexical
