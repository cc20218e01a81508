"""Calls to the actors of shards: what is repeated, and what a failure means."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.errors import EngineClosed, OneirosError
from oneiros.model.validation import require_instance
from oneiros.ray.cluster import require_ray
from oneiros.ray.failures import ScopeBusy, ScopeMoved, ShardUnavailable
from oneiros.ray.moves import finish, interrupted, salt_of, table_of
from oneiros.ray.shard import Shard
from oneiros.runtime.warnings import warn
from oneiros.store.erased import digest_of

if TYPE_CHECKING:
    from oneiros.ray.routing import Layout
    from oneiros.ray.shard_scopes import ShardPlaces

__all__ = ["ActorShards", "Actors", "RayOptions", "ShardCall", "read_call", "write_call"]


RayOptions = Mapping[str, Any] | Callable[[int], Mapping[str, Any]]
"""Options of Ray for all actors, or a function from the number of a shard to them."""

_OPTIONS: Final = {
    "num_cpus": 0,
    "max_concurrency": 8,
    "max_restarts": -1,
    "max_task_retries": 0,
    "scheduling_strategy": "SPREAD",
}
_PAUSES: Final = (0.02, 0.2)  # seconds between attempts: the first, and the longest
_START_SECONDS: Final = 30.0  # after which actors that did not start are worth a warning
_DEAD_ATTEMPTS: Final = 5  # of calls to an actor that Ray calls dead, which it may still restart


class ShardCall(NamedTuple):
    """A call of a method of one shard."""

    shard: int
    method: str
    args: Sequence[Any]
    is_repeatable: bool


class Actors:
    """The actors of all shards.

    Args:
        folder: folder of the stores.
        layout: how memories are split.
        engine_options: options of :class:`oneiros.Engine`.
        ray_options: options of Ray beside those that this class sets.
        patience_seconds: how long a call that can be repeated waits for a shard to come back.

    Raises:
        ImportError: Ray is not installed.
        ValueError, TypeError: an option breaks its rule, or a store was made for another layout.
        ShardUnavailable: a shard cannot be opened.
    """

    def __init__(
        self,
        folder: str,
        layout: Layout,
        engine_options: Mapping[str, Any],
        *,
        ray_options: RayOptions,
        patience_seconds: float,
    ) -> None:
        self._patience = patience_seconds
        self._layout = layout
        self._folder = folder
        self.salt = ""
        """The key of the digests of scopes that were moved."""
        self._moved: dict[str, int] = {}  # by digest of the value
        kind = require_ray().remote(Shard)
        self._actors = []
        for number in range(layout.shards):
            given = ray_options(number) if callable(ray_options) else ray_options
            require_instance("ray_options", given, (Mapping,), "a dict, or a function to one")
            self._actors.append(
                kind.options(**{**_OPTIONS, **given}).remote(
                    folder, number, layout, dict(engine_options)
                )
            )
        try:
            self._open(is_read_only=bool(engine_options.get("read_only", False)))
        except BaseException:
            self.kill()
            raise

    def __len__(self) -> int:
        return len(self._actors)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the shards.

        Raises:
            EngineClosed: the actors were ended.
        """
        self._require_open()
        return list(range(len(self._actors)))

    def _require_open(self) -> None:
        if not self._actors:
            msg = "the sharded engine is closed"
            raise EngineClosed(msg)
        if not require_ray().is_initialized():  # a call would start another Ray
            msg = "Ray was shut down, and the shards' actors with it; open the sharded engine again"
            raise EngineClosed(msg)

    def shard_of(self, value: str) -> int:
        """Return the number of the shard that has the memories of a value of the key."""
        moved = self._moved.get(self._digest(value)) if self._moved else None
        return self._layout.shard_of(value) if moved is None else moved

    def _digest(self, value: str) -> str:
        return digest_of(self._layout.root(value), self.salt)

    def places(self) -> dict[int, ShardPlaces]:
        """Return what each shard knows of scopes that were moved.

        Raises:
            ShardUnavailable: a shard does not come back.
        """
        calls = [ShardCall(number, "places", (), True) for number in self.numbers]
        found, failures = self.ask_each(calls, at_once=max(1, len(calls)))
        for error in failures.values():
            raise error
        return found

    def step(self, shard: int, name: str, *args: Any) -> Any:
        """Call a step of a move in a shard; see :class:`oneiros.ray.shard_scopes.ShardScopes`."""
        return self.ask(ShardCall(shard, "scopes", (name, args), is_repeatable=True))

    def note_moved(self, value: str, shard: int) -> None:
        """Note where the memories of a value of the key lie now."""
        self._moved[self._digest(value)] = shard

    def _open(self, *, is_read_only: bool) -> None:
        """Open the shards, end the moves that were interrupted, and note what was moved."""
        self._await_start()
        made = self._of_each("is_made", self.numbers)
        counts = self._of_each("open", [number for number in made if made[number]])
        new = [number for number in made if not made[number]]
        if new and any(counts.values()):
            # An empty store in its place would look as if all memories were forgotten.
            msg = (
                f"shard {new[0]} has no store in {self._folder} on its machine, and other shards have "
                "memories; restore it from a generation"
            )
            raise ShardUnavailable(msg, new[0])
        self._of_each("open", new)
        places = self.places()
        self.salt = salt_of(places)
        if not is_read_only:
            moves = interrupted(places)
            for move in moves:
                finish(self.step, move)
            if moves:
                places = self.places()
        self._moved = table_of(places)

    def _await_start(self) -> None:
        """Wait a while for the actors to start, and warn if some do not."""
        ready = [actor.__ray_ready__.remote() for actor in self._actors]
        _, waiting = require_ray().wait(ready, num_returns=len(ready), timeout=_START_SECONDS)
        if waiting:
            shards = ", ".join(str(ready.index(each)) for each in waiting)
            message = (
                f"the actors of these shards did not start within {_START_SECONDS:g} s: {shards}. Ray "
                "waits until a machine has what ray_options ask for"
            )
            warn(message, RuntimeWarning)

    def _of_each(self, method: str, numbers: Sequence[int]) -> dict[int, Any]:
        """Return what a step of opening returns, by number of the shard."""
        calls = [ShardCall(number, method, (), True) for number in numbers]
        found, failures = self.ask_each(calls, at_once=max(1, len(calls)))
        for place, error in sorted(failures.items()):
            if isinstance(error, (ValueError, TypeError, ShardUnavailable)):
                raise error
            msg = f"shard {numbers[place]} cannot be opened: {error}"
            raise ShardUnavailable(msg, numbers[place]) from error
        return {numbers[place]: found[place] for place in sorted(found)}

    def ask(self, call: ShardCall) -> Any:
        """Call a method of one shard and return what it returns.

        A call that can be repeated is repeated while Ray restarts the actor. A call that was refused,
        since its scope was moved or is being moved, goes to the other shard.

        Raises:
            ShardUnavailable: the actor does not respond, or a move does not end.
            ScopeMoved: a call about several scopes was refused, as one of them was moved.
            Exception: what the method raised.
        """
        return self._result(call, self._sent(call))

    def ask_each(
        self, calls: Iterable[ShardCall], *, at_once: int
    ) -> tuple[dict[int, Any], dict[int, Exception]]:
        """Call methods of shards, so many at the same time. All calls are made, whatever fails.

        Returns:
            By the position of each call: what was returned, and what :meth:`ask` would raise.
        """
        results: dict[int, Any] = {}
        failures: dict[int, Exception] = {}
        sent: list[tuple[int, ShardCall, Any]] = []

        def take() -> None:
            place, call, reference = sent.pop(0)
            try:
                results[place] = self._result(call, reference)
            except Exception as error:  # noqa: BLE001 - the caller raises it
                failures[place] = error

        for place, call in enumerate(calls):
            if len(sent) == at_once:
                take()
            sent.append((place, call, self._sent(call)))
        while sent:
            take()
        return results, failures

    def kill(self) -> None:
        """End all actors for good. They end with their Ray, too."""
        ray = require_ray()
        for actor in self._actors if ray.is_initialized() else ():
            ray.kill(actor, no_restart=True)
        self._actors = []

    def _sent(self, call: ShardCall) -> Any:
        self._require_open()
        return getattr(self._actors[call.shard], call.method).remote(*call.args)

    def _result(self, call: ShardCall, reference: Any) -> Any:
        ray = require_ray()
        deadline = time.monotonic() + self._patience
        pause, dead_attempts = _PAUSES[0], 0
        while True:
            try:
                return ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                cause = error.cause
                if isinstance(cause, ScopeMoved):
                    self.note_moved(cause.value, cause.shard)
                    # A call about several scopes is for the caller to divide again.
                    if not _names(call, self._layout.key):
                        raise cause from None
                    call = call._replace(shard=cause.shard)
                elif not isinstance(cause, ScopeBusy) or call.method == "scopes":
                    if not isinstance(cause, Exception):
                        raise error from None
                    is_documented = isinstance(cause, (OneirosError, ValueError, TypeError))
                    raise cause from (
                        None if is_documented else error
                    )  # which shows where it arose
                elif time.monotonic() > deadline:
                    msg = f"shard {call.shard}: {cause}"
                    raise ShardUnavailable(msg, call.shard) from None
            except ray.exceptions.RayActorError as error:
                dead_attempts += isinstance(error, ray.exceptions.ActorDiedError)
                is_over = time.monotonic() > deadline or dead_attempts == _DEAD_ATTEMPTS
                if is_over or not call.is_repeatable:
                    raise self._unavailable(call, error) from error
            time.sleep(pause)
            pause = min(2 * pause, _PAUSES[1])
            reference = self._sent(call)

    def _unavailable(self, call: ShardCall, error: Exception) -> ShardUnavailable:
        name = call.args[0] if call.method in ("call", "candidates") else call.method
        why = str(error).strip().splitlines()[-1]
        advice = "" if call.is_repeatable else f"; {name} may or may not have happened"
        msg = f"shard {call.shard} does not respond to {name}{advice}: {why}"
        return ShardUnavailable(msg, call.shard, not call.is_repeatable)


def _names(call: ShardCall, key: str) -> bool:
    """Return whether a call is bounded to one scope."""
    bounds = {"call": 1, "add_many": 0}.get(call.method)
    return bounds is not None and key in call.args[bounds]


class ActorShards:
    """The shards of one search over all of them; see :class:`oneiros.ray.rounds.Shards`.

    Args:
        actors: the actors.
    """

    def __init__(self, actors: Actors) -> None:
        self._actors = actors
        self._numbers = actors.numbers

    def ask(self, method: str, *args: Any, **keywords: Any) -> dict[int, Any]:
        """Call a method of all shards at the same time."""
        calls = [ShardCall(n, "candidates", (method, args, keywords), True) for n in self._numbers]
        found, failures = self._actors.ask_each(calls, at_once=max(1, len(calls)))
        for error in failures.values():
            raise error
        return {calls[place].shard: found[place] for place in sorted(found)}

    def tell(self, method: str, args: Mapping[int, tuple[Any, ...]]) -> None:
        """Call a method of some shards. Uses are lost if a shard dies, as in any crash."""
        calls = [
            ShardCall(shard, "candidates", (method, values, {}), False)
            for shard, values in args.items()
        ]
        _, failures = self._actors.ask_each(calls, at_once=max(1, len(calls)))
        for error in failures.values():
            if not isinstance(error, ShardUnavailable):
                raise error

    def leave_out(self, shard: int) -> bool:
        """Ask a shard no more, and return whether another one is left."""
        self._numbers.remove(shard)
        return bool(self._numbers)


def scope_call(
    shard: int,
    method: str,
    bounds: Mapping[str, str],
    args: Sequence[Any] = (),
    options: Mapping[str, Any] | None = None,
    *,
    is_repeatable: bool,
) -> ShardCall:
    """Return the call of a method of the engine of a shard, or of a scope of it."""
    return ShardCall(
        shard, "call", (method, dict(bounds), tuple(args), dict(options or {})), is_repeatable
    )


read_call = partial(scope_call, is_repeatable=True)
write_call = partial(scope_call, is_repeatable=False)
