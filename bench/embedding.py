# ruff: noqa: T201 - a command
"""The embedder in the box beside words alone and MiniLM: quality, misspelt questions, texts a second.

::

    python -m bench.embedding

Each collection under ``ONEIROS_DATA`` is searched under the default profile, without vectors, with those
of ``HashingEmbedder()`` and with its files of MiniLM vectors. Then with misspelt questions: half of the words
of at least five letters, dealt by a seed, have one letter doubled, left out, or changed places with the
next. MiniLM stands out there, as its vectors of misspelt questions are in no file. Last, 200 rare words
are asked alone, each with a slip (how many find a text that has the word), and 100 words of random letters
(how many return something). Times are processor times.
"""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from time import process_time
from typing import TYPE_CHECKING, Final

from oneiros import profiles
from oneiros.engine import Engine
from oneiros.evaluation.collection import Collection, read
from oneiros.evaluation.tasks import Task, measure, task_of
from oneiros.models import HashingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.models.embedders import Embedder

__all__ = ["embedded", "misspelt", "slipped"]

_COLLECTIONS: Final = ("locomo-dev", "realmem-dev", "gitlog-dev")
_SEED: Final = 7
_SHORT: Final = 60  # characters of the texts that are timed


def misspelt(text: str, rng: random.Random) -> str:
    """Return a text with one slip in about half of its longer words."""

    def changed(match: re.Match[str]) -> str:
        word = match[0]
        return word if len(word) < 5 or rng.random() < 0.5 else slipped(word, rng)

    return re.sub(r"[A-Za-z]+", changed, text)


def slipped(word: str, rng: random.Random) -> str:
    """Return a word of at least four letters with one doubled, left out or moved by one."""
    at = rng.randrange(1, len(word) - 2)
    kind = rng.randrange(3)
    if kind == 0:
        return f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
    return f"{word[:at]}{word[at + 1 :]}" if kind == 1 else f"{word[:at]}{word[at]}{word[at:]}"


def embedded(collection: Collection, embedder: Embedder) -> Task:
    """Return the task of a collection with an embedder's vectors."""
    texts = [document.title_and_text for document in collection.documents]
    queries = [query.text for query in collection.queries]
    made = replace(collection, document_vectors=embedder(texts), query_vectors=embedder(queries))
    return replace(task_of(made), embedder=embedder)


def _one_word(texts: Sequence[str], embedder: Embedder | None) -> str:
    """Return the shares of misspelt rare words that are found, and of random letters answered."""
    holders: dict[str, set[str]] = {}
    for number, text in enumerate(texts):
        for word in re.findall("[a-z]+", text.lower()):
            holders.setdefault(word, set()).add(str(number))
    rng = random.Random(_SEED)
    rare = sorted(word for word, ids in holders.items() if len(ids) <= 5 and len(word) >= 6)
    chosen = [(word, slipped(word, rng)) for word in rng.sample(rare, 200)]
    chosen = [(word, wrong) for word, wrong in chosen if wrong not in holders]
    noise = ["".join(rng.choices(ascii_lowercase, k=7)) for _ in range(100)]
    with Engine(":memory:", embedder=embedder, vector_index="flat") as engine:
        engine.add_many([{"id": str(n), "text": text} for n, text in enumerate(texts)])
        found = [set(engine.search(wrong, reinforce=False).ids) for _, wrong in chosen]
        answered = sum(bool(engine.search(one, reinforce=False).ids) for one in noise)
    hits = sum(bool(ids & holders[word]) for ids, (word, _) in zip(found, chosen, strict=True))
    return f"found {hits / len(chosen):.2f}  random letters answered {answered / len(noise):.2f}"


def _figures(task: Task) -> str:
    scores = measure(task, profiles.get("oneiros")).overall
    return f"nDCG@10 {scores.ndcg:.3f}  R@10 {scores.recalls[1]:.3f}"


def _main() -> None:
    data = Path(os.environ.get("ONEIROS_DATA") or "../shared/data")
    embedder = HashingEmbedder()
    for name in _COLLECTIONS:
        plain = read(data / name, vectors=None)
        rng = random.Random(_SEED)
        wrong = replace(
            plain,
            queries=[replace(query, text=misspelt(query.text, rng)) for query in plain.queries],
        )
        print(f"{name:12} as asked  words   {_figures(task_of(plain))}")
        print(f"{name:12} as asked  hashing {_figures(embedded(plain, embedder))}")
        print(f"{name:12} as asked  MiniLM  {_figures(task_of(read(data / name)))}")
        print(f"{name:12} misspelt  words   {_figures(task_of(wrong))}")
        print(f"{name:12} misspelt  hashing {_figures(embedded(wrong, embedder))}")
        whole = [document.title_and_text for document in plain.documents]
        print(f"{name:12} one word  words   {_one_word(whole, None)}")
        print(f"{name:12} one word  hashing {_one_word(whole, embedder)}")
        texts = [document.title_and_text[:_SHORT] for document in plain.documents]
        fresh = HashingEmbedder()
        for label in ("new words", "known words"):
            started = process_time()
            fresh(texts)
            print(f"{name:12} {label}: {len(texts) / (process_time() - started):,.0f} texts/s")


if __name__ == "__main__":
    _main()
