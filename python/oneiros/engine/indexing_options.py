"""How a store's texts are indexed: as asked for, else as before, else as the profile has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_text
from oneiros.errors import StoreCorrupt
from oneiros.projections import LexicalOptions, Projections
from oneiros.ranking.declaration import require_number

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile
    from oneiros.store import Store

__all__ = ["checked_options", "recorded_options"]


def checked_options(**asked: object) -> dict[str, Any]:
    """What was asked of the lexical index, in the types of its options; None where nothing was."""
    default = LexicalOptions()
    for name, value in asked.items():
        if value is None:
            continue
        if isinstance(getattr(default, name), str):
            require_text(name, value)
        else:
            asked[name] = require_number(name, value, low=0.0)
    return asked


def recorded_options(store: Store, asked: dict[str, Any], profile: Profile) -> LexicalOptions:
    """What was asked, else what the store was last opened with, else the defaults.

    A store that holds nothing yet takes k1 and b from the profile.
    """
    recorded = store.settings()
    default = LexicalOptions()
    first = default if store.revision() else _options_of(profile)
    values: dict[str, Any] = {}
    changed: dict[str, str] = {}
    for name, given in asked.items():
        kind = type(getattr(default, name))
        held = recorded.get(name)
        own = getattr(first, name)
        is_own = given is None and held is None and own != getattr(default, name)
        value = own if is_own else given
        if value is not None:
            values[name] = kind(value)
            if held != str(values[name]):
                changed[name] = str(values[name])
        elif held is not None:
            try:
                values[name] = kind(held)
            except ValueError as error:
                msg = f"the store's setting {name} is no {kind.__name__}: {held!r}"
                raise StoreCorrupt(msg) from error
    options = LexicalOptions(**values)
    if changed:
        Projections(options).close()  # refuses what the core refuses, before it is recorded
        with store.write() as transaction:
            for name, text in changed.items():
                transaction.set_setting(name, text)
    return options


def _options_of(profile: Profile) -> LexicalOptions:
    """The options of a store that is made with this profile."""
    for channel in profile.channels:
        if channel.bm25 is not None:
            k1, b = channel.bm25
            return LexicalOptions(k1=k1, b=b)
    return LexicalOptions()
