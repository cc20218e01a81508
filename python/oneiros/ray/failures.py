"""Errors of calls to shards."""

from __future__ import annotations

from oneiros.errors import OneirosError

__all__ = ["MixedShards", "ShardUnavailable"]


class ShardUnavailable(OneirosError):
    """A shard does not respond: its process died and is not back, or its store is missing.

    Attributes:
        shard: number of the shard, from 0.
        may_have_happened: whether the call may have been carried out. Reads and ``add`` are repeated
            before this is raised. Other writes are not: read the memory, then decide.
        report: for a dream cycle or an undo, the report of the shards that finished; else None.
    """

    def __init__(
        self, message: str, shard: int, may_have_happened: bool = False, report: object = None
    ) -> None:
        super().__init__(message)
        self.shard = shard
        self.may_have_happened = may_have_happened
        self.report = report

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.shard, self.may_have_happened, self.report)


class MixedShards(OneirosError):
    """Shards differ in what one ranking needs alike: version, lexical options, embedder, width."""
