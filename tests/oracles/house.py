"""The house profile, one memory at a time: docs/systems/house.md H3 to H6, H9, H13, H14, H17, H18, H20."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from tests.oracles.ieee import has_nan, not_negative
from tests.oracles.records import DAY, Record, time_of, value

AMOUNT = 0.15
HALF_LIFE_DAYS = 90.0
RECENCY_FLOOR = 0.5
MARKS = ".!?…‼⁇⁈⁉؟"
CLOSING = "\"'”’»)]"  # noqa: RUF001
IDEOGRAPHIC = "。！？"  # noqa: RUF001
ASKING = "?？؟⁇⁈⁉"  # noqa: RUF001
OUTSIDE = {"soft": 0.85, "explicit": 0.5, "inferred": 0.7}
"""What the relevance of a memory outside of the time that a question names is multiplied by. H10."""


def blend(
    bm25: Sequence[float] | None,
    cosine: Sequence[float] | None,
    weight: float = 0.4,
    possible: float | None = None,
) -> list[float]:
    """Return w bm25 / scale + (1 - w) max(cosine, 0) of each row. H3.

    The scale is the best bm25, or √(best · possible). A missing channel (None) leaves the other its
    whole weight.
    """
    if bm25 is None and cosine is None:
        return []
    rows = len(bm25 if bm25 is not None else cosine or ())
    best = max(bm25 or (), default=0.0)
    scale = best if possible is None else math.sqrt(best * possible)
    words = [score / scale if best > 0 else 0.0 for score in bm25 or ()]
    near = [max(score, 0.0) for score in cosine or ()]
    if bm25 is None:
        return near
    if cosine is None:
        return words
    return [weight * words[row] + (1 - weight) * near[row] for row in range(rows)]


def baseline(cosines: Iterable[float]) -> float:
    """Return the cosine of unrelated texts, by those of all candidates that have one. H3."""
    ascending = sorted(cosines)
    if len(ascending) < 20:
        return 0.0
    low = ascending[len(ascending) // 20 - 1]
    if low <= 0.35:
        return 0.0
    x = min((low - 0.35) / 0.25, 1.0)
    return min(low * (3 * x**2 - 2 * x**3), 0.95)


def above(cosine: float, baseline: float) -> float:
    """Return the share of the way from the baseline to 1. H3."""
    return (cosine - baseline) / (1 - baseline)


def words_weight(weight: float, least: float, missing: float) -> float:
    """Return the weight of words beside vectors of spelling. H3.

    Args:
        weight: of words beside vectors of meaning.
        least: share of their weight that the vectors have where texts hold every word.
        missing: share of the question's weight in words that no text has.
    """
    return 1 - (1 - weight) * (least + (1 - least) * missing**2)


def spread_neighbours(
    scores: Sequence[float],
    left: Sequence[int],
    right: Sequence[int],
    share: float = 0.3,
    decay: float = 0.5,
    reach: int = 2,
) -> list[float]:
    """Return f_i + share (f_(i-1) + f_(i+1)) + share x decay (f_(i-2) + f_(i+2)). H4.

    ``left`` and ``right`` hold the row next to each in time within its session, -1 for none.
    """
    spread = []
    for row, score in enumerate(scores):
        total = score
        for step in (left, right):
            at = row
            for distance in range(reach):
                at = step[at]
                if at < 0:
                    break
                total += share * decay**distance * scores[at]
        spread.append(total)
    return spread


def damp(factor: float, amount: float = AMOUNT) -> float:
    """Return 1 - d + d x factor. H6."""
    return math.nan if has_nan(factor, amount) else 1 - amount + amount * factor


def plain_feedback(points: float) -> float:
    """Return O12's factor of verdicts without a question, of which good ones raise nothing. H19."""
    if math.isnan(points):
        return math.nan
    return max(0.2, 1 + 0.2 * points) if points < 0 else 1.0


def question_words(text: str) -> frozenset[str]:
    """Return the words of a question: letters, digits and underscores in NFKC, case folded. H19."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[^\w]", " ", folded).split()
    return frozenset(list(dict.fromkeys(words))[:256])


def common_words(one: str, other: str) -> float:
    """Return the likeness of two questions without vectors: the cosine of their words. H19."""
    first, second = question_words(one), question_words(other)
    if not first or not second:
        return 0.0
    return len(first & second) / math.sqrt(len(first) * len(second))


def likeness(kept: Sequence[float], asked: Sequence[float]) -> float:
    """Return the cosine of a vector kept in whole 127ths of its largest magnitude and another. H19."""
    largest = max(map(abs, kept))
    units = [round(component / largest * 127) for component in kept]
    product = math.fsum(unit * component for unit, component in zip(units, asked, strict=True))
    return product / (math.hypot(*units) * math.hypot(*asked))


def question_feedback(verdicts: Iterable[tuple[int, float]]) -> float:
    """Return the factor of verdicts (1 or -1, likeness of their question to the query's). H19.

    The newest eight count.
    """
    points = sum(
        point * max(0.0, (min(likeness, 1.0) - 0.8) / (1 - 0.8))
        for point, likeness in list(verdicts)[-8:]
    )
    return 1 + 0.15 * min(points, 3) if points > 0 else max(0.2, 1 + 0.3 * points)


def asking_share(text: str) -> float:
    """Return the share of the characters that ask: of a question its last 40. H9.

    A sentence ends with a run of marks before white space or the end, closing quotes or brackets
    between them or not; with a run of ideographic marks; with its line.
    """
    asking = sentence = at = 0
    while at < len(text):
        ends = at
        if text[at] in MARKS:
            while ends < len(text) and text[ends] in MARKS:
                ends += 1
            after = ends
            while after < len(text) and text[after] in CLOSING:
                after += 1
            is_end = after == len(text) or text[after].isspace()
        else:
            is_end = text[at] in IDEOGRAPHIC or text[at] == "\n"
            same = IDEOGRAPHIC if text[at] in IDEOGRAPHIC else "\n"
            while is_end and ends < len(text) and text[ends] in same:
                ends += 1
        if is_end:
            if any(mark in ASKING for mark in text[at:ends]):
                asking += min(ends - sentence, 40)
            sentence = ends
        at = max(ends, at + 1)
    return asking / len(text) if text else 0.0


def as_statement(relevance: float, asks: float, damping: float = 0.4) -> float:
    """Return relevance x (1 - d x asks). H9."""
    return relevance * (1 - damping * asks)


def half_life_decay(age_days: float, half_life_days: float, floor: float) -> float:
    """Return max(floor, 2 ** (-age / half-life)); 1 without a timestamp. H6, O14."""
    if has_nan(half_life_days, floor):
        return math.nan
    return (
        1.0
        if math.isnan(age_days)
        else max(floor, math.exp2(-not_negative(age_days) / half_life_days))
    )


def recency(record: Record, now: float) -> float:
    """Return recency: half-life 90 d of the later of created and updated; floor 0.5. H6.

    Pinned memories have recency 1.
    """
    if value(record, "pinned"):
        return 1.0
    names = ("created_at", "updated_at")
    times = [time_of(record, now, name) for name in names]
    known = [time for time in times if not math.isnan(time)]
    age = (now - max(known)) / DAY if known else math.nan
    return half_life_decay(age, HALF_LIFE_DAYS, RECENCY_FLOOR)


NAMES_OF_TIMES = frozenset(
    (
        *("yesterday", "today", "tonight", "tomorrow", "ago", "since", "recently"),
        *("week", "weeks", "weekend", "weekends", "month", "months", "year", "years"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "april", "june", "july", "august"),
        *("september", "october", "november", "december"),
        *("jan", "feb", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    )
)
UNTIMED = 0.85
"""Factor on the relevance of a memory that names no time, where the query asks for one. H13."""


def names_time(text: str) -> bool:
    """Tell whether a text names a time. H13."""
    words = re.split(r"[^A-Za-z]+", text)
    numbers = re.split(r"[^0-9]+", text)
    whole = re.split(r"\W+", text)
    return (
        any(word.lower() in NAMES_OF_TIMES for word in words)
        or any(len(number) == 4 and number[:2] in ("19", "20") for number in numbers)
        or any(word in ("May", "March") for word in whole)
    )


FUNCTION_SHARE = 0.3
"""The share of its weight that a function word has in a query. H17."""
WHOLE_QUERY = 30
"""The place up to which a query's words have their whole weight. H18."""


def word_shares(
    words: Sequence[str],
    function_words: Iterable[str],
    share: float = FUNCTION_SHARE,
    whole: float = WHOLE_QUERY,
) -> dict[str, float]:
    """Return what each word of a query has of its weight. H17, H18.

    ``words``: of the query, in order, no stop word among them; a word has the share of the first
    place where it stands.
    """
    light = set(function_words)
    shares: dict[str, float] = {}
    for place, word in enumerate(words, 1):
        by_place = min(1.0, math.sqrt(whole / place))
        shares.setdefault(word, by_place * (share if word in light else 1.0))
    return shares


TYPOS = 0.8
"""The share of its weight that a word has in place of a misspelt one. H20."""


KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
VOWELS = "aeiouy"
ALIKE = ["bp", "ck", "cq", "cs", "cz", "dt", "fv", "gj", "kq", "lr", "mn", "sx", "sz", "vw"]


def is_mistaken(letter: str, other: str) -> bool:
    """Tell whether one Latin letter is easily typed in place of another. H20."""
    (row, at), (other_row, other_at) = (
        next((row, keys.index(one)) for row, keys in enumerate(KEYS) if one in keys)
        for one in (letter, other)
    )
    is_near = abs(row - other_row) <= 1 and abs(at - other_at) <= 1
    is_vowel = letter in VOWELS and other in VOWELS
    return letter != other and (is_near or is_vowel or "".join(sorted(letter + other)) in ALIKE)


def one_slip_away(word: str, letters: str = "abcdefghijklmnopqrstuvwxyz") -> set[str]:
    """Return the words that one slip makes of a word of a to z; the first letter stays. H20."""
    if len(word) < 4 or len(word) > 32 or not word.isalpha():
        return set()
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    swapped = {start + end[1] + end[0] + end[2:] for start, end in cuts if len(end) > 1}
    left_out = {start + end[1:] for start, end in cuts if end}
    replaced = {
        start + letter + end[1:]
        for start, end in cuts
        if end
        for letter in letters
        if is_mistaken(end[0], letter)
    }
    put_in = {start + letter + end for start, end in cuts for letter in letters}
    return (swapped | left_out | replaced | put_in) - {word}


def respelled(
    words: Sequence[str],
    held: Mapping[str, int],
    stem: Callable[[str], str] = str,
    function_words: Iterable[str] = (),
    known: Iterable[str] = (),
) -> dict[str, str]:
    """Return the terms searched in place of words of a query that no text has. H20.

    Args:
        words: of the query, in order.
        held: the number of texts that have each term.
        stem: the term of a word.
        function_words: words that are neither replaced nor taken.
        known: words that are not replaced.
    """
    light = set(map(stem, function_words))
    right = light | set(map(stem, known))
    asked = set(map(stem, words))
    found: dict[str, str] = {}
    looked_at: set[str] = set()
    for word in words:
        own = stem(word)
        edits = one_slip_away(word)
        if held.get(own) or own in right | looked_at or not edits or len(looked_at) == 8:
            continue
        looked_at.add(own)
        near = {stem(edit) for edit in edits} - light
        best = max(sorted(near), key=lambda term: held.get(term, 0))
        if held.get(best) and best not in asked:
            found[own] = best
    return found


def pair_weights(words: Sequence[str], idf: Mapping[str, float]) -> dict[frozenset[str], float]:
    """Return what each pair of a query weighs. H14.

    ``words``: of the query, in order; ``idf``: of those that a text holds. Each word and each of the
    next two are a pair, of the lesser idf, as often as it stands there.
    """
    weights: dict[frozenset[str], float] = {}
    for at, word in enumerate(words):
        for other in words[at + 1 : at + 3]:
            if word != other and word in idf and other in idf:
                pair = frozenset((word, other))
                weights[pair] = weights.get(pair, 0.0) + min(idf[word], idf[other])
    return weights


def has_pair(pair: Iterable[str], fields: Iterable[Sequence[str]], window: int = 3) -> bool:
    """Tell whether both words stand at most ``window`` places apart in one field. H14."""
    one, other = pair
    return any(
        0 < abs(first - second) <= window
        for words in fields
        for first, word in enumerate(words)
        if word == one
        for second, again in enumerate(words)
        if again == other
    )


def pair_score(
    weights: Mapping[frozenset[str], float], fields: Sequence[Sequence[str]], window: int = 3
) -> float:
    """Return the weight of the pairs that a text has, each once. H14."""
    return sum(weight for pair, weight in weights.items() if has_pair(pair, fields, window))
