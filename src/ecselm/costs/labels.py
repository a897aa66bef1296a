"""Class labels as a person writes them, found among the classes of the data."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, IntArray


def label_codes(labels: Sequence[Any], classes: AnyArray, name: str) -> IntArray:
    """Return the position in ``classes`` of each label; ``name`` is the parameter at fault."""
    positions = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in labels if _plain(label) not in positions]
    if unknown:
        raise ValueError(
            f"{name} must name classes of y, {list(positions)}, got {unknown[0]!r}"
            + _suggestion(unknown[0], list(positions))
        )
    return np.array([positions[_plain(label)] for label in labels], dtype=np.intp)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _suggestion(label: Any, known: list[Any]) -> str:
    by_text = {str(name): name for name in known}
    close = get_close_matches(str(label), list(by_text), n=1)
    return f"; did you mean {by_text[close[0]]!r}?" if close else ""
