// Any bytes are a text: UTF-8, folding, word breaks, identifiers, prefixes and terms.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/utf8.h"
#include "fuzz/target.h"

using namespace oneiros;
using fuzz::require;

namespace {

void check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Decoded read = decode_utf8(text, at);
    require(read.length >= 1 && read.length <= 4 && at + read.length <= text.size(),
            "a character ends within its text");
    char written[4];
    const std::size_t length = encode_utf8(read.code_point, written);
    const std::string_view source = text.substr(at, read.length);
    require(read.code_point == kReplacement || source == std::string_view(written, length),
            "a decoded character encodes to its bytes");
    at += read.length;
  }
}

std::vector<std::string> terms_of(const Analyzer& analyzer, const AnalyzedText& text) {
  std::vector<std::string> terms;
  for (const Occurrence& occurrence : text.occurrences) {
    require(occurrence.term < analyzer.vocabulary_size(), "a term of a text is in the vocabulary");
    terms.push_back(analyzer.term(occurrence.term));
  }
  return terms;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  check_utf8(text);
  const bool drops = (data[0] & 4U) != 0;
  const AnalyzerOptions options{
      .stop_words = drops ? std::vector<std::string>{"the", "a"} : std::vector<std::string>{},
      .identifiers = (data[0] & 1U) != 0,
      .folding = std::vector{Folding::kFull, Folding::kLower, Folding::kTurkishLower}[data[0] % 3],
      .stem = {}};
  Analyzer analyzer(options);
  const AnalyzedText analyzed = analyzer.analyze(text);
  require(std::ranges::is_sorted(analyzed.occurrences, {}, &Occurrence::position),
          "occurrences stand in the order of the text");
  const std::vector<std::string> terms = terms_of(analyzer, analyzed);
  for (const std::string& term : terms) {
    require(!term.empty(), "no term is empty");
    require(analyzer.find_term(term) != kUnknownTerm, "a term is found by its spelling");
  }
  const AnalyzedText again = analyzer.analyze(text);
  require(terms_of(analyzer, again) == terms, "the same text has the same terms");
  const AnalyzedWords words = analyzer.analyze_words(text);
  require(words.unknown.empty(), "no word of an indexed text is unknown");
  const auto counted = static_cast<std::size_t>(
      std::ranges::count(analyzed.occurrences, false, &Occurrence::is_single));
  require(words.occurrences.size() == counted, "a query has a text's words");
  require(analyzer.analyze_query(text).size() == counted,
          "a query of a text's words has all of them");
  const AnalyzedPrefix prefix = analyzer.analyze_prefix(text);
  if (!prefix.prefix.empty()) {
    require(analyzer.terms_with_prefix(prefix.prefix, 8).size() <= 9,
            "at most one more than asked");
  }
  return 0;
}
