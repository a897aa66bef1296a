"""The estimators on Dask: tables larger than memory, and clusters.

They take Dask arrays and dataframes, sum over partitions on the workers that hold them, and
learn what the ordinary estimator learns; ``to_local()`` returns that estimator.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError('ecselm.dask needs dask: pip install "ecselm[dask]"') from error

from ecselm.dask.estimators import (
    DaskCSELMClassifier,
    DaskECSELMClassifier,
    DaskECSELMRegressor,
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
