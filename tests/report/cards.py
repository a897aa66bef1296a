"""Cards to make pages of: fitted ones, and one that means harm."""

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.metrics import (
    accuracy_score,
    auc,
    balanced_accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    precision_recall_curve,
    r2_score,
    roc_curve,
)
from sklearn.model_selection import train_test_split

from ecselm import ECSELMClassifier, ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.metrics import geometric_mean_score, paired_difference
from ecselm.study import (
    Asking,
    Baseline,
    BenefitLine,
    Card,
    ClassCount,
    ColumnImportance,
    ColumnNote,
    CostColumn,
    Curve,
    DataSummary,
    DecisionCurves,
    Difference,
    Estimate,
    Evaluation,
    GroupResult,
    Importances,
    LearnedCosts,
    Loss,
    Member,
    OperatingPoint,
    OperatingPoints,
    RequestSummary,
    SearchSummary,
    UnknownCosts,
)
from ecselm.study.fitted import members_of

SMALL = {"population_size": 5, "max_epochs": 3}
MARKUP = "<script>alert('x')</script>"


def numbers_of(values):
    return tuple(float(value) for value in values)


def matrix_of(values, kind=float):
    return tuple(tuple(kind(value) for value in row) for row in values)


def scores_of(y, y_pred):
    return {
        "gmean": float(geometric_mean_score(y, y_pred)),
        "accuracy": float(accuracy_score(y, y_pred)),
        "balanced_accuracy": float(balanced_accuracy_score(y, y_pred)),
    }


def interval_of(share, n):
    """Return Wilson's interval, which is enough for a picture."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return float(min(middle - half, share)), float(max(middle + half, share))


def recalls_of(confusion, names):
    for name, row, i in zip(names, confusion, range(len(names)), strict=True):
        share = float(row[i] / row.sum())
        yield Estimate(name, share, *interval_of(share, row.sum()), int(row.sum()))


def curves_of(y, scores, names):
    """Return ROC and precision-recall curves of each class against the others."""
    roc, precision_recall = [], []
    for i, name in enumerate(names):
        x, up, _ = roc_curve(y == i, scores[:, i])
        roc.append(Curve(name, numbers_of(x), numbers_of(up), float(auc(x, up))))
        precision, recall, _ = precision_recall_curve(y == i, scores[:, i])
        area = float(auc(recall, precision))
        precision_recall.append(Curve(name, numbers_of(recall), numbers_of(precision), area))
    return tuple(roc), tuple(precision_recall)


def data_of(file, columns, X, y, split, names):
    train, test = split
    notes = tuple(
        ColumnNote(column, "numbers", 0, len(np.unique(X[:, i])), "scaled")
        for i, column in enumerate(columns)
    )
    classes = tuple(
        ClassCount(name, int((train == i).sum()), int((test == i).sum()))
        for i, name in enumerate(names)
    )
    return DataSummary(file, len(train), len(test), notes, classes)


def learned_of(model, words):
    return LearnedCosts(
        numbers_of(model.class_costs_),
        matrix_of(model.cost_matrix_),
        words,
        bool(model.keeps_prior_),
        float(model.gain_),
        float(model.gain_std_error_),
        decides=True,
    )


def search_of(model):
    history = model.history_
    return SearchSummary(
        tuple(int(one) for one in history["generation"]),
        numbers_of(history["best"]),
        numbers_of(history["mean"]),
        int(model.n_evaluations_),
        1.5,
    )


def classes_card(load, target, stated=None, **parameters):
    """Return the card of a small model, evaluated as the package does."""
    bunch = load()
    X, names = bunch.data, [str(name) for name in bunch.target_names]
    X_train, X_test, y_train, y_test = train_test_split(
        X, bunch.target, test_size=0.25, random_state=0, stratify=bunch.target
    )
    model = ECSELMClassifier(scoring="gmean", random_state=0, **{**SMALL, **parameters})
    y_pred = model.fit(X_train, y_train).predict(X_test)
    confusion = confusion_matrix(y_test, y_pred)
    scores = model.decision_function(X_test)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    roc, precision_recall = curves_of(y_test, scores, names)
    first = slice(0, 1) if len(names) == 2 else slice(None)
    test = Evaluation(
        scores_of(y_test, y_pred),
        matrix_of(confusion, int),
        stated,
        None if stated is None else float((confusion * np.array(stated)).sum()),
        tuple(recalls_of(confusion, names)),
        roc[first],
        precision_recall[first],
        reliability_of(y_test, scores),
        unknown=UnknownCosts(len(y_test), len(y_test) - 7, 0.25, 1.5, 10.0, "7 rows are open."),
        operating=operating_of(names[0], len(y_test)),
        benefit=benefit_of(names, "ELM", None if stated is None else 3),
        importance=importance_of(bunch.feature_names),
        by="hospital",
        groups=groups_of(confusion, names),
    )
    return Card(
        RequestSummary("classes", target, "gmean", (), 0.25, 0),
        data_of(f"{target}.csv", bunch.feature_names, X, bunch.target, (y_train, y_test), names),
        test,
        learned_of(model, words_of(names, model.class_costs_)),
        search_of(model),
        baselines_of(y_pred, X_train, y_train, X_test, y_test, stated),
        warnings=(f"Only {confusion.sum()} test rows: intervals are wide.",),
        settings={"scoring": "'gmean'", "random_state": "0"},
        versions={"ecselm": "0.8.0", "numpy": "2.3.0", "scikit-learn": "1.8.0"},
        command=f"ecselm fit {target}.csv --target {target} --metric gmean -o model.skops",
        members=members_of(model),
    )


def reliability_of(y, scores):
    y_pred = 1 / (1 + np.exp(-2 * scores[:, 0]))
    observed, mean = calibration_curve(y == 0, y_pred, n_bins=8, strategy="quantile")
    return Curve("", numbers_of(mean), numbers_of(observed), float(np.abs(observed - mean).mean()))


def baselines_of(own, X_train, y_train, X_test, y_test, stated):
    models = {
        "ELM, no costs": ELMClassifier(20, random_state=0),
        "W1-ELM, rare classes count more": WELMClassifier(20, random_state=0),
    }
    found = []
    for name, model in models.items():
        y_pred = model.fit(X_train, y_train).predict(X_test)
        confusion = confusion_matrix(y_test, y_pred)
        cost = None if stated is None else float((confusion * np.array(stated)).sum())
        paired = paired_difference("gmean", y_test, own, y_pred)
        ends = (one if np.isfinite(one) else None for one in paired.interval())
        difference = Difference(paired.difference, *ends, paired.beyond_chance())
        scores = scores_of(y_test, y_pred)
        found.append(Baseline(name, scores, matrix_of(confusion, int), cost, difference))
    return tuple(found)


def words_of(names, costs):
    """Return how the most expensive class compares with the cheapest."""
    costly, cheap = int(np.argmax(costs)), int(np.argmin(costs))
    factor = costs[costly] / costs[cheap]
    if factor < 1.05:
        return ("All mistakes are treated alike.",)
    worse = f"A mistake on {names[costly]} is treated as {factor:.2g} times as bad"
    return (f"{worse} as one on {names[cheap]}.",)


def tumours(**parameters):
    costs = ((0.0, 10.0), (1.0, 0.0))
    return classes_card(load_breast_cancer, "diagnosis", costs, **parameters)


def wines(**parameters):
    return classes_card(load_wine, "cultivar", **parameters)


def digits(**parameters):
    return classes_card(load_digits, "digit", **parameters)


def progression():
    """Return the card of a model that predicts numbers."""
    bunch = load_diabetes(scaled=False)
    X_train, X_test, y_train, y_test = train_test_split(bunch.data, bunch.target, random_state=0)
    model = ELMRegressor(20, random_state=0).fit(X_train, y_train)
    off = np.sort(np.abs(model.predict(X_test) - y_test))
    middle = np.full(len(y_test), np.median(y_train))
    scores = [
        {"mae": float(mean_absolute_error(y_test, y_pred)), "r2": float(r2_score(y_test, y_pred))}
        for y_pred in (model.predict(X_test), middle)
    ]
    share = np.arange(1, len(off) + 1) / len(off)
    test = Evaluation(scores[0], cumulative=Curve("", numbers_of(off), numbers_of(share)))
    return Card(
        RequestSummary("numbers", "progression", "mae", (), 0.25, 0),
        data_of("diabetes.csv", bunch.feature_names, bunch.data, y_train, (y_train, y_test), ()),
        test,
        baselines=(Baseline("always the median", scores[1]),),
    )


def bare():
    """Return the least that a card can hold."""
    request = RequestSummary("classes", "y", "gmean", (), 0.25, 0)
    return Card(request, DataSummary("a.csv", 3, 1, (), ()), Evaluation({"gmean": 1.0}))


def operating_of(name, n, n_points=5):
    """Return points that catch more and more."""
    points = tuple(
        OperatingPoint(f"{name} {i}", 2.0**i, i, n_points - i, i * i, 7, 0.25 * i)
        for i in range(n_points)
    )
    return OperatingPoints(name, n, points[:3], points)


def benefit_of(names, baseline, stated):
    """Return curves of two classes over thresholds, of more along a ray."""
    points = (0.1, 0.2, 0.5, 0.9)
    model = BenefitLine("this model", (0.25, 0.2, 0.125, 0.0625))
    low, high = (0.01, None, -0.5, -2.0), (0.1, None, 0.5, -1.0)
    other = BenefitLine(baseline, (0.2, 0.2, 0.1, -5.0), low, high)
    none = BenefitLine("treat none", (0.0,) * 4, (0.1,) * 4, (0.3,) * 4)
    unit = "net benefit" if len(names) == 2 else "cost saved"
    return DecisionCurves(names[0], unit, points, model, (other,), (none,), stated, "They lead.")


def importance_of(names):
    """Return a few columns, of which one has no interval."""
    columns = tuple(
        ColumnImportance(
            str(name),
            Loss(0.5**i - 0.25, None if i == 2 else 0.0, None if i == 2 else 1.0),
            Loss(0.5**i, -1.0, 2.0) if i < 3 else None,
        )
        for i, name in enumerate(names[:15])
    )
    return Importances("mean_cost", 200, 20, len(names), columns)


def groups_of(confusion, names):
    """Return two groups, as if each had half of the rows."""
    recalls = tuple(recalls_of(confusion, names))
    cost = Estimate("north", 0.25, 0.125, 0.375, 50)
    return (
        GroupResult("north", 50, recalls, cost, 40),
        GroupResult("south", 50, recalls[:1], None, None),
    )


def nasty(n_classes=25, n_columns=200):
    """Return a card with hostile names, many classes and columns, and a class of one row."""
    rng = np.random.default_rng(0)
    names = [
        f"{MARKUP} {i}" if i < 2 else f"クラス・Ünïcödé-{'långt' * 12}-{i}"
        for i in range(n_classes)
    ]
    names[3] = "\u202eevil\x00\ud800\"'><img src=x onerror=alert(1)>"
    confusion = rng.poisson(1.0, (n_classes, n_classes)) + 40 * np.eye(n_classes, dtype=int)
    confusion[4] = 0
    confusion[4, 5] = 1
    costs = rng.lognormal(0.0, 1.5, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    x = np.linspace(0.0, 1.0, 200)
    powers = rng.uniform(0.05, 0.6, n_classes)
    roc = tuple(
        Curve(n, numbers_of(x), numbers_of(x**p), 1 / (1 + p))
        for n, p in zip(names, powers, strict=True)
    )
    text = f"{MARKUP} & \"quoted\" 'text' </style></title><img src=http://example.com/x.png>"
    notes = tuple(
        ColumnNote(f"{MARKUP}{'x' * 300}{i}", text, i, 3 * i, text) for i in range(n_columns)
    )
    classes = tuple(
        ClassCount(n, int(3 * row.sum()), int(row.sum()))
        for n, row in zip(names, confusion, strict=True)
    )
    test = Evaluation(
        {"gmean": 0.0, text: 0.5},
        matrix_of(confusion, int),
        matrix_of(costs),
        float((confusion * costs).sum()),
        tuple(recalls_of(confusion, names)),
        roc,
        roc,
        Curve(text, (0.1, 0.9), (0.2, 0.7), 0.15),
        cost_low=matrix_of(costs / 2),
        cost_high=matrix_of(costs * 2),
        unknown=UnknownCosts(1000, 3, 1e300, 1e-300, None, text),
        asking=Asking(
            1000, 5, 4, 0.5, 0.75, Difference(0.25, None, None, False), (1,) * n_classes, text
        ),
        operating=operating_of(text, 1000),
        benefit=benefit_of(names, text, 0),
        importance=importance_of([text, *names]),
        by=text,
        groups=(GroupResult(text, 1000, (), None, None), *groups_of(confusion, names)),
    )
    return Card(
        RequestSummary("classes", text, "gmean", (text,), 0.25, 0, (CostColumn(text, text),)),
        DataSummary(text, 3000, 1000, notes, classes, (text,)),
        test,
        LearnedCosts(numbers_of(costs.mean(axis=1)), matrix_of(costs), (text,), True, -0.01, 0.02),
        SearchSummary((0,), (0.5,), (0.25,), 30, 0.1, interrupted=True),
        (Baseline(text, {"gmean": 0.3, text: 0.1}, matrix_of(confusion.T, int), 1e9),),
        (text, "Class 5 has 1 test row."),
        {text: text},
        {text: text},
        text,
        (Member(text, text, 1e-300, 1e300, 0.0),),
    )
