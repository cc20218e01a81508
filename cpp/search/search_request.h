// One query, and what it is run over.
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
#include "columns/session_order.h"
#include "columns/text_column.h"
#include "columns/vector_column.h"
#include "lexical/index/lexical_index.h"
#include "search/search_plan.h"

namespace oneiros::search {

// What a search reads, each part safe beside a writer. Null: there is none.
struct ReadView {
  std::shared_ptr<const LexicalIndex> lexical;
  std::shared_ptr<const Columns> columns;
  std::shared_ptr<const SessionOrder> sessions;
  std::shared_ptr<const AssociationGraph> graph;
  std::shared_ptr<const TextColumn> texts;
  std::shared_ptr<const TextColumn> lowered;  // in lower case alone, where that is another text
  std::shared_ptr<const VectorColumn> vectors;
};

// Rows with scores, best first.
struct RankedRows {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;

  [[nodiscard]] std::size_t size() const noexcept { return rows.size(); }
  [[nodiscard]] bool empty() const noexcept { return rows.empty(); }
};

// Packed bits by row, which must outlive the run; nothing: every row.
using SomeRows = std::optional<std::span<const std::uint8_t>>;

// Words that are looked for in texts, and by how many their share is taken.
struct SoughtWords {
  std::vector<std::string> words;
  std::vector<std::string> stems;  // one a word, or none at all; empty: no stem
  std::size_t count = 0;
};

// A time that the query names. Source: docs/systems/omega.md O4, O22; docs/systems/house.md H10.
struct NamedTime {
  double start;
  double end;
  bool is_soft;    // O22: what lies outside counts as soft, whatever date the memory has
  double outside;  // H10: the case of what lies outside, 2 soft, 3 explicit, 4 inferred
};

// What the caller is doing. Source: docs/systems/omega.md O20.
struct Surroundings {
  std::vector<std::string> words;
  SomeRows project;  // the rows of the project; nothing: none
};

// The query in other words. Source: docs/systems/omega.md O6.
struct Variant {
  std::string text;
  std::span<const float> vector;   // as the request's
  std::optional<RankedRows> hits;  // of the vectors, where a graph was walked
  SoughtWords words;
};

// How variants count: weight / (k + rank), of which a row has the largest.
struct VariantRule {
  double weight;
  double k;
  bool is_normalised;           // each channel by its best, and by the best sum (O7)
  std::vector<double> weights;  // one a channel
};

// Values by the code of a memory's kind; a code beyond them has `otherwise`.
struct KindSignal {
  std::string name;
  std::vector<double> values;
  double otherwise;
};

struct SearchRequest {
  std::string query;
  std::string spoken;  // in canonical form, cut as the fast path reads it
  lexical::QuerySyntax syntax = lexical::QuerySyntax::kPlain;
  std::size_t k = 10;
  double now_seconds = 0;
  SomeRows allowed;
  std::size_t allowed_count = 0;  // for the trace
  std::size_t bounds_count = 0;   // for the trace
  bool follows_links = false;
  SomeRows reach;                  // the rows that links may lead to
  std::span<const float> vector;   // unit length, must outlive the run; empty: there is none
  std::optional<RankedRows> hits;  // of the vectors, where a graph was walked
  double walk_ms = 0;              // how long that took
  std::optional<NamedTime> time;
  bool leaves_time = false;           // it names one, which is left out
  bool is_keyword_like = false;       // navigational
  bool is_deep = false;               // superseded memories come back
  std::vector<std::uint32_t> lapsed;  // of these, the rows past their validity; ascending
  SoughtWords words;                  // O3
  SoughtWords overlap;                // O18, in canonical form
  std::vector<std::pair<std::string, double>> constants;  // signals with one value for all
  std::vector<KindSignal> by_kind;
  std::optional<Surroundings> surroundings;
  std::vector<Variant> variants;
  std::optional<VariantRule> variant_rule;
  std::optional<Surfacing> surfacing;          // in place of the plan's
  std::optional<Surfacing> relaxed_surfacing;  // when the search is retried
  bool has_reranker = false;
  bool is_explained = false;
  bool is_whole = false;  // what lies beyond the last place is judged, too
};

// What a reranker says of the first results.
struct Judgement {
  std::string note;                  // why not all was judged
  std::vector<double> values;        // factors by place, NaN: not scored
  std::vector<std::uint32_t> order;  // or the places in a new order; both empty: as it was
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
};

// What only the caller can do. Called without any lock of the core.
class Outside {
 public:
  virtual ~Outside() = default;
  // The values of the caller's own factors: name and one value a row.
  virtual std::vector<std::pair<std::string, std::vector<double>>> factor_values(
      std::span<const std::uint32_t> rows) = 0;
  virtual Judgement judge(std::span<const std::uint32_t> rows) = 0;
  // The query's words without their endings. Source: docs/systems/house.md H7.
  virtual std::vector<std::string> stems() = 0;
  // All normalised text of these memories, one after the other.
  virtual std::string texts(std::span<const std::uint32_t> rows) = 0;
  // For each row of a text that must be cut before it is normalised, and of no other, its place and
  // the normalised form of its first `characters`.
  virtual std::vector<std::pair<std::size_t, std::string>> uneven_starts(
      std::span<const std::uint32_t> rows, std::size_t characters) = 0;
};

}  // namespace oneiros::search
