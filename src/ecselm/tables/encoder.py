"""Columns of frames as numbers: the typing of the command, as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._typing import AnyArray, FloatArray
from ecselm.tables.rows import new_rows
from ecselm.tables.schema import ColumnOptions, ColumnTally, column_plan


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a frame as numbers, by what they hold.

    Columns are typed as ``ecselm fit`` types them. Numbers stay numbers, also where they are
    texts with thousands separators, per cent signs or a currency; yes and no are 1 and 0; dates
    are days since 1970 and times of day hours; names are one-hot encoded, in upper or lower case
    where both occur. Missing numbers are filled by the median and marked by a column of their own;
    a missing name is a name. Columns that are empty, constant, identifiers of rows or long texts
    are left out. What is decided in ``fit`` holds for all later rows: cells of another kind are
    refused by column and row, and names that are new are none of the known ones.

    Parameters
    ----------
    drop : sequence of str, default=()
        Columns that are left out.
    missing : sequence of str, default=()
        Words that stand for a missing value in any column, in upper or lower case.
    day_first : bool, default=False
        Whether 05/03/2024 is the fifth of March, in columns whose dates do not show it.

    Attributes
    ----------
    columns_ : tuple
        A note on every column: ``name``, ``kind``, ``n_missing``, ``n_values`` and
        ``treatment``, in words.
    notes_ : tuple of str
        What had to be guessed, a sentence each.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("fmfm"), "paid": ["$1,200", "unknown", "$5", "$8"]})
    >>> encoder = TableEncoder().set_output(transform="pandas")
    >>> encoder.fit_transform(frame)
         paid  paid is missing  sex_f  sex_m
    0  1200.0              0.0    1.0    0.0
    1     8.0              1.0    0.0    1.0
    2     5.0              0.0    1.0    0.0
    3     8.0              0.0    0.0    1.0
    >>> encoder.columns_[1].treatment
    "written as text, in $; 'unknown' (1) taken as missing; missing values: median, and a column
    that marks them"
    """

    def __init__(self, *, drop: Any = (), missing: Any = (), day_first: bool = False) -> None:
        self.drop = drop
        self.missing = missing
        self.day_first = day_first

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the types of the columns, and how each is encoded.

        Parameters
        ----------
        X : DataFrame or array of shape (N, n)
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        frame = self._frame(X, reset=True)
        if len(frame) < 2:
            raise ValueError(
                f"X must have at least two rows, by which columns are typed, got "
                f"n_samples={len(frame)}"
            )
        for name, words in (("drop", self.drop), ("missing", self.missing)):
            if isinstance(words, str):
                raise TypeError(f"{name} must be a sequence of texts, got {words!r}")
        options = ColumnOptions(
            tuple(self.drop), (), tuple(map(str, self.missing)), bool(self.day_first)
        )
        options.check(frame.columns.tolist())
        planned = [
            ColumnTally.of(frame[name], options=options).planned(name) for name in frame.columns
        ]
        plan = column_plan(None, planned)
        self.columns_ = plan.columns
        self.notes_ = plan.notes
        self._encoding = plan.transformer().fit(new_rows(frame, plan.columns))
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the columns as numbers.

        Parameters
        ----------
        X : DataFrame or array of shape (N, n)
            Of the columns that were fitted.

        Returns
        -------
        X_new : array of shape (N, n_new)
        """
        check_is_fitted(self, "columns_")
        frame = self._frame(X, reset=False)
        encoded = self._encoding.transform(new_rows(frame, self.columns_))
        return np.asarray(encoded, dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
            ``age``, ``age is missing`` and ``sex_f``; a name that two columns would have gets an
            apostrophe.
        """
        check_is_fitted(self, "columns_")
        names: list[str] = []
        for name in self._encoding.get_feature_names_out():
            plain = name.split("__", 1)[1]
            if plain.startswith(_MARK) and plain.removeprefix(_MARK) in self._frame_names:
                plain = f"{plain.removeprefix(_MARK)} is missing"
            while plain in names:
                plain += "'"
            names.append(plain)
        return np.array(names, dtype=object)

    @property
    def _frame_names(self) -> list[str]:
        return [column.name for column in self.columns_]

    def _frame(self, X: Any, *, reset: bool) -> Any:
        """Return X as a frame whose names of columns are texts."""
        if not hasattr(X, "columns"):
            # A mixed array holds objects, which are typed column by column as in a frame.
            X = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=0
            )
            names = [f"x{i}" for i in range(X.shape[1])]
            return pd.DataFrame(X, columns=names).infer_objects()
        validate_data(self, X, reset=reset, skip_check_array=True)
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame({c: X[c] for c in X.columns})
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].tolist()
            raise ValueError(f"names of columns must differ, got {twice[0]!r} twice")
        return frame.set_axis([str(name) for name in frame.columns], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


_MARK = "missingindicator_"
