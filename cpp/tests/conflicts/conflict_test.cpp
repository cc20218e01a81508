#include "conflicts/conflict.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conflicts/statement.h"

namespace oneiros::conflicts {

namespace {

StatementWords few_words() {
  return {.stop_words = {"i", "a", "the", "at", "in", "my", "to", "is", "was", "has"},
          .cue_words = {"moved", "now"},
          .cues = {{2.0, {"moved to"}}, {1.0, {"now", "no longer"}}},
          .additions = {"also"},
          .past = {"used to"},
          .relatives = {"sister"},
          .denials = {"not", "never"},
          .numbers = {"two"},
          .dates = {"may", "friday"},
          .topics = {{"work", "job"}, {"live"}},
          .states = {"is"},
          .amounts = {"has"},
          .articles = {"a", "the"},
          .particles = {"de"},
          .headings = {"list"},
          .labels = {"phone"},
          .prepositions = {"at", "in"}};
}

const StatementReader& reader() {
  static const StatementReader made{few_words()};
  return made;
}

double feature(std::string_view older, std::string_view newer, std::string_view name) {
  const std::optional<Weights> found = features(reader().read(older), reader().read(newer));
  REQUIRE(found);
  const auto* const at = std::ranges::find(kFeatures, name);
  REQUIRE(at != kFeatures.end());
  return (*found)[static_cast<std::size_t>(at - kFeatures.begin())];
}

}  // namespace

TEST_CASE("StatementReader: speaker, values, cues and topics") {
  const Statement one = reader().read("Ada: I moved to Oslo on Friday, at 10:30 with two cats.");
  CHECK(one.speaker != 0);
  CHECK(one.speaker == reader().read("Ada: hello").speaker);
  CHECK(one.word_count == 11);
  CHECK(one.dates().size() == 1);
  CHECK(one.numbers().size() == 2);
  CHECK(one.names().size() == 1);
  CHECK(one.cue == 2.0);
  CHECK_FALSE(one.asks);
  CHECK(reader().read("I no longer work there, now").cue == 1.0);  // a group counts once
  CHECK(reader().read("she works").topics == 1U);
  CHECK(reader().read("my jobs, and where I live").topics == 3U);
  CHECK(reader().read("is it mine?  ").asks);
  CHECK(reader().read("not a name: really").speaker == 0);
  CHECK(reader().read("").word_count == 0);
}

TEST_CASE("StatementReader: bytes of any kind, and limits") {
  std::string bytes;
  for (int value = 0; value < 256; ++value) {
    bytes.push_back(static_cast<char>(value));
  }
  CHECK(reader().read(bytes + bytes).word_count > 0);
  CHECK(reader().read("A:").speaker == 0);
  std::string lengthy;
  for (int i = 0; i < 100; ++i) {
    lengthy += "word ";
  }
  const Statement read = reader().read(lengthy);
  CHECK(read.word_count == StatementReader::kMostWords);
  CHECK(read.all().empty());
  StatementWords many = few_words();
  many.topics.resize(33, {"x"});
  CHECK_THROWS_AS(StatementReader{many}, std::invalid_argument);
  many = few_words();
  many.past = {"..."};
  CHECK_THROWS_AS(StatementReader{many}, std::invalid_argument);
}

TEST_CASE("features: other values of one fact") {
  CHECK(feature("I live in Rome", "I live in Oslo", "name") == 1.0);
  CHECK(feature("I live in Rome", "I live in Oslo", "topic") == 0.5);
  CHECK(feature("the rent is 900", "the rent went up to 950", "number") == 1.0);
  CHECK(feature("I work at Globex", "my sister works at Initech", "relative") == 1.0);
  CHECK(feature("I eat meat", "I never eat meat", "denial") == 1.0);
  CHECK(feature("Ada likes tea a lot", "Bob likes tea a little", "other_subject") == 1.0);
  CHECK(feature("the rent is 900 euros", "a rent is 950 euros", "restated") == 1.0);
  CHECK(feature("the big rent is 900", "the low rent is 950", "restated") == 0.0);
  CHECK(feature("Ada has two red cats", "Ada has 3 red cats", "restated") == 1.0);
  CHECK(feature("Ada has cats of Rome", "Ada has cats of Oslo", "restated") == 0.0);
  CHECK(feature("the best colour is blue", "the best colour is green", "reworded") == 1.0);
  CHECK(feature("the colour is blue", "the colour is green", "reworded") == 0.0);
}

TEST_CASE("StatementReader: what a statement says a value of") {
  const auto subject = [](std::string_view text) { return reader().read(text).subject; };
  CHECK(subject("the rent is 900") == subject("A rent is high"));
  CHECK(subject("the rent is 900") != subject("my rent is 900"));
  CHECK(subject("Ada is tall") == 0);  // a name alone
  CHECK(subject("Ada is 30") != 0);
  CHECK(subject("the best is with Ada") == 0);
  CHECK(subject("two of the best is 3") == 0);
  CHECK(subject("the best is at Rome") != subject("the best is in Rome"));
  CHECK(subject("the best is at Rome") != subject("the best is Rome"));
  CHECK(subject("is the rent 900") == 0);
  CHECK(subject("the rent was 900") == 0);
  CHECK(subject("the rent is to rise") == 0);
  CHECK(subject("the rent is rising") == 0);
  CHECK(subject("Ada has 3 cats") != 0);
  CHECK(reader().read("Ada has 3 cats").is_amount);
  CHECK(reader().read("Best colour: 3").speaker == 0);
  CHECK(reader().read("Phone: 3").speaker == 0);
  CHECK(subject("Phone: 3") == subject("phone: 4"));
  CHECK(reader().read("Ada: 3").speaker != 0);
  CHECK(subject("Best colour: 3") == subject("Best colour: red"));
  CHECK(subject("Best colour: 3") != subject("best colour is 3"));
  CHECK(subject("best colour: 3") != 0);
  CHECK(reader().read("Bea de Vries: 3").speaker != 0);
  CHECK(reader().read("Best list: 3").speaker != 0);  // a heading
  CHECK(reader().read("best list: 3").speaker == 0);
  CHECK(subject("best list: 3") == 0);
  CHECK(reader().read("Ada has two at 3").value_leads);
  CHECK_FALSE(reader().read("Ada has lunch at 3").value_leads);
  CHECK(reader().read("the rent is high at 900").value_leads);
  CHECK_FALSE(reader().read("the rent is high enough at 900").value_leads);
}

TEST_CASE("features: what cannot conflict has none") {
  const auto none = [](std::string_view older, std::string_view newer) {
    return !features(reader().read(older), reader().read(newer)).has_value();
  };
  CHECK(none("I live in Rome", "Do I live in Oslo?"));
  CHECK(none("I live in Rome", ""));
  CHECK(none("I live in Rome", "in Rome I live"));
  CHECK(none("Ada: I live in Rome", "Bob: I live in Oslo"));
  CHECK(none("note 7 of the list", "note 8 of the list"));
  CHECK(none("note 7 is short", "note 8 is short"));
  CHECK(none("the rent is also 900 euros", "the rent is also 950 euros"));
  CHECK_FALSE(none("note 7 of the list", "note 8 of the list now"));
}

TEST_CASE("confidence: the logistic of the weighed features") {
  Model model{.weights = {}, .constant = -1.0};
  model.weights[8] = 3.0;  // name
  const Statement older = reader().read("I live in Rome");
  const Statement newer = reader().read("I live in Oslo");
  CHECK(confidence(older, newer, model) == 1.0 / (1.0 + std::exp(-2.0)));
  CHECK(confidence(older, older, model) == 0.0);
}

TEST_CASE("StatementPairs: the confidence of two, or 0 for what is below the least") {
  constexpr std::array<std::string_view, 16> kWords{
      "I",   "live", "in",   "Rome", "Oslo",  "900",    "Friday", "moved",
      "now", "also", "work", "two",  "never", "sister", "is",     "has"};
  std::minstd_rand random(7);
  const auto any_statement = [&] {
    std::string text;
    for (std::size_t i = 1 + random() % 9; i > 0; --i) {
      text += kWords[random() % kWords.size()];
      text += ' ';
    }
    return reader().read(text);
  };
  std::size_t skipped = 0;
  std::size_t kept = 0;
  for (int round = 0; round < 400; ++round) {
    Model model{.weights = {}, .constant = static_cast<double>(random() % 9) - 4.0};
    for (double& weight : model.weights) {
      weight = static_cast<double>(random() % 101) / 10.0 - 5.0;
    }
    std::vector<Statement> statements(random() % 12);
    std::ranges::generate(statements, any_statement);
    const double least = static_cast<double>(random() % 1'001) / 1'000.0;
    const StatementPairs pairs(statements, model, log_odds(least));
    for (std::size_t older = 0; older < statements.size(); ++older) {
      for (std::size_t newer = 0; newer < statements.size(); ++newer) {
        const double whole = confidence(statements[older], statements[newer], model);
        const double found = pairs.confidence(older, newer);
        if (whole >= least) {
          CHECK(found == whole);
          ++kept;
        } else {
          CHECK((found == whole || found == 0.0));
          skipped += found != whole ? 1U : 0U;
        }
      }
    }
  }
  CHECK(skipped > 1'000);
  CHECK(kept > 1'000);
}

}  // namespace oneiros::conflicts
