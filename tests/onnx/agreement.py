"""Compare the outputs of a graph with those of its model."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from onnxruntime import InferenceSession

from ecselm.onnx import to_onnx

N_ROWS = 10_000
TOLERANCE = 1e-9  # relative and absolute; 1e-5 is promised


def rows_beyond(X, n_rows=N_ROWS, seed=1):
    """Draw rows from a box that reaches beyond the rows of X by half their range."""
    low, high = X.min(axis=0), X.max(axis=0)
    reach = (high - low) / 2.0
    return np.random.default_rng(seed).uniform(low - reach, high + reach, (n_rows, X.shape[1]))


def outputs(graph, inputs):
    """Run a graph and return its outputs by name."""
    session = InferenceSession(graph.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def fed(X, text=()):
    """Return the columns of a frame as a graph takes them; a missing word is an empty one."""
    return {
        name: X[[name]].fillna("").to_numpy(dtype=object)
        if name in text
        else X[[name]].to_numpy(dtype=np.float64)
        for name in X.columns
    }


def assert_agrees(model, rows, inputs=None, tolerance=TOLERANCE, **options):
    """Compare all outputs of a graph with those of its model."""
    graph = to_onnx(model, **options)
    found = outputs(graph, {"X": rows} if inputs is None else inputs)
    expected = {"label": "predict", "scores": "decision_function", "variable": "predict"}
    expected["probabilities"] = "predict_proba"
    for name, values in found.items():
        wanted = getattr(model, expected[name])(rows)
        assert values.shape == wanted.shape
        if name == "label":
            assert_array_equal(values, wanted)
        else:
            assert_allclose(values, wanted, rtol=tolerance, atol=tolerance)
    return found
