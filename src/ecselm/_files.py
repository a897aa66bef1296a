"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of the file, which survives whatever goes wrong."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a file to be written bit by bit, which takes the place of ``path`` in the end.

    If anything goes wrong on the way, what was at ``path`` stays.
    """
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")  # others may write the same
    try:
        part.touch(exist_ok=False)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise ValueError(
            f"path must be a file that can be written to, got {str(path)!r}: "
            f"{error.strerror or error}"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # where nothing was written, there is nothing left
            part.unlink(missing_ok=True)
