"""Embedders by name, as ``Engine(..., embedder="hashing")`` and ``--embedder`` take them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

from oneiros.models.embedders import is_of_spelling
from oneiros.models.hashing import DEFAULT_DIMENSIONS, HashingEmbedder

if TYPE_CHECKING:
    from oneiros.models.embedders import Embedder

__all__ = ["FORMS", "STATIC_MODEL", "is_of_the_box", "made", "make"]

STATIC_MODEL: Final = "ONEIROS_STATIC_MODEL"
"""The environment variable that holds the model of "static"."""

FORMS: Final = (
    "hashing",
    "hashing:DIMENSIONS",
    "static",
    "static:MODEL",
    "model2vec:MODEL",
    "onnx:FOLDER",
    "sentence-transformers:MODEL",
)
"""The names that :func:`make` accepts, with words for what varies."""

_ADAPTERS: Final = {  # kind -> module of this package, class
    "static": ("model2vec", "Model2VecEmbedder"),
    "model2vec": ("model2vec", "Model2VecEmbedder"),
    "onnx": ("onnx", "OnnxEmbedder"),
    "sentence-transformers": ("sentence_transformers", "SentenceTransformerEmbedder"),
}


def made(embedder: Embedder | str) -> Embedder:
    """Return the embedder of a name, and an embedder as it is.

    Raises:
        ValueError, ImportError, OSError: as :func:`make`.
    """
    return make(embedder) if isinstance(embedder, str) else embedder


def make(name: str) -> Embedder:
    """Return a new embedder.

    Args:
        name: "hashing" (512 dimensions) or "hashing:1024", which need no model;
            "static:FOLDER" for a Model2Vec model, or "static" for the one that the environment
            variable ONEIROS_STATIC_MODEL names; "model2vec:MODEL", "onnx:FOLDER" or
            "sentence-transformers:MODEL" for the adapters of those libraries, each behind the extra
            of its name ("static": model2vec).

    Raises:
        ValueError: no embedder has this name, or "static" has no model.
        ImportError: the library is not installed; the message says what to install.
        OSError: the model cannot be read.

    Examples:
        >>> from oneiros.models import named
        >>> named.make("hashing").name
        'oneiros/hashing-1-512'
    """
    kind, colon, model = name.partition(":")
    if kind == "hashing" and (model or not colon):
        return HashingEmbedder(_dimensions(model) if colon else DEFAULT_DIMENSIONS)
    if kind == "static" and not colon:
        model = _static_model()
    if kind not in _ADAPTERS or not model:
        known = ", ".join(map(repr, FORMS))
        msg = f"embedder: must be a callable list[str] -> array or one of {known}, got {name!r}"
        raise ValueError(msg)
    module, adapter = _ADAPTERS[kind]
    embedder: Embedder = getattr(import_module(f"oneiros.models.{module}"), adapter)(model)
    return embedder


def is_of_the_box(recorded_name: str | None) -> str | None:
    """Return the name by which :func:`make` makes a recorded embedder without a model, or None.

    Args:
        recorded_name: of the embedder that made a store's vectors, as the store records it.

    Examples:
        >>> from oneiros.models import named
        >>> named.is_of_the_box("oneiros/hashing-1-256")
        'hashing:256'
    """
    if recorded_name is None or not is_of_spelling(recorded_name):
        return None
    dimensions = recorded_name.rpartition("-")[2]
    try:
        name = f"hashing:{dimensions}"
        return name if make(name).name == recorded_name else None  # type: ignore[attr-defined]
    except ValueError:
        return None  # of another version


def _dimensions(written: str) -> int:
    if not (written.isascii() and written.isdigit()):
        msg = f"embedder: 'hashing:' needs a number of dimensions, got {written!r}"
        raise ValueError(msg)
    try:
        return HashingEmbedder(int(written)).dimensions
    except ValueError as error:
        msg = f"embedder: 'hashing:{written}': {error}"
        raise ValueError(msg) from error


def _static_model() -> str:
    model = os.environ.get(STATIC_MODEL, "")
    if not model:
        msg = (
            "embedder: 'static' needs a Model2Vec model at hand: name its folder, as in "
            f"'static:FOLDER', or set {STATIC_MODEL} (and pip install 'oneiros[model2vec]')"
        )
        raise ValueError(msg)
    return model
