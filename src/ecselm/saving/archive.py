"""Read and write zip archives whose unpacked size is bounded by the size of the file.

Arrays are stored uncompressed, so that the size of a file bounds the memory it needs. Only
texts are compressed, and their size is limited separately.
"""

from __future__ import annotations

import io
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

SCHEMA = "schema.json"  # as skops calls it
HEADER = "ecselm.json"
CARD = "card.json"
TEXTS = frozenset({SCHEMA, HEADER, CARD})
TEXT_LIMIT = 1 << 26  # 64 MiB; schemas of forests are the longest, with some KiB for each tree


def packed(entries: dict[str, bytes], texts: frozenset[str] = TEXTS) -> bytes:
    """Return an archive, with ``texts`` compressed.

    Examples
    --------
    >>> unpacked(packed({"card.json": b"{}", "a.npy": b"123"}))
    {'card.json': b'{}', 'a.npy': b'123'}
    """
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            compression = ZIP_DEFLATED if name in texts else ZIP_STORED
            _check_entry(name, len(content), compression)
            archive.writestr(name, content, compression)
    return buffer.getvalue()


def text_of(content: bytes, name: str) -> bytes:
    """Return one text of an archive, without reading other entries."""
    with ZipFile(io.BytesIO(content)) as archive:
        return _entry(archive, archive.getinfo(name))


def unpacked(content: bytes) -> dict[str, bytes]:
    """Return the entries of an archive, or raise if it is damaged or unpacks to more bytes."""
    entries: dict[str, bytes] = {}
    stored, texts = 0, 0
    with ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            _check_entry(info.filename, info.file_size, info.compress_type)
            if info.filename in TEXTS:
                texts += info.file_size
                _check_entry("texts", texts, ZIP_STORED)
            else:
                stored += info.file_size
            if info.filename in entries or stored > len(content):
                raise ValueError("entries must not overlap")
            entries[info.filename] = _entry(archive, info)
            _check_inner(entries[info.filename])
    return entries


def with_plain_inside(content: bytes) -> dict[str, bytes]:
    """Return the entries of an archive of skops, with inner archives repacked uncompressed."""
    with ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return {
        name: packed(with_plain_inside(entry), frozenset()) if is_archive(entry) else entry
        for name, entry in entries.items()
    }


def _entry(archive: ZipFile, info: ZipInfo) -> bytes:
    _check_entry(info.filename, info.file_size, info.compress_type)
    with archive.open(info) as file:
        return file.read(info.file_size)  # never more than declared


def _check_entry(name: str, size: int, compression: int) -> None:
    if name in {*TEXTS, "texts"} and size > TEXT_LIMIT:
        raise ValueError(f"{name} must have at most {TEXT_LIMIT} bytes, got {size}")
    if compression != ZIP_STORED and not (name in TEXTS and compression == ZIP_DEFLATED):
        raise ValueError(f"{name} must not be compressed")


def _check_inner(entry: bytes) -> None:
    """Raise ValueError if an inner archive (a sparse matrix) unpacks to more bytes."""
    if is_archive(entry):
        with ZipFile(io.BytesIO(entry)) as archive:
            infos = archive.infolist()
        if any(info.compress_type != ZIP_STORED for info in infos):
            raise ValueError("matrices must not be compressed")
        if sum(info.file_size for info in infos) > len(entry):
            raise ValueError("entries must not overlap")


def is_archive(entry: bytes) -> bool:
    """Return whether an entry is an archive itself: a sparse matrix."""
    return entry.startswith(b"PK")
