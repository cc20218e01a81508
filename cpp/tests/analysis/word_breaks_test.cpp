#include "analysis/word_breaks.h"

#include <doctest/doctest.h>

#include <string>

#include "spelling.h"

using oneiros::testing::positions;
using oneiros::testing::words;

TEST_CASE("words: letters and digits between anything else") {
  CHECK(words("The quick, brown (fox)!") == "the quick brown fox");
  CHECK(words("") == "");
  CHECK(words(" \t\n.,;") == "");
  CHECK(words("mp3 H2O 1950s") == "mp3 h2o 1950s");
  CHECK(words("high-speed and/or wait...what") == "high speed and or wait what");
  CHECK(words("1,000 50%") == "1 000 50");
  CHECK(words("don\u00ADt stop\u200Bhere") == "dont stop here");
}

TEST_CASE("words: apostrophes between letters") {
  CHECK(words("don't O'Brien rock'n'roll") == "don't o'brien rock'n'roll");
  CHECK(words("'quoted' dogs' 90's") == "quoted dogs 90 s");
  CHECK(words("it's I'm you're we've they'll she'd John’s") == "it i you we they she john");
  CHECK(words("l'avion d’Artagnan qu'il dell'arte") == "avion artagnan il arte");
  CHECK(words("a'b 's t'") == "a'b s t");
  CHECK(words("Ankara'dan the'solar'wind can't all's") == "ankara dan the solar wind can't all");
  CHECK(words("комп'ютер об'єкт") == "комп'ютер об'єкт");
}

TEST_CASE("words: unspaced scripts give pairs of characters") {
  CHECK(words("東京都") == "東京 京都");
  CHECK(words("猫") == "猫");
  CHECK(words("猫 が") == "猫 が");
  CHECK(words("カタカナ") == "カタ タカ カナ");
  CHECK(words("한국어") == "한국 국어");
  CHECK(words("iPhone手机2024年") == "iphone i phone 手机 2024 年");
  CHECK(words("สวัสดี") == "สวั วัส สดี");
  CHECK(words("々〇") == "々〇");
  CHECK(positions("東京都 x") == "東京/0 京都/1 x/2");
  CHECK(positions("東京都 x", oneiros::Breaking::kText) == "東京/0 東/0 京都/1 京/1 都/1 x/2");
  CHECK(positions("東 x", oneiros::Breaking::kText) == "東/0 x/1");
}

TEST_CASE("words: emoji are words, flags one each") {
  CHECK(words("👍🏽 ❤️ 🎉🎉") == "👍 ❤ 🎉 🎉");
  CHECK(words("👨‍👩‍👧") == "👨 👩 👧");
  CHECK(words("🇩🇪🇫🇷🇯") == "🇩🇪 🇫🇷 🇯");
  CHECK(words("1️⃣ ok👌") == "1 ok 👌");
}

TEST_CASE("words: other scripts") {
  CHECK(words("Ελληνικά Русский текст") == "ελληνικα русскии текст");
  CHECK(words("हिन्दी भाषा") == "हिन्दी भाषा");
  CHECK(words("العربية والعبرية") == "العربية والعبرية");
  CHECK(words("ﷺ") == "صلى الله عليه وسلم");
  CHECK(words("\u0301\u0E31 x") == "x");  // marks with nothing under them
}

TEST_CASE("words: without identifiers a word keeps its connectors, and nothing more") {
  CHECK(words("snake_case camelCase a.b/c __x__ ___", false) == "snake_case camelcase a b c __x__");
  CHECK(words("v1.2.3 x-1 it's", false) == "v1 2 3 x 1 it");
}
