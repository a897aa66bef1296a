"""ARFF and libsvm files, read by SciPy and scikit-learn."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from ecselm._wording import brief

MOST_CELLS = 5 * 10**7  # of a libsvm file; 400 MB once zeros are written out
MOST_COLUMNS = 10**6  # of a libsvm file, each with a name
LARGEST_WHOLE = 2.0**53  # beyond, not every whole number is a float
TARGET = "target"  # the column of a libsvm file that has no number

_FOREIGN = re.compile(r"[^\x00-\x7f]")
_ESCAPED = re.compile(r"~u([0-9a-f]+)~")
_QUOTED = re.compile(r"""(?<![^\s,{])(["'])((?:(?!\1)[^\\]|\\.)*)\1(?=[\s,}]|$)""")
_SPECIAL = re.compile(r"[^\w.+:-]", re.ASCII)
_BACKSLASH = re.compile(r"\\(.)")
_DATE = re.compile(r"\s*@attribute\s.*\sdate\b", re.IGNORECASE)


def read_arff(text: str, file: str) -> Any:
    r"""Return the frame in an ARFF file; SciPy knows neither texts nor sparse rows.

    Examples
    --------
    >>> header = "@relation r\n@attribute size real\n@attribute sex {f,m}\n"
    >>> read_arff(header + "@data\n1,m", "a.arff")
       size sex
    0   1.0   m
    """
    # SciPy detects quotes by the first row and keeps names as bytes in ASCII.
    plain = "\n".join(_FOREIGN.sub(_escaped, _unquoted(line)) for line in text.splitlines())
    longest = csv.field_size_limit()
    try:
        rows, _ = arff.loadarff(io.StringIO(plain))
    except Exception as error:  # of any class, as the header is read by patterns
        reason = brief(_unescaped(str(error))) or "no line says @data"
        raise ValueError(
            f"{file} must be an ARFF file of numbers, names and dates that SciPy can read: {reason}"
        ) from error
    finally:
        csv.field_size_limit(longest)  # which SciPy raises for the whole process
    return pd.DataFrame({_unescaped(name): _column(rows[name]) for name in rows.dtype.names})


def read_libsvm(text: str, file: str) -> Any:
    r"""Return the frame in a libsvm file: ``target``, and ``f1`` for what has the number 1.

    Examples
    --------
    >>> read_libsvm("1 1:0.5 3:2\n-1 2:1", "a.svm")
       target   f1   f2   f3
    0       1  0.5  0.0  2.0
    1      -1  0.0  1.0  0.0
    """
    try:
        # Columns are named by the numbers in the file: whether those begin with 0 or 1 could
        # be known from one file and not from the next.
        X, y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=True)
    except Exception as error:
        raise ValueError(
            f"{file} must have lines such as '1 3:0.5 7:2', a target and then the numbers of "
            f"columns with their values: {brief(str(error))}"
        ) from error
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"{file} must have at most {MOST_COLUMNS} columns, got the number {X.shape[1] - 1}"
        )
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        raise ValueError(
            f"{file} must have at most {MOST_CELLS} cells once zeros are written out, got "
            f"{X.shape[0]} rows of {X.shape[1]} columns"
        )
    first = 0 if X[:, :1].nnz else 1
    names = [f"f{i}" for i in range(first, X.shape[1])]
    frame = pd.DataFrame(X[:, first:].toarray(), columns=names)
    whole = bool((y == np.round(y)).all() and (np.abs(y) < LARGEST_WHOLE).all())
    frame.insert(0, TARGET, y.astype(np.int64) if whole else y)
    return frame


def _column(values: Any) -> Any:
    if values.dtype.kind != "S":
        return values
    return np.array([_unescaped(value.decode("ascii")) for value in values], dtype=object)


def _unquoted(line: str) -> str:
    """Return a line of ARFF with escapes in the place of quotes, but for formats of dates."""
    if _DATE.match(line):
        return line
    return _QUOTED.sub(
        lambda found: _SPECIAL.sub(_escaped, _BACKSLASH.sub(r"\1", found.group(2))), line
    )


def _escaped(found: re.Match[str]) -> str:
    return f"~u{ord(found.group()):x}~"


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
