"""Reading while something else is done."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

_NO_MORE = object()


def read_ahead(blocks: Generator[Any, None, None]) -> Iterator[Any]:
    """Yield blocks; while one is used, the next is read by another thread.

    Examples
    --------
    >>> list(read_ahead(block for block in "abc"))
    ['a', 'b', 'c']
    """
    with closing(blocks), ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, blocks, _NO_MORE)
        while (block := coming.result()) is not _NO_MORE:
            coming = reader.submit(next, blocks, _NO_MORE)
            yield block
