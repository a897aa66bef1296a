"""Types that are allowed in files of models, by the loader of skops that builds them.

A file names a loader of skops and a type for every part. Some loaders fill an empty instance
of the type, others call it. A type is therefore trusted for one loader only, and functions for
none, so that no file can have a function called.
"""

from __future__ import annotations

_ESTIMATORS = {
    "ecselm.estimators.cost_decision.CostDecisionClassifier",
    "ecselm.estimators.cost_search.CostSearchCV",
    "ecselm.estimators.cselm.CSELMClassifier",
    "ecselm.estimators.cselm.CSELMRegressor",
    "ecselm.estimators.ecselm.ECSELMClassifier",
    "ecselm.estimators.ecselm_regressor.ECSELMRegressor",
    "ecselm.estimators.eelm.EELMClassifier",
    "ecselm.estimators.eelm.EELMRegressor",
    "ecselm.estimators.elm.ELMClassifier",
    "ecselm.estimators.elm.ELMRegressor",
    "ecselm.estimators.elm.KELMClassifier",
    "ecselm.estimators.elm.KELMRegressor",
    "ecselm.estimators.elm.WELMClassifier",
}
_PARTS = {
    "ecselm.costs.front.RecallFront",
    "ecselm.estimators._calibration.LogisticCalibration",
    "ecselm.estimators._calibration.MonotoneCalibration",
    "ecselm.estimators._calibration.ScoreCalibration",
    "ecselm.estimators._calibration.VectorCalibration",
    "ecselm.estimators._layers.DenseScale",
    "ecselm.estimators._layers.TransformerLayer",
    "ecselm.layers.kernels.KernelMap",
    "ecselm.layers.random.RandomLayer",
    "ecselm.layers.scaling.RankScale",
    "ecselm.layers.scaling.InputScale",
    "ecselm.layers.random.LayerUnion",
    "ecselm.saving.plain.Frame",
    "ecselm.saving.plain.KnownCosts",
    "ecselm.saving.plain.Pairs",
    "ecselm.search.run.Generation",
    "ecselm.search.run.SearchHistory",
    "ecselm.tables.cells.DayNumbers",
    "ecselm.tables.encoder.TableEncoder",
    "ecselm.tables.schema.ColumnNote",
}
_SPLITTERS = {
    f"sklearn.model_selection._split.{name}"
    for name in (
        *("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold", "TimeSeriesSplit"),
        *("ShuffleSplit", "StratifiedShuffleSplit", "GroupShuffleSplit"),
        *("LeaveOneOut", "LeaveOneGroupOut", "PredefinedSplit"),
    )
}
_BOOSTING = "sklearn.ensemble._hist_gradient_boosting"
_LOSSES = {
    f"sklearn._loss.{name}"
    for name in (
        *("link.Interval", "link.LogitLink", "link.HalfLogitLink", "link.MultinomialLogit"),
        *("loss.HalfBinomialLoss", "loss.HalfMultinomialLoss", "loss.ExponentialLoss"),
        *("link.IdentityLink", "loss.HalfSquaredError", "loss.AbsoluteError"),
    )
}
_COMPILED_LOSSES = {
    f"sklearn._loss._loss.{name}"
    for name in (
        *("CyHalfBinomialLoss", "CyHalfMultinomialLoss", "CyExponentialLoss"),
        *("CyHalfSquaredError", "CyAbsoluteError"),
    )
}
_SCALARS = {
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "str_", "object_", "float16", "float32", "float64"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
}
_SPARSE = {
    f"scipy.sparse._{kind}.{kind}_{form}"
    for kind in ("csr", "csc", "coo")
    for form in ("array", "matrix")
}

TRUSTED: dict[str, frozenset[str]] = {
    "ObjectNode": frozenset(
        {
            *_ESTIMATORS,
            *_PARTS,
            *_SPLITTERS,
            *_LOSSES,
            f"{_BOOSTING}.binning._BinMapper",
            f"{_BOOSTING}.predictor.TreePredictor",
            "sklearn.compose._column_transformer.make_column_selector",
        }
    ),
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "LossNode": frozenset(_COMPILED_LOSSES),
    "DictNode": frozenset({"builtins.dict"}),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "JsonNode": frozenset({"builtins.str"}),
    "TypeNode": frozenset({"builtins.str", "builtins.object", *_SCALARS}),
    "NdArrayNode": frozenset({"numpy.ndarray", *_SCALARS} - {"numpy.object_"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
    "SparseMatrixNode": frozenset(_SPARSE),
}
# The compiled code of these writes to indices that the file would determine.
REFUSED = frozenset(
    f"sklearn.ensemble._gb.GradientBoosting{kind}" for kind in ("Classifier", "Regressor")
)
BIT_GENERATORS = frozenset({"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"})


def is_trusted(loader: str, name: str) -> bool:
    """Return whether ``loader`` may build an object of the type ``name``.

    Estimators of scikit-learn are checked by skops, which trusts those of the installed
    version by name; other types of scikit-learn must be listed here.

    Examples
    --------
    >>> is_trusted("ObjectNode", "ecselm.estimators.elm.ELMClassifier")
    True
    >>> is_trusted("ListNode", "ecselm.estimators.elm.ELMClassifier")  # a loader that calls it
    False
    """
    if loader == "ObjectNode" and name.startswith("sklearn."):
        return name not in REFUSED
    return name in TRUSTED.get(loader, frozenset())
