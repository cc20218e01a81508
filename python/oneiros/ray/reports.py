"""Results of several shards as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.display.counts import count_of
from oneiros.runtime.dataclasses import dataclass
from oneiros.search.response import SearchResponse

if TYPE_CHECKING:
    from oneiros.dream.report import DreamReport
    from oneiros.scoring.profile import Profile

__all__ = ["ScopeResponses", "ShardedReport", "WholeResponse", "merged_stats"]


class WholeResponse(SearchResponse):
    """The response of a search over all shards."""

    __slots__ = ("missing",)

    missing: dict[int, str]
    """Why shards were left out, by number; empty unless ``allow_partial`` left one out."""

    @classmethod
    def of(
        cls, response: SearchResponse, missing: Mapping[int, str], profile: Profile
    ) -> WholeResponse:
        """Return a response that names the missing shards and the profile that was asked for."""
        return _whole(response, missing, profile.hash)

    @property
    def is_partial(self) -> bool:
        """Whether shards did not respond. Such a response never abstains."""
        return bool(self.missing)

    def __reduce__(self) -> tuple[Any, ...]:
        made, arguments = super().__reduce__()
        return _whole, (made(*arguments), self.missing, self.profile_hash)


def _whole(response: SearchResponse, missing: Mapping[int, str], hash: str) -> WholeResponse:
    found = WholeResponse.__new__(WholeResponse)
    for name in SearchResponse.__slots__:
        setattr(found, name, getattr(response, name))
    found.profile_hash, found.missing = hash, dict(missing)
    return found


class ScopeResponses(Mapping[str, "SearchResponse"]):
    """Responses by value of the key, in the order in which the values were given."""

    def __init__(self, responses: Mapping[str, SearchResponse], missing: Mapping[str, str]) -> None:
        self._responses = dict(responses)
        self.missing = dict(missing)
        """Why a value has no response; empty unless ``allow_partial`` left something out."""

    @property
    def is_partial(self) -> bool:
        """Whether the shards of some values did not respond."""
        return bool(self.missing)

    def __getitem__(self, value: str) -> SearchResponse:
        return self._responses[value]

    def __iter__(self) -> Iterator[str]:
        return iter(self._responses)

    def __len__(self) -> int:
        return len(self._responses)

    def __repr__(self) -> str:
        left_out = f", {len(self.missing)} missing" if self.missing else ""
        return f"<ScopeResponses of {len(self)} scopes{left_out}>"


@dataclass(frozen=True, slots=True)
class ShardedReport:
    """The dream cycles, or undos, of several shards as one."""

    reports: Mapping[int, DreamReport]
    """The report of each shard, by its number."""
    missing: Mapping[int, str]
    """Why a shard has none; empty unless ``allow_partial`` left something out."""

    @property
    def ids(self) -> dict[int, str]:
        """The id of each cycle, by number of shard, for ``undo_dream``."""
        return {shard: report.id for shard, report in self.reports.items()}

    @property
    def is_partial(self) -> bool:
        """Whether some shards did not respond."""
        return bool(self.missing)

    @property
    def live_before(self) -> int:
        """Memories before the cycles."""
        return sum(report.live_before for report in self.reports.values())

    @property
    def live_after(self) -> int:
        """Memories after the cycles."""
        return sum(report.live_after for report in self.reports.values())

    @property
    def change_count(self) -> int:
        """All changes; of undos, the restored fields."""
        return sum(report.change_count for report in self.reports.values())

    @property
    def brought_back(self) -> int:
        """Removed memories that undos restored."""
        return sum(report.brought_back for report in self.reports.values())

    @property
    def removed(self) -> dict[str, int]:
        """Removed memories by kind of removal."""
        return _sums(report.removed for report in self.reports.values())

    def counts(self) -> dict[str, int]:
        """Return the number of memories that each rule changed."""
        return _sums(report.counts() for report in self.reports.values())

    def __str__(self) -> str:
        if any(report.undoes is not None for report in self.reports.values()):
            done = (
                f"{count_of(self.change_count, 'field')} restored, "
                f"{count_of(self.brought_back, 'memory')} brought back"
            )
            return f"{count_of(len(self.reports), 'shard')}: {done}{self._left_out()}"
        removals = ", ".join(f"{number} {how}" for how, number in self.removed.items()) or "none"
        return (
            f"{count_of(len(self.reports), 'shard')}: {self.live_before} -> "
            f"{count_of(self.live_after, 'memory')}, {count_of(self.change_count, 'change')}, removed: {removals}{self._left_out()}"
        )

    def _left_out(self) -> str:
        return f"; no response from shards {[*self.missing]}" if self.missing else ""


_SUMMED: Final = (
    *("memories", "deleted", "damaged", "links", "vectors", "without_vector", "file_bytes"),
)


def merged_stats(
    shards: Mapping[int, Mapping[str, Any]], missing: Mapping[int, str]
) -> dict[str, Any]:
    """Return sums over the stats of shards, and the stats themselves."""
    sums = {name: sum(stats[name] for stats in shards.values()) for name in _SUMMED}
    kinds = _sums(stats["kinds"] for stats in shards.values())
    return {**sums, "kinds": kinds, "shards": dict(shards), "missing": dict(missing)}


def _sums(given: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for counts in given:
        for name, number in counts.items():
            found[name] = found.get(name, 0) + number
    return found
