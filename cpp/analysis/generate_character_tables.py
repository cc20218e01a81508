"""Write the character tables of the analyzer as C++, from this Python's ``unicodedata``.

Usage: ``python generate_character_tables.py OUT.cpp``. The same Python gives the same bytes.

What a character becomes when all is folded: NFKD of its case folding, without accents, digits in
ASCII. Hangul and voiced kana are put together again, since taking those apart would change words.
Marks that are letters of their script (vowel signs of Hindi or Thai) stay.

What it becomes when it is lowered only: NFKC of its case folding, digits in ASCII. An accent by
itself becomes nothing; the core composes it with the letter before it, by the pairs written here.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

CODE_POINTS = 0x110000
BLOCK = 128  # must be kBlockSize of character_class.h

# Foldings that decomposition does not give: letters and, in a lowered text too, signs.
SPECIAL_LETTERS = {
    "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    "\N{LATIN SMALL LETTER AE}": "ae",
    "\N{LATIN SMALL LIGATURE OE}": "oe",
    "\N{LATIN SMALL LETTER ETH}": "d",
    "\N{LATIN SMALL LETTER THORN}": "th",
    "\N{LATIN SMALL LETTER ENG}": "n",
}
SPECIAL_SIGNS = {
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{MODIFIER LETTER APOSTROPHE}": "'",
    "\N{MODIFIER LETTER TURNED COMMA}": "'",
    "\N{ACUTE ACCENT}": "'",  # what some keyboards give for an apostrophe
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{TRADE MARK SIGN}": " ",  # not letters of the word before it
    "\N{SERVICE MARK}": " ",
}
SPECIAL = SPECIAL_LETTERS | SPECIAL_SIGNS
LATIN_VARIANT = re.compile(r"LATIN SMALL LETTER ([A-Z]) WITH ")

# Format characters and marks without a look of their own, the Arabic stretch, the Hebrew marks
# inside abbreviations, emoji skin tones. The zero-width space is none: it parts Thai words.
IGNORED_RANGES = (
    (0x034F, 0x034F),
    (0x05F3, 0x05F4),
    (0x0640, 0x0640),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0xFE00, 0xFE0F),
    (0x1F3FB, 0x1F3FF),
    (0xE0100, 0xE01EF),
)
ZERO_WIDTH_SPACE = 0x200B
REGIONAL_INDICATORS = (0x1F1E6, 0x1F1FF)
EMOJI_RANGES = ((0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1FAFF))

# Scripts written without spaces between words (Hangul has spaces, but glues particles to words).
UNSPACED_NAME = re.compile(
    r"(CJK UNIFIED|CJK COMPATIBILITY IDEOGRAPH|IDEOGRAPHIC (ITERATION|NUMBER|CLOSING)"
    r"|HIRAGANA|KATAKANA|VERTICAL IDEOGRAPHIC ITERATION|VERTICAL KANA|HANGUL|BOPOMOFO"
    r"|THAI|LAO|KHMER|MYANMAR|TAI THAM|NEW TAI LUE|TAI LE|TAI VIET|TANGUT|NUSHU|YI SYLLABLE)"
)
ASCII_CLASSES = {
    "_": "kConnector",
    "'": "kApostrophe",
    ".": "kDot",
    "-": "kHyphen",
    "/": "kSlash",
    "\\": "kSlash",
    ":": "kColon",
    "@": "kAt",
    "+": "kPlus",
    "#": "kHash",
    **dict.fromkeys("?=&%~,;!$*", "kUrl"),
}


def is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def is_accent(character: str) -> bool:
    """Say whether ``character`` is a mark that folding takes off, of whatever script."""
    category = unicodedata.category(character)
    if category == "Me":
        return True
    order = unicodedata.combining(character)
    # 1 overlays, 7 nuktas, 10-36 points of Hebrew, Arabic and Syriac, 200-240 by place. Left are
    # kana voicing (8), viramas (9), vowels and tones of Thai, Lao, Tibetan (103-132).
    return category == "Mn" and (order in {1, 7} or 10 <= order <= 36 or 200 <= order <= 240)


def is_ignored(character: str) -> bool:
    code = ord(character)
    is_format = unicodedata.category(character) == "Cf" and code != ZERO_WIDTH_SPACE
    return is_format or is_in(code, IGNORED_RANGES) or is_accent(character)


def decomposed(character: str) -> str:
    """Return NFKD of a case-folded character, Latin letters with strokes and hooks made plain."""
    out = []
    for part in unicodedata.normalize("NFKD", character.casefold()).casefold():
        variant = LATIN_VARIANT.match(unicodedata.name(part, ""))
        digit = unicodedata.decimal(part, None)
        if part in SPECIAL:
            out.append(SPECIAL[part])
        elif variant:
            out.append(variant.group(1).lower())
        elif digit is not None:
            out.append(str(digit))
        else:
            out.append(part)
    return "".join(out)


def is_put_together(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(("HANGUL", "HIRAGANA", "KATAKANA", "HALFWIDTH", "SQUARE"))


def folding(character: str) -> str:
    """Return what ``character`` becomes: no, one or several characters."""
    if character in SPECIAL:
        return SPECIAL[character]
    if is_ignored(character):
        return ""
    folded = "".join(c for c in decomposed(character) if not is_ignored(c))
    return unicodedata.normalize("NFC", folded) if is_put_together(character) else folded


def lowered(character: str) -> str:
    """Return what ``character`` becomes where accents stay: no, one or several characters."""
    if character in SPECIAL_SIGNS:
        return SPECIAL_SIGNS[character]
    if is_ignored(character):
        return ""
    plain = unicodedata.normalize("NFKD", character.casefold()).casefold()
    signs = "".join(SPECIAL_SIGNS.get(part, part) for part in plain)
    digits = (str(unicodedata.decimal(part, part)) for part in signs)
    composed = unicodedata.normalize("NFC", "".join(digits))
    return "".join(part for part in composed if not is_ignored(part))


def is_unspaced(character: str) -> bool:
    # The range is asked first: names of the newest ideographs may be missing.
    code = ord(character)
    is_ideograph = 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x3FFFD
    return is_ideograph or UNSPACED_NAME.match(unicodedata.name(character, "")) is not None


def class_of(character: str) -> str:
    """Return the name of the ``CharacterClass`` of a folded character."""
    if character in ASCII_CLASSES:
        return ASCII_CLASSES[character]
    code = ord(character)
    category = unicodedata.category(character)
    if is_ignored(character):
        return "kIgnored"
    if is_in(code, (REGIONAL_INDICATORS,)):
        return "kRegional"
    if category == "So" and is_in(code, EMOJI_RANGES):
        return "kEmoji"
    if category == "Pc":
        return "kConnector"
    if category[0] == "M":
        return "kMark"
    if category[0] in "LN":
        if is_unspaced(character):
            return "kUnspaced"
        return "kLetter" if category[0] == "L" else "kDigit"
    return "kSeparator"


Record = tuple[str, bool, int, int]  # class, is upper case, folded length, delta or offset


class Tables:
    """The records of all characters, equal ones shared."""

    def __init__(self) -> None:
        self.records: dict[Record, int] = {}
        self.expansions: list[int] = []
        self._offsets: dict[str, int] = {}
        self.folded = [self._number(chr(code), folding) for code in range(CODE_POINTS)]
        self.lowered = [self._number(chr(code), lowered) for code in range(CODE_POINTS)]

    def _number(self, character: str, becomes: Callable[[str], str]) -> int:
        record = self._record(character, becomes)
        return self.records.setdefault(record, len(self.records))

    def _record(self, character: str, becomes: Callable[[str], str]) -> Record:
        if unicodedata.category(character) in {"Cs", "Cn", "Co"}:
            return ("kSeparator", False, 1, 0)
        folded = becomes(character)
        if not folded:
            return ("kIgnored", False, 0, 0)
        is_upper = unicodedata.category(character) in {"Lu", "Lt"}
        if len(folded) == 1:
            return (class_of(folded), is_upper, 1, ord(folded) - ord(character))
        if folded not in self._offsets:
            self._offsets[folded] = len(self.expansions)
            self.expansions.extend(map(ord, folded))
        # A letter in title case, such as "ǅ", does not become capitals alone.
        is_capitals = unicodedata.category(character) == "Lu"
        return ("kSeparator", is_capitals, len(folded), self._offsets[folded])


def voiced_kana() -> list[tuple[int, int, int]]:
    """Return (base, mark, composed) for the kana that take a voicing mark."""
    triples = []
    for code in range(0x3041, 0x3100):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) == 2 and parts[1] in "\u3099\u309a":
            triples.append((ord(parts[0]), ord(parts[1]), code))
    return sorted(triples)


def accented() -> list[tuple[int, int, int]]:
    """Return (base, mark, composed) for what a lowered text composes."""
    triples = [
        (ord("\N{LATIN SMALL LETTER DOTLESS I}"), 0x307, ord("i"))
    ]  # from a Turkish capital I
    for code in range(CODE_POINTS):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) != 2 or parts[0].startswith("<") or is_put_together(chr(code)):
            continue
        base, mark = (int(part, 16) for part in parts)
        is_stable = unicodedata.normalize("NFC", chr(code)) == chr(code) == lowered(chr(code))
        if is_stable and unicodedata.category(chr(mark))[0] == "M":
            triples.append((base, mark, code))
    return sorted(triples)


def array(kind: str, name: str, values: list[str], per_line: int) -> str:
    lines = [", ".join(values[i : i + per_line]) for i in range(0, len(values), per_line)]
    body = ",\n    ".join(lines)
    return f"constexpr std::array<{kind}, {len(values)}> {name} = {{{{\n    {body}}}}};\n"


def two_stages(of_code: list[int]) -> tuple[list[int], list[int]]:
    """Split into the number of each block, and the blocks that differ, end to end."""
    blocks: dict[tuple[int, ...], int] = {}
    first = [
        blocks.setdefault(tuple(of_code[start : start + BLOCK]), len(blocks))
        for start in range(0, CODE_POINTS, BLOCK)
    ]
    return first, [number for block in blocks for number in block]


def compositions(name: str, triples: list[tuple[int, int, int]]) -> str:
    rows = ["{{{:#x}, {:#x}, {:#x}}}".format(*triple) for triple in triples]
    return array("Composition", name, rows, 4)


def stages(name: str, of_code: list[int]) -> str:
    first, second = two_stages(of_code)
    return "\n".join(
        [
            array("std::uint16_t", f"k{name}Blocks", list(map(str, first)), 24),
            array("std::uint16_t", f"k{name}Records", list(map(str, second)), 24),
        ]
    )


def source(tables: Tables) -> str:
    records = [
        f"{{CharacterClass::{name}, {str(is_upper).lower()}, {length}, {value}}}"
        for name, is_upper, length, value in tables.records
    ]
    head = (
        "// Written by generate_character_tables.py; do not edit.\n"
        '#include <array>\n\n#include "analysis/character_class.h"\n\n'
        "namespace oneiros {\nnamespace {\n"
    )
    foot = (
        "}  // namespace\n\n"
        "const CharacterTables character_tables = {\n"
        "    {kFoldedBlocks.data(), kFoldedRecords.data()},\n"
        "    {kLoweredBlocks.data(), kLoweredRecords.data()},\n"
        "    kRecords.data(), kExpansions.data(), kVoicedKana, kAccented,\n"
        f'    "{unicodedata.unidata_version}"}};\n\n'
        "}  // namespace oneiros\n"
    )
    parts = [
        head,
        stages("Folded", tables.folded),
        stages("Lowered", tables.lowered),
        array("CharacterRecord", "kRecords", records, 2),
        array("char32_t", "kExpansions", [f"{code:#x}" for code in tables.expansions], 12),
        compositions("kVoicedKana", voiced_kana()),
        compositions("kAccented", accented()),
        foot,
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(Tables()), encoding="utf-8")
