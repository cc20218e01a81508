"""The dream cycle, which strengthens, weakens, merges and removes memories and reports each change.

A cycle runs the phases of a profile over a :class:`~oneiros.dream.draft.Draft` of the store. The
changes form a plan, which is applied in one transaction and can be undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.dream import apply as apply
    from oneiros.dream import cycles as cycles
    from oneiros.dream import drift as drift
    from oneiros.dream import history as history
    from oneiros.dream import impact as impact
    from oneiros.dream import page as page
    from oneiros.dream import schedule as schedule
    from oneiros.dream import undo as undo
else:
    __getattr__ = door(
        __name__, (*("apply", "cycles", "drift", "history", "impact", "page", "schedule", "undo"),)
    )
