"""A profile: which channels, fused how, multiplied by what. Data, and nothing but data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from oneiros.ranking import factors
from oneiros.ranking.caching import ResponseCache
from oneiros.ranking.channels import CHANNELS, ChannelDeclaration, LexicalChannel, VectorChannel
from oneiros.ranking.compiled import CompiledProfile, compile_profile
from oneiros.ranking.declaration import settle
from oneiros.ranking.expansion import EXPANSIONS, ExpansionDeclaration
from oneiros.ranking.factor import Factor, KeepRule, is_function
from oneiros.ranking.finishing import (
    ABSTENTIONS,
    AbstentionDeclaration,
    AdaptiveRetry,
    ByBest,
    Duplicates,
)
from oneiros.ranking.fusion import Fusion, ReciprocalRankFusion, fusions, is_fusion
from oneiros.ranking.ingest import IngestAssociation
from oneiros.ranking.initial_stability import InitialStability
from oneiros.ranking.keep_rules import KEEP_RULES
from oneiros.ranking.neighbours import Neighbours
from oneiros.ranking.phases import PHASES
from oneiros.ranking.phases.phase import Phase
from oneiros.ranking.profile_record import (
    content_hash,
    parse_toml,
    read_declaration,
    record_of,
    require_keys,
    toml_of,
)
from oneiros.ranking.promotion import Promotion
from oneiros.ranking.rails import SafetyRails
from oneiros.ranking.reinforcement import (
    REINFORCEMENTS,
    Reinforcement,
    ReinforcementDeclaration,
)
from oneiros.ranking.relevance_terms import HotSet, NamedTime, Statements
from oneiros.ranking.reranking import Reranking
from oneiros.ranking.selection import Selection
from oneiros.ranking.short_cuts import FastPath, StrongSignal, require_words_for

if TYPE_CHECKING:
    from oneiros.ranking.understanding import Understanding

__all__ = ["OPTIONAL_PARTS", "Profile"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_LISTS = ("channels", "factors", "keep", "phases")
_PARTS: dict[str, tuple[type[Any], ...]] = {
    "fusion": (),  # see _kinds
    "hot_set": (HotSet,),
    "neighbours": (Neighbours,),
    "statements": (Statements,),
    "named_time": (NamedTime,),
    "fast_path": (FastPath,),
    "strong_signal": (StrongSignal,),
    "selection": (Selection,),
    "expansion": EXPANSIONS,
    "rerank": (Reranking,),
    "duplicates": (Duplicates,),
    "abstention": ABSTENTIONS,
    "retry": (AdaptiveRetry,),
    "normalisation": (ByBest,),
    "reinforcement": REINFORCEMENTS,
    "promotion": (Promotion,),
    "initial_stability": (InitialStability,),
    "ingest": (IngestAssociation,),
    "understanding": (),  # see _kinds
    "cache": (ResponseCache,),
    "rails": (SafetyRails,),
}
OPTIONAL_PARTS = (
    *("hot_set", "neighbours", "statements", "named_time", "fast_path", "strong_signal"),
    *("expansion", "rerank", "duplicates", "abstention", "retry", "normalisation"),
    *("reinforcement", "promotion", "initial_stability", "ingest", "understanding"),
    *("cache", "rails"),
)
"""What a profile may be without, by field."""
_KEYS = ("name", *_LISTS, *_PARTS)
_MOST_FACTORS = 32

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one scoring system does with a query's candidates.

    Frozen, comparable, hashable; ``str(profile)`` is its TOML. A profile of one's own::

        mine = Profile(name="mine", factors=(TimeDecay(tau_days=7.0), Strength()))
    """

    name: str
    """1 to 64 letters, digits, spaces, dots, dashes or underscores."""

    channels: tuple[ChannelDeclaration, ...] = (LexicalChannel(), VectorChannel())
    """What is asked, at least one, each kind once; ranks are fused in this order."""

    fusion: Fusion = field(default_factory=ReciprocalRankFusion)
    """How ranks become a relevance."""

    hot_set: HotSet | None = None
    """Which of the memories recalled most often are candidates, too; None: none."""

    neighbours: Neighbours | None = None
    """What stands next to a candidate in its session adds to its relevance; None: nothing."""

    statements: Statements | None = None
    """How memories that ask are damped; None: not at all."""

    named_time: NamedTime | None = None
    """How what lies outside of the time that a question names is damped; None: not at all."""

    fast_path: FastPath | None = None
    """When a question is answered at once by what is almost itself; None: never."""

    strong_signal: StrongSignal | None = None
    """When what the words found decides alone; None: never."""

    factors: tuple[Factor, ...] = ()
    """What the relevance is multiplied by, or gains, in this order, each name once."""

    keep: tuple[KeepRule, ...] = ()
    """What a candidate must hold to stay, each name once."""

    selection: Selection = field(default_factory=Selection)
    """What recall hides."""

    expansion: ExpansionDeclaration | None = None
    """What links of the results bring besides; None: nothing."""

    rerank: Reranking | None = None
    """Where a reranker stands, and how many it judges; None: nowhere."""

    reinforcement: ReinforcementDeclaration | None = field(default_factory=Reinforcement)
    """What a recall does to the memories it returns; None: nothing."""

    duplicates: Duplicates | None = None
    """Which results are too much alike; None: none are."""

    abstention: AbstentionDeclaration | None = None
    """Which results are too far off, or whether all are; None: none are."""

    retry: AdaptiveRetry | None = None
    """When a search is made once more, and with what; None: never."""

    normalisation: ByBest | None = None
    """What scores are divided by at the end; None: by nothing."""

    promotion: Promotion | None = None
    """From which score on a staged memory is consolidated; None: promotion does not ask scores."""

    initial_stability: InitialStability | None = None
    """The stability of a memory added without one; None: that of docs/systems/fields.md."""

    ingest: IngestAssociation | None = None
    """How what is added is linked, and raises what is like it; None: not at all."""

    understanding: Understanding | None = None
    """How the words of a question weigh its parts; None: they do not."""

    cache: ResponseCache | None = None
    """How long an answer is given again; None: each question is asked anew."""

    phases: tuple[Phase, ...] = ()
    """What the dream cycle does, in this order, each phase once; none: it does nothing."""

    rails: SafetyRails | None = None
    """What a dream cycle never does; None: only what docs/systems/reverie.md R13 keeps from pruning."""

    _hash: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        _require_name(self.name)
        settle(self, "channels", _checked_parts("channels", self.channels, *CHANNELS))
        settle(self, "factors", _checked_parts("factors", self.factors, Factor))
        settle(self, "keep", _checked_parts("keep", self.keep, KeepRule))
        settle(self, "phases", _checked_parts("phases", self.phases, *PHASES))
        _require_order(self.phases)
        for key in _PARTS:
            part = getattr(self, key)
            if key == "fusion" and is_fusion(part):
                continue
            if part is not None or key not in OPTIONAL_PARTS:
                _require_part(key, part, *_kinds(key))
        if not self.channels:
            msg = "channels: at least one, got none"
            raise ValueError(msg)
        if len(self.factors) > _MOST_FACTORS:
            msg = f"factors: at most {_MOST_FACTORS}, got {len(self.factors)}"
            raise ValueError(msg)
        self.fusion.require_channels([channel.name for channel in self.channels])
        _require_scored(self.expansion, self.fusion)
        if self.fast_path is not None or self.strong_signal is not None:
            require_words_for(self)
        settle(self, "_hash", content_hash(self.record()))

    @property
    def hash(self) -> str:
        """SHA-256 over every part and the name, 64 hexadecimal digits.

        Two profiles have one hash where they are equal, whatever order the fields were given in and
        whichever version of Python computes it.
        """
        return self._hash

    @property
    def reads_texts(self) -> bool:
        """Whether a part of it looks into the texts of candidates."""
        parts = (*self.channels, *self.factors, *self.keep)
        ends = (self.hot_set, self.fast_path, self.duplicates, self.abstention, self.retry)
        return any(getattr(part, "reads_texts", False) for part in (*parts, *ends))

    @property
    def not_after_now(self) -> tuple[str, ...]:
        """Times that a table must not hold after ``now``: a search takes such a one as age 0."""
        named = (getattr(factor, "not_after_now", ()) for factor in self.factors)
        return tuple(dict.fromkeys(name for names in named for name in names))

    def __hash__(self) -> int:
        return hash(self._hash)

    def __str__(self) -> str:
        return toml_of(self.record())

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the fields given changed.

        ``weights=`` changes those of the fusion: one a channel in the order of the profile, and for
        a weighted sum that of the importance after them, brought to the sum 1
        (docs/systems/mnemosyne.md M7).

        Raises:
            TypeError: an unknown field, or a value of another type.
            ValueError: a value out of its range.
        """
        if "weights" in changes:
            fusion = changes.get("fusion", self.fusion)
            if not hasattr(fusion, "reweighted"):
                msg = f"weights: the fusion {fusion.name} has none"
                raise TypeError(msg)
            changes["fusion"] = fusion.reweighted(changes.pop("weights"))
        for key in changes:
            if key not in _KEYS:
                msg = f"{key}: a profile has no such field; known: {', '.join(_KEYS)}"
                raise TypeError(msg)
        return replace(self, **changes)

    def with_factors(self, *factors: Factor) -> Self:
        """Return a copy in which these factors stand in the places of those of their names.

        Raises:
            ValueError: the profile has no factor of such a name.
        """
        _checked_parts("factors", factors, Factor)
        changed = {factor.name: factor for factor in factors}
        known = [factor.name for factor in self.factors]
        for name in changed:
            if name not in known:
                msg = f"factors: the profile has none called {name!r}; known: {', '.join(known)}"
                raise ValueError(msg)
        return self.replace(factors=tuple(changed.get(one.name, one) for one in self.factors))

    def record(self) -> dict[str, object]:
        """Return the profile as a table of tables.

        ``reinforcement`` is false where there is none; another part that is not there is left out,
        so that a new kind of part changes no hash of a profile without it.
        """
        record: dict[str, object] = {"name": self.name}
        for key in _LISTS:
            parts = getattr(self, key)
            if parts or key in ("channels", "factors"):
                record[key] = [record_of(part) for part in parts]
        for key in _PARTS:
            part = getattr(self, key)
            if part is not None:
                record[key] = record_of(part)
        if self.reinforcement is None:
            record["reinforcement"] = False
        return record

    def to_toml(self) -> str:
        """Return the profile as TOML, with every field; :meth:`from_toml` reads it back.

        Raises:
            ValueError: a factor is a function of the user's own, which no TOML can hold.
        """
        functions = [one.name for one in self.factors if is_function(one)]
        if functions:
            msg = f"factors: TOML cannot hold a function, which {functions[0]} is"
            raise ValueError(msg)
        return toml_of(self.record())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a profile from TOML. What is absent has its default; ``name`` must be there.

        Args:
            text: at most 64 KiB, 8 levels and 4,096 values.

        Raises:
            TypeError: a value of another type.
            ValueError: no TOML, an unknown key or name, a value out of its range; the message names
                the place, as in ``factors[1].tau_days: must be > 0 and finite, got 0``.
        """
        record = parse_toml(text)
        require_keys(record, _KEYS, "profile")
        if "name" not in record:
            msg = "name: a profile must have one"
            raise ValueError(msg)
        parts: dict[str, Any] = {"name": record["name"]}
        for key in _LISTS:
            if key in record:
                parts[key] = _read_parts(record[key], _kinds(key), key)
        for key in _PARTS:
            if key in record:
                kinds = _kinds(key)
                part = record[key]
                is_absent = key in OPTIONAL_PARTS and part is False
                parts[key] = (
                    None if is_absent else read_declaration(part, kinds, key, has_default=True)
                )
        return cls(**parts)

    def compile(self, kinds: tuple[str, ...] = ()) -> CompiledProfile:
        """Return the profile as the core runs it. Equal profiles and kinds share one.

        Args:
            kinds: the words for the codes of the column ``kind``, by code; code 0 stands for none.
        """
        return compile_profile(self, kinds)


def _kinds(key: str) -> tuple[type[Any], ...]:
    """Return the classes that may stand there, loading those that no profile in use has."""
    if key == "channels":
        return CHANNELS
    if key == "keep":
        return KEEP_RULES
    if key == "phases":
        return PHASES
    if key == "factors":
        return (*factors.FACTORS, *factors.USER_FACTORS)
    if key == "understanding":
        from oneiros.ranking.understanding import Understanding  # noqa: PLC0415

        return (Understanding,)
    return fusions() if key == "fusion" else _PARTS[key]


def _require_name(name: object) -> None:
    if not isinstance(name, str):
        msg = f"name: expected str, got {type(name).__name__} {name!r}"
        raise TypeError(msg)
    if not _NAME.fullmatch(name):
        msg = f"name: must match {_NAME.pattern}, got {name!r}"
        raise ValueError(msg)


def _require_scored(expansion: ExpansionDeclaration | None, fusion: Fusion) -> None:
    if expansion is not None and expansion.needs_scores and not fusion.needs_scores:
        msg = f"expansion: {expansion.name} needs a fusion of raw scores, got {fusion.name}"
        raise ValueError(msg)


def _require_order(phases: tuple[Phase, ...]) -> None:
    names = [phase.name for phase in phases]
    if "consolidate" in names and "scan" not in names[: names.index("consolidate")]:
        msg = f"phases: consolidate must stand after scan, got {', '.join(names)}"
        raise ValueError(msg)


def _require_part(where: str, part: object, *kinds: type) -> None:
    if isinstance(part, type) or not isinstance(part, kinds):
        known = " or ".join(kind.__name__ for kind in kinds)
        msg = f"{where}: expected {known}, got {type(part).__name__} {part!r}"
        raise TypeError(msg)


def _checked_parts(where: str, parts: object, *kinds: type) -> tuple[Any, ...]:
    if not isinstance(parts, tuple | list):
        msg = f"{where}: expected a tuple, got {type(parts).__name__} {parts!r}"
        raise TypeError(msg)
    seen: set[str] = set()
    for index, part in enumerate(parts):
        _require_part(f"{where}[{index}]", part, *kinds)
        if part.name in seen:
            msg = f"{where}[{index}]: {part.name} stands there twice"
            raise ValueError(msg)
        seen.add(part.name)
    return tuple(parts)


def _read_parts(records: object, kinds: tuple[type[Part], ...], where: str) -> tuple[Part, ...]:
    if not isinstance(records, list):
        msg = f"{where}: expected a list of tables, got {type(records).__name__} {records!r}"
        raise TypeError(msg)
    return tuple(
        read_declaration(record, kinds, f"{where}[{index}]") for index, record in enumerate(records)
    )
