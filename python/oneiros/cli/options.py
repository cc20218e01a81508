"""Options that several commands share, and the store, profiles and embedder that they name."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from oneiros import filters
from oneiros.cli.failures import CommandError, blamed_on, renamed
from oneiros.engine import QuietEngine
from oneiros.errors import EmbedderMismatch, EngineReadOnly
from oneiros.lexical import analyzers
from oneiros.model.zones import checked_zone
from oneiros.models import named
from oneiros.models.embedders import name_of
from oneiros.scoring import profiles
from oneiros.scoring.profile import Profile

if TYPE_CHECKING:
    from datetime import tzinfo

    from oneiros.engine import Engine
    from oneiros.engine.memories import Memories
    from oneiros.filters import Where
    from oneiros.models.embedders import Embedder

__all__ = [
    "DEFAULT_STORE",
    "PROFILE_HELP",
    "AnalyzerOption",
    "EmbedderOption",
    "JsonOption",
    "NowOption",
    "PlainOption",
    "ProfileOption",
    "ScopeOption",
    "StoreOption",
    "TimezoneOption",
    "YesOption",
    "bounded",
    "bounds_of",
    "condition_of",
    "each_field",
    "embedder_of",
    "existing",
    "named_profile",
    "opened",
    "opened_scope",
    "quiet_engine",
    "read_toml",
    "require_analyzer",
    "without_vector",
    "zone_of",
]


PROFILE_HELP = "A name, NAME:PRESET, a .toml file, or FILE:PRESET."
_FILES = (".toml", ".yaml", ".yml")


def named_profile(option: str, written: str) -> Profile:
    """Return the profile of a name, of ``name:preset``, of a TOML file, or of presets in a file.

    Raises:
        CommandError: there is none; what the profile's own rules refuse, in their words.
    """
    name, _, preset = written.rpartition(":") if ":" in written else (written, "", "")
    if name.endswith(_FILES) and not Path(name).is_file():
        msg = f"{option}: {name}: no such file"
        raise CommandError(msg)
    with blamed_on(option, (CommandError, TypeError, ValueError)):
        if name.endswith(_FILES):
            return _from_file(Path(name), preset)
        if preset:
            return profiles.get(name, preset=preset).replace(name=f"{name}-{preset}")
        return profiles.get(name)


def _from_file(path: Path, preset: str) -> Profile:
    if preset:
        presets = profiles.presets_from(path)
        if preset not in presets:
            msg = f"{path}: no preset {preset!r}; known: {', '.join(presets)}"
            raise ValueError(msg)
        return presets[preset].replace(name=f"ciar-{preset}")
    with _blamed_on_line(path):
        text = path.read_text(encoding="utf-8-sig")
        try:
            return Profile.from_toml(text)
        except tomllib.TOMLDecodeError:
            raise
        except (TypeError, ValueError) as error:
            msg = f"{path}: {error}"
            raise ValueError(msg) from error


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file, and what it holds.

    Raises:
        CommandError: it is no UTF-8 or no TOML; the message names file and line.
    """
    with _blamed_on_line(path):
        text = path.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)


@contextmanager
def _blamed_on_line(path: Path) -> Iterator[None]:
    """Report a TOML file that cannot be read as a :class:`CommandError` with the line."""
    try:
        yield
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        line = int(at[1]) if at else path.read_bytes().count(b"\n") + 1
        msg = f"{path}:{line}: not TOML: {_LINE.sub('', str(error)).strip()}"
        raise CommandError(msg) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        msg = f"{path}:{line}: not UTF-8"
        raise CommandError(msg) from error
    except RecursionError as error:
        msg = f"{path}: nested too deeply"
        raise CommandError(msg) from error


_LINE: Final = re.compile(r"\(at line (\d+), column (\d+)\)$")
DEFAULT_STORE = Path("oneiros.db")

StoreOption = Annotated[
    Path,
    typer.Option(
        "--store", "-s", envvar="ONEIROS_STORE", metavar="FILE", help="File of the store."
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        envvar="ONEIROS_PROFILE",
        metavar="PROFILE",
        help=f"Rank by this. {PROFILE_HELP}",
        show_default=False,
    ),
]
ScopeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        envvar="ONEIROS_SCOPE",
        metavar="FIELD=VALUE",
        help="Only memories with this user, agent, namespace, project, session or topic; new ones "
        "get it. May be given again.",
        show_default=False,
    ),
]


def _require_one_form(context: typer.Context, is_given: bool) -> bool:
    """Refuse --json together with --plain, whichever is read last."""
    if is_given and (context.params.get("plain") or context.params.get("json")):
        msg = "--plain, --json: only one of them"
        raise CommandError(msg)
    return is_given


PlainOption = Annotated[
    bool,
    typer.Option(
        "--plain",
        callback=_require_one_form,
        help="Lines of cells between tabs, uncut; the first has names.",
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        envvar="ONEIROS_EMBEDDER",
        metavar="EMBEDDER",
        help="hashing (in the box), static:MODEL, onnx:FOLDER, model2vec:MODEL, "
        "sentence-transformers:MODEL, or module:attribute for one of your own.",
        show_default=False,
    ),
]
AnalyzerOption = Annotated[
    str | None,
    typer.Option(
        "--analyzer",
        envvar="ONEIROS_ANALYZER",
        help="The texts' language in English (german, ...), or simple, code, cjk. "
        "Default: as the store has it, at first english.",
        show_default=False,
    ),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        envvar="ONEIROS_TIMEZONE",
        help="Whose days and hours a question names, and whose days are shown: Europe/Berlin. Default: UTC.",
        show_default=False,
    ),
]
NowOption = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="The clock: ISO 8601 with an offset, or seconds."),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=_require_one_form,
        help="One JSON document on stdout instead of text.",
    ),
]


def existing(path: Path) -> Path:
    """Return the path of a store that is there: reading must never create one.

    Raises:
        CommandError: no such file, or nothing is in it.
    """
    if not path.is_file():
        msg = f"{path}: no such store (--store or ONEIROS_STORE names it)"
        raise CommandError(msg)
    if not path.stat().st_size:  # opened, it would become a store
        msg = f"{path}: no store: the file is empty"
        raise CommandError(msg)
    return path


def condition_of(where: str | None, **named: list[str] | None) -> Where | None:
    """Return the filter of the options, all of which must hold; None without any.

    Raises:
        CommandError: what the filter's own rules refuse, in their words.
    """
    given = {name: values for name, values in named.items() if values}
    if where is None and not given:
        return None
    with blamed_on("--where"):
        condition = filters.where(**given)  # type: ignore[arg-type]
        return condition if where is None else condition & _from_json(where)


def _from_json(where: str) -> Where:
    try:
        return filters.Where.from_json(where)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).removeprefix("where: ")) from error


def embedder_of(given: str) -> Embedder:
    """Return the embedder that an option names.

    Args:
        given: a name of :func:`oneiros.models.named.make`, such as ``hashing``, or
            ``module:attribute``: an embedder, or a class of embedders that are made without arguments. Modules are found
            in the working directory too.

    Raises:
        CommandError: there is none of this name, it cannot be loaded, or is no embedder.
    """
    kind, _, name = given.partition(":")
    with blamed_on("--embedder", _UNUSABLE):
        if kind in _KINDS:
            try:
                return named.make(given)
            except ValueError as error:
                msg = str(error).removeprefix("embedder: ")
                raise ValueError(msg) from error
        if not kind or not name:
            msg = f"must be {', '.join(named.FORMS)} or module:attribute, got {given!r}"
            raise ValueError(msg)
        made = _of_module(kind, name)
        name_of(made)
    return made


_UNUSABLE: Final = (ImportError, AttributeError, TypeError, ValueError, OSError)
_KINDS: Final = frozenset(form.partition(":")[0] for form in named.FORMS)


def _of_module(module: str, attribute: str) -> Embedder:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that no file there hides an installed module
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    made: Embedder = found() if isinstance(found, type) else found
    return made


@contextmanager
def opened(
    path: Path,
    analyzer: str | None = None,
    embedder: Embedder | None = None,
    timezone: str | None = None,
) -> Iterator[Engine]:
    """Open the engine over the store, and close it whatever happens in the block.

    A store that cannot be written, as on a disk that is only read, is opened to be read.

    Args:
        path: the store's file.
        analyzer: for its words from now on; None: as before.
        embedder: for texts without a vector; None: the store's own if that needs no model, else
            none, without a warning.
        timezone: whose days a question names; None: UTC.

    Raises:
        CommandError: no such analyzer or time zone, or the analyzer's package is not installed; or
            the command writes, and the store cannot be written.
    """
    require_analyzer(analyzer)
    zone = zone_of(timezone)
    is_protected = path.exists() and not (
        os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    )
    with quiet_engine(
        path, embedder, analyzer=analyzer, timezone=zone, read_only=is_protected
    ) as engine:
        try:
            yield engine
        except EngineReadOnly as error:
            msg = f"{path}: the file or its folder cannot be written"
            raise CommandError(msg) from error


def require_analyzer(name: str | None) -> None:
    """Require the name of an analyzer that can be made, or None.

    Raises:
        CommandError: no such analyzer, or its package is not installed.
    """
    if name is not None:
        with blamed_on("--analyzer", (ValueError, ImportError)):
            analyzers.make(name)


def zone_of(name: str | None) -> tzinfo | None:
    """Return the time zone of a name; None of None.

    Raises:
        CommandError: the system knows no such zone.
    """
    with blamed_on("--timezone"):
        try:
            return checked_zone(name)
        except ValueError as error:
            raise ValueError(str(error).removeprefix("timezone: ")) from error


def quiet_engine(path: Path, embedder: Embedder | None, **options: Any) -> QuietEngine:
    """Return an open engine; without an embedder, with the store's own if that needs no model.

    Args:
        path: the store's file.
        embedder: for texts without a vector; None: the store's own if that needs no model, else
            none, without a warning.
        **options: further arguments of the engine.

    Raises:
        CommandError: the path is that of a folder, a device or a pipe, or the store's vectors are
            those of another embedder.
    """
    try:
        with renamed("path", "--store"):
            engine = QuietEngine(path, embedder=embedder, **options)
    except EmbedderMismatch as error:
        names = str(error).removeprefix("embedder: ").partition("; open it")[0]  # then for Python
        msg = f"--embedder: {names}; oneiros embed --replace replaces all vectors"
        raise CommandError(msg) from error
    of_the_box = named.is_of_the_box(engine.embedder_name)
    if embedder is not None or of_the_box is None:
        return engine
    engine.close()
    return QuietEngine(path, embedder=of_the_box, **options)


@contextmanager
def opened_scope(
    path: Path,
    scope: list[str] | None,
    embedder: str | None = None,
    analyzer: str | None = None,
    timezone: str | None = None,
) -> Iterator[Memories]:
    """Open the memories of a store that ``--scope`` leaves; all of them without it.

    Args:
        path: the store's file.
        scope: the values of the option.
        embedder: the value of ``--embedder``; None: as for :func:`opened`.
        analyzer: the value of ``--analyzer``; None: the store's.
        timezone: the value of ``--timezone``; None: UTC.

    Raises:
        CommandError: what the engine says of the scope, the embedder, the analyzer or the zone.
    """
    bounds = bounds_of(scope)
    model = None if embedder is None else embedder_of(embedder)
    with opened(path, analyzer, model, timezone) as engine:
        yield bounded(engine, bounds)


def bounds_of(scope: list[str] | None) -> dict[str, str]:
    """Return the fields and values of ``--scope FIELD=VALUE``.

    Raises:
        CommandError: no "=", a field twice, one that bounds no scope, or a value it refuses.
    """
    return dict(each_field("--scope", scope))


def each_field(option: str, given: list[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the field and the value of each FIELD=VALUE of an option.

    Raises:
        CommandError: no "=", or a field twice.
    """
    names: set[str] = set()
    for written in given or ():
        name, sign, value = written.partition("=")
        if not sign or name in names:
            msg = f"{option}: expected FIELD=VALUE, each field once, got {written!r}"
            raise CommandError(msg)
        names.add(name)
        yield name, value


def bounded(engine: Engine, bounds: dict[str, str]) -> Memories:
    """Return the engine's memories within bounds.

    Raises:
        CommandError: what the engine says of the bounds.
    """
    with blamed_on("--scope"):
        return engine.scope(**bounds) if bounds else engine


def without_vector(count: int) -> str:
    """Return the line that says how many memories of a store lack a vector."""
    if count == 1:
        return "1 memory lacks a vector: searches find it by words alone (oneiros embed)"
    return f"{count} memories lack a vector: searches find them by words alone (oneiros embed)"
