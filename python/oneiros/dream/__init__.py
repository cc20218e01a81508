"""The dream cycle: memories strengthened, weakened, merged and forgotten, every change told.

A cycle runs the phases of a profile over a :class:`~oneiros.dream.draft.Draft` of the store; what
they changed is a plan; a plan is applied in one transaction, and can be undone.
"""
