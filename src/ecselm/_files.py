"""Atomic writing of files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file by ``content``; on an error the old file stays."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` at the end of the block.

    On an error the old file stays.
    """
    part = path.with_name(
        f".{path.name}.{uuid4().hex}.part"
    )  # another process may write the same file
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
        with contextlib.suppress(OSError):  # there is nothing to remove if it could not be created
            part.unlink(missing_ok=True)
