"""What a class gives over a pipeline of scikit-learn: ``python -m benchmarks.pipelines``.

``RBFSampler`` and ``RidgeClassifier`` are a random layer and a ridge regression, too. Accuracy and
log loss on the sets of UCI's development half, two splits each, at the defaults of both and tuned
alike on five folds of the training rows; then time and peak memory of one fit. Results by split go
to ``benchmarks/results/pipelines.json`` and as tables into ``docs/pipelines.md``; ``--show`` fills
the page from the stored results. Needs ``ECSELM_DATA``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import ratio_cell, table
from benchmarks.timing import Ratio, blas_threads, in_own_process, interleaved, peak_memory
from ecselm import ECSELMClassifier, ELMClassifier, KELMClassifier
from ecselm.paper.bench.cases import select_cases, uci_cases

PAGE = HERE.parent / "docs" / "pipelines.md"
FILE = KEPT / "pipelines.json"
SPLITS, FOLDS, SEED = 2, 5, 0
UNITS = 200
PENALTIES = [2.0**p for p in (-6, -2, 2, 6, 10, 14)]
WIDTHS = (0.03, 0.3, 3.0)  # gamma, over the number of features
LEAST = 1e-6  # of a probability in the log loss
# Rows, columns and units of the fit that is timed.
TIMED = (100_000, 50, 200)
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Contender:
    """A model by the number of features, and the grid it is tuned on, if any."""

    name: str
    model: Callable[[], Any]
    grid: Callable[[int], dict[str, list[Any]]] | None = None


def pipeline(n_components: int = 100) -> Any:
    """Return the pipeline, with everything else at its defaults."""
    sampler = RBFSampler(n_components=n_components, random_state=SEED)
    return make_pipeline(StandardScaler(), sampler, RidgeClassifier())


def _widths(n_features: int) -> list[float]:
    return [width / n_features for width in WIDTHS]


CONTENDERS = (
    Contender("pipeline, defaults", pipeline),
    Contender(
        "pipeline, tuned",
        lambda: pipeline(UNITS),
        lambda n: {
            "rbfsampler__gamma": _widths(n),
            "ridgeclassifier__alpha": [1 / C for C in PENALTIES],
        },
    ),
    Contender("ELMClassifier, defaults", lambda: ELMClassifier(random_state=SEED)),
    Contender(
        "ELMClassifier, tuned",
        lambda: ELMClassifier(UNITS, random_state=SEED),
        lambda _: {"C": PENALTIES},
    ),
    Contender(
        "KELMClassifier, tuned", KELMClassifier, lambda n: {"C": PENALTIES, "gamma": _widths(n)}
    ),
    Contender(
        "ECSELMClassifier, defaults",
        lambda: ECSELMClassifier(scoring="accuracy", random_state=SEED),
    ),
)


def folds(y: np.ndarray) -> StratifiedKFold:
    """Return the folds of the training rows, as many as the smallest class has rows."""
    least = int(np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(max(2, min(FOLDS, least)))


def fitted(contender: Contender, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the model, tuned if it has a grid."""
    if contender.grid is None:
        return contender.model().fit(X, y)
    search = GridSearchCV(contender.model(), contender.grid(X.shape[1]), cv=folds(y))
    return search.fit(X, y).best_estimator_


def log_loss(P: np.ndarray, classes: np.ndarray, y: np.ndarray) -> float:
    """Return the mean negative logarithm of the probability of the true class."""
    place = {label: j for j, label in enumerate(classes)}
    true = [P[i, place[label]] if label in place else 0.0 for i, label in enumerate(y)]
    return float(-np.log(np.clip(true, LEAST, 1)).mean())


def measured(contender: Contender, X: np.ndarray, y: np.ndarray, train: Any, test: Any) -> Any:
    """Return accuracy and log loss; a pipeline gets its probabilities by calibration in folds."""
    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        model = fitted(contender, X[train], y[train])
        accuracy = float(np.mean(model.predict(X[test]) == y[test]))
        if not hasattr(model, "predict_proba"):
            model = CalibratedClassifierCV(model, cv=folds(y[train])).fit(X[train], y[train])
        P = model.predict_proba(X[test])
    return accuracy, log_loss(P, model.classes_, y[test])


def run_quality(known: list[dict[str, Any]]) -> None:
    """Add the results that are missing."""
    done = {(row["data"], row["method"], row["split"]) for row in known}
    for case in select_cases(uci_cases(), None, "development"):
        data = case.case.load()
        for split, (train, test) in enumerate(case.splits(data, SEED)[:SPLITS]):
            for contender in CONTENDERS:
                if (case.name, contender.name, split) in done:
                    continue
                accuracy, loss = measured(contender, data.X, data.y, train, test)
                known.append(
                    {
                        "data": case.name,
                        "method": contender.name,
                        "split": split,
                        "accuracy": round(accuracy, 6),
                        "log_loss": round(loss, 6),
                    }
                )


def _timed_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((TIMED[0], TIMED[1]))
    return X, (X[:, :10] ** 2).sum(axis=1) > 10


def _timed_models() -> dict[str, Any]:
    return {
        "ELMClassifier": ELMClassifier(TIMED[2], random_state=SEED),
        "pipeline": pipeline(TIMED[2]),
    }


def peak_of_fit(name: str) -> int:
    """Return the bytes that a fit adds to the peak of the process, in a process of its own."""
    X, y = _timed_rows()
    before = peak_memory()
    with blas_threads(1):
        _timed_models()[name].fit(X, y)
    return peak_memory() - before


def run_speed() -> dict[str, Any]:
    """Return the ratio of times of one fit, and the memory each fit adds."""
    X, y = _timed_rows()
    models = _timed_models()
    with blas_threads(1):
        ratios = interleaved(
            lambda: models["ELMClassifier"].fit(X, y),
            {"pipeline": lambda: models["pipeline"].fit(X, y)},
            REPEATS,
        )
    ratio = ratios["pipeline"]
    return {
        "ratio": [ratio.median, ratio.lower, ratio.upper],
        "bytes": {name: in_own_process(peak_of_fit, name) for name in models},
    }


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return means over sets, and sets above and below the tuned pipeline, by method."""
    frame = pd.DataFrame(rows)
    means = frame.groupby(["data", "method"])[["accuracy", "log_loss"]].mean().unstack()
    order = [contender.name for contender in CONTENDERS]
    accuracy, loss = means["accuracy"][order], means["log_loss"][order]
    over = accuracy.sub(accuracy["pipeline, tuned"], axis=0)
    return pd.DataFrame(
        {
            "accuracy": accuracy.mean(),
            "log_loss": loss.mean(),
            "better": (over > 0.005).sum(),
            "worse": (over < -0.005).sum(),
            "largest_loss": -over.min().clip(upper=0),
            "on": over.idxmin(),
        }
    ).loc[order]


def quality_table(rows: list[dict[str, Any]]) -> str:
    """Return the table of accuracies and log losses."""
    lines = [
        [
            str(name),
            f"{100 * row.accuracy:.2f}",
            f"{row.log_loss:.3f}",
            "" if name == "pipeline, tuned" else f"{row.better} / {row.worse}",
            f"{100 * row.largest_loss:.1f}, {row.on}" if row.largest_loss > 0 else "",
        ]
        for name, row in summary(rows).iterrows()
    ]
    header = ["model", "accuracy, %", "log loss", "sets better / worse than the tuned pipeline"]
    return table([*header, "largest loss to it, points"], lines)


def speed_table(speed: dict[str, Any]) -> str:
    """Return the table of time and memory."""
    N, n, L = TIMED
    taken = speed["bytes"]
    return table(
        ["one fit, one thread", "time of ELMClassifier over the pipeline's", "memory it adds"],
        [
            [
                f"{N:,} x {n}, {L} units",
                ratio_cell(Ratio(*speed["ratio"])),
                f"{taken['ELMClassifier'] / 1e6:.0f} MB against {taken['pipeline'] / 1e6:.0f} MB",
            ]
        ],
    )


def filled(page: str, stored: dict[str, Any]) -> str:
    """Return the page with the tables of these results."""
    for name, text in (
        ("quality", quality_table(stored["quality"])),
        ("speed", speed_table(stored["speed"])),
    ):
        before, rest = page.split(f"<!-- {name} -->\n", 1)
        page = f"{before}<!-- {name} -->\n{text}\n{rest[rest.index(END) :]}"
    return page


def stored() -> dict[str, Any]:
    """Return the kept results."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, keep it and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="run nothing, fill the page")
    if not parser.parse_args(arguments).show:
        rows: list[dict[str, Any]] = stored()["quality"] if FILE.is_file() else []
        run_quality(rows)
        found = {"quality": rows, "speed": run_speed()}
        FILE.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")
    print(summary(stored()["quality"]).round(3).to_string())


if __name__ == "__main__":
    main()
