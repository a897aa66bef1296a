"""Save and load fitted models without executing anything from a file."""

from __future__ import annotations

import json
import os
import pickle as pickling
import re
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ecselm._files import read_whole, write_whole
from ecselm._json import parsed_json
from ecselm._wording import brief
from ecselm.estimators._array_api import check_numpy_model
from ecselm.saving.archive import CARD, HEADER, SCHEMA, packed, text_of, unpacked, with_plain_inside
from ecselm.saving.budget import check_references, check_texts, parsed_schema
from ecselm.saving.checks import (
    build,
    check_constraints,
    check_known_costs,
    check_parameters,
    check_sound,
    known_object,
    refused_by_skops,
    refused_types,
)
from ecselm.saving.plain import from_plain, to_plain

FORMAT = 3  # of files; raised when a stored class changes its fields or their meaning
VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,60}", re.ASCII)  # the characters of PEP 440
HEADER_LIMIT = 10_000  # bytes; it holds two versions
PICKLED = b"ecselm pickle "  # a line with the header follows, then the pickle
EXECUTES = "reading a pickle executes whatever is in it: read it only if you trust who wrote it"


class UntrustedFileWarning(UserWarning):
    """A pickle is written or read; reading it can execute arbitrary code."""


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model from a file.

    Attributes
    ----------
    model : estimator
    card : str or None
        The JSON text that was saved with the model.
    version : str
        Version of ecselm that wrote the file.
    """

    model: Any
    card: str | None
    version: str


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    card: str | None = None,
    pickle: bool = False,
) -> None:
    """Save a fitted model to a file from which nothing is executed.

    The file is replaced atomically. The state of ``partial_fit`` is omitted, and with it the
    training rows, except those that are part of the model: the rows of a kernel and the
    centres of radial basis units.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or of scikit-learn with one inside.
    path : str or path
        The file, usually ``*.skops``.
    card : str, default=None
        JSON text to save with the model, such as the card of ``ecselm fit``.
    pickle : bool, default=False
        Write a pickle, which can hold any object, including your own functions. Loading
        a pickle executes arbitrary code.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ecselm import ELMClassifier
    >>> model = ELMClassifier(5, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "small.skops")
    ...     load_model(Path(folder) / "small.skops").model.predict([[0.0], [2.0]])
    array([0, 1])
    """
    _check_path(path)
    _check_arguments(model, card)
    if pickle:
        warnings.warn(EXECUTES, UntrustedFileWarning, stacklevel=2)
    else:
        check_numpy_model(model, "save_model without pickle=True")
    write_whole(Path(path), (_pickled if pickle else _archived)(model, card))


def load_model(path: str | os.PathLike[str], *, pickle: bool = False) -> SavedModel:
    """Load a model saved by :func:`save_model`.

    A file that contains any other type is refused with the names of these types, and nothing
    in it is executed.

    Parameters
    ----------
    path : str or path
    pickle : bool, default=False
        Allow pickles of :func:`save_model`. Only for files from a trusted source.

    Returns
    -------
    saved : SavedModel
        With ``model``, ``card`` and ``version``.
    """
    _check_path(path)
    try:
        content = read_whole(Path(path))
    except OSError as error:
        raise ValueError(
            f"path must be a file that can be read, got {str(path)!r}: {error.strerror}"
        ) from error
    try:
        if content.startswith((PICKLED, b"\x80")):
            return _from_pickle(content, allowed=pickle)
        return _from_archive(content)
    except Warning:
        raise
    except Exception as error:  # a hostile file may raise anything
        raise ValueError(
            f"path must be a model that save_model has written, got {str(path)!r}: "
            f"{_one_line(error)}"
        ) from error


def _check_path(path: str | os.PathLike[str]) -> None:
    if "\0" in os.fspath(path):
        raise ValueError(f"path must not hold the character NUL, got {str(path)!r}")


def _check_arguments(model: Any, card: str | None) -> None:
    if not isinstance(model, BaseEstimator):
        raise ValueError(  # noqa: TRY004  as for any value
            f"model must be a fitted estimator, got {type(model).__name__}"
        )
    check_is_fitted(model)
    if card is not None and not isinstance(card, str):
        raise ValueError(f"card must be JSON text or None, got {type(card).__name__}")


def _header() -> bytes:
    return json.dumps({"format": FORMAT, "ecselm": version("ecselm")}).encode()


def _written_by(header: bytes) -> str:
    """Return the version in a header, or raise ValueError for another format."""
    if len(header) > HEADER_LIMIT:
        raise ValueError(f"its header must have at most {HEADER_LIMIT} bytes, got {len(header)}")
    stored = parsed_json(header)
    number, theirs = stored["format"], stored["ecselm"]
    if type(number) is not int or number < 1 or type(theirs) is not str:
        raise ValueError("its header is damaged")
    if not VERSION.fullmatch(theirs):  # which messages print
        raise ValueError(f"its header must name a version of ecselm, got {theirs[:40]!a}")
    if number > FORMAT:
        raise ValueError(
            f"it has format {number} of ecselm {theirs}, and this is ecselm {version('ecselm')}, "
            f"which reads formats up to {FORMAT}; install a newer one"
        )
    if number < FORMAT:
        raise ValueError(
            f"it has format {number} of ecselm {theirs}, whose classes have moved since: "
            f"ecselm {version('ecselm')} reads format {FORMAT}; fit the model again"
        )
    return theirs


def _archived(model: Any, card: str | None) -> bytes:
    import skops.io  # noqa: PLC0415  slow to import

    check_parameters(model)
    try:
        check_sound(model)  # as load_model will
        check_constraints(model)
        plain = to_plain(model)
        archive = skops.io.dumps(plain)
        entries = with_plain_inside(archive)
        refused = refused_types(json.loads(entries[SCHEMA])) or refused_by_skops(archive)
    except Exception as error:  # foreign objects may raise anything
        raise ValueError(_needs_pickle(_one_line(error))) from error
    if refused:
        raise ValueError(_needs_pickle(", ".join(refused)))
    texts = {HEADER: _header()} | ({} if card is None else {CARD: card.encode()})
    content = packed(texts | entries)
    try:
        check_texts(texts | entries, len(content))  # as load_model will
        parsed_schema(entries[SCHEMA], len(content))
        check_known_costs(plain, len(content))
    except ValueError as error:
        raise ValueError(f"model must fit the limits of a file: {error}") from error
    return content


def _needs_pickle(what: str) -> str:
    return f"model must hold nothing that needs a pickle, got {what}; pickle=True writes one"


def _pickled(model: Any, card: str | None) -> bytes:
    try:
        return PICKLED + _header() + b"\n" + pickling.dumps((model, card))
    except Exception as error:  # as above
        raise ValueError(f"model must be possible to pickle, got {_one_line(error)}") from error


def _from_archive(content: bytes) -> SavedModel:
    theirs = _written_by(text_of(content, HEADER))
    entries = unpacked(content)
    check_texts(entries, len(content))
    card = entries.pop(CARD, None)
    schema = parsed_schema(entries.pop(SCHEMA), len(content))
    _refuse(refused_types(schema))
    check_references(schema, entries)
    model = known_object(schema, entries)
    if model is None:
        # skops gets exactly the schema and the entries that were checked.
        archive = packed({**entries, SCHEMA: json.dumps(schema).encode()}, frozenset())
        del schema, entries  # skops makes its own of them
        _refuse(refused_by_skops(archive))
        model = build(archive)
    check_sound(model)
    check_known_costs(model, len(content))
    model = from_plain(model)
    check_constraints(model)
    return SavedModel(model, None if card is None else card.decode(), theirs)


def _refuse(types: list[str]) -> None:
    if types:
        raise ValueError(
            f"it asks for what no model is made of, {', '.join(types)}, and was not read further"
        )


def _from_pickle(content: bytes, *, allowed: bool) -> SavedModel:
    if not allowed:
        raise ValueError(f"it is a pickle, and {EXECUTES}, by pickle=True")
    if not content.startswith(PICKLED):
        raise ValueError("it is a pickle of something else")
    header, _, pickled = content.removeprefix(PICKLED).partition(b"\n")
    theirs = _written_by(header)
    warnings.warn(EXECUTES, UntrustedFileWarning, stacklevel=3)
    model, card = pickling.loads(pickled)  # noqa: S301  allowed by the caller
    return SavedModel(model, card, theirs)


def _one_line(error: Exception) -> str:
    return brief(str(error), 500) or type(error).__name__
