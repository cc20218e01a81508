"""Ids by row and rows by id over a snapshot, beside a list and a dict."""

from pathlib import Path
from random import Random

import pytest

from oneiros import Engine
from oneiros.index.snapshot import FEWEST_ROWS
from oneiros.index.stored_rows import StoredIdsByRow, StoredRowsById, ids_of, rows_of

COUNT = FEWEST_ROWS + 500


@pytest.mark.parametrize("seed", range(3))
def test_they_are_a_list_and_a_dict(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    path = tmp_path / "mind.db"
    with Engine(path) as engine:
        engine.add_many([{"text": f"fact {n}", "id": f"id {n}"} for n in range(COUNT)])
    with Engine(path) as engine:
        kept = engine._scope.read_model.lifecycle.ids
        assert isinstance(kept, StoredIdsByRow), "no snapshot was opened"
        recent: dict[str, int] = {}
        ids = StoredIdsByRow(kept._stored, recent)
        row_of = StoredRowsById(kept._stored, recent)
        by_row = [f"id {n}" for n in range(COUNT)]
        by_id = {id: row for row, id in enumerate(by_row)}
        gone: list[str] = []
        for _ in range(600):
            action = random.random()
            if action < 0.1:  # erase, of the snapshot or later
                id = random.choice([id for id in by_row if id])
                row = by_id.pop(id)
                assert row_of.pop(id, None) == row
                ids[row] = by_row[row] = ""
                gone.append(id)
            elif action < 0.2:  # a new memory, perhaps with the id of an erased one
                id = random.choice(gone) if gone and random.random() < 0.5 else f"new {len(by_row)}"
                if id not in by_id:
                    by_id[id] = len(by_row)
                    row_of.update([(id, len(by_row))])
                    ids.extend([id])
                    by_row.append(id)
            end = len(by_row) if random.random() < 0.5 else COUNT
            rows = random.sample(range(end), 7)
            assert ids_of(ids, rows) == [by_row[row] for row in rows]
            asked = [by_row[row] for row in rows if by_row[row]] + gone[-1:] * (action < 0.5)
            assert rows_of(row_of, asked) == [by_id.get(id) for id in asked]
        assert list(ids) == by_row
        assert len(row_of) == len(by_id)
        assert gone
        assert ids_of(ids, []) == rows_of(row_of, []) == []
