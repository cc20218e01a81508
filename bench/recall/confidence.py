# ruff: noqa: T201 - a command
"""Fit the confidence of the default profile, and print how reliable it is (docs/confidence.md).

    python -m bench.recall.confidence DATA              # the fit, each collection held out in turn
    python -m bench.recall.confidence DATA --check      # and the collections that no fit has seen
    python -m bench.recall.confidence DATA --hashing    # and vectors of hashed words

DATA holds a folder per collection (oneiros.evaluation.collection). About a minute.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import oneiros
from oneiros.evaluation import collection
from oneiros.evaluation.tasks import JudgedQuery, task_of
from oneiros.scoring.confidence import CALIBRATED

__all__ = ["FITTED_ON", "NOT_SEEN", "Asked", "ask", "fit", "weighted_bins"]

FITTED_ON = (
    *("locomo-dev", "cranfield", "cisi", "scifact-train"),
    *("realmem-dev", "beam-dev", "gitlog-dev"),
)
NOT_SEEN = (
    *("locomo-other", "scifact-test", "longmemeval-sample"),
    *("medline", "npl", "cacm", "arguana"),
)
FOREIGN_SHARE = 0.1
"""Weight of the questions that the memories do not answer; a tenth of BEAM's questions are such."""
FOREIGN_TO = {
    "cranfield": ("cisi", "scifact-train"),
    "cisi": ("cranfield", "scifact-train"),
    "scifact-train": ("cranfield", "cisi"),
}
"""Collections without groups get about a hundred questions of each of two others."""
RIDGE = 1e-3
BINS = 10

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """The answered questions of one collection: leads, judgements, weights."""

    leads: Floats
    """Shape (questions, 2): in words and in meaning; one without a value has the other's."""
    confidence: Floats
    """As the response gave it."""
    is_relevant: Floats
    is_foreign: npt.NDArray[np.bool_]
    unanswered: int
    """Responses without a result, most of which abstained: they have no confidence."""

    @property
    def weights(self) -> Floats:
        """Sum 1: the foreign questions have their share, all others the rest."""
        foreign = int(self.is_foreign.sum())
        own = len(self.is_foreign) - foreign
        share = FOREIGN_SHARE if foreign else 0.0
        return np.where(self.is_foreign, share / max(foreign, 1), (1 - share) / own)

    def own(self) -> Asked:
        """Return the collection's own questions only."""
        kept = ~self.is_foreign
        return Asked(
            self.leads[kept],
            self.confidence[kept],
            self.is_relevant[kept],
            self.is_foreign[kept],
            self.unanswered,
        )


def ask(data: Path, name: str, vectors: str) -> Asked:
    """Search for the questions of a collection. ``vectors``: "stored", "hashed" or "none"."""
    found = collection.read(data / name)
    leads: list[tuple[float, float]] = []
    confidence, is_relevant, is_foreign = [], [], []
    unanswered = 0
    documents = _vectors(found, vectors)
    with oneiros.Engine(":memory:", vector_index="flat") as engine:
        engine.add_many(
            {**record, "embedding": None if documents is None else _or_none(documents[place])}
            for place, record in enumerate(task_of(found).records)
        )
        for question, where, foreign, vector in _questions(data, found, vectors):
            response = engine.search(
                question.text,
                1,
                now=question.now,
                where=where,
                embedding=vector,
                exclude=question.exclude,
                reinforce=False,
            )
            if response.confidence is None:
                unanswered += 1
                continue
            answers = {} if foreign else question.answers
            leads.append(_whole(*response.answer.outcome.leads))  # type: ignore[attr-defined]
            confidence.append(response.confidence)
            is_relevant.append(answers.get(response.ids[0], 0.0) > 0)
            is_foreign.append(foreign)
    return Asked(
        np.array(leads),
        np.array(confidence),
        np.array(is_relevant, np.float64),
        np.array(is_foreign),
        unanswered,
    )


def _questions(
    data: Path, found: collection.Collection, vectors: str
) -> Iterator[tuple[JudgedQuery, oneiros.Where | None, bool, Any]]:
    """Yield each question with its filter, whether it is foreign, and its vector.

    Foreign: in a collection of groups, each question asked of the next group; else questions of
    other collections. Those without judgements count if the collection says they have no answer.
    """
    embedded = _query_vectors(found, vectors)
    judged = task_of(found).questions
    groups = sorted({_group(query) for query in found.queries} - {""})
    following = dict(zip(groups, groups[1:] + groups[:1], strict=True))
    for place, (question, query) in enumerate(zip(judged, found.queries, strict=True)):
        vector = None if embedded is None else _or_none(embedded[place])
        if question.answers or question.type == "abstention":
            where = question.where
            if question.group is not None:  # a filter: the words of the whole store are counted
                own = oneiros.where(project=question.group)
                where = own if where is None else where & own
            yield question, where, False, vector
        if groups:
            yield question, oneiros.where(project=following[_group(query)]), True, vector
    for other in FOREIGN_TO.get(found.name, ()):
        strange = collection.read(data / other)
        step = max(1, len(strange.queries) // 100)
        embedded = _query_vectors(strange, vectors)
        for place, question in list(enumerate(task_of(strange).questions))[::step]:
            yield question, None, True, None if embedded is None else _or_none(embedded[place])


def _group(query: collection.Query) -> str:
    return str(query.metadata.get("group", ""))


def _or_none(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    return vector if vector.any() else None


def _whole(words: float | None, meaning: float | None) -> tuple[float, float]:
    """Return both leads; one without a value takes the other's."""
    one = words if words is not None else meaning
    assert one is not None
    return one, one if meaning is None else meaning


def _vectors(found: collection.Collection, kind: str) -> npt.NDArray[np.float32] | None:
    if kind == "hashed":
        return hashed([document.title_and_text for document in found.documents])
    return found.document_vectors if kind == "stored" else None


def _query_vectors(found: collection.Collection, kind: str) -> npt.NDArray[np.float32] | None:
    if kind == "hashed":
        return hashed([query.text for query in found.queries])
    return found.query_vectors if kind == "stored" else None


def hashed(texts: Sequence[str], dimension: int = 256) -> npt.NDArray[np.float32]:
    """Return unit vectors that count words, each in one place with a sign, by their hashes."""
    vectors = np.zeros((len(texts), dimension), np.float32)
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
            vectors[row, (number >> 1) % dimension] += 1.0 if number & 1 else -1.0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: npt.NDArray[np.float32] = vectors / np.where(lengths == 0, 1.0, lengths)
    return found


def _inputs(asked: Asked) -> Floats:
    return np.column_stack([np.ones(len(asked.leads)), np.sqrt(asked.leads)])


def fit(collections: Sequence[Asked]) -> Floats:
    """Return constant, words and meaning of the logistic model; each collection weighs the same.

    Newton's method with a small ridge on the two slopes. Raises ValueError for a negative slope.
    """
    inputs = np.concatenate([_inputs(one) for one in collections])
    wanted = np.concatenate([one.is_relevant for one in collections])
    weights = np.concatenate([one.weights for one in collections])
    ridge = np.diag([0.0, RIDGE, RIDGE]) * weights.sum()
    found = np.zeros(3)
    for _ in range(50):
        given = predicted(found, inputs)
        slope = inputs.T @ (weights * (given - wanted)) + ridge @ found
        curve = (inputs.T * (weights * given * (1 - given))) @ inputs + ridge
        found -= np.linalg.solve(curve, slope)
    if (found[1:] < 0).any():
        msg = f"fit: slopes must be >= 0, got {found[1:].tolist()}"
        raise ValueError(msg)
    return found


def predicted(coefficients: Floats, inputs: Floats) -> Floats:
    """Return the probabilities that the model gives."""
    given: Floats = 1 / (1 + np.exp(-(inputs @ coefficients)))
    return given


def weighted_bins(given: Floats, wanted: Floats, weights: Floats) -> list[tuple[float, ...]]:
    """Return (share, mean confidence, share relevant) of ten bins of equal weight, lowest first."""
    order = np.argsort(given, kind="stable")
    before = np.cumsum(weights[order]) - weights[order] / 2
    bins = np.minimum((before / weights.sum() * BINS).astype(int), BINS - 1)
    found = []
    for number in range(BINS):
        rows = order[bins == number]
        if len(rows):
            share = weights[rows].sum() / weights.sum()
            means = (np.average(values[rows], weights=weights[rows]) for values in (given, wanted))
            found.append((float(share), *map(float, means)))
    return found


def expected_error(given: Floats, wanted: Floats, weights: Floats) -> float:
    """Return the mean distance of confidence and share relevant over the ten bins."""
    bins = weighted_bins(given, wanted, weights)
    return sum(share * abs(mean - relevant) for share, mean, relevant in bins)


def area(given: Floats, wanted: Floats) -> float:
    """Return how often a relevant first result has more confidence than one that is not (AUC)."""
    good, bad = given[wanted > 0], given[wanted == 0]
    if not len(good) or not len(bad):
        return float("nan")
    ahead = np.sign(good[:, None] - bad[None, :])
    return float((ahead + 1).mean() / 2)


def figures(name: str, vectors: str, asked: Asked, given: Floats, constant: float) -> str:
    """Return a row of the table of collections."""
    weights, wanted = asked.weights, asked.is_relevant
    own = ~asked.is_foreign
    cells = [
        f"{np.average(wanted, weights=weights):.3f}",
        f"{np.average(given, weights=weights):.3f}",
        f"{np.average((given - wanted) ** 2, weights=weights):.3f}",
        f"{np.average((constant - wanted) ** 2, weights=weights):.3f}",
        f"{expected_error(given, wanted, weights):.3f}",
        f"{area(given[own], wanted[own]):.3f}",
        f"{given[asked.is_foreign].mean():.2f}" if asked.is_foreign.any() else "",
        f"{asked.unanswered}",
    ]
    return f"| {name} | {vectors} | {int(own.sum())} | {' | '.join(cells)} |"


HEAD = (
    "| collection | vectors | questions | relevant | confidence | Brier | Brier of the mean | ECE"
    " | AUC | foreign | no result |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def base_rate(collections: Sequence[Asked]) -> float:
    """Return the share of relevant first results, the mean over collections."""
    return float(np.mean([np.average(one.is_relevant, weights=one.weights) for one in collections]))


def reliability(groups: Sequence[tuple[Asked, Floats]]) -> Iterator[str]:
    """Yield the rows of the table of ten equal ranges of confidence; collections weigh the same."""
    given = np.concatenate([values for _, values in groups])
    wanted = np.concatenate([one.is_relevant for one, _ in groups])
    weights = np.concatenate([one.weights for one, _ in groups]) / len(groups)
    for low in range(BINS):
        inside = (given * BINS >= low) & (given * BINS < low + 1)
        if not inside.any():
            continue
        mean, relevant = (
            np.average(values[inside], weights=weights[inside]) for values in (given, wanted)
        )
        rates = [
            one.is_relevant[(values * BINS >= low) & (values * BINS < low + 1)]
            for one, values in groups
        ]
        shares = sorted(float(rate.mean()) for rate in rates if len(rate) >= 10)
        spread = f"{shares[0]:.2f} to {shares[-1]:.2f}" if shares else ""
        yield (
            f"| {low / BINS:.1f} to {(low + 1) / BINS:.1f} | {weights[inside].sum():.1%} "
            f"| {mean:.2f} | {relevant:.2f} | {spread} |"
        )


RANGES = ((0.0, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 1.0))


def by_collection(names: Sequence[str], groups: Sequence[tuple[Asked, Floats]]) -> Iterator[str]:
    """Yield a row per collection: the share relevant by range of confidence, and of how many.

    Own questions only, counted as they are; the last row is all of them.
    """
    rows = [(name, one.is_relevant, values, ~one.is_foreign)
            for name, (one, values) in zip(names, groups, strict=True)]  # fmt: skip
    found = [(name, wanted[own], values[own]) for name, wanted, values, own in rows]
    wanted, values = (np.concatenate([one[place] for one in found]) for place in (1, 2))
    for name, relevant, given in [*found, ("all", wanted, values)]:
        cells = []
        for low, high in RANGES:
            inside = (given >= low) & ((given < high) | (high == 1.0))
            count = int(inside.sum())
            cells.append(f"{relevant[inside].mean():.2f} of {count}" if count else "")
        yield f"| {name} | {' | '.join(cells)} |"


def thresholds(groups: Sequence[tuple[Asked, Floats]]) -> Iterator[str]:
    """Yield what a threshold keeps: questions, relevant first results, foreign questions."""
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        rows = []
        for one, given in groups:
            kept, weights = given >= least, one.weights
            good, foreign = one.is_relevant > 0, one.is_foreign
            right = np.average(good[kept], weights=weights[kept]) if kept.any() else np.nan
            of_good, of_foreign = kept[good].mean(), kept[foreign].mean() if foreign.any() else 0.0
            rows.append((weights[kept].sum(), right, of_good, of_foreign))
        means = " | ".join(f"{value:.0%}" for value in np.nanmean(rows, axis=0))
        yield f"| {least} | {means} |"


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall.confidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--check", action="store_true", help="the collections that no fit has seen")
    parser.add_argument("--hashing", action="store_true", help="vectors of hashed words, too")
    given = parser.parse_args()
    missing = [name for name in FITTED_ON if not (given.data / name).is_dir()]
    if missing:
        parser.error(f"{given.data} lacks {', '.join(missing)}")
    kinds = ("stored", "none")
    found = {(name, kind): ask(given.data, name, kind) for name in FITTED_ON for kind in kinds}
    print("Each collection held out in turn\n\n" + HEAD)
    groups = []
    for kind in (*kinds, *(("hashed",) if given.hashing else ())):
        for name in FITTED_ON:
            others = [one for (other, _), one in found.items() if other != name]
            asked = found.get((name, kind)) or ask(given.data, name, kind)
            values = predicted(fit(others), _inputs(asked))
            print(figures(name, kind, asked, values, base_rate(others)))
            if kind in kinds:
                groups.append((asked, values))
    print("\n| confidence | questions | mean | relevant | by collection |\n|---|---|---|---|---|")
    print("\n".join(reliability(groups)))
    heads = [f"{low:g} to {high:g}" for low, high in RANGES]
    print(f"\n| collection | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    labels = [f"{name}{', words' * (kind == 'none')}" for kind in kinds for name in FITTED_ON]
    print("\n".join(by_collection(labels, groups)))
    print("\n| threshold | kept | of them relevant | of the relevant | of the foreign |")
    print("|---|---|---|---|---|\n" + "\n".join(thresholds(groups)))
    constant, words, meaning = fit(list(found.values())).round(2).tolist()
    print(f"\nfitted: constant {constant}, words {words}, meaning {meaning}; in use: {CALIBRATED}")
    if given.check:
        print("\nCollections that no fit has seen, by the model in use\n\n" + HEAD)
        unseen = []
        for kind in kinds:
            for name in NOT_SEEN:
                asked = ask(given.data, name, kind)
                print(figures(name, kind, asked, asked.confidence, base_rate(list(found.values()))))
                unseen.append((asked, asked.confidence))
        print(
            "\n| confidence | questions | mean | relevant | by collection |\n|---|---|---|---|---|"
        )
        print("\n".join(reliability(unseen)))
        labels = [f"{name}{', words' * (kind == 'none')}" for kind in kinds for name in NOT_SEEN]
        print(f"\n| collection | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
        print("\n".join(by_collection(labels, unseen)))


if __name__ == "__main__":
    main()
