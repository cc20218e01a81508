"""The run: engines built, judged, and measured in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from oneiros.benchmark.conditions import conditions, load
from oneiros.benchmark.corpus import DIMENSION, Corpus, draw
from oneiros.benchmark.exact import exact_answers, share_found
from oneiros.benchmark.remote import EngineFailed, Remote
from oneiros.benchmark.rivals import ENTRANTS, TASKS, Entrant
from oneiros.benchmark.worker import ROUND_SECONDS, Worker
from oneiros.model.validation import require_int

__all__ = ["QUESTIONS", "EngineComparison"]

QUESTIONS: Final = 200
"""Questions of a run; a slow engine gets fewer of them."""

_START_SECONDS = 1.5  # of a process with its imports
_TURN_SECONDS = 60.0
_LEAST_BUILD_SECONDS = 60.0
_OVERTIME = 15.0  # times the estimate of a build that are waited for
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Every engine answers a question on one thread, NumPy too."""

_STACK = ("numpy", "faiss-cpu", "apsw")


class EngineComparison:
    """One run over memories drawn from a seed, or over a corpus of your own.

    Nothing is measured before :meth:`run`. What it has measured so far can be read at any time, also
    after an interrupt.

    Args:
        size: the number of memories, at least 100.
        rounds: turns of each engine, at least 1.
        seed: of the memories and questions.
        entrants: the engines; all by default.
        corpus: memories and questions from elsewhere; then ``size`` and ``seed`` only label them.

    Example:
        >>> from oneiros.benchmark.comparison import EngineComparison
        >>> from oneiros.benchmark.rivals import ENTRANTS
        >>> words = [one for one in ENTRANTS if one.place.endswith("LexicalAlone")]
        >>> comparison = EngineComparison(size=200, rounds=1, entrants=words)
        >>> comparison.run()
        >>> [(row["name"], row["share_found"]) for row in comparison.rows("words")]
        [('Oneiros, lexical index', 1.0)]
    """

    def __init__(
        self,
        *,
        size: int,
        rounds: int,
        seed: int = 0,
        entrants: Sequence[Entrant] = ENTRANTS,
        corpus: Corpus | None = None,
    ) -> None:
        self.size = require_int("size", size, low=100, high=10_000_000)
        self.rounds = require_int("rounds", rounds, low=1, high=1_000)
        self.seed = require_int("seed", seed, low=0, high=2**32 - 1)
        self.left_out: dict[str, str] = {}
        """Name -> the reason, of engines that are absent or failed."""

        self.rounds_done = 0
        self.other_cores: float | None = None
        """Cores that other processes kept busy while rounds ran; much above 0 spoils figures."""

        self._corpus = corpus
        own = [one for one in entrants if one.name.startswith("Oneiros")]
        self._baselines: dict[str, str] = {
            one.task: one.name for one in reversed(own)
        }  # the first of each task
        self._entrants = tuple(self._able(entrants))
        self._built: dict[str, tuple[float, int]] = {}
        self._shares: dict[str, float | None] = {}
        self._turns: dict[str, list[list[int]]] = {}
        self._conditions = conditions(_STACK)

    def conditions(self) -> dict[str, str]:
        """Return what the figures depend on, by name."""
        return {
            **self._conditions,
            "rivals": ", ".join(sorted(self._versions())) or "none installed",
            "threads": "one a question, where the library lets them be set",
            "load after": load(),
            "memories": f"{self.size:,}, of 11 words and {DIMENSION} components, seed {self.seed}"
            if self._corpus is None
            else f"{self.size:,}, from {self._corpus.folder.name}",
            "rounds": f"{self.rounds_done} of {self.rounds}, medians of them, after a warm-up",
        }

    def expected_seconds(self) -> float:
        """Return roughly how long :meth:`run` takes on a slow core."""
        building = sum(_START_SECONDS + self._expected_build(one) for one in self._entrants)
        # A warm-up and the judged answers take a round each.
        return building + (self.rounds + 2) * ROUND_SECONDS * 0.6 * len(self._entrants)

    @property
    def engine_count(self) -> int:
        """The number of engines that take part."""
        return len(self._entrants)

    def step_count(self) -> int:
        """Return the number of steps of :meth:`run`, for a progress bar."""
        return len(self._entrants) * (1 + self.rounds)

    def run(self, advance: Callable[[int], None] = lambda _: None) -> None:
        """Build every engine, then let them take turns.

        Args:
            advance: called with 1 after each step.
        """
        with ExitStack() as stack:
            corpus = self._corpus
            if corpus is None:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="oneiros-bench-")))
                corpus = draw(folder, size=self.size, questions=QUESTIONS, seed=self.seed)
            exact: dict[tuple[str, str], list[set[int]]] = {}
            remotes: dict[str, Remote] = {}
            for entrant in self._entrants:
                with self._leaving_out(entrant.name):
                    remote = stack.enter_context(
                        Remote(Worker, variables=_ONE_THREAD, place=entrant.place, corpus=corpus)
                    )
                    self._prepare(entrant, remote, corpus, exact)
                    remotes[entrant.name] = remote
                advance(1 if entrant.name in remotes else 1 + self.rounds)
            self._take_turns(remotes, advance)
            for name, remote in remotes.items():
                if name not in self.left_out:
                    with self._leaving_out(name):
                        remote.ask("close", _TURN_SECONDS)

    def rows(self, task: str) -> list[dict[str, Any]]:
        """Return the figures of a task's engines, in milliseconds, fastest first.

        A question's time is its median over the rounds; p50 and p99 are over questions. ``ratio`` is
        the p50 divided by that of Oneiros, in whole searches of the default profile; None without.
        """
        found = []
        for entrant in self._entrants:
            turns = self._turns.get(entrant.name)
            if entrant.task != task or not turns or entrant.name in self.left_out:
                continue
            spent = np.median(np.array(turns), axis=0) / 1e6
            middle, last = np.percentile(spent, [50, 99]).tolist()
            seconds, questions = self._built[entrant.name]
            found.append(
                {
                    "name": entrant.name,
                    "p50_ms": middle,
                    "p99_ms": last,
                    "ratio": None,
                    "share_found": self._shares[entrant.name],
                    "judged_by": entrant.judged_by,
                    "build_seconds": seconds,
                    "questions": questions,
                    "note": entrant.note,
                }
            )
        ours = self._baselines.get(task)
        p50 = next((row["p50_ms"] for row in found if row["name"] == ours), None)
        for row in found:
            row["ratio"] = None if p50 is None else row["p50_ms"] / p50
        return sorted(found, key=lambda row: row["p50_ms"])

    def document(self) -> dict[str, Any]:
        """Return everything that is measured so far, for JSON."""
        return {
            "conditions": self.conditions(),
            "size": self.size,
            "rounds": self.rounds,
            "rounds_done": self.rounds_done,
            "seed": self.seed,
            "other_cores": self.other_cores,
            "tasks": {task: self.rows(task) for task in TASKS},
            "left_out": dict(self.left_out),
        }

    def _able(self, entrants: Sequence[Entrant]) -> Iterator[Entrant]:
        for entrant in entrants:
            missing = entrant.missing()
            if missing:
                self.left_out[entrant.name] = f"not installed: pip install {' '.join(missing)}"
            elif entrant.most is not None and self.size > entrant.most:
                self.left_out[entrant.name] = f"takes minutes beyond {entrant.most:,} memories"
            else:
                yield entrant

    def _versions(self) -> set[str]:
        needed = tuple({name for one in self._entrants for name in one.needs})
        return set(conditions(needed)["versions"].split(", ")[1:]) - {""} if needed else set()

    def _expected_build(self, entrant: Entrant) -> float:
        return entrant.build_seconds * self.size / 10_000

    def _prepare(
        self,
        entrant: Entrant,
        remote: Remote,
        corpus: Corpus,
        exact: dict[tuple[str, str], list[set[int]]],
    ) -> None:
        """Build an engine, judge its answers, and leave it warm."""
        limit = max(_LEAST_BUILD_SECONDS, _OVERTIME * self._expected_build(entrant))
        seconds = remote.ask("build", limit)
        questions = remote.ask("warm_up", limit)
        answers = remote.ask("answers", limit)
        if entrant.judged_by == "nothing":
            share = None
        else:
            key = (entrant.task, entrant.judged_by)
            if key not in exact:
                exact[key] = exact_answers(corpus, entrant)
            share = share_found(answers, exact[key])
        self._built[entrant.name] = (seconds, questions)
        self._shares[entrant.name] = share

    def _take_turns(self, remotes: dict[str, Remote], advance: Callable[[int], None]) -> None:
        others: list[float] = []
        for _ in range(self.rounds):
            for name, remote in remotes.items():
                if name not in self.left_out:
                    with self._leaving_out(name):
                        turn = remote.ask("turn", _TURN_SECONDS)
                        self._turns.setdefault(name, []).append(turn["spent"])
                        others.append(turn["other_cores"])
                advance(1)
            self.rounds_done += 1
            self.other_cores = max(0.0, float(np.mean(others))) if others else None

    @contextmanager
    def _leaving_out(self, name: str) -> Iterator[None]:
        try:
            yield
        except EngineFailed as reason:
            self.left_out[name] = str(reason)
