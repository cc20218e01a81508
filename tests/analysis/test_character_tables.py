"""The generator of the character tables: deterministic, and itself a fixed point."""

# ruff: noqa: RUF001 - letters that look alike are the point here

from __future__ import annotations

import importlib.util
import sys
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / "cpp" / "analysis" / "generate_character_tables.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_character_tables", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_folding_twice_is_folding_once(generator: ModuleType) -> None:
    wrong = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code <= 0xDFFF:
            continue
        once = generator.folding(chr(code))
        if once != chr(code) and "".join(map(generator.folding, once)) != once:
            wrong.append(chr(code))
    assert wrong == []


def test_lowering_twice_is_lowering_once_and_folding_after_it_is_folding(
    generator: ModuleType,
) -> None:
    wrong = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in {"Cs", "Cn", "Co"}:
            continue
        once = generator.lowered(chr(code))
        folded = unicodedata.normalize("NFC", "".join(map(generator.folding, once)))
        want = unicodedata.normalize("NFC", generator.folding(chr(code)))
        if "".join(map(generator.lowered, once)) != once or folded != want:
            wrong.append(chr(code))
    assert wrong == []


def test_the_same_source_every_time(generator: ModuleType) -> None:
    assert generator.source(generator.Tables()) == generator.source(generator.Tables())


@pytest.mark.parametrize(
    ("character", "folded", "kind"),
    [
        ("A", "a", "kLetter"),
        ("É", "e", "kLetter"),
        ("ß", "ss", "kLetter"),
        ("İ", "i", "kLetter"),
        ("ı", "i", "kLetter"),
        ("\u0301", "", "kIgnored"),
        ("\u093f", "\u093f", "kMark"),
        ("٣", "3", "kDigit"),
        ("東", "東", "kUnspaced"),
        ("ー", "ー", "kUnspaced"),
        ("한", "한", "kUnspaced"),
        ("_", "_", "kConnector"),
        ("’", "'", "kApostrophe"),
        ("\u200d", "", "kIgnored"),
        ("\u200b", "\u200b", "kSeparator"),
        ("🎉", "🎉", "kEmoji"),
        ("🇩", "🇩", "kRegional"),
    ],
)
def test_classes_and_foldings(
    generator: ModuleType, character: str, folded: str, kind: str
) -> None:
    assert generator.folding(character) == folded
    assert generator.class_of(folded[0] if folded else character) == kind
