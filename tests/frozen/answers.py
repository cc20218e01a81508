"""Digests of search responses and profiles."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import oneiros
from oneiros import profiles
from oneiros.explain.explanation import Explanation
from oneiros.scoring.compiled import compile_profile
from tests.frozen.corpus import KINDS
from tests.frozen.scenarios import SCENARIOS, SEQUENCES, Answer, Ask, World

__all__ = ["DIGESTS", "digests_of", "plain_values", "profile_digests", "run", "variants"]

DIGESTS = np.dtype([("answer", "<u8"), ("trace", "<u4"), ("explanations", "<u4")])
"""Digests of one search: its results, its trace, its explanations. 0: there is none."""


def run(world: World, name: str, every: int = 1) -> Iterator[tuple[int, Answer]]:
    """Yield the answers of a scenario, each with its place among them.

    Args:
        world: the profile and its stores.
        name: the scenario.
        every: run every n-th search only. Sequences always run whole, because each of their
            answers depends on those before it.
    """
    for place, ask in enumerate(SCENARIOS[name](world)):
        if name in SEQUENCES or place % every == 0:
            yield place, _read_only(ask, world)()


def _read_only(ask: Ask, world: World) -> Ask:
    if not isinstance(ask, partial):
        return ask
    return partial(ask.func, *ask.args, **world.read(ask.keywords))


def plain_values(answer: Answer) -> tuple[Any, Any, Any]:
    """Return results, trace and explanations of an answer as tuples of plain values."""
    if isinstance(answer, oneiros.WhyNot):
        return _why_not(answer), None, _why_not_explained(answer)
    results = (
        *(answer.query, answer.now, answer.profile, answer.profile_hash, answer.parts),
        *(answer.reason, answer.confidence, answer.direct_ids),
        [_result(one) for one in answer.results],
        [_result(one) for one in answer.nearest_misses],
    )
    trace = (
        [
            (
                *(one.name, one.candidate_count, one.survivor_count, one.note),
                *(one.prompt_tokens, one.completion_tokens),
            )
            for one in answer.trace.stages
        ],
        answer.trace.notes,
        [(one.id, one.of) for one in answer.trace.duplicates],
    )
    explanations = [_explanation(one.explanation) for one in answer.results]
    return results, trace, explanations if any(explanations) else None


def digests_of(answer: Answer) -> tuple[int, int, int]:
    """Return the digests of an answer, one for each field of :data:`DIGESTS`."""
    results, trace, explanations = plain_values(answer)
    return _digest(results, 8), _digest(trace, 4), _digest(explanations, 4)


def _result(result: oneiros.SearchResult) -> tuple[Any, ...]:
    return (
        result.id,
        *map(
            float, (result.score, result.relevance_score, result.retention_score, result.raw_score)
        ),
        *(result.is_associative, result.via_deep_recall, result.neighbour_of, result.parts),
        *(result.path, float(result.path_weight), result.bridge),
    )


def _explanation(explanation: Explanation | None) -> tuple[Any, ...] | None:
    if explanation is None:
        return None
    return (
        [(each.name, each.rank, each.score) for each in explanation.channels],
        explanation.relevance,
        [(each.name, each.value) for each in explanation.parts],
        [(each.name, each.operation, each.value) for each in explanation.factors],
        *(explanation.score, explanation.divided_by, explanation.evaluate()),
    )


def _why_not(why: oneiros.WhyNot) -> tuple[Any, ...]:
    return (
        *(why.query, why.id, why.k, why.now, why.profile, why.profile_hash, why.exists),
        [(each.reason, each.detail) for each in why.hidden],
        *(why.place, why.candidate_count, why.linked_place, why.is_displaced, why.is_reordered),
        *(why.is_returned, why.score, why.kth_id, why.kth_score, why.gap, why.verdict),
    )


def _why_not_explained(why: oneiros.WhyNot) -> tuple[Any, ...]:
    return (
        [(each.name, each.rank, each.score, each.depth, each.detail) for each in why.channels],
        [(each.name, each.operation, each.value) for each in why.factors],
        *(_explanation(why.explanation), _explanation(why.kth)),
    )


def _digest(value: object, size: int) -> int:
    """Return a number below 256 ** size; 0 for None. ``repr`` of a float identifies its bits."""
    if value is None:
        return 0
    written = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=size).digest(), "little")


# -- profiles --------------------------------------------------------------------------------------


def variants() -> dict[str, oneiros.Profile]:
    """Return the named profiles, their presets, and each without its lifecycle or one factor."""
    found = {}
    for name in profiles.names():
        profile = profiles.get(name)
        found[name] = profile
        found[f"{name} without lifecycle"] = profiles.get(name, lifecycle=False)
        for factor in profile.factors:
            found[f"{name} without {factor.name}"] = profiles.get(name, **{factor.name: False})
        for preset in PRESETS.get(name, ()):
            found[f"{name} as {preset}"] = profiles.get(name, preset=preset)
    return found


PRESETS = {
    "ciar": (
        *("customer_service", "personal_assistant", "research_assistant", "real_time_monitoring"),
    ),
    "omega": (
        *("error_pattern", "decision", "lesson_learned", "user_preference", "knowledge-update"),
        *("multi-session", "temporal-reasoning"),
    ),
}


def profile_digests(profile: oneiros.Profile) -> dict[str, str]:
    """Return the hash of a profile, and digests of its TOML and its compiled program."""
    compiled = compile_profile(profile, ("", *KINDS))
    fusion = profile.fusion
    program = (
        *(compiled.text.inputs, compiled.text.instructions, fusion.name, fusion.parameters()),
        *([one.name for one in profile.channels], compiled.names, compiled.operations),
        *(compiled.parts, compiled.factors, compiled.relevance, compiled.score),
        *(compiled.retention, compiled.keep, compiled.reads_kinds, compiled.fills_scores),
    )
    return {
        "hash": profile.hash,
        "toml": f"{_digest(profile.to_toml(), 8):016x}",
        "program": f"{_digest(program, 8):016x}",
    }
