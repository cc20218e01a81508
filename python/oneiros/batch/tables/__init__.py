"""Tables in the forms people hold them, each seen as columns; the answer has the same form."""

from __future__ import annotations

from oneiros.batch.tables.opening import open_table

__all__ = ["open_table"]
