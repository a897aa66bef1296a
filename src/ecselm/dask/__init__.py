"""The estimators on Dask: tables larger than memory, and clusters.

They take Dask arrays and dataframes, sum over partitions where these are, and give the model
that the ordinary estimator gives; ``to_local()`` is that estimator.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError('ecselm.dask needs dask: pip install "ecselm[dask]"') from error

from ecselm.dask.ecselm import DaskECSELMClassifier, DaskECSELMRegressor
from ecselm.dask.elm import (
    DaskCSELMClassifier,
    DaskELMClassifier,
    DaskELMRegressor,
    DaskWELMClassifier,
)

__all__ = [
    "DaskCSELMClassifier",
    "DaskECSELMClassifier",
    "DaskECSELMRegressor",
    "DaskELMClassifier",
    "DaskELMRegressor",
    "DaskWELMClassifier",
]
