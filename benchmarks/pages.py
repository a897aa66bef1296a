"""What all commands share that fill a page of the docs from kept results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path


def fill_page(
    page: Path,
    keep: Callable[[Path], None],
    filled: Callable[[str], str],
    run: str,
    arguments: Sequence[str] | None = None,
) -> None:
    """Keep a run if one is named, and fill the page; ``run`` says what the folder is of."""
    parser = argparse.ArgumentParser(description=f"Fill {page.name} from kept results.")
    parser.add_argument("folder", type=Path, nargs="?", help=f"of {run}")
    options = parser.parse_args(arguments)
    if options.folder is not None:
        keep(options.folder)
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
