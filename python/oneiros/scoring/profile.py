"""The profile of a scoring system: channels, fusion, factors and stages, as plain data."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any, Self

from oneiros import display
from oneiros.display.escaping import shortened
from oneiros.model.validation import require_match, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass, field, replace
from oneiros.scoring.channels import CHANNELS, ChannelDeclaration, LexicalChannel, VectorChannel
from oneiros.scoring.compiled import CompiledProfile, compile_profile
from oneiros.scoring.factor import Factor, KeepRule, is_function
from oneiros.scoring.fusion import Fusion, ReciprocalRankFusion
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
from oneiros.scoring.stages import require_words_for
from oneiros.scoring.tables import SHARE

if TYPE_CHECKING:
    from oneiros.scoring.ingest import IngestAssociation, InitialStability
    from oneiros.scoring.link_expansion import ExpansionDeclaration
    from oneiros.scoring.phases import Phase
    from oneiros.scoring.promotion import Promotion
    from oneiros.scoring.relevance_adjustments import (
        AskedTime,
        HotSet,
        NamedTime,
        Neighbours,
        Statements,
    )
    from oneiros.scoring.safety_limits import SafetyRails
    from oneiros.scoring.stages import (
        AbstentionDeclaration,
        AdaptiveRetry,
        ByBest,
        Duplicates,
        FastPath,
        NewerFirst,
        Reranking,
        ResponseCache,
        StrongSignal,
    )
    from oneiros.scoring.understanding import QueryWords, Understanding

__all__ = ["Profile"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_MOST_FACTORS = 32
_PENALTY = 0.5
_SHOWN = 400  # most characters of the parts in a repr
_TAKEN = {
    "deep_recall": "what deep recall multiplies by; set deep_recall_penalty",
    "association": "what a search multiplies by where links led; choose another name",
}
"""Names of the factors that a search adds, which no other factor may have."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Profile:
    """A scoring system: retrieval, ranking, reinforcement and dream phases.

    Profiles are frozen, comparable and hashable; ``str(profile)`` is TOML, ``repr(profile)`` one
    line with the names of its parts.

    >>> from oneiros import Engine, Profile
    >>> from oneiros.scoring.factors import Strength, TimeDecay
    >>> weekly = Profile(name="weekly", factors=(TimeDecay(tau_days=7.0), Strength()))
    >>> engine = Engine(":memory:", profile=weekly)
    """

    name: str
    """1 to 64 letters of ASCII, digits, spaces, dots, dashes or underscores; the first is a letter
    or a digit."""

    channels: tuple[ChannelDeclaration, ...] = (LexicalChannel(), VectorChannel())
    """Retrieval channels, at least one, each kind once; the fusion takes them in this order."""

    fusion: Fusion = field(default_factory=ReciprocalRankFusion)
    """Rule that makes one relevance of the channels' ranks and scores."""

    query_words: QueryWords | None = None
    """Rules that split a query into the words matched against texts; None: the default
    :class:`oneiros.scoring.understanding.QueryWords`."""

    hot_set: HotSet | None = None
    """Rule that makes often recalled memories candidates; None: off."""

    neighbours: Neighbours | None = None
    """Boost from adjacent memories of the same session; None: off."""

    statements: Statements | None = None
    """Penalty for texts that are questions; None: off."""

    named_time: NamedTime | None = None
    """Penalty for memories outside the time that a query names; None: off."""

    asked_time: AskedTime | None = None
    """Penalty for memories that name no time if the query asks for one; None: off."""

    fast_path: FastPath | None = None
    """Short circuit for queries that almost equal a stored text; None: off."""

    strong_signal: StrongSignal | None = None
    """Short circuit that ranks by the text channel alone; None: off."""

    factors: tuple[Factor, ...] = ()
    """Factors that the relevance is multiplied by, or terms added to it, in order; unique names."""

    keep: tuple[KeepRule, ...] = ()
    """Filters that every candidate must pass; unique names."""

    selection: Selection = field(default_factory=Selection)
    """Memories that recall hides."""

    deep_recall_penalty: float = _PENALTY
    """Multiplier of the scores of superseded and of expired memories in deep recall, 0 to 1.
    Source: docs/systems/cognitive.md C6, C7."""

    newer_first: NewerFirst | None = None
    """Rule that puts the newer of two conflicting results first; None: off."""

    expansion: ExpansionDeclaration | None = None
    """Rule that adds memories linked to the results; None: off."""

    rerank: Reranking | None = None
    """Position of the reranker, and the number of results it scores; None: off."""

    reinforcement: ReinforcementDeclaration | None = field(default_factory=Reinforcement)
    """Changes that a recall makes to the memories it returns; None: off."""

    duplicates: Duplicates | None = None
    """Rule that removes near duplicates from the results; None: off."""

    abstention: AbstentionDeclaration | None = None
    """Rule that removes results too far from the query, or all of them; None: off."""

    retry: AdaptiveRetry | None = None
    """Rule that repeats a search with lower thresholds; None: off."""

    normalisation: ByBest | None = None
    """Normalisation of the final scores; None: off."""

    promotion: Promotion | None = None
    """Score from which a staged memory is consolidated; None: promotion ignores scores."""

    initial_stability: InitialStability | None = None
    """Stability of memories added without one; None: the default of docs/systems/fields.md."""

    ingest: IngestAssociation | None = None
    """Links and stability gains when memories are added; None: off."""

    understanding: Understanding | None = None
    """Rules that classify, split and weigh queries; None: off."""

    cache: ResponseCache | None = None
    """Cache of the responses to identical queries; None: off."""

    phases: tuple[Phase, ...] = ()
    """Phases of the dream cycle, in order, each once; empty: a cycle changes nothing."""

    rails: SafetyRails | None = None
    """Safety limits of dream cycles; None: only the exemptions of docs/systems/reverie.md R13."""

    hash: str = field(init=False, repr=False, compare=False, default="")
    """SHA-256 of the name and all parts, 64 hexadecimal digits.

    Equal profiles have equal hashes, in every version of Python.
    """

    def __post_init__(self) -> None:
        require_match("name", self.name, _NAME)
        settle(self, "channels", checked_parts("channels", self.channels, *CHANNELS))
        settle(self, "factors", checked_parts("factors", self.factors, Factor))
        settle(self, "keep", checked_parts("keep", self.keep, KeepRule))
        settle(self, "phases", checked_parts("phases", self.phases, *kinds_among(self.phases)))
        require_order(self.phases)
        settle_numbers(self, deep_recall_penalty=SHARE)
        for key in PARTS:
            part = getattr(self, key)

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
        require_words_for(self)
        settle(self, "hash", content_hash(_hashed(self.record())))

    @property
    def reads_texts(self) -> bool:
        """Whether any part reads the texts of candidates."""
        parts = (*self.channels, *self.factors, *self.keep)
        stages = (self.hot_set, self.fast_path, self.duplicates, self.abstention, self.retry)
        return any(getattr(part, "reads_texts", False) for part in (*parts, *stages))

    @property
    def has_functions(self) -> bool:
        """Whether a factor is a Python function."""
        return any(map(is_function, self.factors))

    @property
    def not_after_now(self) -> tuple[str, ...]:
        """Time columns that a table must not hold after ``now``; searches count them as age 0."""
        columns = (getattr(factor, "not_after_now", ()) for factor in self.factors)
        return tuple(dict.fromkeys(name for names in columns for name in names))

    def __hash__(self) -> int:
        return builtins.hash(self.hash)

    def __str__(self) -> str:
        return toml_of(self.record())

    def __repr__(self) -> str:
        parts = {
            "channels": [channel.name for channel in self.channels],
            "fusion": [self.fusion.name],
            "factors": [factor.name for factor in self.factors],
            "phases": [phase.name for phase in self.phases],
        }
        shown = "; ".join(f"{name}: {', '.join(held)}" for name, held in parts.items() if held)
        return f"<Profile {self.name!r}: {shortened(shown, _SHOWN)}>"

    def _repr_html_(self) -> str:
        return display.notebook.profile_html(self)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        >>> from oneiros import profiles
        >>> profiles.get("reverie").replace(name="reverie-2", weights=(2.0, 1.0)).fusion.weights
        (2.0, 1.0)

        Args:
            **changes: fields of the profile; or ``weights``, those of the fusion, one per channel
                in the order of the profile. A weighted sum takes that of the importance after
                them and normalises the sum to 1 (docs/systems/mnemosyne.md M7).

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
        """Return a copy in which these factors replace those of the same names.

        >>> from oneiros import profiles
        >>> from oneiros.scoring.factors import Spread
        >>> profiles.get("reverie").with_factors(Spread(cap=3.0)).factors[3].cap
        3.0

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
        return self.replace(
            factors=tuple(changed.get(factor.name, factor) for factor in self.factors)
        )

    def record(self) -> dict[str, object]:
        """Return the profile as nested dicts and lists, the content of its TOML.

        Parts that are None are left out, so that a new kind of part changes no existing hash. Only
        ``reinforcement`` is false instead.

        >>> from oneiros import Profile
        >>> Profile(name="plain").record()["fusion"]["k"]
        30.0
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

        >>> from oneiros import Profile, profiles
        >>> omega = profiles.get("omega")
        >>> Profile.from_toml(omega.to_toml()) == omega
        True

        Raises:
            ValueError: a factor is a Python function, which TOML cannot hold, or the text would be
                beyond what :meth:`from_toml` reads.
        """
        functions = [factor.name for factor in self.factors if is_function(factor)]
        if functions:
            msg = f"factors: TOML cannot hold a function, which {functions[0]} is"
            raise ValueError(msg)
        return toml_of(self.record())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a profile from TOML.

        >>> from oneiros import Profile
        >>> Profile.from_toml('name = "plain"') == Profile(name="plain")
        True

        Args:
            text: at most 64 KiB, 8 levels and 4,096 values. ``name`` is required, all other fields
                have defaults.

        Raises:
            TypeError: a value of another type.
            ValueError: invalid TOML, an unknown key or name, a value out of its range; the message
                names the place, as in ``factors[1].tau_days: must be > 0 and finite, got 0``.
        """
        return cls(**read_fields(parse_toml(text)))

    def compile(
        self, kinds: tuple[str, ...] = (), added: tuple[Factor, ...] = ()
    ) -> CompiledProfile:
        """Return the profile compiled for the core. Equal arguments return the same object.

        >>> from oneiros import profiles
        >>> profiles.get("reverie").compile().names
        ('time_decay', 'strength', 'depth', 'spread', 'stability')

        Args:
            kinds: the words of the column ``kind`` by code; code 0 stands for none.
            added: factors to apply after those of the profile.
        """
        return compile_profile(self, kinds, added)


def _hashed(record: dict[str, object]) -> dict[str, object]:
    """Return the hashed record. The published penalty is left out, to keep older hashes valid."""
    if record["deep_recall_penalty"] == _PENALTY:
        del record["deep_recall_penalty"]
    return record


def _require_scored(expansion: ExpansionDeclaration | None, fusion: Fusion) -> None:
    if expansion is not None and expansion.needs_scores and not fusion.needs_scores:
        msg = f"expansion: {expansion.name} needs a fusion of raw scores, got {fusion.name}"
        raise ValueError(msg)
