"""CIAR's numbers in files, as its source lays them out. Source: docs/systems/ciar.md A9.

::

    ciar:
      lambda_decay: 0.0231
      alpha_reinforcement: 0.1
      promotion_threshold: 0.6
      presets:
        customer_service:
          lambda_decay: 0.1
          alpha_reinforcement: 0.05
          promotion_threshold: 0.7
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.argument_checks import file_name
from oneiros.ranking.factors import CiarDecay, CiarReinforcement
from oneiros.ranking.profile_record import require_keys
from oneiros.ranking.promotion import Promotion
from oneiros.ranking.settings_files import read_settings

if TYPE_CHECKING:
    import os

    from oneiros.ranking.profile import Profile

__all__ = ["read_presets"]

_NUMBERS: Final = ("lambda_decay", "alpha_reinforcement", "promotion_threshold")
_DEFAULT: Final = "default"


def read_presets(path: str | os.PathLike[str], ciar: Profile) -> dict[str, Profile]:
    """Return the presets that a file holds; ``default`` has the numbers that stand above them.

    Args:
        path: as :func:`read_settings` takes it.
        ciar: the profile whose numbers they replace. A number that a preset leaves out is that of
            ``default``; one that this leaves out, the profile's own.

    Raises:
        TypeError: a number of another type.
        ValueError: an unknown key, a number out of its range, what :func:`read_settings` refuses;
            the message names the file and the place in it.
        ImportError, OSError: as :func:`read_settings`.
    """
    settings = read_settings(file_name("path", path))
    where = f"{Path(path).name}: ciar"
    require_keys(settings, ("ciar",), Path(path).name)
    table = _table(settings.get("ciar"), where)
    require_keys(table, (*_NUMBERS, "presets"), where)
    numbers = {name: table[name] for name in _NUMBERS if name in table}
    presets = {_DEFAULT: _with_numbers(ciar, numbers, where)}
    for name, held in _table(table.get("presets", {}), f"{where}.presets").items():
        place = f"{where}.presets.{name}"
        own = _table(held, place)
        require_keys(own, _NUMBERS, place)
        if name in presets or not isinstance(name, str):
            msg = f"{place}: a preset's name is a word other than {_DEFAULT}"
            raise ValueError(msg)
        presets[name] = _with_numbers(ciar, {**numbers, **own}, place)
    return presets


def _with_numbers(ciar: Profile, numbers: Mapping[str, Any], where: str) -> Profile:
    made: dict[str, Any] = {}
    try:
        for name, kind, field in (
            ("lambda_decay", CiarDecay, "rate"),
            ("alpha_reinforcement", CiarReinforcement, "reinforcement"),
            ("promotion_threshold", Promotion, "threshold"),
        ):
            if name in numbers:
                made[field] = kind(**{field: numbers[name]})
    except (TypeError, ValueError) as error:
        msg = f"{where}.{name} ({error})"
        raise type(error)(msg) from error
    factors = (_replaced(factor, made) for factor in ciar.factors)
    return ciar.replace(factors=tuple(factors), promotion=made.get("threshold", ciar.promotion))


def _replaced(factor: Any, made: Mapping[str, Any]) -> Any:
    """Return the new factor of the same name, if there is one."""
    new = {held.name: held for field, held in made.items() if field != "threshold"}
    return new.get(factor.name, factor)


def _table(value: object, where: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        msg = f"{where}: expected a table, got {type(value).__name__}"
        raise TypeError(msg)
    return dict(value)
