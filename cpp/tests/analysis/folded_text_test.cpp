#include "analysis/folded_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "analysis/utf8.h"
#include "tests/rounds.h"

using oneiros::CharacterClass;
using oneiros::FoldedText;
using oneiros::Folding;

namespace {

std::string folded(std::string_view utf8, Folding folding = Folding::kFull) {
  FoldedText text;
  text.assign(utf8, folding);
  return std::string(text.slice(0, text.size()));
}

}  // namespace

TEST_CASE("folding: accents, case and compatibility forms go") {
  CHECK(folded("ÀÉÎõü") == "aeiou");
  CHECK(folded("Straße STRASSE ẞ") == "strasse strasse ss");
  CHECK(folded("İIıi") == "iiii");
  CHECK(folded("øŁđÐþÞæÆœŒħŧŋ") == "olddththaeaeoeoehtn");
  CHECK(folded("Việt Đường") == "viet duong");
  CHECK(folded("Σίσυφος ΣΊΣΥΦΟΣ") == "σισυφοσ σισυφοσ");
  CHECK(folded("Ｆｕｌｌ　１２") == "full 12");
  CHECK(folded("ﬁ ㎏ ½ ² ① Ⅷ") ==
        "fi kg 1\u2044"
        "2 2 1 viii");
  CHECK(folded("٣ ३ ๓") == "3 3 3");
  CHECK(folded("’ ‘ ʼ ´") == "' ' ' '");
  CHECK(folded("Oneiros™") == "oneiros ");
}

TEST_CASE("folding: composed and decomposed spellings are one") {
  CHECK(folded("e\u0301") == folded("é"));
  CHECK(folded("\u1112\u1161\u11AB\u1100\u1173\u11AF") == "한글");
  CHECK(folded("가\u11A8") == "각");
  CHECK(folded("か\u3099 は\u309A") == "が ぱ");
  CHECK(folded("ｶﾞ ﾊﾟ ｱ") == "ガ パ ア");
  CHECK(folded("क\u093Cलम") == "कलम");
  CHECK(folded("\u09CB") == folded("\u09C7\u09BE"));
}

TEST_CASE("lowering: accents stay, composed") {
  CHECK(folded("ÀÉÎõü ŁĐØ Æ", Folding::kLower) == "àéîõü łđø æ");
  CHECK(folded("A\u0300 x\u0300 \u0300", Folding::kLower) == "à x ");
  CHECK(folded("Vi\u1EB9\u0302t Vie\u0323\u0302t", Folding::kLower) == "việt việt");
  CHECK(folded("Straße ＦＵＬＬ ﬁ", Folding::kLower) == "strasse full fi");
  CHECK(folded("ΣΊΣΥΦΟΣ Σίσυφος", Folding::kLower) == "σίσυφοσ σίσυφοσ");
  CHECK(folded("مُحَمَّد آخر ا\u0653خر", Folding::kLower) == "محمد آخر آخر");
  CHECK(folded("\u0BCA \u0BC6\u0BBE", Folding::kLower) == "\u0BCA \u0BCA");
  CHECK(folded("İIıi", Folding::kLower) == "iiıi");
  CHECK(folded("می\u200Cخواهم \u200C می\u200C a\u200Cb", Folding::kLower) ==
        "می\u200Cخواهم  می ab");
  CHECK(folded("’ ٣ か\u3099 ex\u00ADample", Folding::kLower) == "' 3 が example");
}

TEST_CASE("lowering: Turkish has two i") {
  CHECK(folded("İIıi I\u0307", Folding::kTurkishLower) == "iııi i");
  CHECK(folded("ILIK DIŞ Iç", Folding::kTurkishLower) == "ılık dış ıç");
}

TEST_CASE("folding: marks that are letters stay, format characters go") {
  CHECK(folded("हिन्दी") == "हिन्दी");
  CHECK(folded("ที่") == "ที่");
  CHECK(folded("שָׁלוֹם") == "שלום");
  CHECK(folded("مُحَمَّد مـد") == "محمد مد");
  CHECK(folded("ex\u00ADample\uFEFF") == "example");
  CHECK(folded("می\u200Cخواهم") == "میخواهم");
  CHECK(folded("❤\uFE0F") == "❤");
}

TEST_CASE("folding: bytes that are not UTF-8 part words, NUL does") {
  CHECK(folded("a\xFFz") == "a\uFFFDz");
  CHECK(folded("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(folded(std::string_view("a\0b", 3)) == std::string("a\0b", 3));
}

TEST_CASE("folding: never longer than promised, and done once is done") {
  std::string all;
  std::size_t wrong = 0;
  for (char32_t code_point = 0; code_point < 0x110000;
       code_point += oneiros::testing::kSampleStep) {
    if (code_point < 0xD800 || code_point > 0xDFFF) {
      char bytes[4];  // NOLINT(modernize-avoid-c-arrays)
      const std::size_t length = oneiros::encode_utf8(code_point, bytes);
      const std::string_view one(bytes, length);
      wrong += static_cast<std::size_t>(folded(one).size() > length * FoldedText::kLargestGrowth);
      all += one;
      all += ' ';
    }
  }
  CHECK(wrong == 0);
  const std::string once = folded(all);
  CHECK(folded(once) == once);
}

TEST_CASE("folding: classes stand beside every byte") {
  FoldedText text;
  text.assign("É1_ 東🎉");
  CHECK(text.kind(0) == CharacterClass::kLetter);
  CHECK(text.was_upper(0));
  CHECK(text.kind(1) == CharacterClass::kDigit);
  CHECK(text.kind(2) == CharacterClass::kConnector);
  CHECK(text.kind(3) == CharacterClass::kSeparator);
  CHECK(text.kind(6) == CharacterClass::kUnspaced);
  CHECK(text.kind(7) == CharacterClass::kEmoji);
  CHECK(text.next(4) == 7);
  CHECK(text.next(7) == text.size());
  CHECK(text.kind(text.size()) == CharacterClass::kSeparator);
}
