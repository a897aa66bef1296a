"""Dates as numbers, inside a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._typing import FloatArray
from ecselm.study.cells import read_days


class DayNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn dates into days since the first of January 1970.

    Takes columns of dates, of ISO texts such as ``2024-05-01`` or ``2024-05-01T12:30``, and
    of numbers, which are days already. What holds nothing becomes NaN. Times without a zone
    are taken as universal time.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> DayNumbers().fit_transform(pd.DataFrame({"seen": ["1970-01-11", None]})).tolist()
    [[10.0], [nan]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the columns; there is nothing to learn."""
        validate_data(self, X, skip_check_array=True)
        self._days(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the days (N, n)."""
        check_is_fitted(self, "n_features_in_")
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._days(X)

    def _days(self, X: Any) -> FloatArray:
        frame = pd.DataFrame(X)
        readings = {name: read_days(frame[name]) for name in frame.columns}
        for name, reading in readings.items():
            if reading.bad.any():
                row = int(np.flatnonzero(reading.bad)[0])
                raise ValueError(
                    f"column {name!r} must hold ISO dates, got {frame[name].iloc[row]!r} in row "
                    f"{row + 1}"
                )
        return np.column_stack([reading.values for reading in readings.values()])
