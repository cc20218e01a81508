"""The tests of LangGraph's own stores pass over an engine.

The archives with the tests are downloaded once a session:

    python -m pip download --no-deps --dest FOLDER \
        --no-binary langgraph-checkpoint,langgraph-checkpoint-sqlite \
        langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2

``ONEIROS_LANGGRAPH_ARCHIVES=FOLDER`` names a folder that has them already.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WHY = "needs LangGraph: pip install -r tests/integrations/langgraph/requirements.txt"
pytest.importorskip("langgraph.store.base", reason=WHY)

from tests.integrations.langgraph import peers

SQL = "tests the SQL of SqliteStore"
EXCLUDED = {
    "test_sqlite_store::test_nonnull_migrations": SQL,
    "test_sqlite_store::test_escape_glob_literal": SQL,
    "test_sqlite_store::test_namespace_match_pattern": SQL,
    "test_sqlite_store::test_list_namespaces_prefix_uses_indexable_condition": SQL,
    "test_sqlite_store::test_vector_store_initialization": "looks for tables of SqliteStore",
    "test_sqlite_store::test_sql_injection_vulnerability": (
        "expects an error for a key with quotes, which is a key like any other here: "
        "test_store.py::test_a_key_is_not_code"
    ),
    "test_async_sqlite_store::test_no_running_loop": (
        "expects an error of sync methods in an event loop; here they work"
    ),
    "test_ttl::test_ttl_sweeper": "starts a thread that sweeps; here expired items are hidden at once",
    "test_ttl::test_async_ttl_sweeper": "as test_ttl_sweeper",
    "test_ttl::test_ttl_override_default": (
        "reads an item of 5 seconds after 2 and expects it gone after 6: SqliteStore does not refresh "
        "on reads by default, while TTLConfig documents that they do: "
        "test_store.py::test_reads_refresh_by_default"
    ),
}
"""Tests that are left out, each with the reason."""

USING = 160
"""Number of cases that use the store: they fail over one that stores nothing, and pass over ours."""

IDLE = {
    "test_async_sqlite_store::test_large_batches_async",
    "test_async_sqlite_store::test_vector_search_with_filters",
    "test_async_sqlite_store::test_vector_store_initialization",
    "test_memory_store::test_async_batch_store",
    "test_memory_store::test_async_batch_store_handles_cancellation",
    "test_memory_store::test_async_rejects_invalid_namespace_labels",
    "test_memory_store::test_dedupe_ops_maps_repeated_reads_and_puts_to_one_op",
    "test_memory_store::test_get_text_at_path",
    "test_memory_store::test_get_text_at_path_with_non_dict_mapping",
    "test_memory_store::test_list_namespaces_empty_store",
    "test_memory_store::test_rejects_invalid_namespace_labels",
    "test_memory_store::test_validate_op_namespace_allows_empty_prefix_and_wildcards",
    "test_memory_store::test_validate_op_namespace_rejects_invalid_labels",
    "test_memory_store::test_vector_store_initialization",
}
"""Tests that say nothing of a store: every case passes over the one that stores nothing."""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get("ONEIROS_LANGGRAPH_ARCHIVES")
    if named:
        return Path(named)
    folder = tmp_path_factory.mktemp("archives")
    command = (sys.executable, *peers.DOWNLOAD, "--dest", str(folder))
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def found(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What each case does over our store and over the one that stores nothing."""
    folder = tmp_path_factory.mktemp("peers")
    peers.write_tests(folder, archives)
    return peers.outcomes(folder)


def test_every_case_that_is_not_left_out_passes(found: dict[str, dict[str, str]]) -> None:
    wrong = {
        case: outcome
        for case, outcome in found["oneiros"].items()
        if outcome != "passed" and case.partition("[")[0] not in EXCLUDED
    }
    assert wrong == {}
    names = {case.partition("[")[0] for case in found["oneiros"]}
    assert set(EXCLUDED) <= names, "a test that is left out has another name by now"


def test_a_store_that_stores_nothing_fails(found: dict[str, dict[str, str]]) -> None:
    using = [
        case
        for case, outcome in found["null"].items()
        if outcome != "passed" and case.partition("[")[0] not in EXCLUDED
    ]
    assert len(found["oneiros"]) == len(found["null"])
    assert len(using) == USING
    names = {case.partition("[")[0] for case in found["null"]}
    assert names - {case.partition("[")[0] for case in using} - set(EXCLUDED) == IDLE
