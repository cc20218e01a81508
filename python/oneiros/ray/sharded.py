"""A store of many shards: each scope lies in one shard, and each shard is an engine in an actor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from oneiros.clock import system_clock
from oneiros.display.counts import count_of
from oneiros.engine.scope import checked_bounds
from oneiros.errors import DuplicateId, EngineClosed, UnknownMemory
from oneiros.model.fields import FIELDS
from oneiros.model.ids import new_ulid
from oneiros.model.memory import Memory
from oneiros.model.validation import (
    count,
    file_name,
    index_of,
    moment,
    require_choice,
    require_flag,
    require_instance,
    require_number,
    require_utf8,
    seconds_of,
    within,
)
from oneiros.ray.actors import Actors, ActorShards, ShardCall, read_call, write_call
from oneiros.ray.failures import ScopeMoved, ShardUnavailable
from oneiros.ray.moves import MovedScope, drain, finish, interrupted, move_scope
from oneiros.ray.ranking import Client
from oneiros.ray.reports import ScopeResponses, ShardedReport, merged_stats
from oneiros.ray.rounds import search_shards
from oneiros.ray.routing import KEYS, Layout, key_in
from oneiros.ray.shard_scopes import Move
from oneiros.write import unknown

if TYPE_CHECKING:
    from datetime import timedelta

    from oneiros.clock import Time
    from oneiros.dream.report import DreamReport
    from oneiros.engine.history import Revision
    from oneiros.explain.why_not import WhyNot
    from oneiros.filters import Where
    from oneiros.graph import Link
    from oneiros.ray.actors import RayOptions
    from oneiros.search.near_duplicates import Similar
    from oneiros.search.response import SearchResponse
    from oneiros.write.erase import Erasure

__all__ = ["ShardScope", "ShardedEngine"]


_MOST_SHARDS = 65_536
_now = moment("now")


class ShardScope:
    """The memories of one scope, which all lie in one shard.

    :meth:`ShardedEngine.scope` returns it. Its methods are those of :class:`oneiros.Engine` with the
    same arguments. Arguments and results travel between processes, so callables must be ones that
    Ray can pickle. Reads and additions are repeated while a shard restarts; other writes are not, and
    raise :class:`oneiros.ray.ShardUnavailable`.
    """

    def __init__(self, actors: Actors, value: str, bounds: Mapping[str, str]) -> None:
        self._actors = actors
        self._value = value
        self.bounds = dict(bounds)
        """The fields that bound the scope, with their values."""

    @property
    def shard(self) -> int:
        """Number of the shard, from 0."""
        return self._actors.shard_of(self._value)

    def add(
        self, text: str, *, id: str | None = None, now: Time | None = None, **fields: Any
    ) -> str:
        """Add one memory; see :meth:`oneiros.Engine.add`.

        The id is made here, before anything is sent, so that an addition can be repeated: an id that
        exists with the same content (every field that is given, but the vector) is the same memory,
        and its id is returned. To repeat additions yourself, give the ids. With ``on_conflict`` or
        ``merge_metadata``, the call is not repeated.

        Raises:
            DuplicateId: the id exists with other content, or in another scope of the shard.
            ShardUnavailable: the shard does not come back. With the same id, the call may be repeated.
        """
        given = _new_id(now) if id is None else id
        if fields.keys() & {"on_conflict", "merge_metadata"}:
            return str(self._write("add", text, id=given, now=now, **fields))
        (added,) = self.add_many([{"text": text, "id": given, **fields}], now=now)
        return added

    def add_many(
        self,
        records: Iterable[Mapping[str, Any] | Memory],
        *,
        now: Time | None = None,
        **options: Any,
    ) -> list[str]:
        """Add a batch of memories in one transaction, and return their ids in the order given.

        Records are dicts or ``Memory``. Ids are made, and the call is repeated, as in :meth:`add`.

        Raises:
            DuplicateId, ShardUnavailable: as :meth:`add`.
        """
        if options.get("on_conflict", "raise") != "raise":
            msg = 'on_conflict: add_many takes "raise" alone; update memories one by one'
            raise ValueError(msg)
        checked = _records(records, now)
        call = ShardCall(
            self.shard, "add_many", (self.bounds, checked, {"now": now, **options}), True
        )
        added: list[str] = self._actors.ask(call)
        return added

    def get(self, id: str, *, as_of: Time | None = None) -> Memory:
        """Return a memory; see :meth:`oneiros.Engine.get`."""
        memory: Memory = self._read("get", id, as_of=as_of)
        return memory

    def get_many(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return memories in the order of the ids; see :meth:`oneiros.Engine.get_many`."""
        return list(self._read("get_many", list(ids)))

    def why_not(self, query: str, id: str, **options: Any) -> WhyNot:
        """Explain why a search of the scope lacks a memory; see :meth:`oneiros.Engine.why_not`."""
        why: WhyNot = self._read("why_not", query, id, **options)
        return why

    def similar(self, id_or_text: str, k: int = 10, **options: Any) -> list[Similar]:
        """Return the most similar memories of the scope; see :meth:`oneiros.Engine.similar`."""
        found: list[Similar] = self._read("similar", id_or_text, k, **options)
        return found

    def last(self, n: int = 10, **options: Any) -> list[Memory]:
        """Return the newest memories; see :meth:`oneiros.Engine.last`."""
        newest: list[Memory] = self._read("last", n, **options)
        return newest

    def history(self, id: str) -> list[Revision]:
        """Return the revisions of a memory; see :meth:`oneiros.Engine.history`."""
        revisions: list[Revision] = self._read("history", id)
        return revisions

    def neighbours(self, id: str, **options: Any) -> list[Link]:
        """Return the links of a memory; see :meth:`oneiros.Engine.neighbours`."""
        links: list[Link] = self._read("neighbours", id, **options)
        return links

    def list(self, where: Where | None = None, **options: Any) -> list[Memory]:
        """Return memories page by page; see :meth:`oneiros.Engine.list`."""
        page: list[Memory] = self._read("list", where, **options)
        return page

    def count(self, where: Where | None = None, **options: Any) -> int:
        """Return the number of memories; see :meth:`oneiros.Engine.count`."""
        return int(self._read("count", where, **options))

    def search(self, query: str, k: int = 10, **options: Any) -> SearchResponse:
        """Search the scope; see :meth:`oneiros.Engine.search`.

        The response has its memories, so that reading it needs no shard. A search that is repeated
        after a crash may count twice as a use.
        """
        response: SearchResponse = self._read("search", query, k, **options)
        return response

    def link(self, a: str, b: str, weight: float = 0.5, **options: Any) -> None:
        """Link two memories; see :meth:`oneiros.Engine.link`. It is not repeated."""
        self._write("link", a, b, weight, **options)

    def unlink(self, a: str, b: str) -> bool:
        """Remove a link; see :meth:`oneiros.Engine.unlink`. It is not repeated."""
        return bool(self._write("unlink", a, b))

    def feedback(self, id: str, verdict: str, **options: Any) -> None:
        """Add a verdict to a memory; see :meth:`oneiros.Engine.feedback`. It is not repeated."""
        self._write("feedback", id, verdict, **options)

    def pin(self, id: str, pinned: bool = True) -> None:
        """Pin or unpin a memory; see :meth:`oneiros.Engine.pin`. It is not repeated."""
        self._write("pin", id, pinned)

    def supersede(self, old: str, new: str, reason: str = "", **options: Any) -> None:
        """Replace a memory by another; see :meth:`oneiros.Engine.supersede`. It is not repeated."""
        self._write("supersede", old, new, reason, **options)

    def update(self, id: str, **changes: Any) -> None:
        """Change fields of one memory; see :meth:`oneiros.Engine.update`. It is not repeated."""
        self._write("update", id, **changes)

    def delete(self, id: str | None = None, **options: Any) -> int:
        """Soft-delete memories; see :meth:`oneiros.Engine.delete`. It is not repeated."""
        return int(self._write("delete", id, **options))

    def restore(self, id: str, *, now: Time | None = None) -> bool:
        """Undo a soft deletion; see :meth:`oneiros.Engine.restore`. It is not repeated."""
        return bool(self._write("restore", id, now=now))

    def forget(self, id: str | None = None, **options: Any) -> Erasure:
        """Erase memories for good; see :meth:`oneiros.Engine.forget`. It is not repeated.

        Generations in an object store (:func:`oneiros.ray.back_up`) keep what was erased since.
        """
        receipt: Erasure = self._write("forget", id, **options)
        return receipt

    def _read(self, method: str, *args: Any, **options: Any) -> Any:
        return self._actors.ask(read_call(self.shard, method, self.bounds, args, options))

    def _write(self, method: str, *args: Any, **options: Any) -> Any:
        return self._actors.ask(write_call(self.shard, method, self.bounds, args, options))

    def __repr__(self) -> str:
        return f"<ShardScope {self.bounds} in shard {self.shard}>"


class _LocatedScope(ShardScope):
    """The shard that has a memory, for calls by its id alone."""

    def __init__(self, engine: ShardedEngine, id: str) -> None:
        super().__init__(engine.actors, "", {})
        self._engine = engine
        self._id = id
        self._located = engine.locate(id)

    @property
    def shard(self) -> int:
        return self._located

    def _read(self, method: str, *args: Any, **options: Any) -> Any:
        return self._again(super()._read, method, *args, **options)

    def _write(self, method: str, *args: Any, **options: Any) -> Any:
        return self._again(super()._write, method, *args, **options)

    def _again(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call it, once more if the memory was moved to another shard meanwhile."""
        try:
            return call(*args, **options)
        except UnknownMemory:
            before, self._located = self._located, self._engine.locate(self._id)
            if self._located == before:
                raise
            return call(*args, **options)


class ShardedEngine:
    """A store split by user, namespace or project into shards, each an engine in a Ray actor.

    All memories with one value of the key lie in one shard, with their links and duplicates. Calls name
    the value and go to that shard alone; a search may also be over all shards. Results do not depend on
    the number of shards. Safety limits, dream cycles and the uniqueness of ids are per shard. Ray
    restarts the actor of a shard that dies; it opens the store with all memories that were
    committed. Uses that were not yet written are lost, as in any crash.

    Use it as a context manager, or call :meth:`close`.

    Args:
        folder: folder of the stores, on the disks of the machines that the actors run on. An actor
            must come back to its store: on several machines, bind each to one by ``ray_options``, or
            use a folder that all of them share.
        shards: number of shards, 1 to 65,536. It is fixed when the store is made.
        key: "user"; "namespace", whose first segment counts; or "project". Fixed, too.
        patience_seconds: seconds (or a ``timedelta``) for which reads and additions are repeated
            while a shard is away.
        ray_options: options of Ray for the actors, such as ``resources`` or ``num_cpus``, or a
            function from the number of a shard to such options.
        **engine_options: options of :class:`oneiros.Engine`, which opens each shard.

    Raises:
        ImportError: Ray is not installed.
        ValueError, TypeError: an argument breaks its rule, or the store was made for another number
            of shards or key.
        ShardUnavailable: a shard cannot be opened, for example as its store is missing or damaged, or
            as it would be a new one while other shards have memories.

    Examples:
        >>> import oneiros.ray
        >>> with oneiros.ray.ShardedEngine("memories", shards=2, key="user") as engine:
        ...     id = engine.add("Ada likes her coffee black", user="ada", id="coffee")
        ...     engine.search("coffee", user="ada").texts
        ['Ada likes her coffee black']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        shards: int,
        key: str = "user",
        patience_seconds: float | timedelta = 30.0,
        ray_options: RayOptions | None = None,
        **engine_options: Any,
    ) -> None:
        require_choice("key", key, KEYS)
        layout = Layout(within("shards", index_of("shards", shards), 1, _MOST_SHARDS), key)
        patience = require_number("patience_seconds", seconds_of(patience_seconds), low=0.0)
        self.folder = str(Path(file_name("folder", folder)).absolute())
        """The folder of the stores."""
        self.layout = layout
        """The number of shards, and the key."""
        self.actors = Actors(
            self.folder,
            layout,
            engine_options,
            ray_options={} if ray_options is None else ray_options,
            patience_seconds=patience,
        )
        """The actors of the shards."""
        self._engine_options = dict(engine_options)
        self._client: Client | None = None  # made by the first search over all shards

    def scope(self, **bounds: str) -> ShardScope:
        """Return a view of the memories of one value of the key, or of a part of them.

        Args:
            **bounds: the key, and further fields as in :meth:`oneiros.Engine.scope`.

        Raises:
            ValueError, TypeError: the key is missing, or a field breaks its rule.
        """
        checked = checked_bounds(bounds)
        return ShardScope(self.actors, key_in(self.layout, checked, "scope"), checked)

    def add(self, text: str, **fields: Any) -> str:
        """Add one memory, whose fields name the key; see :meth:`ShardScope.add`."""
        return self._scope_in(fields, "add").add(text, **fields)

    def add_many(
        self, records: Iterable[Mapping[str, Any] | Memory], *, now: Time | None = None
    ) -> list[str]:
        """Add memories, each of which names the key, and return their ids in the order given.

        Each shard adds its records in one transaction. If one fails, those of others may be stored;
        the same call with the same ids may be repeated, as in :meth:`ShardScope.add`.

        Raises:
            DuplicateId, ShardUnavailable: as :meth:`ShardScope.add`.
        """
        checked = _records(records, now)
        left = checked
        while left:
            by_shard: dict[int, list[dict[str, Any]]] = {}
            for record in left:
                shard = self.actors.shard_of(key_in(self.layout, record, "add_many"))
                by_shard.setdefault(shard, []).append(record)
            calls = [
                ShardCall(shard, "add_many", ({}, part, {"now": now}), True)
                for shard, part in by_shard.items()
            ]
            _, failures = self.actors.ask_each(calls, at_once=self.layout.shards)
            moved = [place for place, error in failures.items() if isinstance(error, ScopeMoved)]
            missing_shards(
                {place: error for place, error in failures.items() if place not in moved},
                allow_partial=False,
            )
            parts = list(by_shard.values())
            left = [record for place in moved for record in parts[place]]
        return [record["id"] for record in checked]

    def locate(self, id: str) -> int:
        """Return the number of the shard that has a memory, soft-deleted or not.

        Every shard is asked. The methods below do so if the key is not given, so give it where it is
        known.

        Raises:
            UnknownMemory: no shard has it.
            DuplicateId: several shards have a memory of this id: name a value of the key.
            ShardUnavailable: a shard does not come back.
        """
        require_utf8("id", id)
        shards = self._shards_with(id)
        if len(shards) != 1:
            # A scope may have been moved between the responses of two shards.
            shards = self._shards_with(id)
        if not shards:
            raise UnknownMemory(unknown(id))
        if len(shards) > 1:
            msg = (
                f"id: {id!r} is in the shards {', '.join(map(str, shards))}; name a value of "
                f"{self.layout.key}"
            )
            raise DuplicateId(msg)
        return shards[0]

    def move(self, value: str, to: int) -> MovedScope:
        """Move all memories of one value of the key to another shard, while they are in use.

        With them go their history of use, verdicts, vectors, links with each other, and soft-deleted
        ones. Reads go on. Calls that write to the scope, and searches that reinforce, wait for the last
        step (``waiting_seconds``), as do searches over all shards. The shard that had the memories
        erases them. Former texts of memories (:meth:`ShardScope.history`) stay behind and are erased
        with them, so do links to memories of other scopes, and dream cycles from before cannot be
        undone for these memories.

        If the process is killed, opening the store again ends the move: the scope is in one of the two
        shards, whole. No other process may have the stores open for writing.

        Args:
            value: value of the key; of a namespace, its first segment moves, with all below it.
            to: number of the shard, from 0.

        Returns:
            What was moved, and how long it took.

        Raises:
            ValueError: no such shard, the scope lies there already, or one of its memories supersedes
                one of another scope.
            DuplicateId: the other shard has a memory of the same id. Nothing is moved.
            MixedShards: the vectors there are of another embedder.
            ScopeBusy: another process has one of the stores open.
            ShardUnavailable: a shard does not come back. The next opening ends the move.

        Examples:
            >>> import oneiros.ray
            >>> with oneiros.ray.ShardedEngine("moving", shards=2) as engine:
            ...     id = engine.add("tea", user="ada", id="tea")
            ...     moved = engine.move("ada", 1 - engine.scope(user="ada").shard)
            ...     moved.memories, engine.search("tea", user="ada").ids
            (1, ['tea'])
        """
        FIELDS[self.layout.key].check(value)
        within("to", index_of("to", to), 0, self.layout.shards - 1)
        root = self.layout.root(value)
        source = self.actors.shard_of(root)
        for move in interrupted(self.actors.places()):
            if move.value == root and finish(self.actors.step, move):
                self.actors.note_moved(root, move.target)
                source = move.target
        if source == to:
            msg = f"to: the memories of {root!r} lie in shard {to} already"
            raise ValueError(msg)
        try:
            move = Move(new_ulid(system_clock()), root, source, to, self.actors.salt)
            moved = move_scope(self.actors.step, move)
        except ScopeMoved as error:  # by another copy of this engine
            self.actors.note_moved(root, error.shard)
            raise
        self.actors.note_moved(root, to)
        return moved

    def drain(self, shard: int) -> list[MovedScope]:
        """Move all scopes off a shard, one after the other, and let it take no new ones.

        Each goes to the shard that has the fewest memories then. Do this before you change the machine
        of a shard, or to empty one that has grown too large. The shard stays part of the store: it
        knows where its scopes went. :meth:`reopen` lets it take new ones.

        Args:
            shard: its number, from 0.

        Returns:
            What was moved. If an error interrupts it, call it again for the rest.

        Raises:
            ValueError: no such shard, or no other one is open.
            Exception: as :meth:`move`.
        """
        within("shard", index_of("shard", shard), 0, self.layout.shards - 1)
        actors = self.actors
        return drain(actors.step, shard, self.layout.shards, actors.salt, self.move)

    def reopen(self, shard: int) -> None:
        """Let a drained shard take new scopes again. Those that were moved stay where they are."""
        within("shard", index_of("shard", shard), 0, self.layout.shards - 1)
        self.actors.step(shard, "close_for_new", [], self.actors.salt)

    def get(self, id: str, **key: Any) -> Memory:
        """Return a memory; see :meth:`ShardScope.get`. The key, such as ``user="ada"``, is optional."""
        return self._scope_with(id, key).get(id, **key)

    def history(self, id: str, **key: Any) -> list[Revision]:
        """Return the revisions of a memory; see :meth:`ShardScope.history`. The key is optional."""
        return self._scope_with(id, key).history(id, **key)

    def neighbours(self, id: str, **options: Any) -> list[Link]:
        """Return the links of a memory; see :meth:`ShardScope.neighbours`. The key is optional."""
        return self._scope_with(id, options).neighbours(id, **options)

    def update(self, id: str, **changes: Any) -> None:
        """Change fields of a memory; see :meth:`ShardScope.update`.

        The key is optional. It names the memory's scope, and so cannot be changed.
        """
        self._scope_with(id, changes).update(id, **changes)

    def feedback(self, id: str, verdict: str, **options: Any) -> None:
        """Add a verdict to a memory; see :meth:`ShardScope.feedback`. The key is optional."""
        self._scope_with(id, options).feedback(id, verdict, **options)

    def pin(self, id: str, pinned: bool = True, **key: Any) -> None:
        """Pin or unpin a memory; see :meth:`ShardScope.pin`. The key is optional."""
        self._scope_with(id, key).pin(id, pinned, **key)

    def link(self, a: str, b: str, weight: float = 0.5, **options: Any) -> None:
        """Link two memories of one shard; see :meth:`ShardScope.link`. The key is optional.

        Raises:
            ValueError: they lie in different shards, between which there are no links.
        """
        self._scope_with_both(a, b, options, "links").link(a, b, weight, **options)

    def unlink(self, a: str, b: str, **key: Any) -> bool:
        """Remove a link; see :meth:`ShardScope.unlink`. The key is optional."""
        return self._scope_with_both(a, b, key, "links").unlink(a, b, **key)

    def supersede(self, old: str, new: str, reason: str = "", **options: Any) -> None:
        """Replace a memory by another of its shard; see :meth:`ShardScope.supersede`.

        The key is optional.

        Raises:
            ValueError: they lie in different shards.
        """
        scope = self._scope_with_both(old, new, options, "successors")
        scope.supersede(old, new, reason, **options)

    def restore(self, id: str, **options: Any) -> bool:
        """Undo a soft deletion; see :meth:`ShardScope.restore`. The key is optional."""
        return self._scope_with(id, options).restore(id, **options)

    def delete(self, id: str | None = None, **options: Any) -> int:
        """Soft-delete memories; see :meth:`ShardScope.delete`.

        The key is optional if an id is given.
        """
        scope = self._scope_in(options, "delete") if id is None else self._scope_with(id, options)
        return scope.delete(id, **options)

    def forget(self, id: str | None = None, **options: Any) -> Erasure:
        """Erase memories for good; see :meth:`ShardScope.forget`.

        The key is optional if an id is given.
        """
        scope = self._scope_in(options, "forget") if id is None else self._scope_with(id, options)
        return scope.forget(id, **options)

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        scope: Mapping[str, str] | None = None,
        allow_partial: bool = False,
        **options: Any,
    ) -> SearchResponse:
        """Search the memories of one value of the key in its shard, or those of all shards.

        With a value of the key the call goes to one shard. Without one, the shards hand out their
        candidates, and the caller's process ranks these as one engine with all memories would: with
        the same bits, if vectors are compared exactly (docs/howto/ray.md). Profile, embedder,
        reranker, query expander and clock are those of ``engine_options``.

        Args:
            query: the query.
            k: most results.
            scope: fields that bound the search as in :meth:`oneiros.Engine.scope`, such as
                ``{"project": "atlas"}``; with the key, those of one shard. Default: all memories.
            allow_partial: in a search over all shards, leave out those that do not come back. The
                response is then marked (``is_partial``, ``missing``) and never abstains.
            **options: the key, such as ``user="ada"``, and options of :meth:`oneiros.Engine.search`.

        Returns:
            A response; over all shards a :class:`oneiros.ray.WholeResponse`.

        Raises:
            ValueError: ``as_of``, which a search over all shards does not support.
            DuplicateId: two shards have a memory of one id among the candidates.
            MixedShards: the shards' versions, lexical options or embedders differ.
            QueryTooLarge: as :meth:`oneiros.Engine.search`.
            ShardUnavailable: a shard does not come back.
        """
        require_flag("allow_partial", allow_partial)
        bounds = checked_bounds({} if scope is None else scope)
        if self.layout.key in options:
            value = options.pop(self.layout.key)
            FIELDS[self.layout.key].check(value)  # None is no wish to search all memories
            bounds = {**bounds, self.layout.key: value}
        if self.layout.key in bounds:
            return self.scope(**bounds).search(query, k, **options)
        if self._client is None:
            self._client = Client.of(self._engine_options)
        embedding = options.pop("embedding", None)
        return search_shards(
            ActorShards(self.actors),
            self._client,
            query,
            k,
            bounds=bounds,
            embedding=embedding,
            options=self._client.options(options, self.search),
            allow_partial=allow_partial,
        )

    def search_each(
        self,
        query: str,
        values: Sequence[str],
        k: int = 10,
        *,
        allow_partial: bool = False,
        **options: Any,
    ) -> ScopeResponses:
        """Search several scopes at the same time, each for itself.

        Scores of different scopes are not made to be compared: the weight of a word is that in its
        scope.

        Args:
            query: the query.
            values: values of the key.
            k: most results for each.
            allow_partial: leave out the scopes of shards that do not come back, and mark the result,
                instead of raising.
            **options: options of :meth:`oneiros.Engine.search`.

        Returns:
            A mapping from value to response, in the order given, with ``missing``.

        Raises:
            ShardUnavailable: a shard does not come back, without ``allow_partial``.
        """
        require_flag("allow_partial", allow_partial)
        require_instance("values", values, (list, tuple), "a list of values of the key")
        names = list(dict.fromkeys(values))
        scopes = [self.scope(**{self.layout.key: value}) for value in names]
        calls = [
            read_call(scope.shard, "search", scope.bounds, (query, k), options) for scope in scopes
        ]
        found, failures = self.actors.ask_each(calls, at_once=4 * self.layout.shards)
        missing = missing_shards(failures, allow_partial=allow_partial)
        return ScopeResponses(
            {names[place]: found[place] for place in sorted(found)},
            {names[place]: str(missing[place]) for place in sorted(missing)},
        )

    def dream(
        self,
        now: Time | None = None,
        *,
        at_once: int = 1,
        allow_partial: bool = False,
        dry_run: bool = False,
        **options: Any,
    ) -> ShardedReport:
        """Run a dream cycle in each shard, one after the other.

        Each is a transaction of its shard, with the safety limits of its shard. Nothing is begun
        unless all shards respond, or ``allow_partial`` is set.

        Args:
            now: the time of all cycles, as in :meth:`oneiros.Engine.dream`. Default: the clock of
                each engine.
            at_once: how many shards dream at the same time, >= 1.
            allow_partial: leave out shards that do not respond, and mark the report, instead of
                raising.
            dry_run: only plan the cycles. The reports are those of the plans.
            **options: options of :meth:`oneiros.Engine.dream`.

        Returns:
            One report of all shards, by which :meth:`undo_dream` takes it back.

        Raises:
            ShardUnavailable: a shard does not respond. If others have dreamt before it failed,
                ``error.report`` is their report.
            Exception: as :meth:`oneiros.Engine.dream`.
        """
        require_flag("dry_run", dry_run)
        shared = {"now": now, "dry_run": dry_run, **options}
        return self._cycle(
            [ShardCall(shard, "dream", (shared,), dry_run) for shard in range(self.layout.shards)],
            at_once=at_once,
            allow_partial=allow_partial,
        )

    def undo_dream(
        self,
        report: ShardedReport | Mapping[int, str],
        *,
        now: Time | None = None,
        at_once: int = 1,
        allow_partial: bool = False,
    ) -> ShardedReport:
        """Undo the dream cycles of a report in each of its shards.

        Args:
            report: what :meth:`dream` returned, or its ``ids``: cycle by number of shard.
            now: as in :meth:`oneiros.Engine.undo_dream`.
            at_once: how many shards work at the same time, >= 1.
            allow_partial: as in :meth:`dream`.

        Returns:
            One report of all undos.

        Raises:
            ValueError, ShardUnavailable: as :meth:`oneiros.Engine.undo_dream` and :meth:`dream`.
        """
        ids = report.ids if isinstance(report, ShardedReport) else report
        require_instance("report", ids, (Mapping,), "a report of dream(), or its ids")
        for shard in ids:
            within("report", index_of("report", shard), 0, self.layout.shards - 1)
        return self._cycle(
            [write_call(shard, "undo_dream", {}, (id,), {"now": now}) for shard, id in ids.items()],
            at_once=at_once,
            allow_partial=allow_partial,
        )

    def stats(self, *, allow_partial: bool = False) -> dict[str, Any]:
        """Return counts and sizes over all shards, and those of each under "shards".

        Args:
            allow_partial: leave out shards that do not respond, which "missing" then names, instead
                of raising.

        Raises:
            ShardUnavailable: a shard does not respond, without ``allow_partial``.
        """
        require_flag("allow_partial", allow_partial)
        calls = [read_call(shard, "stats", {}) for shard in range(self.layout.shards)]
        found, failures = self.actors.ask_each(calls, at_once=len(calls))
        missing = missing_shards(failures, allow_partial=allow_partial)
        return merged_stats(found, {shard: str(error) for shard, error in missing.items()})

    def close(self) -> None:
        """Write pending reinforcement, close the engines and end the actors."""
        calls = [ShardCall(shard, "close", (), False) for shard in range(len(self.actors))]
        try:
            _, failures = self.actors.ask_each(calls, at_once=max(1, len(calls)))
            missing_shards(failures, allow_partial=True)  # a shard that is gone needs no closing
        except EngineClosed:
            pass  # nor do those that ended with their Ray
        finally:
            self.actors.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        shards, key = self.layout.shards, self.layout.key
        return f"<ShardedEngine {self.folder!r}, {count_of(shards, 'shard')} by {key}>"

    # -- private -----------------------------------------------------------------------------------

    def _scope_in(self, fields: dict[str, Any], call: str) -> ShardScope:
        """Take the key out of the arguments of a call, and return its scope."""
        value = key_in(self.layout, fields, call)
        del fields[self.layout.key]
        return self.scope(**{self.layout.key: value})

    def _shards_with(self, id: str) -> list[int]:
        """Return the numbers of the shards that have a memory of an id."""
        calls = [ShardCall(shard, "has", (id,), True) for shard in range(self.layout.shards)]
        found, failures = self.actors.ask_each(calls, at_once=len(calls))
        missing_shards(failures, allow_partial=False)
        return [shard for shard in sorted(found) if found[shard]]

    def _scope_with(self, id: str, fields: dict[str, Any]) -> ShardScope:
        """Take the key out of the arguments of a call, and return its scope.

        Without it, the scope is the whole shard that has the memory.
        """
        if fields.get(self.layout.key) is None:
            fields.pop(self.layout.key, None)
            return _LocatedScope(self, id)
        return self._scope_in(fields, "id")

    def _scope_with_both(self, a: str, b: str, fields: dict[str, Any], what: str) -> ShardScope:
        """Return the scope of two memories, as :meth:`_scope_with` does."""
        if fields.get(self.layout.key) is not None:
            return self._scope_in(fields, "id")
        first, second = self._scope_with(a, fields), self._scope_with(b, fields)
        if first.shard != second.shard:  # or they were moved after the first was found
            first, second = self._scope_with(a, fields), self._scope_with(b, fields)
        if first.shard != second.shard:
            msg = (
                f"{b!r} lies in shard {second.shard} and {a!r} in shard {first.shard}; {what} do not "
                "cross shards"
            )
            raise ValueError(msg)
        return first

    def _cycle(
        self, calls: Sequence[ShardCall], *, at_once: int, allow_partial: bool
    ) -> ShardedReport:
        """Run cycles, or undo them, in shards that respond."""
        require_flag("allow_partial", allow_partial)
        count("at_once", at_once, low=1)
        pings = [read_call(call.shard, "__len__", {}) for call in calls]
        _, failures = self.actors.ask_each(pings, at_once=max(1, len(pings)))
        away = missing_shards(failures, allow_partial=allow_partial)
        present = [call for place, call in enumerate(calls) if place not in away]
        found, failures = self.actors.ask_each(present, at_once=at_once)
        reports: dict[int, DreamReport] = {
            present[place].shard: report for place, report in sorted(found.items())
        }
        lost = [error for error in failures.values() if isinstance(error, ShardUnavailable)]
        missing = {error.shard: str(error) for error in (*away.values(), *lost)}
        report = ShardedReport(reports, missing)
        for place, error in failures.items():
            if isinstance(error, ShardUnavailable):
                if allow_partial:
                    continue
                error.report = report
            else:
                error.add_note(f"in shard {present[place].shard}")
            error.add_note(f"shards that finished, with the ids of their cycles: {report.ids}")
            raise error
        return report


def missing_shards(
    failures: Mapping[int, Exception], *, allow_partial: bool
) -> dict[int, ShardUnavailable]:
    """Return the failures of shards that do not respond; raise the first that is not allowed."""
    missing: dict[int, ShardUnavailable] = {}
    for place, error in failures.items():
        if not allow_partial or not isinstance(error, ShardUnavailable):
            raise error
        missing[place] = error
    return missing


def _new_id(now: Time | None) -> str:
    return new_ulid(_now(system_clock() if now is None else now))


def _records(
    records: Iterable[Mapping[str, Any] | Memory], now: Time | None
) -> list[dict[str, Any]]:
    """Return records as dicts, each with an id."""
    checked: list[dict[str, Any]] = []
    for record in records:
        require_instance("records", record, (Mapping, Memory), "dicts or Memory")
        content = record.to_record() if isinstance(record, Memory) else dict(record)
        if content.get("id") is None:
            content["id"] = _new_id(now)
        checked.append(content)
    return checked
