"""Which ELM libraries meet which equations of the paper: ``python -m benchmarks.conformance``.

Runs the checks of ``ecselm.paper.conformance`` on this library and on hpelm, scikit-elm and gfdl,
as far as they are installed (the extra ``bench``; gfdl needs Python 3.12). What they found goes to
``benchmarks/conformance.json``, where columns of libraries that are not installed stay as they
are, and as a table into ``docs/conformance.md``; ``--show`` fills the page without a run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import platform
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.baselines import GFDL, HPELM, SCIKIT_ELM, Package
from benchmarks.tables import table
from ecselm.paper.conformance import (
    CHECKS,
    Fitted,
    Implementation,
    check,
    ecselm_implementation,
)

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "conformance.md"
FILE = HERE / "conformance.json"
BEGIN, END = "<!-- conformance -->\n", "<!-- end -->"


def radbas(A: np.ndarray) -> np.ndarray:
    """Return ``exp(-a^2)`` (17)."""
    return np.exp(-(A**2))


def one_hot(y: np.ndarray) -> np.ndarray:
    """Return targets 1 and 0, which other libraries use for classes."""
    return (y[:, np.newaxis] == np.unique(y)).astype(float)


def hpelm_implementation(hpelm: Any, version: str) -> Implementation:
    """Return hpelm with sigmoid units; its solver takes weights of rows."""

    def machine(X: np.ndarray, m: int, n_hidden: int, seed: int, norm: float | None) -> Any:
        rng, n = np.random.default_rng(seed), X.shape[1]
        model = hpelm.ELM(n, m, norm=norm)
        W, b = rng.standard_normal((n, n_hidden)), rng.standard_normal(n_hidden)
        model.add_neurons(n_hidden, "sigm", W, b)
        return model

    def shown(model: Any) -> Fitted:
        (_, _, W, b) = model.nnet.get_neurons()[0]
        return Fitted(
            scores=model.predict,
            hidden=model.project,
            weights=W,
            biases=b,
            activation="sigmoid",
        )

    def ridge(X, T, *, n_hidden, C, seed):
        model = machine(X, T.shape[1], n_hidden, seed, 1.0 / C)
        model.train(X, T, "r")
        return shown(model)

    def pseudo_inverse(X, T, *, n_hidden, seed):
        model = machine(X, T.shape[1], n_hidden, seed, None)  # its least ridge, and default
        model.train(X, T, "r")
        return shown(model)

    def weighted_ridge(X, T, B, *, n_hidden, C, seed):
        model = machine(X, T.shape[1], n_hidden, seed, 1.0 / C)
        model.nnet.reset()
        model.nnet.add_batch(X, T, B)
        model.nnet.solve()
        return shown(model)

    def classifier(X, y, *, n_hidden, C, seed):
        T = one_hot(y)  # as its documentation has it; the largest output is left to the user
        model = machine(X, T.shape[1], n_hidden, seed, 1.0 / C)
        model.train(X, T, "c")
        return shown(model)

    def class_weights(y, scheme):
        if scheme != "w1":
            raise NotImplementedError(scheme)
        X, T = np.random.default_rng(0).standard_normal((len(y), 2)), one_hot(y)
        model = machine(X, T.shape[1], 3, 0, 1.0)
        model.train(X, T, "wc")
        return model.wc[T.argmax(axis=1)]

    return Implementation(
        "hpelm",
        version,
        ridge=ridge,
        pseudo_inverse=pseudo_inverse,
        weighted_ridge=weighted_ridge,
        classifier=classifier,
        class_weights=class_weights,
    )


def scikit_elm_implementation(skelm: Any, version: str) -> Implementation:
    """Return scikit-elm with radial basis units, which it takes as a function."""

    def shown(model: Any, **more: Any) -> Fitted:
        (layer,) = model.hidden_layers_
        return Fitted(
            hidden=layer.transform,
            weights=layer.projection_.components_.T,
            activation="radbas",
            **more,
        )

    def ridge(X, T, *, n_hidden, C, seed):
        model = skelm.ELMRegressor(
            alpha=1.0 / C, n_neurons=n_hidden, ufunc=radbas, random_state=seed
        ).fit(X, T)
        return shown(model, scores=model.predict)

    def pseudo_inverse(X, T, *, n_hidden, seed):
        model = skelm.ELMRegressor(alpha=0.0, n_neurons=n_hidden, ufunc=radbas, random_state=seed)
        model.fit(X, T)
        return shown(model, scores=model.predict)

    def classifier(X, y, *, n_hidden, C, seed):
        model = skelm.ELMClassifier(
            alpha=1.0 / C, n_neurons=n_hidden, ufunc=radbas, random_state=seed
        ).fit(X, y)

        def scores(X):
            (layer,) = model.hidden_layers_
            return model.solver_.predict(layer.transform(X))

        return shown(model, scores=scores, labels=model.predict)

    return Implementation(
        "scikit-elm", version, ridge=ridge, pseudo_inverse=pseudo_inverse, classifier=classifier
    )


def gfdl_implementation(gfdl: Any, version: str) -> Implementation:
    """Return gfdl without direct links, with tanh units."""

    def made(kind: Any, n_hidden: int, C: float | None, seed: int) -> Any:
        return kind(
            hidden_layer_sizes=(n_hidden,),
            activation="tanh",
            weight_scheme="uniform",
            direct_links=False,
            reg_alpha=None if C is None else 1.0 / C,
            seed=seed,
        )

    def shown(model: Any, **more: Any) -> Fitted:
        W, b = model.W_[0].T, model.b_[0]
        return Fitted(
            hidden=lambda X: model._activation_fn(X @ W + b),
            weights=W,
            biases=b,
            activation="tanh",
            **more,
        )

    def ridge(X, T, *, n_hidden, C, seed):
        model = made(gfdl.GFDLRegressor, n_hidden, C, seed).fit(X, T)
        return shown(model, scores=model.predict)

    def pseudo_inverse(X, T, *, n_hidden, seed):
        return ridge(X, T, n_hidden=n_hidden, C=None, seed=seed)

    def classifier(X, y, *, n_hidden, C, seed):
        model = made(gfdl.GFDLClassifier, n_hidden, C, seed).fit(X, y)
        hidden = shown(model).shown("hidden")
        return shown(model, scores=lambda X: hidden(X) @ model.coeff_, labels=model.predict)

    return Implementation(
        "gfdl", version, ridge=ridge, pseudo_inverse=pseudo_inverse, classifier=classifier
    )


ADAPTERS: tuple[tuple[Package, Callable[[Any, str], Implementation]], ...] = (
    (HPELM, hpelm_implementation),
    (SCIKIT_ELM, scikit_elm_implementation),
    (GFDL, gfdl_implementation),
)


def implementations() -> list[Implementation]:
    """Return this library and those that are installed."""
    found = [ecselm_implementation()]
    for package, adapter in ADAPTERS:
        if package.missing:
            print(f"{package.name}: {package.missing}")
        else:
            found.append(adapter(package.load(), package.version))
    return found


def measured(implementation: Implementation) -> dict[str, Any]:
    """Run all checks of one implementation."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        results = check(implementation)
    return {
        "name": implementation.name,
        "version": implementation.version,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "results": {
            result.check.name: {
                "outcome": result.outcome,
                "deviation": None if result.deviation is None else repr(result.deviation),
                "note": result.note,
            }
            for result in results
        },
    }


def stored(path: Path = FILE) -> list[dict[str, Any]]:
    """Return the kept results, one record per implementation."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def merged(known: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the new records in the place of those of the same name."""
    by_name = {one["name"]: one for one in (*known, *new)}
    order = ["ecselm", *(package.name for package, _ in ADAPTERS)]
    return [by_name[name] for name in order if name in by_name]


def cell(found: dict[str, Any]) -> str:
    """Return what a check found as a cell of the table."""
    if found["outcome"] != "failed":
        return {"passed": "yes", "not offered": ""}[found["outcome"]]
    if found["deviation"] is None:
        return f"**no**: {found['note']}"
    deviation = float(found["deviation"])
    return f"**no** ({deviation:.1g})" if np.isfinite(deviation) else "**no**"


def as_markdown(records: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    header = ["equation", "check", "what must hold", "tolerance"]
    header += [one["name"] for one in records]
    lines = [
        [
            one.equations,
            f"{one.name}{' °' if one.black_box else ''}",
            f"`{one.formula}`",
            f"{one.tolerance:.2g}",
            *(cell(record["results"][one.name]) for record in records),
        ]
        for one in CHECKS.values()
    ]
    counts = ["", "passed / failed / not offered", "", ""]
    for record in records:
        outcomes = [found["outcome"] for found in record["results"].values()]
        each = (str(outcomes.count(o)) for o in ("passed", "failed", "not offered"))
        counts.append(" / ".join(each))
    return table(header, [*lines, counts])


def versions(records: list[dict[str, Any]]) -> str:
    """Return a sentence with what was run where."""
    ran = [
        f"{r['name']} {r['version']} (Python {r['python']}, NumPy {r['numpy']})" for r in records
    ]
    return f"Run with {', '.join(ran)}."


def filled(page: str, records: list[dict[str, Any]]) -> str:
    """Return the page with the table of these results."""
    before, rest = page.split(BEGIN, 1)
    text = f"{as_markdown(records)}\n\n{versions(records)}"
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the checks, keep what they found and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="run nothing, fill the page")
    if not parser.parse_args(arguments).show:
        known = stored() if FILE.is_file() else []
        records = merged(known, [measured(one) for one in implementations()])
        FILE.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")
    for record in stored():
        outcomes = [found["outcome"] for found in record["results"].values()]
        print(record["name"], {o: outcomes.count(o) for o in sorted(set(outcomes))})


if __name__ == "__main__":
    main()
