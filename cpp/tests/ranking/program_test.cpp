#include "ranking/program.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

using oneiros::ElementType;
using oneiros::Operand;
using oneiros::Program;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNow = 86'400.0 * 100;

// a x b + age: registers 0 a, 1 b, 2 age in days, 3 product, 4 sum.
Program sum_of_product_and_age() {
  return {{oneiros::ValueInput{"a", 2.0}, oneiros::ValueInput{"b", 3.0},
           oneiros::AgeInput{{"accessed", "created"}, 86'400.0}},
          {{"multiply", {0, 1}, {}}, {"add", {3, 2}, {}}}};
}

template <typename Real>
std::vector<Real> values_of(const Program& program, const std::vector<Operand>& operands,
                            std::size_t size, std::size_t output, std::size_t* future = nullptr) {
  std::vector<Real> result(size);
  const std::array<std::size_t, 1> outputs{output};
  const std::array<Real*, 1> results{result.data()};
  const std::size_t count =
      program.run<Real>({operands, kNow, size, outputs, results}).future_count;
  if (future != nullptr) {
    *future = count;
  }
  return result;
}

Operand of(const std::vector<double>& values) {
  return {ElementType::f64, values.data(), values.size()};
}

}  // namespace

TEST_CASE("program: an operand is named once, in order of appearance") {
  const Program program = sum_of_product_and_age();
  const auto names = program.operand_names();
  CHECK(std::vector<std::string>(names.begin(), names.end()) ==
        std::vector<std::string>{"a", "b", "accessed", "created"});
  CHECK(program.register_count() == 5);
}

TEST_CASE_TEMPLATE("program: absent operands have their defaults, absent times are NaN", Real,
                   float, double) {
  const Program program = sum_of_product_and_age();
  const std::vector<Operand> none(4);
  CHECK(values_of<Real>(program, none, 3, 3) == std::vector<Real>{6, 6, 6});
  CHECK(std::isnan(values_of<Real>(program, none, 1, 4)[0]));
  CHECK(values_of<Real>(program, none, 0, 4).empty());
}

TEST_CASE_TEMPLATE("program: ages of the first time there is, a clock ahead counted", Real, float,
                   double) {
  const Program program = sum_of_product_and_age();
  const std::vector<double> accessed{kNow - 86'400.0, kNan, kNan, kNow + 5.0};
  const std::vector<double> created{0.0, kNow - 2 * 86'400.0, kNan, 0.0};
  std::size_t future = 0;
  const auto ages = values_of<Real>(program, {{}, {}, of(accessed), of(created)}, 4, 2, &future);
  CHECK(ages[0] == 1);
  CHECK(ages[1] == 2);
  CHECK(std::isnan(ages[2]));
  CHECK(ages[3] == 0);
  CHECK(future == 1);
  // The same for every row: each of them counts.
  const std::vector<double> ahead{kNow + 5.0};
  values_of<Real>(program, {{}, {}, of(ahead), {}}, 4, 2, &future);
  CHECK(future == 4);
  // The age is not needed, so future times are not counted.
  values_of<Real>(program, {{}, {}, of(ahead), {}}, 4, 3, &future);
  CHECK(future == 0);
}

TEST_CASE_TEMPLATE("program: every element type is converted as it is read", Real, float, double) {
  const Program program({oneiros::ValueInput{"a", 0.0}}, {{"negate", {0}, {}}});
  const std::vector<std::int8_t> small{-128, 0, 127};
  const std::vector<std::uint64_t> large{0, 1, std::numeric_limits<std::uint64_t>::max()};
  const std::vector<float> single{-0.5F, 0.0F, 3.25F};
  CHECK(values_of<Real>(program, {{ElementType::i8, small.data(), 3}}, 3, 1) ==
        std::vector<Real>{128, 0, -127});
  CHECK(values_of<Real>(program, {{ElementType::u64, large.data(), 3}}, 3, 1) ==
        std::vector<Real>{0, -1, -Real(18'446'744'073'709'551'616.0)});
  CHECK(values_of<Real>(program, {{ElementType::f32, single.data(), 3}}, 3, 1) ==
        std::vector<Real>{Real(0.5), 0, Real(-3.25)});
}

TEST_CASE("program: tiles, threads and the way of a result change no value") {
  const Program program = sum_of_product_and_age();
  constexpr std::size_t kSize = 200'003;
  std::vector<double> a(kSize);
  std::vector<double> times(kSize);
  std::vector<double> want(kSize);
  std::size_t want_future = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    a[i] = static_cast<double>(i % 1000);
    times[i] = kNow - 86'400.0 * static_cast<double>(i % 50) + 86'400.0;
    want[i] = a[i] * 3.0 + (i % 50 == 0 ? 0.0 : static_cast<double>(i % 50) - 1);
    want_future += i % 50 == 0 ? 1 : 0;
  }
  const std::vector<Operand> operands{of(a), {}, of(times), {}};
  const std::array<std::size_t, 2> outputs{4, 0};
  for (const unsigned threads : {1U, 2U, 5U}) {
    std::vector<double> sum(kSize);
    std::vector<double> copy(kSize);
    const std::array<double*, 2> results{sum.data(), copy.data()};
    CHECK(program.run<double>({operands, kNow, kSize, outputs, results, threads}).future_count ==
          want_future);
    CHECK(sum == want);
    CHECK(copy == a);
  }
  const std::array<double*, 2> in_place{a.data(), times.data()};  // the operands' own memory
  const std::vector<double> before = a;
  program.run<double>({operands, kNow, kSize, outputs, in_place, 2});
  CHECK(a == want);
  CHECK(times == before);  // register 0, as it was
}

TEST_CASE("program: refuses what it cannot run") {
  using oneiros::Instruction;
  using oneiros::ValueInput;
  const auto with = [](const Instruction& instruction) {
    return Program({ValueInput{"a", 0.0}}, {instruction});
  };
  CHECK_THROWS_WITH_AS(with({"nothing", {0}, {}}), "kernel: none is called \"nothing\"",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"add", {0}, {}}), "add: takes 2 inputs, got 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"negate", {1}, {}}),
                       "negate: register 1 is not written before instruction 0",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"damp", {0}, {}}), "damp: parameter amount is missing",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"damp", {0}, {{"amount", {2.0}}}}), "amount: must be in [0, 1], got 2",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"damp", {0}, {{"amount", {0.5}}, {"x", {0.5}}}}),
                       "damp: has no parameter x", std::invalid_argument);
  CHECK_THROWS_WITH_AS(with({"damp", {0}, {{"amount", {0.5, 0.5}}}}),
                       "amount: expected 1 number, got 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      with({"stability_boost", {0, 0}, {{"tau_days", {1.0}}, {"low", {2.0}}, {"high", {1.0}}}}),
      "low: must be <= high, got 2", std::invalid_argument);
  CHECK_THROWS_AS(Program({oneiros::AgeInput{{}, 1.0}}, {}), std::invalid_argument);
  CHECK_THROWS_AS(Program({oneiros::AgeInput{{"t"}, 0.0}}, {}), std::invalid_argument);
}

TEST_CASE("program: a run refuses other lengths and registers before anything is written") {
  const Program program = sum_of_product_and_age();
  const std::vector<double> two{1.0, 2.0};
  CHECK_THROWS_WITH_AS(values_of<double>(program, {of(two), {}, {}, {}}, 3, 3),
                       "a: expected 3 values or 1, got 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS(values_of<double>(program, std::vector<Operand>(4), 3, 5),
                       "outputs: register 5 is not one of the 5", std::invalid_argument);
}

TEST_CASE_TEMPLATE("program: products in fewer passes have the bits of all steps one by one", Real,
                   float, double) {
  // relevance x (a x b) x e^-(c / d) x table[code] x (relevance + a), as profiles multiply; where
  // every register is asked for, each step stands by itself.
  const Program program{{oneiros::ValueInput{"relevance", 1.0}, oneiros::ValueInput{"a", 2.0},
                         oneiros::ValueInput{"b", 1.0}, oneiros::ValueInput{"c", 0.5},
                         oneiros::ValueInput{"d", 30.0}, oneiros::ValueInput{"code", 1.0}},
                        {{"multiply", {1, 2}, {}},
                         {"multiply", {0, 6}, {}},
                         {"divide", {3, 4}, {}},
                         {"negate", {8}, {}},
                         {"exp", {9}, {}},
                         {"multiply", {7, 10}, {}},
                         {"lookup", {5}, {{"otherwise", {0.3}}, {"table", {0.7, 1.1}}}},
                         {"multiply", {11, 12}, {}},
                         {"add", {0, 1}, {}},
                         {"multiply", {14, 13}, {}},
                         {"multiply", {15, 15}, {}}}};
  constexpr std::size_t kSize = 5003;  // some tiles, the last one not whole
  std::vector<double> values(kSize);
  std::vector<double> others(kSize);
  std::vector<double> codes(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    values[i] = i % 97 == 0 ? kNan : 0.001 * static_cast<double>(i) - 1.7;
    others[i] = 1.0 / (1.0 + static_cast<double>(i));
    codes[i] = static_cast<double>(i % 3);
  }
  std::vector<std::size_t> all(program.register_count());
  for (std::size_t number = 0; number < all.size(); ++number) {
    all[number] = number;
  }
  const std::array<Operand, 3> relevances{Operand{}, of(others), of(values)};
  for (const Operand& relevance : relevances) {
    for (const Operand& b : {Operand{}, of(others)}) {
      const std::vector<Operand> operands{relevance, of(values), b, of(others), {}, of(codes)};
      std::vector<std::vector<Real>> apart(all.size(), std::vector<Real>(kSize));
      std::vector<Real*> results;
      for (auto& values_of_one : apart) {
        results.push_back(values_of_one.data());
      }
      program.run<Real>({operands, kNow, kSize, all, results});
      for (const std::size_t output : all) {
        for (const std::size_t whole :
             {kSize, std::size_t{1} << 24}) {  // the latter past the cache
          std::vector<Real> alone(kSize);
          const std::array<std::size_t, 1> outputs{output};
          const std::array<Real*, 1> result{alone.data()};
          program.run<Real>({operands, kNow, kSize, outputs, result, 1, {}, whole});
          CHECK(std::memcmp(alone.data(), apart[output].data(), kSize * sizeof(Real)) == 0);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("program: results that go past the cache are the same, wherever they begin",
                   Real, float, double) {
  // Registers: 0 a, 1 b, 2 a x b, 3 exp(a), 4 (a x b) exp(a).
  const Program program({oneiros::ValueInput{"a", 2.0}, oneiros::ValueInput{"b", 3.0}},
                        {{"multiply", {0, 1}, {}}, {"exp", {0}, {}}, {"multiply", {2, 3}, {}}});
  constexpr std::size_t kMost = 1300;
  std::vector<Real> a;
  std::vector<Real> b;
  for (std::size_t i = 0; i < kMost; ++i) {
    a.push_back(static_cast<Real>(i % 97) / Real(13));
    b.push_back(static_cast<Real>(i % 89) - Real(40));
  }
  constexpr auto kType = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
  for (const std::size_t size : {1UL, 7UL, 16UL, 17UL, 65UL, 512UL, 513UL, kMost}) {
    for (std::size_t offset = 0; offset < 17; ++offset) {
      const std::vector<Operand> operands{{kType, a.data(), size}, {kType, b.data(), size}};
      const std::array<std::size_t, 3> outputs{4, 2, 4};
      std::array<std::vector<Real>, 6> room;
      room.fill(std::vector<Real>(size + 20, Real(-7)));
      const auto run = [&](std::size_t first, std::size_t whole_size) {
        const std::array<Real*, 3> results{room[first].data() + offset, room[first + 1].data(),
                                           room[first + 2].data() + 1};
        program.run<Real>({operands, kNow, size, outputs, results, 1, {}, whole_size});
      };
      run(0, 0);
      run(3, std::size_t{1} << 24);
      CHECK(room[0] == room[3]);
      CHECK(room[1] == room[4]);
      CHECK(room[2] == room[5]);
      CHECK(room[0][offset] == a[0] * b[0] * Real(1));
      CHECK(room[0][offset + size] == Real(-7));
    }
  }
}
