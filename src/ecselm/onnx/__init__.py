"""Models as ONNX graphs, for machines without Python.

Importing this package tells skl2onnx how to convert every estimator of the ELM family and
:class:`~ecselm.CostSearchCV`; :func:`to_onnx` converts whole pipelines around them.
"""

try:
    import skl2onnx  # noqa: F401

    import onnx  # noqa: F401  the package of that name, not this one
except ImportError as error:
    raise ImportError('ecselm.onnx needs onnx and skl2onnx: pip install "ecselm[onnx]"') from error

from ecselm.onnx.approximations import register_approximations
from ecselm.onnx.estimators import register_cost_search, register_estimators
from ecselm.onnx.export import to_onnx

__all__ = ["to_onnx"]

register_estimators()
register_cost_search()
register_approximations()
