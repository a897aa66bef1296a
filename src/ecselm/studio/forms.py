"""What forms state, as settings; refusals name the field and the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ecselm._wording import brief, case_of, confusion_of
from ecselm.metrics import get_metric
from ecselm.studio.project import CostRange, Project, Settings, Worse, column_named

MAX_PAIRED = 4  # classes up to which every confusion has a line of its own
MAX_LISTED = 30  # classes up to which there are lines at all
N_WORSE = 3  # lines that state which of two mistakes is worse
MAX_TEXT = 20_000  # characters of a field
METRICS = {
    "classes": ("balanced_accuracy", "gmean", "f1_macro", "accuracy", "matthews_corrcoef"),
    "numbers": ("neg_mean_absolute_error", "neg_mean_squared_error", "r2"),
}
MODELS = {
    "classes": {
        "ecselm": "ECSELM, the default",
        "boosting": "gradient boosting",
        "logistic": "logistic regression",
        "auto": "the best of these on validation rows",
    },
    "numbers": {
        "ecselm": "ECSELM, the default",
        "boosting": "gradient boosting",
        "ridge": "ridge regression",
        "auto": "the best of these on validation rows",
    },
}


class Fields:
    """Texts of a form by name."""

    def __init__(self, given: Iterable[tuple[str, Any]]) -> None:
        self._given: dict[str, list[str]] = {}
        for name, value in given:
            if isinstance(value, str):
                self._given.setdefault(name, []).append(value.replace("\r\n", "\n").strip())

    def text(self, name: str) -> str:
        """Return a text, empty where there is none."""
        found = self._given.get(name, [""])[0]
        if len(found) > MAX_TEXT:
            raise ValueError(f"{name} must have at most {MAX_TEXT} characters, got {len(found)}")
        return found

    def shown(self, name: str) -> str:
        """Return a text to be shown again, cut if it is too long."""
        return self._given.get(name, [""])[0][:MAX_TEXT]

    def texts(self, name: str) -> list[str]:
        """Return all texts of a name."""
        return self._given.get(name, [])

    def number(self, name: str, what: str, *, low: float = 0.0) -> float | None:
        """Return a finite number >= low, None where nothing is stated."""
        text = self.text(name)
        if not text:
            return None
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            value = math.nan
        if not low <= value < math.inf:
            raise ValueError(f"{what} must be a number of at least {low:g}, got {brief(text)!r}")
        return value

    def whole(self, name: str, what: str, *, low: int = 0) -> int | None:
        """Return a whole number >= low, None where nothing is stated."""
        value = self.number(name, what, low=low)
        if value is None:
            return None
        if value != int(value):
            raise ValueError(f"{what} must be a whole number, got {value:g}")
        return int(value)


def mistakes(settings: Settings) -> list[tuple[str, str]]:
    """Return the mistakes that pages list: the name of a field, and words."""
    labels = settings.labels
    k = len(labels)
    if k <= MAX_PAIRED:
        return [
            (f"{i}-{j}", confusion_of(labels[i], labels[j]))
            for i in range(k)
            for j in range(k)
            if i != j
        ]
    if k <= MAX_LISTED:
        return [(f"{i}-x", f"any mistake on {case_of(labels[i])}") for i in range(k)]
    return []


def read_mistake(text: str, settings: Settings) -> tuple[int, int | None]:
    """Return the classes of a mistake by the name of its field."""
    if text not in dict(mistakes(settings)):
        raise ValueError(f"a mistake must be one of those listed, got {brief(text)!r}")
    truth, _, predicted = text.partition("-")
    return int(truth), None if predicted == "x" else int(predicted)


def read_columns(fields: Fields, project: Project) -> dict[str, Any]:
    """Return what the page of data states."""
    columns = project.columns
    chosen = [column_named(columns, place) for place in fields.texts("left_out")]
    return {
        "target": column_named(columns, fields.text("target")),
        "left_out": tuple(one for one in chosen if one is not None),
        "groups": column_named(columns, fields.text("groups")),
        "by": column_named(columns, fields.text("by")),
        "cost_column": column_named(columns, fields.text("cost_column")),
    }


def read_costs(fields: Fields, settings: Settings) -> Settings:
    """Return settings with what the page of costs states."""
    metric = fields.text("metric") or None
    if metric is not None and metric not in METRICS[str(settings.task)]:
        raise ValueError(f"the metric must be one of those listed, got {brief(metric)!r}")
    changed: dict[str, Any] = {"metric": metric}
    if settings.task == "classes":
        ranges, worse = [], []
        for name, words in mistakes(settings):
            low = fields.number(f"low-{name}", f"the cost of {words}")
            high = fields.number(f"high-{name}", f"the highest cost of {words}")
            if low is None and high is None:
                continue
            low = 0.0 if low is None else low
            high = low if high is None else high
            if high < low:
                raise ValueError(
                    f"the highest cost of {words} must be at least the lowest, got {low:g} and "
                    f"{high:g}"
                )
            ranges.append(CostRange(*read_mistake(name, settings), low, high))
        for n in range(N_WORSE):
            first, second = fields.text(f"worse-{n}"), fields.text(f"than-{n}")
            if first and second:
                worse.append(Worse(*read_mistake(first, settings), *read_mistake(second, settings)))
            elif first or second:
                raise ValueError("what is worse must name two mistakes, got one")
        mistake = fields.text("cost_mistake")
        about = read_mistake(mistake, settings) if mistake else (None, None)
        changed |= {
            "ranges": tuple(ranges),
            "worse": tuple(worse),
            "sentences": tuple(
                line for one in fields.text("sentences").split("\n") if (line := one.strip())
            ),
            "cost_truth": about[0],
            "cost_predicted": about[1],
            "unit": fields.number("unit", "the money that a cost of 1 stands for"),
            "currency": brief(fields.text("currency"), 20),
        }
    found = replace(settings, **changed)
    found.check_costs()
    return found


def read_training(fields: Fields, settings: Settings) -> Settings:
    """Return settings with what the page of training states."""
    model = fields.text("model_name") or "ecselm"
    if model not in MODELS[str(settings.task)]:
        raise ValueError(f"the model must be one of those listed, got {brief(model)!r}")
    percent = fields.number("test_percent", "the share of test rows", low=1)
    if percent is not None and percent > 90:
        raise ValueError(f"the share of test rows must be at most 90 per cent, got {percent:g}")
    limit = fields.number("max_time", "the time limit of the search", low=0.1)
    seed = fields.whole("seed", "the random seed")
    return replace(
        settings,
        model_name=model,
        max_time=limit,
        epochs=fields.whole("epochs", "the number of generations"),
        test_share=0.25 if percent is None else percent / 100,
        seed=0 if seed is None else seed,
    )


def metric_choices(settings: Settings) -> list[tuple[str, str]]:
    """Return names and descriptions of the metrics of a task."""
    found = []
    for name in METRICS[str(settings.task)]:
        metric = get_metric(name)
        found.append((name, f"{metric.label}: {metric.description}"))
    return found
