"""Export models as ONNX graphs, which run without Python.

Importing this package registers converters for every estimator of the ELM family and for
:class:`~ecselm.CostSearchCV` with skl2onnx; :func:`to_onnx` converts whole pipelines.
"""

try:
    import skl2onnx  # noqa: F401

    import onnx  # noqa: F401  the package of that name, not this one
except ImportError as error:
    raise ImportError('ecselm.onnx needs onnx and skl2onnx: install the extra "onnx"') from error

from ecselm.onnx.estimators import register_cost_search, register_estimators
from ecselm.onnx.export import to_onnx
from ecselm.onnx.layers import register_approximations

__all__ = ["to_onnx"]

register_estimators()
register_cost_search()
register_approximations()
