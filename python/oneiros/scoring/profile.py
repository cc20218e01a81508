"""A profile: which channels, fused how, multiplied by what. Data, and nothing but data."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any, Self

from oneiros.model.validation import settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass, field, replace
from oneiros.scoring.channels import CHANNELS, ChannelDeclaration, LexicalChannel, VectorChannel
from oneiros.scoring.compiled import CompiledProfile, compile_profile
from oneiros.scoring.factor import Factor, KeepRule, is_function
from oneiros.scoring.fusion import Fusion, ReciprocalRankFusion, is_fusion
from oneiros.scoring.parts import (
    KEYS,
    LISTS,
    OPTIONAL_PARTS,
    PARTS,
    checked_parts,
    kinds_of,
    read_fields,
    require_part,
)
from oneiros.scoring.phases import kinds_among, require_order
from oneiros.scoring.profile_record import content_hash, parse_toml, record_of, toml_of
from oneiros.scoring.reinforcement import Reinforcement, ReinforcementDeclaration
from oneiros.scoring.selection import Selection

if TYPE_CHECKING:
    from oneiros.scoring.ingest import IngestAssociation, InitialStability
    from oneiros.scoring.link_expansion import ExpansionDeclaration
    from oneiros.scoring.phases.phase import Phase
    from oneiros.scoring.promotion import Promotion
    from oneiros.scoring.relevance_adjustments import HotSet, NamedTime, Neighbours, Statements
    from oneiros.scoring.safety_limits import SafetyRails
    from oneiros.scoring.stages import (
        AbstentionDeclaration,
        AdaptiveRetry,
        ByBest,
        Duplicates,
        FastPath,
        Reranking,
        ResponseCache,
        StrongSignal,
    )
    from oneiros.scoring.understanding import QueryWords, Understanding

__all__ = ["Profile"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_MOST_FACTORS = 32
_PENALTY = 0.5
_TAKEN = {
    "deep_recall": "what deep recall multiplies by; set deep_recall_penalty",
    "association": "what a search multiplies by where links led; choose another name",
}
"""Names of factors that a search adds."""


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

    query_words: QueryWords | None = None
    """What counts as a word of the query where texts are searched for them; None: the default
    :class:`oneiros.scoring.understanding.QueryWords`."""

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

    deep_recall_penalty: float = _PENALTY
    """What deep recall multiplies the score of a superseded memory by, 0 to 1, and that of an expired
    one. Source: docs/systems/cognitive.md C6, C7."""

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

    hash: str = field(init=False, repr=False, compare=False, default="")
    """SHA-256 over every part and the name, 64 hexadecimal digits.

    Two profiles have one hash where they are equal, whatever order the fields were given in and
    whichever version of Python computes it.
    """

    def __post_init__(self) -> None:
        _require_name(self.name)
        settle(self, "channels", checked_parts("channels", self.channels, *CHANNELS))
        settle(self, "factors", checked_parts("factors", self.factors, Factor))
        settle(self, "keep", checked_parts("keep", self.keep, KeepRule))
        settle(self, "phases", checked_parts("phases", self.phases, *kinds_among(self.phases)))
        require_order(self.phases)
        settle_numbers(self, deep_recall_penalty=(0.0, 1.0, False))
        for key in PARTS:
            part = getattr(self, key)
            if key == "fusion" and is_fusion(part):
                continue
            if part is not None or key not in OPTIONAL_PARTS:
                require_part(key, part, *kinds_of(key))
        if not self.channels:
            msg = "channels: at least one, got none"
            raise ValueError(msg)
        if len(self.factors) > _MOST_FACTORS:
            msg = f"factors: at most {_MOST_FACTORS}, got {len(self.factors)}"
            raise ValueError(msg)
        for index, factor in enumerate(self.factors):
            if factor.name in _TAKEN:
                msg = f"factors[{index}]: {factor.name} is {_TAKEN[factor.name]}"
                raise ValueError(msg)
        self.fusion.require_channels([channel.name for channel in self.channels])
        _require_scored(self.expansion, self.fusion)
        if self.fast_path is not None or self.strong_signal is not None:
            from oneiros.scoring.stages import require_words_for  # noqa: PLC0415

            require_words_for(self)
        settle(self, "hash", content_hash(_hashed(self.record())))

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
        return builtins.hash(self.hash)

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
            if key not in KEYS:
                msg = f"{key}: a profile has no such field; known: {', '.join(KEYS)}"
                raise TypeError(msg)
        return replace(self, **changes)

    def with_factors(self, *factors: Factor) -> Self:
        """Return a copy in which these factors stand in the places of those of their names.

        Raises:
            ValueError: the profile has no factor of such a name.
        """
        checked_parts("factors", factors, Factor)
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
        for key in LISTS:
            parts = getattr(self, key)
            if parts or key in ("channels", "factors"):
                record[key] = [record_of(part) for part in parts]
        for key in PARTS:
            part = getattr(self, key)
            if part is not None:
                record[key] = record_of(part)
        if self.reinforcement is None:
            record["reinforcement"] = False
        record["deep_recall_penalty"] = self.deep_recall_penalty
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
        return cls(**read_fields(parse_toml(text)))

    def compile(
        self, kinds: tuple[str, ...] = (), added: tuple[Factor, ...] = ()
    ) -> CompiledProfile:
        """Return the profile as the core runs it. Equal arguments share one.

        Args:
            kinds: the words for the codes of the column ``kind``, by code; code 0 stands for none.
            added: factors that a search applies after those of the profile.
        """
        return compile_profile(self, kinds, added)


def _hashed(record: dict[str, object]) -> dict[str, object]:
    """Return what the hash covers: without the published penalty, as before there was such a field."""
    if record["deep_recall_penalty"] == _PENALTY:
        del record["deep_recall_penalty"]
    return record


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
