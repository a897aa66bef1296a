"""The command line of the modules that fill a page of the documentation from kept results."""

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
    """Keep the results of a folder, if given, and fill the page; ``run`` describes the folder."""
    parser = argparse.ArgumentParser(description=f"Fill {page.name} from kept results.")
    parser.add_argument("folder", type=Path, nargs="?", help=f"folder of {run}")
    options = parser.parse_args(arguments)
    if options.folder is not None:
        keep(options.folder)
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
