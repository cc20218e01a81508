"""The document store under Haystack's own suite, over every place where documents can be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

WHY = "needs haystack-ai: nox -s 'integrations(name=\"haystack\")'"
pytest.importorskip("haystack", reason=WHY)

from haystack import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import (
    CountDocumentsByFilterTest,
    CountUniqueMetadataByFilterTest,
    DocumentStoreBaseExtendedTests,
    GetMetadataFieldMinMaxTest,
    GetMetadataFieldsInfoTest,
    GetMetadataFieldUniqueValuesTest,
)
from haystack.testing.document_store_async import (
    CountDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    CountUniqueMetadataByFilterAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    GetMetadataFieldMinMaxAsyncTest,
    GetMetadataFieldsInfoAsyncTest,
    GetMetadataFieldUniqueValuesAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
)

from oneiros.integrations.haystack import OneirosDocumentStore


def require_equal(received: list[Document], expected: list[Document]) -> None:
    """Compare documents in order; the engine keeps embeddings as unit vectors of float32."""
    for one, other in zip(received, expected, strict=True):
        assert (one.id, one.content, one.meta) == (other.id, other.content, other.meta)
        assert (one.embedding is None) == (other.embedding is None)
        if other.embedding is not None:
            given = np.asarray(other.embedding)
            np.testing.assert_allclose(one.embedding, given / np.linalg.norm(given), atol=1e-6)


class TheSuite(
    DocumentStoreBaseExtendedTests,
    CountDocumentsByFilterTest,
    CountUniqueMetadataByFilterTest,
    GetMetadataFieldsInfoTest,
    GetMetadataFieldMinMaxTest,
    GetMetadataFieldUniqueValuesTest,
    CountDocumentsAsyncTest,
    WriteDocumentsAsyncTest,
    DeleteDocumentsAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    UpdateByFilterAsyncTest,
    FilterDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    CountUniqueMetadataByFilterAsyncTest,
    GetMetadataFieldsInfoAsyncTest,
    GetMetadataFieldMinMaxAsyncTest,
    GetMetadataFieldUniqueValuesAsyncTest,
):
    """Every class of haystack.testing for document stores."""

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        require_equal(received, expected)

    def test_write_documents(self, document_store: OneirosDocumentStore) -> None:
        """The suite leaves the policy NONE to the store: an id that exists is refused."""
        document = Document(content="tea")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError, match="exists"):
            document_store.write_documents([Document(content="milk"), document])
        self.assert_documents_are_equal(document_store.filter_documents(), [document])

    async def test_write_documents_async(self, document_store: OneirosDocumentStore) -> None:  # type: ignore[override]
        """As :meth:`test_write_documents`."""
        document = Document(content="tea")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError, match="exists"):
            await document_store.write_documents_async([Document(content="milk"), document])
        self.assert_documents_are_equal(await document_store.filter_documents_async(), [document])


class TestInMemory(TheSuite):
    @pytest.fixture
    def document_store(self) -> Iterator[OneirosDocumentStore]:
        store = OneirosDocumentStore(":memory:")
        yield store
        store.close()


class TestInAFile(TheSuite):
    @pytest.fixture
    def document_store(self, tmp_path: Path) -> Iterator[OneirosDocumentStore]:
        store = OneirosDocumentStore(tmp_path / "documents.db")
        yield store
        store.close()


class TestSoftDeleted(TheSuite):
    @pytest.fixture
    def document_store(self) -> Iterator[OneirosDocumentStore]:
        store = OneirosDocumentStore(":memory:", soft_delete=True)
        yield store
        store.close()


class TestInAScope(TheSuite):
    """A scope next to another user's documents, which it must neither see nor touch."""

    @pytest.fixture
    def document_store(self, tmp_path: Path) -> Iterator[OneirosDocumentStore]:
        path = tmp_path / "documents.db"
        store = OneirosDocumentStore(path, scope={"user": "ada"})
        others = OneirosDocumentStore(path, scope={"user": "bob"})
        others.write_documents([Document(id="bob's", content="bob's", meta={"category": "A"})])
        yield store
        assert [document.id for document in others.filter_documents()] == ["bob's"]
        store.close()
        others.close()


@pytest.mark.parametrize("policy", [DuplicatePolicy.FAIL, DuplicatePolicy.SKIP])
def test_a_softly_deleted_document_is_replaced_by_overwriting_alone(
    policy: DuplicatePolicy,
) -> None:
    store = OneirosDocumentStore(":memory:", soft_delete=True)
    tea = Document(content="tea")
    store.write_documents([tea])
    store.delete_documents([tea.id])
    message = "exists, soft-deleted; restore it, or pass DuplicatePolicy.OVERWRITE to replace it"
    with pytest.raises(DuplicateDocumentError, match=message):
        store.write_documents([tea], policy)
    assert store.write_documents([tea], DuplicatePolicy.OVERWRITE) == 1
    assert store.count_documents() == 1
