"""Memory that reading a file may take, checked before anything is built.

Reading a file of n bytes takes at most 20 n + 200 MB. The parts of a file that could take more
are texts, which are compressed, the objects that a schema describes, and references: an object
or an array that is described once and named many times, or a shape without content.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from zipfile import ZipFile

import numpy as np

from ecselm._files import ARRAY, EMPTY_LIMIT, check_array, parsed_size
from ecselm.saving.archive import CARD, SCHEMA, is_archive

FIXED = 200_000_000  # bytes that reading any file may take
PER_BYTE = 20  # of the file
COPIES = 8  # of every byte: the file, its entries, the archive for skops, its buffers and arrays
TEXT_COPIES = 2  # of the schema, beside what is parsed: the archive for skops is not compressed
NODE_BYTES = 800  # of a described object in skops, and what is built of it
ESTIMATOR_BYTES = 3000  # skops lists all estimators of scikit-learn for each
DEPTH = 200  # of nested lists and objects; models have about 20
NESTED_LIMIT = 1 << 17  # items of arrays in arrays of objects, where each is an object
NESTED_BYTES = 32  # of a file, for each further one
CLASS_PAIR_BYTES = 160  # of cost constraints, which keep intervals of all pairs of classes
COLUMN_LIMIT = (1 << 31) - 1  # of sparse matrices: of hashed features


def check_memory(needed: int, n_bytes: int) -> None:
    """Raise ValueError if ``needed`` bytes are too many for a file of ``n_bytes``."""
    needed, allowed = needed + COPIES * n_bytes, FIXED + PER_BYTE * n_bytes
    if needed > allowed:
        raise ValueError(
            f"a file of {n_bytes} bytes must need at most {allowed / 1e6:.0f} MB of memory, "
            f"got a description of {needed / 1e6:.0f} MB"
        )


def check_texts(entries: dict[str, bytes], n_bytes: int) -> None:
    """Raise ValueError if parsing texts takes more than the memory for a file of ``n_bytes``.

    The card is among the texts: it is parsed by who loads the model.
    """
    check_memory(_text_memory(entries[SCHEMA]), n_bytes)
    check_memory(_text_memory(entries.get(CARD, b"")), n_bytes)


def parsed_schema(text: bytes, n_bytes: int) -> Any:
    """Return a schema, or raise ValueError if it is too deep or describes too many objects.

    Parameters
    ----------
    text : bytes
        Which has passed :func:`check_texts`.
    n_bytes : int
        Size of the file.
    """
    try:
        schema = json.loads(text)
    except RecursionError as error:
        raise ValueError(_too_deep()) from error
    level, depth, needed = [schema], 0, _text_memory(text)
    while level:
        depth += 1
        if depth > DEPTH:
            raise ValueError(_too_deep())
        for one in level:
            if isinstance(one, dict) and "__loader__" in one:
                needed += ESTIMATOR_BYTES if one["__loader__"] == "ObjectNode" else NODE_BYTES
        level = [part for one in level for part in _parts(one)]
    check_memory(needed, n_bytes)
    return schema


def check_references(schema: Any, entries: dict[str, bytes]) -> None:
    """Raise ValueError if a schema makes more of its entries than they are.

    Parameters
    ----------
    schema : dict
        Of skops, nested at most ``DEPTH`` levels deep.
    entries : dict of str to bytes
        Of the archive, by name.
    """
    arrays = {name: _n_items(entry, name) for name, entry in entries.items()}
    digests = {name: blake2b(entry, digest_size=16).digest() for name, entry in entries.items()}
    references = _References(arrays, digests)
    references.digest(schema)
    for name, owners in references.owners.items():
        if len(owners) > 1:
            raise ValueError(f"{name} must be the array of one object, got {len(owners)} objects")
    limit = NESTED_LIMIT + sum(map(len, entries.values())) // NESTED_BYTES
    if references.n_nested > limit:
        raise ValueError(
            f"arrays of objects must hold at most {limit} items of other arrays, "
            f"got {references.n_nested}"
        )


@dataclass(slots=True)
class _References:
    """A walk through a schema that collects what is named more than once."""

    arrays: dict[str, int]  # items, by name of the entry
    digests: dict[str, bytes]
    owners: dict[str, set[Any]] = field(default_factory=dict)  # by name of the entry
    described: dict[Any, bytes] = field(default_factory=dict)  # digest, by identity of an object
    n_nested: int = 0  # items of arrays in arrays of objects

    def digest(self, value: Any, nested: bool = False) -> bytes:
        """Return a digest of what a value describes, whatever the identities in it."""
        if not isinstance(value, dict | list):
            return repr(value).encode()
        made = blake2b(b"{" if isinstance(value, dict) else b"[", digest_size=16)
        if isinstance(value, list):
            for part in value:
                made.update(_framed(self.digest(part, nested)))
            return made.digest()
        # skops looks an object up by its identity, so that a short description of a list that
        # names itself or another twice could stand for exponentially many objects.
        nested = nested or (value.get("__loader__") == "NdArrayNode" and "content" in value)
        for key, part in value.items():
            if key == "file" and isinstance(part, str) and part in self.digests:
                self._own(value, part, nested)
                made.update(_framed(b"file") + self.digests[part])
            elif key != "__id__":
                made.update(_framed(key.encode("utf-8", "surrogatepass")))
                made.update(_framed(self.digest(part, nested)))
        if value.get("__loader__") == "TreeNode":
            self._check_tree(value)
        elif value.get("__loader__") == "JsonNode":
            _check_scalar(value["content"])
        found = made.digest()
        identity = value.get("__id__")
        if isinstance(identity, dict | list):
            raise ValueError("the identity of an object must be a number")  # noqa: TRY004
        if identity and self.described.setdefault(identity, found) != found:
            raise ValueError(f"object {identity!r} must be described alike wherever it stands")
        return found

    def _own(self, node: dict[str, Any], name: str, nested: bool) -> None:
        # An object without identity is read again for each place.
        owner = node.get("__id__") or object()
        self.owners.setdefault(name, set()).add(owner)
        if nested:
            self.n_nested += self.arrays[name]

    def _check_tree(self, node: dict[str, Any]) -> None:
        """Check the sizes of a tree: compiled code reads and allocates as much as they say."""
        _, classes, n_outputs = node["__reduce__"]["args"]["content"]
        state = node["content"]["content"]
        for size, array, what in (
            (n_outputs, classes, "outputs"),
            (state["node_count"], state["nodes"], "nodes"),
        ):
            claimed, stored = json.loads(size["content"]), self.arrays[array["file"]]
            if type(claimed) is not int or claimed != stored:
                raise ValueError(f"a tree must claim its {stored} {what}, got {claimed!r:.40}")


def _text_memory(text: bytes) -> int:
    return TEXT_COPIES * len(text) + parsed_size(text)


def _parts(value: Any) -> Iterator[Any]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (part for part in parts if isinstance(part, dict | list))


def _framed(digest: bytes) -> bytes:
    return len(digest).to_bytes(8, "little") + digest


def _n_items(entry: bytes, name: str) -> int:
    """Return the number of items of an array or a sparse matrix, checked."""
    if entry.startswith(ARRAY):
        return check_array(entry, name)
    if not is_archive(entry):
        return 0  # neither can be read
    n_items = 0
    with ZipFile(io.BytesIO(entry)) as archive:
        for inner in archive.namelist():
            content = archive.read(inner)
            n_items += check_array(content, f"{inner} in {name}")
            if inner == "shape.npy":
                _check_matrix(np.load(io.BytesIO(content), allow_pickle=False), entry, name)
    return n_items


def _check_matrix(shape: Any, entry: bytes, name: str) -> None:
    """Check the rows and columns that a sparse matrix claims, which take no bytes."""
    limits = max(EMPTY_LIMIT, len(entry)), COLUMN_LIMIT
    sizes = [int(size) for size in shape.ravel()[:3]] if shape.dtype.kind in "iu" else []
    if len(sizes) not in {1, 2} or any(
        not 0 <= size <= limit for size, limit in zip(sizes, limits, strict=False)
    ):
        raise ValueError(
            f"{name} of {len(entry)} bytes must be a matrix of at most {limits[0]} by {limits[1]} "
            f"items, got shape {shape.ravel()[:3].tolist()}"
        )


def _check_scalar(content: Any) -> None:
    """Check that a text is one value: lists and dicts are described part by part."""
    if not isinstance(content, str) or content.lstrip().startswith(("[", "{")):
        raise ValueError(f"a value in JSON must be a number or a text, got {content!r:.40}")


def _too_deep() -> str:
    return f"its description must be nested at most {DEPTH} levels deep, got more"
