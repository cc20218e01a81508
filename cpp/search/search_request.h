// One query with its options, the read model it runs over, and the callbacks into Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "association/graph.h"
#include "columns/columns.h"
#include "columns/question_verdicts.h"
#include "columns/session_order.h"
#include "columns/text_column.h"
#include "columns/vector_column.h"
#include "conflicts/statement_column.h"
#include "lexical/index/lexical_index.h"
#include "search/search_plan.h"

namespace oneiros::search {

// The read model of one search. Each part may be read while a writer changes it; each takes its own
// short locks. A null part is absent: the channels and signals that need it give no values.
struct ReadView {
  std::shared_ptr<const LexicalIndex> lexical;
  std::shared_ptr<const Columns> columns;
  std::shared_ptr<const SessionOrder> sessions;
  std::shared_ptr<const AssociationGraph> graph;
  std::shared_ptr<const TextColumn> texts;
  // Texts in plain lower case, only for rows where that differs from the normalised text.
  std::shared_ptr<const TextColumn> lowered;
  std::shared_ptr<const VectorColumn> vectors;
  std::shared_ptr<const conflicts::StatementColumn> statements;
};

// Rows with their scores, parallel vectors, best first.
struct RankedRows {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;

  [[nodiscard]] std::size_t size() const noexcept { return rows.size(); }
  [[nodiscard]] bool empty() const noexcept { return rows.empty(); }
};

// One bit per row, little-endian within a byte. The memory is not copied and must outlive the run.
// No value means every row.
using SomeRows = std::optional<std::span<const std::uint8_t>>;

// Words to look for in texts. The share of a text is its number of words found, divided by `count`.
struct SoughtWords {
  std::vector<std::string> words;
  // Parallel to `words`, or empty. An empty stem means that only the word itself matches.
  std::vector<std::string> stems;
  std::size_t count = 0;
};

// A time range named by the query, in seconds since the epoch, both ends included. Source:
// docs/systems/omega.md O4, O22; docs/systems/house.md H10.
struct NamedTime {
  double start;
  double end;
  // O22: rows outside the range count as soft whether or not the memory has a date of its own.
  bool is_soft;
  // H10: the case of rows outside the range: 2 soft, 3 explicit, 4 inferred.
  double outside;
};

// The caller's working context. `project` holds the rows of the current project. Source:
// docs/systems/omega.md O20.
struct Surroundings {
  std::vector<std::string> words;
  SomeRows project;
};

// A reformulation of the query, searched by the same channels. Source: docs/systems/omega.md O6.
struct Variant {
  std::string text;
  // Unit length, or empty without an embedder. Must outlive the run.
  std::span<const float> vector;
  // The vector channel's hits if an approximate index was searched in Python; otherwise the core
  // searches all vectors.
  std::optional<RankedRows> hits;
  SoughtWords words;
};

// How variants are fused: each contributes weight / (k + rank), and a row keeps its largest value.
// With `is_normalised`, each channel is divided by its best value and all by the best sum (O7).
struct VariantRule {
  double weight;
  double k;
  bool is_normalised;
  std::vector<double> weights;  // one per channel
};

// A signal that depends on the memory's kind: `values` by kind code, `otherwise` for codes beyond.
struct KindSignal {
  std::string name;
  std::vector<double> values;
  double otherwise;
};

// The verdicts of memories that were given for a question. Source: docs/systems/house.md H19.
struct QuestionFeedback {
  std::shared_ptr<const QuestionVerdicts> verdicts;
  // The likeness of two questions from which a verdict counts.
  double least;
  // Hashes of the query's words, ascending, each once.
  std::vector<std::uint32_t> words;
};

// One query. Spans are not copied: their memory must outlive the run.
struct SearchRequest {
  std::string query;
  // The query without its syntax, where that is another text.
  std::optional<std::string> plain_text;
  // The query in canonical form, cut to the length that the fast path compares.
  std::string spoken;
  lexical::QuerySyntax syntax = lexical::QuerySyntax::kPlain;
  std::size_t k = 10;
  double now_seconds = 0;
  SomeRows allowed;
  // The rows of the caller's scope; no value: all, whether or not it has bounds. A search tells
  // nothing of others: the words of the query are weighed by the statistics of these rows, and a
  // channel that finds nothing in them whatever the query is absent.
  SomeRows scope;
  bool has_bounds = false;
  // The rows that stand in sessions, of those of the scope; no value: all of them. Others are
  // stepped over where neighbours are sought.
  SomeRows standing;
  // Statistics that weigh the query instead, or those of the whole store.
  std::optional<QueryStatistics> statistics;
  bool is_weighed_by_store = false;
  // Counts of rows after and before the validity filter, for the trace only.
  std::size_t allowed_count = 0;
  std::size_t bounds_count = 0;
  bool follows_links = false;
  // Rows that links may lead to.
  SomeRows reach;
  // The query's embedding, unit length; empty: no vector search.
  std::span<const float> vector;
  // Whether it is of an embedder that knows words by their spelling alone.
  bool is_of_spelling = false;
  // Hits of an approximate index searched before the run, and the time that took.
  std::optional<RankedRows> hits;
  double walk_ms = 0;
  std::optional<NamedTime> time;
  // The query names a time that is ignored (the caller disabled it).
  bool leaves_time = false;
  // Navigational: a few words without a question; the only queries the fast path accepts.
  bool is_keyword_like = false;
  // Deep recall: superseded and, with `lapsed`, expired memories are searched.
  bool is_deep = false;
  // Rows past their validity among those allowed, ascending.
  std::vector<std::uint32_t> lapsed;
  // For O3 and M8.
  SoughtWords words;
  // For O1 and O18, in canonical form.
  SoughtWords overlap;
  // Signals with one value for all candidates.
  std::vector<std::pair<std::string, double>> constants;
  std::vector<KindSignal> by_kind;
  // No value: no memory has such verdicts, or the profile reads none.
  std::optional<QuestionFeedback> questions;
  std::optional<Surroundings> surroundings;
  std::vector<Variant> variants;
  std::optional<VariantRule> variant_rule;
  // Statistics that weigh the variants instead of those of the scope or the store.
  std::optional<QueryStatistics> variant_statistics;
  // Replace the plan's rule in the first and in a relaxed attempt.
  std::optional<Surfacing> surfacing;
  std::optional<Surfacing> relaxed_surfacing;
  bool has_reranker = false;
  bool is_explained = false;
  // Keep the results beyond place k as well, for `why_not`.
  bool is_whole = false;
};

// A reranker's answer for the first results: factors or a new order.
struct Judgement {
  // The reason why some results were not judged; empty: all were.
  std::string note;
  // Factors by place. NaN: not scored, the result keeps its score.
  std::vector<double> values;
  // A permutation of the places, used if `values` is empty. If both are empty, the order stays.
  std::vector<std::uint32_t> order;
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
};

// The operations that only the caller can perform. The core holds none of its locks while it calls
// them, so an implementation may take Python's lock. Exceptions propagate out of SearchRun::run.
class Outside {
 public:
  virtual ~Outside() = default;
  // The caller's own factors by name, each with one value per row.
  virtual std::vector<std::pair<std::string, std::vector<double>>> factor_values(
      std::span<const std::uint32_t> rows) = 0;
  // Runs the reranker on the best results, best first.
  virtual Judgement judge(std::span<const std::uint32_t> rows) = 0;
  // The stems of the query's content words. Source: docs/systems/house.md H7.
  virtual std::vector<std::string> stems() = 0;
  // The normalised texts of these rows, concatenated.
  virtual std::string texts(std::span<const std::uint32_t> rows) = 0;
  // For rows whose raw text has to be cut before it is normalised (because normalising changes its
  // length): the place in `rows` and the normalised form of the first `characters`. Other rows are
  // not in the answer.
  virtual std::vector<std::pair<std::size_t, std::string>> uneven_starts(
      std::span<const std::uint32_t> rows, std::size_t characters) = 0;
};

}  // namespace oneiros::search
