"""Errors of calls to shards."""

from __future__ import annotations

from oneiros.errors import OneirosError

__all__ = ["MixedShards", "ScopeBusy", "ScopeMoved", "ShardUnavailable"]


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


class ScopeBusy(OneirosError):
    """A scope is on its way to another shard: the call was not carried out, and may be repeated.

    Calls to a :class:`oneiros.ray.ShardedEngine` are repeated by themselves for a while.
    """


class ScopeMoved(OneirosError):
    """The memories of a scope lie in another shard. The call was not carried out.

    Attributes:
        value: value of the key.
        shard: number of the shard that has them.
    """

    def __init__(self, value: str, shard: int) -> None:
        super().__init__(f"the memories of {value!r} lie in shard {shard}")
        self.value = value
        self.shard = shard

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.value, self.shard)
