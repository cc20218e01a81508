// Verdicts by how alike their questions are: docs/systems/house.md H19.
#include "columns/question_verdicts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace oneiros;

namespace {

using Code = std::vector<std::int8_t>;

Code code_of(const std::vector<float>& vector) {
  Code code(1 + vector.size());
  REQUIRE(encode_question(vector, code));
  return code;
}

Code words_of(const std::vector<std::uint32_t>& words) {
  Code code{2};
  for (const std::uint32_t word : words) {
    for (unsigned i = 0; i < 4; ++i) {
      code.push_back(static_cast<std::int8_t>(word >> (8 * i)));
    }
  }
  return code;
}

std::span<const std::byte> bytes_of(const Code& code) {
  return std::as_bytes(std::span<const std::int8_t>(code));
}

struct Sums {
  double alike;
  double bad;
};

Sums sums_of(const QuestionVerdicts& verdicts, double sequence, const AskedQuestion& question) {
  Sums sums{};
  verdicts.sum(question, std::span(&sequence, 1), std::span(&sums.alike, 1),
               std::span(&sums.bad, 1));
  return sums;
}

}  // namespace

TEST_CASE("a component is the nearest whole multiple of the largest magnitude / 127") {
  CHECK(code_of({0.5F, -0.25F, 0.0F, 0.001F}) == Code{1, 127, -64, 0, 0});
  Code code(3, 9);
  CHECK_FALSE(encode_question(std::vector<float>{0.0F, 0.0F}, code));
  CHECK_FALSE(encode_question(std::vector<float>{1.0F, std::nanf("")}, code));
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK_FALSE(encode_question(std::vector<float>{infinite, 1.0F}, code));
  CHECK(code == Code{9, 9, 9});
}

TEST_CASE("verdicts count by the cosine of the questions") {
  QuestionVerdicts verdicts;
  const Code near = code_of({1.0F, 0.0F});
  const Code far = code_of({0.0F, 1.0F});
  const std::vector<QuestionVerdicts::Verdict> given{
      {1, bytes_of(near)}, {-1, bytes_of(far)}, {1, bytes_of(near)}};
  verdicts.set(7, given);
  CHECK(verdicts.size() == 1);
  const float small = std::sqrt(1 - 0.9F * 0.9F);
  const std::vector<float> asked{0.9F, small};
  const Sums sums = sums_of(verdicts, 7, {asked, {}, 0.8});
  CHECK(sums.alike == doctest::Approx(2 * 0.5).epsilon(1e-6));
  CHECK(sums.bad == -1);
  CHECK(sums_of(verdicts, 8, {asked, {}, 0.8}).bad == 0);
  CHECK(sums_of(verdicts, 7, {asked, {}, 1.0}).alike == 0);
  const std::vector<float> wider{0.9F, small, 0.0F};
  CHECK(sums_of(verdicts, 7, {wider, {}, 0.8}).alike == 0);
  const std::vector<float> broken{std::nanf(""), 1.0F};
  CHECK(sums_of(verdicts, 7, {broken, {}, 0.0}).alike == 0);
  const std::vector<float> longer{2.0F, 0.0F};  // no more than a likeness of 1
  CHECK(sums_of(verdicts, 7, {longer, {}, 0.8}).alike == 2);
  verdicts.set(7, {});
  CHECK(verdicts.size() == 0);
}

TEST_CASE("cosines of questions count from the baseline") {
  QuestionVerdicts verdicts;
  const Code code = code_of({1.0F, 0.0F});
  verdicts.set(7, std::vector<QuestionVerdicts::Verdict>{{1, bytes_of(code)}});
  const std::vector<float> asked{0.9F, std::sqrt(1 - 0.9F * 0.9F)};
  CHECK(sums_of(verdicts, 7, {asked, {}, 0.5, 0.6}).alike ==
        doctest::Approx((0.75 - 0.5) / 0.5).epsilon(1e-6));
  CHECK(sums_of(verdicts, 7, {asked, {}, 0.8, 0.6}).alike == 0);
  const std::vector<std::uint32_t> words{3};
  const Code held = words_of({3});
  verdicts.set(7, std::vector<QuestionVerdicts::Verdict>{{1, bytes_of(held)}});
  CHECK(sums_of(verdicts, 7, {{}, words, 0.8, 0.9}).alike == 1);  // no cosine
}

TEST_CASE("words are compared with words alone") {
  QuestionVerdicts verdicts;
  const Code words = words_of({3, 5, 1U << 31U, 0xFFFFFFFFU});
  const std::vector<QuestionVerdicts::Verdict> given{{1, bytes_of(words)}};
  verdicts.set(1, given);
  const std::vector<std::uint32_t> same{3, 5, 1U << 31U, 0xFFFFFFFFU};
  CHECK(sums_of(verdicts, 1, {{}, same, 0.8}).alike == 1);
  const std::vector<std::uint32_t> fewer{3, 5, 0xFFFFFFFFU};
  const double likeness = 3 / std::sqrt(12.0);
  CHECK(sums_of(verdicts, 1, {{}, fewer, 0.8}).alike ==
        doctest::Approx((likeness - 0.8) / 0.2).epsilon(1e-12));
  CHECK(sums_of(verdicts, 1, {{}, {}, 0.0}).alike == 0);
  const std::vector<float> vector{1.0F};
  CHECK(sums_of(verdicts, 1, {vector, {}, 0.0}).alike == 0);
}

TEST_CASE("a vector that was dropped is like no question") {
  QuestionVerdicts verdicts;
  const Code dropped{1};
  verdicts.set(1, std::vector<QuestionVerdicts::Verdict>{{-1, bytes_of(dropped)}});
  const std::vector<float> vector{1.0F};
  const std::vector<std::uint32_t> words{3};
  for (const AskedQuestion& question :
       {AskedQuestion{vector, {}, 0.0}, AskedQuestion{{}, words, 0.0},
        AskedQuestion{{}, {}, 0.0}}) {
    const Sums sums = sums_of(verdicts, 1, question);
    CHECK(sums.alike == 0);
    CHECK(sums.bad == -1);
  }
}

TEST_CASE("bytes that are no question are refused, and change nothing") {
  QuestionVerdicts verdicts;
  const Code good = code_of({1.0F});
  const std::vector<QuestionVerdicts::Verdict> given{{1, bytes_of(good)}};
  verdicts.set(1, given);
  for (const Code& bad : {Code{}, Code{0}, Code{2}, Code{1, 0, 0}, Code{2, 1, 2, 3}, Code{3, 1},
                          words_of({5, 5}), words_of({5, 3})}) {
    const std::vector<QuestionVerdicts::Verdict> wrong{{1, bytes_of(good)}, {1, bytes_of(bad)}};
    CHECK_THROWS_AS(verdicts.set(1, wrong), std::invalid_argument);
  }
  CHECK(sums_of(verdicts, 1, {std::vector<float>{1.0F}, {}, 0.8}).alike == 1);
}

TEST_CASE("searches read while verdicts are given") {
  QuestionVerdicts verdicts;
  const Code code = code_of({1.0F, 2.0F, 3.0F});
  const std::vector<QuestionVerdicts::Verdict> given(8, {-1, bytes_of(code)});
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < 2'000; ++i) {
      verdicts.set(i % 10, i % 3 == 0 ? std::span<const QuestionVerdicts::Verdict>{} : given);
    }
  });
  const std::vector<float> asked{1.0F, 2.0F, 3.0F};
  for (int i = 0; i < 2'000; ++i) {
    const double bad = sums_of(verdicts, i % 10, {asked, {}, 0.8}).bad;
    CHECK((bad == 0 || bad == -8));
  }
  writer.join();
}
