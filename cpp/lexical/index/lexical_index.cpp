// The index over texts: analysis on the caller's thread, then the index over term numbers.
//
// Texts are analysed in batches, in parallel, and added in order; a batch becomes visible at once.
// Queries in plain syntax are bags of words; others are parsed into clauses, and reduced to words
// if that is equivalent, so that they use the pruned search.
//
// Invariants: the vocabulary only grows, and contains the terms of every visible document. Limits
// on sizes are checked before any work. Cost: linear in the bytes of a text or query; searches see
// index_searches.cpp.
#include "lexical/index/lexical_index.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "threads/for_each_chunk.h"
#include "threads/pause.h"

namespace oneiros {

namespace {

// The texts of a batch become visible at once.
constexpr std::size_t kBatchTexts = 256;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;

// The distance between the last word of a tag and the first of the next.
constexpr std::uint32_t kTagGap = 64;

std::shared_ptr<Analyzer> required(std::shared_ptr<Analyzer> analyzer) {
  if (!analyzer) {
    throw std::invalid_argument("analyzer: must not be null");
  }
  return analyzer;
}

// Throws std::invalid_argument for a field over kMaxTextBytes, naming it.
void check_field(std::string_view field, const std::string& name) {
  if (field.size() > LexicalIndex::kMaxTextBytes) {
    throw std::invalid_argument(name + ": must be at most " +
                                std::to_string(LexicalIndex::kMaxTextBytes) +
                                " bytes of UTF-8, got " + std::to_string(field.size()));
  }
}

// `place` is appended to the field names in messages, as in texts[3].
void check_text(const IndexedText& text, const std::array<const char*, 3>& names,
                const std::string& place) {
  check_field(text.text, names[0] + place);
  check_field(text.title, names[1] + place);
  check_field(text.tags, names[2] + place);
}

void check_texts(std::span<const IndexedText> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    check_text(texts[i], {"texts", "titles", "tags"},
               std::string("[").append(std::to_string(i)) + "]");
  }
}

void check_sizes(std::size_t rows, std::size_t texts) {
  if (rows != texts) {
    throw std::invalid_argument("texts: must be as many as rows (" + std::to_string(rows) +
                                "), got " + std::to_string(texts));
  }
}

std::size_t bytes_of(const IndexedText& text) {
  return text.text.size() + text.title.size() + text.tags.size();
}

// Calls add(start, end) for batches of `count` texts, in order.
template <typename BytesOf, typename Add>
void for_each_batch(std::size_t count, BytesOf bytes, Add add) {
  std::size_t start = 0;
  std::size_t batch_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    batch_bytes += bytes(i);
    if (i + 1 - start == kBatchTexts || batch_bytes >= kBatchBytes || i + 1 == count) {
      add(start, i + 1);
      start = i + 1;
      batch_bytes = 0;
    }
  }
}

[[noreturn]] void refuse(std::size_t most, const char* what, const std::string& got) {
  throw QueryTooLarge("query: must hold at most " + std::to_string(most) + " distinct " + what +
                      ", got " + got);
}

// Makes the interrupt of one thread end the work of the others too.
class SharedPause {
 public:
  // Refers to its argument, which may be empty, and belongs to the constructing thread.
  explicit SharedPause(const Interrupt& pause) : pause_(pause) {}

  void operator()() {
    if (is_over_.load(std::memory_order_acquire)) {
      throw Ended();
    }
    if (pause_ && std::this_thread::get_id() == thread_) {
      try {
        pause_();
      } catch (...) {
        thrown_ = std::current_exception();
        is_over_.store(true, std::memory_order_release);
        throw Ended();
      }
    }
  }

  // The exception of the interrupt, if any. REQUIRES: no thread is working any more.
  void rethrow() const {
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
  }

 private:
  struct Ended {};

  const Interrupt& pause_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::exception_ptr thrown_;
  std::atomic<bool> is_over_ = false;
};

// True if the query is equivalent to a search for its words.
bool is_plain(const lexical::AnalyzedClauses& analyzed) {
  return std::ranges::all_of(analyzed.clauses, [](const lexical::Clause& clause) {
    return clause.occur == lexical::Occur::kShould && clause.kind == lexical::ClauseKind::kWord &&
           clause.fields == lexical::kAllFields;
  });
}

lexical::WeighedQuery& query_of(lexical::WeighedQuery& query) { return query; }
lexical::WeighedQuery& query_of(lexical::Found& found) { return found.query; }

// The terms of a query that no counted document has.
std::vector<TermId> missing_terms(std::span<const lexical::QueryTerm> terms,
                                  const lexical::WeighedQuery& weighed) {
  std::vector<TermId> missing;
  for (const lexical::QueryTerm& one : terms) {
    if (std::ranges::find(weighed.terms, one.term, &lexical::WeightedTerm::term) ==
        weighed.terms.end()) {
      missing.push_back(one.term);
    }
  }
  return missing;
}

// The terms near any of the words, distinct.
std::vector<TermId> all_near(std::span<const SlippedWord> words) {
  std::vector<TermId> terms;
  for (const SlippedWord& word : words) {
    for (const NearTerm& near : word.near) {
      terms.push_back(near.term);
    }
  }
  std::ranges::sort(terms);
  terms.erase(std::ranges::unique(terms).begin(), terms.end());
  return terms;
}

}  // namespace

// A query's terms with those of words one slip away.
struct LexicalIndex::Respelled {
  std::vector<lexical::QueryTerm> terms;
  std::unordered_map<TermId, std::uint64_t> df;  // of the new ones
  std::vector<lexical::Typo> typos;
  double found_count = 0.0;  // of the missing words, by the shares of the new ones
};

LexicalIndex::LexicalIndex(std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
                           const lexical::SegmentLimits& limits)
    : analyzer_(required(std::move(analyzer))), weights_(bm25.weights), index_(bm25, limits) {}

std::size_t LexicalIndex::add(std::uint32_t row, const IndexedText& text) {
  check_text(text, {"text", "title", "tags"}, "");
  std::size_t cut_token_count = 0;
  const lexical::Document document = document_of(row, text, cut_token_count);
  index_.add({&document, 1});
  return cut_token_count;
}

// Analyses all fields with one count of cut tokens.
lexical::Document LexicalIndex::document_of(std::uint32_t row, const IndexedText& text,
                                            std::size_t& cut_token_count) const {
  const AnalyzedText title = analyzer_->analyze(text.title);
  const AnalyzedText body = analyzer_->analyze(text.text);
  cut_token_count += title.cut_token_count + body.cut_token_count;
  const std::vector<Occurrence> tags = analyze_tags(text.tags, cut_token_count);
  return lexical::count_terms(row, {title.occurrences, body.occurrences, tags}, weights_);
}

// Each tag starts at a distance from the previous one, so that phrases do not cross tags.
std::vector<Occurrence> LexicalIndex::analyze_tags(std::string_view tags,
                                                   std::size_t& cut_token_count) const {
  std::vector<Occurrence> occurrences;
  std::uint32_t start = 0;
  while (!tags.empty()) {
    const std::size_t end = std::min(tags.find('\n'), tags.size());
    const AnalyzedText tag = analyzer_->analyze(tags.substr(0, end));
    cut_token_count += tag.cut_token_count;
    for (const Occurrence& occurrence : tag.occurrences) {
      occurrences.push_back(occurrence);
      occurrences.back().position += start;
    }
    if (!occurrences.empty()) {
      start = occurrences.back().position + kTagGap;
    }
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  return occurrences;
}

// Analysis of a batch runs in parallel; documents are added in the given order.
std::size_t LexicalIndex::add_many(std::span<const std::uint32_t> rows,
                                   std::span<const IndexedText> texts, const Interrupt& pause) {
  check_sizes(rows.size(), texts.size());
  check_texts(texts);
  std::vector<lexical::Document> batch;
  std::size_t cut_token_count = 0;
  for_each_batch(
      texts.size(), [&](std::size_t i) { return bytes_of(texts[i]); },
      [&](std::size_t start, std::size_t end) {
        batch.clear();
        for (std::size_t i = start; i < end; ++i) {
          batch.push_back(document_of(rows[i], texts[i], cut_token_count));
        }
        index_.add(batch);
        if (pause) {
          pause();
        }
      });
  return cut_token_count;
}

AnalyzedTexts LexicalIndex::analyze_many(std::span<const IndexedText> texts) const {
  check_texts(texts);
  AnalyzedTexts analyzed;
  analyzed.documents.reserve(texts.size());
  analyzed.sizes.reserve(texts.size());
  for (const IndexedText& text : texts) {
    analyzed.documents.push_back(document_of(0, text, analyzed.cut_token_count));
    analyzed.sizes.push_back(bytes_of(text));
  }
  return analyzed;
}

std::size_t LexicalIndex::add_analyzed(std::span<const std::uint32_t> rows, AnalyzedTexts texts,
                                       const Interrupt& pause) {
  check_sizes(rows.size(), texts.documents.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    texts.documents[i].row = rows[i];
  }
  const std::span<const lexical::Document> documents(texts.documents);
  for_each_batch(
      rows.size(), [&](std::size_t i) { return texts.sizes[i]; },
      [&](std::size_t start, std::size_t end) {
        index_.add(documents.subspan(start, end - start));
        if (pause) {
          pause();
        }
      });
  return texts.cut_token_count;
}

// Chooses between a bag of words and clauses. Limits are checked before terms are looked up.
LexicalIndex::AnalyzedAsRead LexicalIndex::analyze_query(std::string_view query,
                                                         const QueryReading& reading,
                                                         const QueryWeighing& by) const {
  if (query.size() > kMaxQueryBytes) {
    throw QueryTooLarge("query: must be at most " + std::to_string(kMaxQueryBytes) +
                        " bytes of UTF-8, got " + std::to_string(query.size()));
  }
  if (reading.syntax == lexical::QuerySyntax::kPlain && reading.minimum_should_match <= 1) {
    return analyze_terms(query, by.shares);
  }
  lexical::AnalyzedClauses analyzed = lexical::analyze_clauses(
      lexical::parse_query(query, reading.syntax), *analyzer_, kMaxQueryTerms,
      by.given == nullptr ? nullptr : &by.given->prefix_terms);
  if (analyzed.term_count > kMaxQueryTerms) {
    refuse(kMaxQueryTerms, "terms", "more");  // the rest was not read
  }
  if (reading.minimum_should_match <= 1 && is_plain(analyzed)) {
    std::vector<TermId> terms;
    for (const lexical::Clause& clause : analyzed.clauses) {
      terms.insert(terms.end(), clause.terms.begin(), clause.terms.end());
    }
    AnalyzedTerms found{.terms = lexical::count_query_terms(terms)};
    found.unknown_count = static_cast<double>(analyzed.term_count - found.terms.size());
    return found;
  }
  std::vector<lexical::CountedClause> clauses = lexical::count_clauses(std::move(analyzed.clauses));
  if (clauses.size() > kMaxQueryClauses) {
    refuse(kMaxQueryClauses, "clauses", std::to_string(clauses.size()));
  }
  return lexical::ClauseQuery{.clauses = std::move(clauses),
                              .minimum_should_match = reading.minimum_should_match};
}

// A word has the share of the place where it first stands. Without shares, positions are not
// needed.
LexicalIndex::AnalyzedTerms LexicalIndex::analyze_terms(std::string_view query,
                                                        const lexical::WordShares& shares) const {
  const auto require_few = [](std::size_t count) {
    if (count > kMaxQueryTerms) {
      refuse(kMaxQueryTerms, "terms", std::to_string(count));
    }
  };
  if (shares.are_alike()) {
    const AnalyzedQuery analyzed = analyzer_->analyze_whole_query(query);
    AnalyzedTerms found{.terms = lexical::count_query_terms(analyzed.terms),
                        .unknown_count = static_cast<double>(analyzed.unknown_term_count)};
    require_few(found.terms.size() + analyzed.unknown_term_count);
    return found;
  }
  const AnalyzedWords words = analyzer_->analyze_words(query);
  std::vector<TermId> terms;
  std::unordered_map<TermId, double> share_of;
  AnalyzedTerms found;
  for (const std::string& term : words.unknown) {
    found.unknown.push_back({.term = term, .count = 0, .share = 0.0});
  }
  for (const WordOccurrence& word : words.occurrences) {
    const double share = shares.of(word);
    if (word.term != kUnknownTerm) {
      terms.push_back(word.term);
      share_of.try_emplace(word.term, share);
    } else if (UnknownWord& unknown = found.unknown[word.unknown]; ++unknown.count == 1) {
      unknown.share = share;
      found.unknown_count += share;
    }
  }
  found.terms = lexical::count_query_terms(terms);
  require_few(found.terms.size() + words.unknown.size());
  for (lexical::QueryTerm& term : found.terms) {
    term.share = share_of.at(term.term);
  }
  return found;
}

// Terms and prefixes of a query that the index contains, but the given statistics do not, would be
// ignored.
lexical::TermStatistics LexicalIndex::translate(const QueryStatistics& given,
                                                const AnalyzedAsRead& query) const {
  lexical::TermStatistics translated{
      .counts = given.counts, .df = {}, .prefix_df = given.prefix_df};
  const auto refuse_lack = [](std::string_view what, const std::string& spelling) {
    throw std::invalid_argument("statistics: lack the " + std::string(what) + " \"" + spelling +
                                "\", which this index has: they are of another query or of "
                                "other texts");
  };
  const auto add = [&](TermId term) {
    const std::string spelling = analyzer_->term(term);
    if (const auto found = given.df.find(spelling); found != given.df.end()) {
      translated.df.emplace(term, found->second);
    } else if (index_.contains_term(term)) {
      refuse_lack("term", spelling);
    } else {
      translated.df.emplace(term, 0);
    }
  };
  if (const auto* const plain = std::get_if<AnalyzedTerms>(&query)) {
    for (const lexical::QueryTerm& one : plain->terms) {
      add(one.term);
    }
  } else {
    for (const lexical::CountedClause& one : std::get<lexical::ClauseQuery>(query).clauses) {
      const lexical::Clause& clause = one.clause;
      std::ranges::for_each(clause.terms, add);
      if (clause.kind == lexical::ClauseKind::kPrefix && !given.prefix_df.contains(clause.prefix) &&
          std::ranges::any_of(clause.terms,
                              [&](TermId term) { return index_.contains_term(term); })) {
        refuse_lack("prefix", clause.prefix + "*");
      }
    }
  }
  return translated;
}

std::vector<std::uint64_t> LexicalIndex::holders(std::span<const TermId> terms,
                                                 const lexical::StatisticsSource& source,
                                                 const QueryStatistics* given) const {
  std::vector<std::uint64_t> df(terms.size());
  if (given != nullptr) {
    std::ranges::transform(terms, df.begin(), [&](TermId term) {
      const auto found = given->df.find(analyzer_->term(term));
      return found == given->df.end() ? 0 : found->second;
    });
    return df;
  }
  const lexical::TermStatistics counted =
      index_.statistics(lexical::count_query_terms(terms), source);
  std::ranges::transform(terms, df.begin(), [&](TermId term) { return counted.df.at(term); });
  return df;
}

// Terms that only other indexes have weigh as theirs do, and may be near a missing word.
void LexicalIndex::learn_unknown(
    const std::map<std::string, std::uint64_t, std::less<>>& df) const {
  std::vector<std::string> unknown;
  for (const auto& [term, count] : df) {
    if (count != 0 && analyzer_->find_term(term) == kUnknownTerm) {
      unknown.push_back(term);
    }
  }
  if (!unknown.empty()) {
    analyzer_->learn_terms(unknown);
  }
}

// Of the words near a missing one, the one in most documents is taken, the first of equal ones in
// byte order. Nothing is taken for a word whose nearest is in the query anyway. Source:
// docs/systems/house.md H20.
std::optional<LexicalIndex::Respelled> LexicalIndex::respelled(
    std::string_view query, const AnalyzedTerms& words, const lexical::WeighedQuery& weighed,
    const lexical::StatisticsSource& source, const QueryWeighing& by) const {
  std::vector<SlippedWord> slipped =
      analyzer_->slipped_words(query, missing_terms(words.terms, weighed));
  if (slipped.empty()) {
    return std::nullopt;
  }
  const std::vector<TermId> near = all_near(slipped);
  const std::vector<std::uint64_t> df = holders(near, source, by.given);
  const auto df_of = [&](const NearTerm& one) {
    return df[static_cast<std::size_t>(std::ranges::lower_bound(near, one.term) - near.begin())];
  };
  Respelled found{.terms = words.terms, .df = {}, .typos = {}};
  for (SlippedWord& word : slipped) {
    const auto best = std::ranges::max_element(word.near, {}, df_of);
    if (df_of(*best) == 0 ||
        std::ranges::find(weighed.terms, best->term, &lexical::WeightedTerm::term) !=
            weighed.terms.end()) {
      continue;
    }
    std::uint32_t count = 0;
    double share = 0.0;
    if (word.term == kUnknownTerm) {
      const auto own = std::ranges::find(words.unknown, word.spelling, &UnknownWord::term);
      if (own == words.unknown.end()) {
        continue;  // another thread has learnt the word since
      }
      count = own->count;
      share = own->share;
    } else {
      const auto own = std::ranges::find(words.terms, word.term, &lexical::QueryTerm::term);
      if (own == words.terms.end()) {
        continue;  // the same
      }
      count = own->count;
      share = own->share;
    }
    share = by.shares.of_typo(share);
    if (found.df.try_emplace(best->term, df_of(*best)).second) {
      found.terms.push_back({.term = best->term, .count = count, .share = share});
    } else {
      std::ranges::find(found.terms, best->term, &lexical::QueryTerm::term)->count += count;
    }
    found.found_count += share;
    found.typos.push_back({.word = std::move(word.word),
                           .read_as = best->word,
                           .spelling = std::move(word.spelling),
                           .missing = word.term,
                           .term = best->term});
  }
  if (found.typos.empty()) {
    return std::nullopt;
  }
  return found;
}

template <typename Use>
auto LexicalIndex::weighed_by(std::string_view query, const QueryReading& reading,
                              const QueryWeighing& by, const Use& use) const {
  if (by.given != nullptr) {
    learn_unknown(by.given->df);
  }
  const AnalyzedAsRead analyzed = analyze_query(query, reading, by);
  std::optional<lexical::TermStatistics> given;
  if (by.given != nullptr) {
    given = translate(*by.given, analyzed);
  }
  const lexical::StatisticsSource source{.rows = by.rows, .given = given ? &*given : nullptr};
  const auto* const plain = std::get_if<AnalyzedTerms>(&analyzed);
  if (plain == nullptr) {
    return use(std::get<lexical::ClauseQuery>(analyzed), source);
  }
  auto found = use(plain->terms, source);
  query_of(found).missing_count += plain->unknown_count;
  if (by.shares.typos == 0.0 || reading.syntax != lexical::QuerySyntax::kPlain ||
      query_of(found).missing_count == 0.0) {
    return found;
  }
  std::optional<Respelled> other = respelled(query, *plain, query_of(found), source, by);
  if (other) {
    if (given) {
      given->df.insert(other->df.begin(), other->df.end());
    }
    found = use(other->terms, source);
    query_of(found).missing_count += plain->unknown_count - other->found_count;
    query_of(found).typos = std::move(other->typos);
  }
  return found;
}

lexical::Found LexicalIndex::search(std::string_view query, std::size_t k,
                                    const lexical::AllowedRows& allowed,
                                    const QueryReading& reading, const QueryWeighing& by) const {
  return weighed_by(query, reading, by, [&](const auto& terms, const auto& source) {
    return index_.search(terms, k, allowed, source);
  });
}

QueryStatistics LexicalIndex::statistics(std::string_view query, const QueryReading& reading,
                                         const QueryWeighing& by) const {
  const AnalyzedAsRead analyzed = analyze_query(query, reading, by);
  const lexical::StatisticsSource source{.rows = by.rows, .given = nullptr};
  const auto* const plain = std::get_if<AnalyzedTerms>(&analyzed);
  const lexical::TermStatistics counted =
      plain != nullptr ? index_.statistics(plain->terms, source)
                       : index_.statistics(std::get<lexical::ClauseQuery>(analyzed), source);
  QueryStatistics statistics{
      .counts = counted.counts, .df = {}, .prefix_df = counted.prefix_df, .prefix_terms = {}};
  // Terms that only other texts have, now or formerly, are left out.
  std::vector<TermId> missing;
  for (const auto& [term, df] : counted.df) {
    if (df != 0) {
      statistics.df.emplace(analyzer_->term(term), df);
    } else {
      missing.push_back(term);
    }
  }
  if (plain != nullptr && by.shares.typos > 0.0 && reading.syntax == lexical::QuerySyntax::kPlain) {
    const std::vector<TermId> near = all_near(analyzer_->slipped_words(query, missing));
    const std::vector<std::uint64_t> df = holders(near, source, nullptr);
    for (std::size_t i = 0; i < near.size(); ++i) {
      if (df[i] != 0) {
        statistics.df.emplace(analyzer_->term(near[i]), df[i]);
      }
    }
  }
  if (const auto* const clauses = std::get_if<lexical::ClauseQuery>(&analyzed)) {
    for (const auto& [clause, count] : clauses->clauses) {
      if (clause.kind == lexical::ClauseKind::kPrefix) {
        std::vector<std::string>& terms = statistics.prefix_terms[clause.prefix];
        terms.clear();
        for (const TermId term : clause.terms) {
          if (counted.df.at(term) != 0) {
            terms.push_back(analyzer_->term(term));
          }
        }
        if (by.given != nullptr) {
          const auto found = by.given->prefix_terms.find(clause.prefix);
          if (found != by.given->prefix_terms.end()) {
            terms.insert(terms.end(), found->second.begin(), found->second.end());
          }
        }
        std::ranges::sort(terms);
        terms.erase(std::ranges::unique(terms).begin(), terms.end());
      }
    }
  }
  return statistics;
}

std::optional<std::vector<std::uint8_t>> LexicalIndex::permitted(
    std::string_view query, const QueryReading& reading, const lexical::AllowedRows& allowed,
    const QueryStatistics* given) const {
  if (given != nullptr) {
    learn_unknown(given->df);
  }
  const AnalyzedAsRead analyzed = analyze_query(query, reading, {.rows = {}, .given = given});
  const auto* const asked = std::get_if<lexical::ClauseQuery>(&analyzed);
  const auto forbids = [](const lexical::CountedClause& one) {
    return one.clause.occur != lexical::Occur::kShould;
  };
  if (asked == nullptr || std::ranges::none_of(asked->clauses, forbids)) {
    return std::nullopt;
  }
  return index_.permitted(*asked, allowed);
}

lexical::WeighedQuery LexicalIndex::weigh(std::string_view query, const QueryReading& reading,
                                          const QueryWeighing& by) const {
  return weighed_by(query, reading, by, [&](const auto& terms, const auto& source) {
    return index_.weigh(terms, source);
  });
}

lexical::WordPairs LexicalIndex::pairs(std::string_view query,
                                       const lexical::WeighedQuery& weighed) const {
  if (weighed.terms.size() < 2) {
    return {};
  }
  AnalyzedWords words = analyzer_->analyze_words(query);
  for (WordOccurrence& word : words.occurrences) {
    for (const lexical::Typo& typo : weighed.typos) {
      if (word.term == kUnknownTerm ? words.unknown[word.unknown] == typo.spelling
                                    : word.term == typo.missing) {
        word.term = typo.term;
        break;
      }
    }
  }
  return lexical::weigh_pairs(words.occurrences, weighed, index_.bm25());
}

// Queries run in parallel; each is a search of its own.
std::vector<lexical::Found> LexicalIndex::search_many(
    std::span<const std::string_view> queries, std::size_t k, const lexical::AllowedRows& allowed,
    std::size_t thread_count, const QueryReading& reading, const QueryWeighing& by,
    const Interrupt& pause) const {
  if (thread_count == 0) {
    throw std::invalid_argument("threads: must be at least 1, got 0");
  }
  std::vector<lexical::Found> found(queries.size());
  SharedPause shared(pause);
  const Interrupt pause_all = [&] { shared(); };
  const auto search_each = [&](std::size_t begin, std::size_t end) {
    const PauseScope scope(pause_all);
    for (std::size_t i = begin; i < end; ++i) {
      found[i] = search(queries[i], k, allowed, reading, by);
    }
  };
  try {
    for_each_chunk(queries.size(), thread_count, 1, search_each, {.pause = pause_all});
  } catch (...) {
    shared.rethrow();
    throw;
  }
  return found;
}

std::size_t LexicalIndex::resident_bytes() const {
  return index_.resident_bytes() + vocabulary_bytes();
}

std::size_t LexicalIndex::vocabulary_bytes() const { return analyzer_->resident_bytes(); }

}  // namespace oneiros
