"""Whether the words of a column are numbers, and of which style, told block by block."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray, FloatArray
from ecselm.study.cells import CODE, DECIMAL, PLAIN, Reading, read_styled
from ecselm.study.tables import whole_numbers

_CODE = re.compile(f"^{CODE.pattern}", re.MULTILINE)
Style = tuple[str, bool]  # what commas mean, and whether all words end in a per cent sign


class NumberTally:
    """The styles in which all words so far are numbers.

    :func:`ecselm.study.cells.read_numbers` tries the styles on a whole column. Here a style
    is given up with the first word that is not of it, so that any cut of the words into
    blocks leaves the same ones.

    Parameters
    ----------
    order : pair of str
        Which of decimal and grouping commas is meant where both are possible.

    Examples
    --------
    >>> from ecselm.study.cells import GROUPING
    >>> tally = NumberTally((GROUPING, DECIMAL))
    >>> tally.add(np.array(["1,500", ""], object))
    >>> tally.verdict
    ('grouping', False, False)
    >>> tally.add(np.array(["2,5"], object))
    >>> tally.verdict
    ('decimal', False, False)
    """

    def __init__(self, order: tuple[str, str]) -> None:
        styles = [(PLAIN, False), *((style, sign) for style in order for sign in (False, True))]
        self._whole: dict[Style, bool] = dict.fromkeys(styles, True)  # of styles still possible
        self._has_values: dict[Style, bool] = dict.fromkeys(styles, False)
        self.has_commas = False

    @property
    def verdict(self) -> tuple[str | None, bool, bool]:
        """Return style, whether there are per cent signs, and whether all are whole.

        The style is None where words are no numbers, or all of them hold nothing.
        """
        for style, whole in self._whole.items():
            if self._has_values[style]:
                return (*style, whole)
        return None, False, False

    def add(self, words: AnyArray) -> None:
        """Take more words (N,) without spaces around them into account."""
        if not self._whole:
            return
        text = "\n".join(words)
        self.has_commas = self.has_commas or "," in text
        plain = _plain(words, text)
        for style in list(self._whole):
            reading = self._read(words, text, style, plain)
            if reading is None or reading.bad.any():
                del self._whole[style]
                continue
            self._has_values[style] |= not np.isnan(reading.values).all()
            self._whole[style] &= whole_numbers(reading.values).dtype.kind == "i"

    def _read(
        self, words: AnyArray, text: str, style: Style, plain: Reading | None
    ) -> Reading | None:
        """Return the words as numbers of a style, None where they are known to be none.

        Plain numbers are of the grouping style as well, and of the decimal one unless there
        is a point in them: most columns need no second look.
        """
        commas, percent = style
        if commas == PLAIN:
            return plain
        if plain is None or percent:
            return read_styled(words, commas, percent=percent)
        if commas == DECIMAL and "." in text:
            return read_styled(words, commas)
        return plain


def plain_numbers(words: AnyArray) -> FloatArray:
    """Return plain numbers (N,), NaN where a word is none."""
    numbers = pd.to_numeric(pd.Series(words), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isinf(values), np.nan, values)


def _plain(words: AnyArray, text: str) -> Reading | None:
    """Return plain numbers, None where some words are others, with a look at all in one."""
    values = plain_numbers(words)
    if not np.isnan(values).any() and _CODE.search(text) is None:
        return Reading(values, np.zeros(len(words), bool))
    reading = read_styled(words, PLAIN)
    return None if reading.bad.any() else reading
