"""LangChain: a vector store and a retriever over an engine.

LangChain is optional: ``pip install 'oneiros[langchain]'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from oneiros._lazy import needed, np
from oneiros.engine import Engine
from oneiros.engine.memories import Memories
from oneiros.filters import Where, where
from oneiros.integrations.messages import found_by_message
from oneiros.integrations.opening import all_memories, remove
from oneiros.model.memory import iso_time
from oneiros.model.validation import count, require_choice, require_flag, require_instance
from oneiros.model.validation import texts as texts_of
from oneiros.models.embedders import name_of, one_each
from oneiros.search.records import kept

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy.typing as npt
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

    from oneiros.model.memory import Memory
    from oneiros.scoring.profile import Profile
    from oneiros.search.response import SearchResponse

needed("langchain_core", "langchain")  # names the extra where it is missing

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field, field_validator

__all__ = ["LangChainEmbedder", "OneirosRetriever", "OneirosVectorStore"]

_PROFILES = ("cosine", "rrf")


class LangChainEmbedder:
    """An embedder of an engine, made of LangChain's ``Embeddings``.

    The engine embeds texts with ``embed_documents``, and queries with it as well. For models that
    embed queries in another way, pass the same embeddings to :class:`OneirosVectorStore` and
    :class:`OneirosRetriever`, which use ``embed_query``.

    Args:
        embeddings: LangChain's embeddings.
        name: the name of the model, which the store records. Vectors of two names are never
            compared. Default: the name of the class, with its ``model`` or ``model_name``.

    Raises:
        TypeError: not ``Embeddings``, or a name that is no text.
        ValueError: an empty name.

    Examples:
        >>> import oneiros
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from oneiros.integrations.langchain import LangChainEmbedder
        >>> embedder = LangChainEmbedder(DeterministicFakeEmbedding(size=8), name="fake")
        >>> with oneiros.Engine(":memory:", embedder=embedder) as engine:
        ...     id = engine.add("Ada likes tea", id="tea")
        ...     engine.search("Ada likes tea", profile="cosine").ids
        ['tea']
    """

    def __init__(self, embeddings: Embeddings, *, name: str | None = None) -> None:
        self._embeddings = _require_embeddings(embeddings)
        self.name = _model_name(embeddings) if name is None else name
        name_of(self)

    def __call__(self, texts: list[str], /) -> npt.ArrayLike:
        """Return one vector for each text."""
        vectors: npt.ArrayLike = self._embeddings.embed_documents(texts)
        return vectors


class OneirosVectorStore(VectorStore):  # type: ignore[misc]  # Any where LangChain is absent
    """A LangChain vector store over an engine or a scope of one.

    A document is a memory: its ``page_content`` is the text, its ``metadata`` the metadata, and its
    ``id`` the id. Adding a document with an id that exists replaces it.

    A search returns ``k`` documents if as many match, ordered by the plain profile ``cosine`` or
    ``rrf``, which never reinforce. :class:`OneirosRetriever` searches with a profile that does.

    Args:
        memories: an engine, or a scope of one, which then bounds all calls.
        embedding: makes the vectors of texts and of queries. Default: the engine's embedder makes
            them; without one "cosine" finds nothing.
        profile: "cosine" orders by the vectors alone, "rrf" by words and vectors with reciprocal
            ranks.
        erases: what :meth:`delete` does. True: erase documents for good, as ``forget`` does. False:
            soft-delete them, as ``delete`` does, which ``restore`` undoes.

    Raises:
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> import oneiros
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from oneiros.integrations.langchain import OneirosVectorStore
        >>> engine = oneiros.Engine(":memory:")
        >>> store = OneirosVectorStore(engine, DeterministicFakeEmbedding(size=8))
        >>> store.add_texts(["Ada likes tea", "Grace likes coffee"], ids=["tea", "coffee"])
        ['tea', 'coffee']
        >>> [document.id for document in store.similarity_search("Ada likes tea", k=1)]
        ['tea']
    """

    def __init__(
        self,
        memories: Memories,
        embedding: Embeddings | None = None,
        *,
        profile: str = "cosine",
        erases: bool = True,
    ) -> None:
        require_instance("memories", memories, (Memories,), "an Engine or a scope of one")
        require_choice("profile", profile, _PROFILES)
        self.memories = memories
        self._embedding = None if embedding is None else _require_embeddings(embedding)
        self._engine_embeds = embedding is None  # the texts; queries where there is no `embedding`
        self._profile = profile
        self._erases = require_flag("erases", erases)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings that make the vectors; None if the engine's embedder does."""
        return self._embedding

    # -- write -------------------------------------------------------------------------------------

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add or replace documents in one transaction.

        Args:
            texts: the texts.
            metadatas: one JSON object for each text. Default: empty ones.
            ids: one id for each text; None makes one. Of equal ids the last text is stored.
            batch_size: most texts that ``embedding`` gets at once, >= 1, as LangChain's ``index``
                passes it. Default: all, as always where the engine embeds, such as that of
                :meth:`from_texts`.
            **kwargs: none.

        Returns:
            The ids in the order of the texts.

        Raises:
            ValueError: ``metadatas`` or ``ids`` of another length, or a value out of its range.
            TypeError: metadata that are not JSON, or an unknown argument.
        """
        _require_no_more("add_texts", kwargs)
        records = _records(texts, metadatas, ids)
        batches = _batches(records, batch_size)
        if self._embedding is not None and not self._engine_embeds:
            for batch in batches:
                listed = _texts_of(batch)
                _hold(batch, one_each(self._embedding.embed_documents(listed), listed))
        return self._add(records)

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add or replace documents, as :meth:`add_texts`, with ``aembed_documents``."""
        _require_no_more("aadd_texts", kwargs)
        records = _records(texts, metadatas, ids)
        batches = _batches(records, batch_size)
        if self._embedding is not None and not self._engine_embeds:
            for batch in batches:
                listed = _texts_of(batch)
                _hold(batch, one_each(await self._embedding.aembed_documents(listed), listed))
        added: list[str] = await run_in_executor(None, self._add, records)
        return added

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents; unknown ids have no effect.

        Args:
            ids: the ids. None: all documents of the engine or the scope.
            **kwargs: none.

        Returns:
            True.

        Raises:
            TypeError: an id that is no text, or an unknown argument.
        """
        _require_no_more("delete", kwargs)
        if ids is None:
            remove(self.memories, erases=self._erases)
        elif ids:
            remove(self.memories, where(id=_require_ids(ids)), erases=self._erases)
        return True

    def _add(self, records: list[dict[str, Any]]) -> list[str]:
        report = self.memories.add_many(records, on_conflict="replace")
        given = {record["id"] for record in records}
        made = iter([id for id in report.ids if id not in given])
        return [next(made) if record["id"] is None else record["id"] for record in records]

    # -- read --------------------------------------------------------------------------------------

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents in the order of the ids, without those that do not exist."""
        return [
            _document(memory)
            for memory in self.memories.get_many(_require_ids(ids))
            if memory is not None
        ]

    @property
    def _collection(self) -> _Collection:
        """The documents to list. mem0's provider for LangChain finds them under Chroma's name."""
        return _Collection(self.memories)

    def similarity_search(
        self, query: str, k: int = 4, filter: Where | Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the ``k`` documents nearest to a query, best first.

        Args:
            query: the query.
            k: most documents to return, >= 0.
            filter: an :func:`oneiros.where` or :func:`oneiros.meta` filter, or a dict of conditions
                on the metadata, such as ``{"price": {"$lt": 10}}`` (docs/guide/filters.md).
            **kwargs: none.

        Raises:
            ValueError, TypeError: an argument breaks its rule.
        """
        return _documents(self.similarity_search_with_score(query, k, filter, **kwargs))

    async def asimilarity_search(
        self, query: str, k: int = 4, filter: Where | Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the nearest documents, as :meth:`similarity_search`, with ``aembed_query``."""
        return _documents(await self.asimilarity_search_with_score(query, k, filter, **kwargs))

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Where | Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return documents with their scores, the highest first.

        The score is the cosine, -1 to 1, under "cosine", and a sum of reciprocal ranks under "rrf".
        The arguments are those of :meth:`similarity_search`.
        """
        _require_no_more("similarity_search_with_score", kwargs)
        return self._scored(query, self._vector(query), k, filter)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, filter: Where | Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return documents with their scores, with ``aembed_query``."""
        _require_no_more("asimilarity_search_with_score", kwargs)
        vector = await self._avector(query)
        found: list[tuple[Document, float]] = await run_in_executor(
            None, self._scored, query, vector, k, filter
        )
        return found

    def similarity_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the ``k`` documents nearest to a vector, by cosine under either profile."""
        return _documents(
            self.similarity_search_with_score_by_vector(embedding, k, filter, **kwargs)
        )

    def similarity_search_with_score_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[tuple[Document, float]]:
        """Return the documents nearest to a vector with their cosines, the highest first."""
        _require_no_more("similarity_search_with_score_by_vector", kwargs)
        return self._scored("", embedding, k, filter, profile="cosine")

    async def asimilarity_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the nearest documents, as :meth:`similarity_search_by_vector`."""
        _require_no_more("asimilarity_search_by_vector", kwargs)
        found: list[tuple[Document, float]] = await run_in_executor(
            None, self._scored, "", embedding, k, filter, profile="cosine"
        )
        return _documents(found)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        if self._profile != "cosine":
            msg = (
                "profile: relevance scores need 'cosine', as those of 'rrf' are sums of ranks; got "
                f"{self._profile!r}"
            )
            raise ValueError(msg)
        return _relevance

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return documents that are near a query and far from each other.

        Args:
            query: the query.
            k: most documents to return, >= 0.
            fetch_k: number of candidates, the nearest by cosine.
            lambda_mult: 0 weighs diversity alone, 1 nearness alone.
            filter: as in :meth:`similarity_search`.
            **kwargs: none.
        """
        _require_no_more("max_marginal_relevance_search", kwargs)
        return self._diverse(query, self._vector(query), k, fetch_k, lambda_mult, filter)

    async def amax_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return near and diverse documents, with ``aembed_query``."""
        vector = await self._avector(query)
        _require_no_more("amax_marginal_relevance_search", kwargs)
        found: list[Document] = await run_in_executor(
            None, self._diverse, query, vector, k, fetch_k, lambda_mult, filter
        )
        return found

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return documents that are near a vector and far from each other."""
        _require_no_more("max_marginal_relevance_search_by_vector", kwargs)
        return self._diverse("", embedding, k, fetch_k, lambda_mult, filter)

    async def amax_marginal_relevance_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Where | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return near and diverse documents, as :meth:`max_marginal_relevance_search_by_vector`."""
        found: list[Document] = await run_in_executor(
            None,
            self.max_marginal_relevance_search_by_vector,
            *(embedding, k, fetch_k, lambda_mult, filter),
            **kwargs,
        )
        return found

    def _vector(self, query: str) -> Sequence[float] | None:
        if self._embedding is None:
            return None
        vector: Sequence[float] = self._embedding.embed_query(query)
        return vector

    async def _avector(self, query: str) -> Sequence[float] | None:
        if self._embedding is None:
            return None
        vector: Sequence[float] = await self._embedding.aembed_query(query)
        return vector

    def _diverse(
        self,
        query: str,
        vector: Sequence[float] | None,
        k: int,
        fetch_k: int,
        lambda_mult: float,
        filter: Where | Mapping[str, Any] | None,
    ) -> list[Document]:
        if not 0.0 <= lambda_mult <= 1.0:
            msg = f"lambda_mult: must be a number in [0, 1], got {lambda_mult!r}"
            raise ValueError(msg)
        k, fetch_k = count("k", k), count("fetch_k", fetch_k)
        response = self._searched(query, vector, max(k, fetch_k), filter, "cosine")
        found = [each for each in kept(response) if each[0].embedding is not None]
        vectors = [memory.embedding for memory, _ in found if memory.embedding is not None]
        cosines = [cosine for _, cosine in found]
        places = _marginal_places(cosines, vectors, k, lambda_mult)
        return [_document(found[place][0]) for place in places]

    def _scored(
        self,
        query: str,
        vector: Sequence[float] | None,
        k: int,
        filter: Where | Mapping[str, Any] | None,
        profile: str | None = None,
    ) -> list[tuple[Document, float]]:
        response = self._searched(query, vector, k, filter, profile or self._profile)
        return [(_document(memory), score) for memory, score in kept(response)]

    def _searched(
        self,
        query: str,
        vector: Sequence[float] | None,
        k: int,
        filter: Where | Mapping[str, Any] | None,
        profile: str,
    ) -> SearchResponse:
        return found_by_message(
            self.memories, query, k=k, embedding=vector, where=_condition(filter), profile=profile
        )

    # -- make --------------------------------------------------------------------------------------

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | os.PathLike[str] = ":memory:",
        **kwargs: Any,
    ) -> Self:
        """Open a store and add texts to it.

        Args:
            texts: the texts.
            embedding: makes the vectors. The store records its name, as
                :class:`LangChainEmbedder` makes it.
            metadatas: one JSON object for each text. Default: empty ones.
            ids: one id for each text. Default: new ones.
            path: the store's file, created if it does not exist. Close it with
                ``store.memories.close()``.
            **kwargs: ``profile`` and ``erases``, as in the constructor.
        """
        engine = Engine(path, embedder=LangChainEmbedder(embedding))
        try:
            store = cls(engine, embedding, **kwargs)
            store._engine_embeds = True  # so that the store records the model
            store.add_texts(texts, metadatas, ids=ids)
        except BaseException:
            engine.close()
            raise
        return store


class _Collection:
    """Lists documents as a collection of Chroma does, for mem0."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def get(
        self, where: Where | Mapping[str, Any] | None = None, limit: int | None = None
    ) -> dict[str, list[Any]]:
        """Return "ids", "documents" (the texts) and "metadatas", in order of insertion.

        Args:
            where: as ``filter`` in :meth:`OneirosVectorStore.similarity_search`.
            limit: most documents to return, >= 0. Default: all.
        """
        most = None if limit is None else count("limit", limit)
        found = list(islice(all_memories(self._memories, _condition(where)), most))
        return {
            "ids": [memory.id for memory in found],
            "documents": [memory.text for memory in found],
            "metadatas": [dict(memory.metadata) for memory in found],
        }


class OneirosRetriever(BaseRetriever):  # type: ignore[misc]  # Any where LangChain is absent
    """A LangChain retriever that searches as ``engine.search`` does.

    It returns at most ``k`` documents, and none where the profile abstains. The metadata of a
    document are those of the memory, with a dict at the key "oneiros": ``score``, ``kind``,
    ``created_at`` in ISO 8601, ``source``, ``source_ref`` and ``trust``, so that a prompt can quote
    where and when a memory was learned.

    Attributes:
        memories: an engine, or a scope of one.
        k: most documents to return, >= 0.
        filter: an :func:`oneiros.where` or :func:`oneiros.meta` filter, or a dict of conditions on
            the metadata.
        embedding: makes the query's vector. Default: the engine's embedder.
        profile: the ranking, by name or as a ``Profile``. Default: the engine's, "oneiros" unless
            it was opened with another.
        reinforce: whether returned memories count as used. Default: as the profile says, which is
            True for "oneiros".
        options: more keywords of ``engine.search``, such as ``{"least_trust": 0.5}``.

    ``invoke(query, k=3)`` replaces ``k``, ``filter`` or ``reinforce`` for one call.

    Examples:
        >>> import oneiros
        >>> from oneiros.integrations.langchain import OneirosRetriever
        >>> engine = oneiros.Engine(":memory:")
        >>> id = engine.add("Ada likes her coffee black", kind="user_preference")
        >>> documents = OneirosRetriever(memories=engine).invoke("how does Ada take her coffee?")
        >>> documents[0].page_content, documents[0].metadata["oneiros"]["kind"]
        ('Ada likes her coffee black', 'user_preference')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memories: Any = Field(repr=False)
    k: int = Field(default=10, ge=0)
    filter: Any = None
    embedding: Any = None
    profile: Any = None
    reinforce: bool | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("memories")
    @classmethod
    def _checked_memories(cls, value: object) -> Memories:
        require_instance("memories", value, (Memories,), "an Engine or a scope of one")
        assert isinstance(value, Memories)
        return value

    @field_validator("embedding")
    @classmethod
    def _checked_embedding(cls, value: object) -> Embeddings | None:
        return None if value is None else _require_embeddings(value)

    @field_validator("options")
    @classmethod
    def _checked_options(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name, field in (("k", "k"), ("where", "filter")):
            if name in value:
                msg = f"options: give {name!r} as the retriever's {field!r}"
                raise ValueError(msg)
        return value

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> list[Document]:
        vector = None if self.embedding is None else self.embedding.embed_query(query)
        return self._found(query, vector, kwargs)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> list[Document]:
        vector = None if self.embedding is None else await self.embedding.aembed_query(query)
        found: list[Document] = await run_in_executor(None, self._found, query, vector, kwargs)
        return found

    def _found(
        self, query: str, vector: Sequence[float] | None, changed: dict[str, Any]
    ) -> list[Document]:
        given = dict(changed)
        k = given.pop("k", self.k)
        condition = _condition(given.pop("filter", self.filter))
        reinforce = given.pop("reinforce", self.reinforce)
        _require_no_more("invoke", given)
        options: dict[str, Any] = dict(self.options)
        profile: Profile | str | None = self.profile
        if profile is not None:
            options["profile"] = profile
        if vector is not None:
            options["embedding"] = vector
        if reinforce is not None:
            options["reinforce"] = reinforce
        response = found_by_message(self.memories, query, k=k, where=condition, **options)
        return [_document(memory, _origin(memory, score)) for memory, score in kept(response)]


def _require_ids(ids: object) -> list[str]:
    """Return ids as a list; a single text would be one id a letter."""
    return list(texts_of("ids", ids))


def _records(
    given: Iterable[str],
    metadatas: Sequence[Mapping[str, Any]] | None,
    ids: Sequence[str | None] | None,
) -> list[dict[str, Any]]:
    texts = texts_of("texts", given)
    for name, more in (("metadatas", metadatas), ("ids", ids)):
        if more is not None and len(more) != len(texts):
            msg = f"{name}: must have one entry for each of {len(texts)} texts, got {len(more)}"
            raise ValueError(msg)
    return [
        {
            "text": text,
            "id": None if ids is None else ids[place],
            "metadata": {} if metadatas is None else metadatas[place],
        }
        for place, text in enumerate(texts)
    ]


def _batches(records: list[dict[str, Any]], size: int | None) -> list[list[dict[str, Any]]]:
    """Return the records in parts of at most ``size``, or in one; no part is empty."""
    step = max(1, len(records)) if size is None else count("batch_size", size, low=1)
    return [records[first : first + step] for first in range(0, len(records), step)]


def _texts_of(records: list[dict[str, Any]]) -> list[str]:
    return [record["text"] for record in records]


def _hold(records: list[dict[str, Any]], vectors: Sequence[Sequence[float]]) -> None:
    for record, vector in zip(records, vectors, strict=True):
        record["embedding"] = vector


def _condition(filter: object) -> Where | None:
    if filter is None or isinstance(filter, Where):
        return filter
    if not isinstance(filter, Mapping):
        msg = f"filter: expected an oneiros filter or a dict of conditions, got {filter!r}"
        raise TypeError(msg)
    return where(metadata=filter) if filter else None


def _document(memory: Memory, origin: Mapping[str, Any] | None = None) -> Document:
    metadata = dict(memory.metadata) if origin is None else {**memory.metadata, "oneiros": origin}
    return Document(id=memory.id, page_content=memory.text, metadata=metadata)


def _documents(scored: list[tuple[Document, float]]) -> list[Document]:
    return [document for document, _ in scored]


def _origin(memory: Memory, score: float) -> dict[str, Any]:
    return {
        "score": score,
        "kind": memory.kind,
        "created_at": iso_time(memory.created_at),
        "source": memory.source,
        "source_ref": memory.source_ref,
        "trust": memory.trust,
    }


def _marginal_places(
    cosines: Sequence[float], vectors: Sequence[npt.NDArray[np.float32]], k: int, weight: float
) -> list[int]:
    """Return the places of k vectors, each the best of the rest by maximal marginal relevance.

    That is ``weight`` times its cosine with the query, less ``1 - weight`` times its greatest
    cosine with those before it. Of equal ones the first is best.
    """
    if not vectors:
        return []
    stacked = np.stack(vectors).astype(np.float64)
    stacked /= np.linalg.norm(stacked, axis=1, keepdims=True)
    nearness = weight * np.asarray(cosines, np.float64)
    closest = np.full(len(stacked), -np.inf)
    places: list[int] = []
    while len(places) < min(k, len(stacked)):
        penalty = (1 - weight) * closest if places else 0.0
        gains = nearness - penalty
        gains[places] = -np.inf
        place = int(np.argmax(gains))
        places.append(place)
        closest = np.maximum(closest, stacked @ stacked[place])
    return places


def _relevance(cosine: float) -> float:
    """Return a cosine as a relevance in [0, 1]: opposite and unrelated documents have none."""
    return min(max(cosine, 0.0), 1.0)


def _require_embeddings(value: object) -> Embeddings:
    require_instance("embedding", value, (Embeddings,), "LangChain's Embeddings")
    assert isinstance(value, Embeddings)
    return value


def _model_name(embeddings: Embeddings) -> str:
    model = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
    name = f"langchain/{type(embeddings).__name__}"
    return f"{name}/{model}" if isinstance(model, str) else name


def _require_no_more(method: str, given: Mapping[str, object]) -> None:
    if given:
        msg = f"{method}: unknown argument {next(iter(given))!r}"
        raise TypeError(msg)
