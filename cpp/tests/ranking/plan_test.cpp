#include "ranking/plan.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace oneiros;

namespace {

constexpr double kNow = 1'750'000'000.0;
constexpr double kDay = 86'400.0;
const double kNan = std::nan("");
using Rows = std::vector<std::uint32_t>;
using Scores = std::vector<double>;

struct Hits {
  Rows rows;
  Scores scores;
};

Candidates candidates_of(const std::vector<Hits>& channels) {
  std::vector<ChannelHits> hits;
  for (const Hits& channel : channels) {
    hits.push_back({channel.rows, std::span<const double>(channel.scores)});
  }
  return Candidates(hits);
}

// Registers 0 to 4 are inputs: relevance, strength, days since the last use, a signal, and the
// feedback; 5 a decay, 6 and 7 the score, 8 the retention, 9 what stays.
std::shared_ptr<const Program> program() {
  return std::make_shared<const Program>(
      std::vector<ProgramInput>{ValueInput{"relevance", 1.0}, ValueInput{"strength", 1.0},
                                AgeInput{{"last_accessed_at", "created_at"}, kDay},
                                ValueInput{"bonus", 0.0}, ValueInput{"feedback", 0.0}},
      std::vector<Instruction>{{"time_decay_boost", {2}, {{"boost", {1.0}}, {"tau_days", {30.0}}}},
                               {"multiply", {0, 1}, {}},
                               {"add", {6, 3}, {}},
                               {"multiply", {1, 5}, {}},
                               {"scale", {4}, {{"factor", {1.0}}, {"offset", {3.0}}}}});
}

Plan plan(bool keeps_all = true) {
  const auto keep = keeps_all ? std::nullopt : std::optional<std::size_t>(9);
  return {"reciprocal_rank",
          {{"k", 30.0}},
          {"lexical", "vector"},
          program(),
          {0, 7, 8, keep, {1, 3, 5}, {}}};
}

// Rows 4, 1, 3: the first two by words, the last two by meaning.
Candidates three() { return candidates_of({{{4, 1}, {5.0, 4.0}}, {{1, 3}, {0.5, 0.25}}}); }

Ranked rank(const Plan& by, const Columns& columns, const Candidates& candidates, std::size_t k,
            bool is_explained = false, const Signals& signals = {}) {
  return by.rank({columns, candidates, kNow, signals}, k, is_explained);
}

template <typename T>
void write(Columns& columns, const Rows& rows, std::string_view name,
           const std::vector<T>& values) {
  const ColumnValues given{name, std::span<const T>(values)};
  columns.write(rows, std::span(&given, 1));
}

}  // namespace

TEST_CASE("plan: columns reach the program by row, and the score is what it says") {
  Columns columns;
  columns.append(5);
  write<float>(columns, {1, 3}, "strength", {0.5F, 0.25F});
  write<double>(columns, {1, 3, 4}, "created_at", {kNow - 30 * kDay, kNow, kNow});
  const Ranked ranked = rank(plan(), columns, three(), 10, true);
  const double both = 1.0 / 32 + 1.0 / 31;
  CHECK(ranked.rows == Rows{4, 1, 3});
  CHECK(ranked.relevance == Scores{1.0 / 31, both, 1.0 / 32});
  CHECK(ranked.scores == Scores{1.0 / 31, both * 0.5, 1.0 / 32 * 0.25});
  CHECK(ranked.retention[0] == 2.0);
  CHECK(ranked.retention[1] == doctest::Approx(0.5 * (1 + std::exp(-1.0))).epsilon(1e-15));
  CHECK(ranked.candidate_count == 3);
  CHECK(ranked.kept_count == 3);
  CHECK(ranked.ranks == Rows{1, 2, 0, 0, 1, 2});
  CHECK(std::isnan(ranked.channel_scores[2]));
  CHECK(ranked.channel_scores[4] == 0.5);
  CHECK(ranked.factors.size() == 9);
  CHECK(ranked.factors[1] == 0.5);
  write<double>(columns, {1}, "last_accessed_at", {kNow});
  CHECK(rank(plan(), columns, three(), 10).retention[1] == 1.0);
}

TEST_CASE("plan: k cuts; equal scores go to the smaller row") {
  Columns columns;
  columns.append(9);
  const Candidates equal = candidates_of({{{8, 2}, {1.0, 1.0}}, {{2, 8}, {1.0, 1.0}}});
  CHECK(rank(plan(), columns, equal, 10).rows == Rows{2, 8});
  CHECK(rank(plan(), columns, equal, 1).rows == Rows{2});
  CHECK(rank(plan(), columns, equal, 1).candidate_count == 2);
  CHECK(rank(plan(), columns, equal, 0).rows.empty());
  CHECK(rank(plan(), columns, candidates_of({{}, {}}), 10, true).rows.empty());
}

TEST_CASE("plan: what is kept, and what leaves by its score") {
  Columns columns;
  columns.append(5);
  write<std::int16_t>(columns, {1, 4}, "feedback", {-3, -2});
  const Ranked ranked = rank(plan(false), columns, three(), 10, true);
  CHECK(ranked.rows == Rows{4, 3});
  CHECK(ranked.kept_count == 2);
  CHECK(ranked.candidate_count == 3);
  const Scores bonus{1.0, 0.5, kNan};  // in the order of the candidates
  const Ranked scored = rank(plan(), columns, three(), 10, false, {{"bonus", bonus}});
  CHECK(scored.rows == Rows{4, 1});
  CHECK(scored.kept_count == 2);
}

TEST_CASE("plan: signals come one a candidate, or one for all, or not at all") {
  Columns columns;
  columns.append(5);
  const Candidates candidates = three();
  const Scores each{0.0, 0.0, 7.0};
  CHECK(rank(plan(), columns, candidates, 1, false, {{"bonus", each}}).rows == Rows{3});
  const Scores one{2.0};
  CHECK(rank(plan(), columns, candidates, 1, false, {{"bonus", one}}).scores[0] > 2.0);
  CHECK(rank(plan(), columns, candidates, 1, false, {{"unread", one}}).scores[0] < 1.0);
  const Scores two{1.0, 2.0};
  CHECK_THROWS_WITH_AS(rank(plan(), columns, candidates, 1, false, {{"bonus", two}}),
                       "signals: bonus: expected one value a candidate (3), got 2",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(rank(plan(), columns, candidates, 1, false, {{"strength", one}}),
                       "signals: the plan gives strength itself", std::invalid_argument);
}

TEST_CASE("plan: the program gets ranks, scores and the best relevance") {
  Columns columns;
  columns.append(5);
  const auto reads = [&](const char* name) {
    const auto one = std::make_shared<const Program>(
        std::vector<ProgramInput>{ValueInput{name, -1.0}}, std::vector<Instruction>{});
    const Plan all("reciprocal_rank", {{"k", 30.0}}, {"lexical", "vector"}, one,
                   {0, 0, 0, std::nullopt, {0}, {}});
    Scores values(5, kNan);
    const Ranked ranked = rank(all, columns, three(), 10);
    for (std::size_t i = 0; i < ranked.rows.size(); ++i) {
      values[ranked.rows[i]] = ranked.scores[i];
    }
    return Scores{values[4], values[1], values[3]};
  };
  CHECK(reads("rank:lexical") == Scores{1.0, 2.0, 0.0});
  CHECK(reads("has:vector") == Scores{0.0, 1.0, 1.0});
  const Scores words = reads("score:lexical");
  CHECK(words[0] == 5.0);
  CHECK(words[1] == 4.0);
  CHECK(std::isnan(words[2]));  // it is not among the results
  const double best = 1.0 / 32 + 1.0 / 31;
  CHECK(reads("best_relevance") == Scores{best, best, best});
  CHECK(reads("relevance") == Scores{1.0 / 31, best, 1.0 / 32});
  CHECK(reads("score:temporal") == Scores{-1.0, -1.0, -1.0});
}

TEST_CASE("plan: times after now are counted and count as now") {
  Columns columns;
  columns.append(5);
  write<double>(columns, {1, 3, 4}, "created_at", {kNow + kDay, kNow, kNow + kDay});
  const Ranked ranked = rank(plan(), columns, three(), 3);
  CHECK(ranked.future_count == 2);
  CHECK(ranked.retention == Scores{2.0, 2.0, 2.0});
}

TEST_CASE("plan: one row's place and explanation, also where it is not returned") {
  Columns columns;
  columns.append(5);
  write<std::int16_t>(columns, {1}, "feedback", {-3});
  const Candidates candidates = three();
  const Plan by = plan(false);
  const Signals none;
  const RankRequest request{columns, candidates, kNow, none};
  const Ranked all = by.rank(request, 10, true);
  const auto second = by.place_of(request, all.rows[1]);
  REQUIRE(second);
  CHECK(second->place == 2);
  CHECK(second->explanation.scores[0] == all.scores[1]);
  CHECK(second->explanation.factors.size() == 3);
  const auto gone = by.place_of(request, 1);
  REQUIRE(gone);
  CHECK(gone->place == 0);
  CHECK(gone->explanation.scores[0] == 1.0 / 32 + 1.0 / 31);
  CHECK_FALSE(by.place_of(request, 0));
}

TEST_CASE("plan: refuses what it cannot run") {
  CHECK_THROWS_WITH_AS(Plan("reciprocal_rank", {{"k", 30.0}}, {"lexical"}, program(),
                            {0, 10, 0, std::nullopt, {}, {}}),
                       "outputs: register 10 is not one of the 10", std::invalid_argument);
  CHECK_THROWS_AS(Plan("magic", {}, {"lexical"}, program(), {}), std::invalid_argument);
  Columns columns;
  columns.append(4);
  CHECK_THROWS_WITH_AS(rank(plan(), columns, three(), 1), "rows: 4 is not one of the 4 rows",
                       std::invalid_argument);
  columns.append(1);
  const Candidates alone = candidates_of({{{1}, {1.0}}});
  CHECK_THROWS_WITH_AS(rank(plan(), columns, alone, 1), "candidates: expected 2 channels, got 1",
                       std::invalid_argument);
  const Candidates candidates = three();
  const Signals none;
  CHECK_THROWS_AS(static_cast<void>(plan().rank({columns, candidates, kNan, none}, 1, false)),
                  std::invalid_argument);
  CHECK(rank(plan(), columns, candidates, 1).rows == Rows{1});  // after a refusal all goes on
}

TEST_CASE("plan: many threads rank while one writes") {
  Columns columns;
  columns.append(50);
  const Plan by = plan();
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        REQUIRE(rank(by, columns, three(), 3, true).rows.size() == 3);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 200; ++i) {
      columns.append(10);
      columns.reinforce(Rows{1, 2}, kNow + i, Rows{2, 2}, {0.1, 7.0, 10.0});
    }
  });
  threads.clear();
  CHECK(columns.size() == 50 + 2000);
}
