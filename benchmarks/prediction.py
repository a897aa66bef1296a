"""Prediction: single rows, batches and start-up: ``python -m benchmarks.prediction``.

Single rows: the CPU time of a call of a prepared model and of the model, divided by that of
scikit-learn's LogisticRegression on the same row. Batches: the time of the two products of their
shapes, ``X Y'`` and ``H beta``, divided by that of the prediction. ONNX runtime stands beside both
where the extra ``onnx`` is installed. Start-up: the CPU time of ``ecselm --help`` and of
``ecselm predict`` on 1000 rows. Figures go to ``benchmarks/results/prediction.json``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.points import ROOT, cpu_seconds
from benchmarks.tables import table
from benchmarks.timing import blas_threads
from ecselm import ECSELMClassifier, ELMClassifier
from ecselm.saving import prepare

FILE = ROOT / "benchmarks" / "results" / "prediction.json"
MODELS: dict[str, Callable[[], Any]] = {
    "ECSELMClassifier()": lambda: ECSELMClassifier(random_state=0, n_jobs=1),
    "ELMClassifier()": lambda: ELMClassifier(random_state=0),
}
SINGLE_TARGET, BATCH_TARGET = 3.0, 0.5


def call_seconds(work: Callable[[], Any], calls: int, rounds: int = 5) -> float:
    """Return the least mean CPU time of a call over some rounds of calls."""
    work()
    times = []
    for _ in range(rounds):
        start = cpu_seconds()
        for _ in range(calls):
            work()
        times.append((cpu_seconds() - start) / calls)
    return min(times)


def onnx_calls(model: Any) -> Callable[[np.ndarray], Any] | None:
    """Return a call of the exported graph on one thread, None without ONNX runtime."""
    try:
        import onnxruntime

        from ecselm.onnx import to_onnx
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(model)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    return lambda rows: session.run(None, {name: rows})


def products(model: Any, n_features: int, n_rows: int) -> Callable[[], Any]:
    """Return the two products of a prediction in blocks, on matrices of its shapes."""
    rng, beta = np.random.default_rng(1), np.asarray(model.beta_, dtype=np.float64)
    step = max(64, (1 << 17) // len(beta))
    X = rng.standard_normal((step, n_features))
    Y, H = rng.standard_normal((len(beta), n_features)), np.empty((step, len(beta)))

    def work() -> None:
        for _ in range(-(-n_rows // step)):
            np.matmul(X, Y.T, out=H)
            H @ beta

    return work


def measure(n_train: int, n_features: int, n_batch: int, calls: int) -> dict[str, Any]:
    """Return the ratios of all models."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_train, n_features))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.3 * rng.standard_normal(n_train)).astype(int)
    batch = rng.standard_normal((n_batch, n_features))
    found: dict[str, Any] = {"n_features": n_features, "n_train": n_train}
    with blas_threads(1):
        plain = LogisticRegression().fit(X, y)
        base = call_seconds(lambda: plain.predict(X[:1]), calls)
        for name, make in MODELS.items():
            model = make().fit(X, y)
            prepared, graph = prepare(model), onnx_calls(model)
            gemm = call_seconds(products(model, n_features, n_batch), 1)
            found[name] = {
                "units": len(model.beta_),
                "single": call_seconds(lambda p=prepared: p.predict(X[:1]), calls) / base,
                "single, model": call_seconds(lambda m=model: m.predict(X[:1]), calls) / base,
                "batch": gemm / call_seconds(lambda p=prepared: p.predict(batch), 1),
                "batch, model": gemm / call_seconds(lambda m=model: m.predict(batch), 1),
            }
            if graph is not None:
                found[name]["single, ONNX"] = call_seconds(lambda g=graph: g(X[:1]), calls) / base
                found[name]["batch, ONNX"] = gemm / call_seconds(lambda g=graph: g(batch), 1)
    return found


def command_seconds(arguments: Sequence[str]) -> float:
    """Return the CPU time of a command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  this package
        [sys.executable, "-m", "ecselm", *arguments], check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_up(n_rows: int = 1000) -> dict[str, float]:
    """Return the CPU seconds of the command's help, and of predictions for a small table."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 10))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = ",".join([*(f"x{i}" for i in range(10)), "y"])
        labelled = np.column_stack([X, X[:, 0] > 0])
        np.savetxt(folder / "train.csv", labelled, "%.6g", ",", header=header, comments="")
        model, data = str(folder / "model.skops"), str(folder / "train.csv")
        command_seconds(["fit", data, "--target", "y", "-o", model])
        predict = ["predict", model, data, "-o", str(folder / "out.csv")]
        return {
            "ecselm --help": min(command_seconds(["--help"]) for _ in range(3)),
            f"ecselm predict, {n_rows} rows": min(command_seconds(predict) for _ in range(3)),
        }


def as_table(found: dict[str, Any]) -> str:
    """Return the tables of the page."""
    keys = ("single", "single, model", "single, ONNX", "batch", "batch, model", "batch, ONNX")
    lines = [
        [name, str(one["units"]), *(f"{one[key]:.2f}" if key in one else "" for key in keys)]
        for name, one in found.items()
        if isinstance(one, dict) and "units" in one
    ]
    header = ["model", "units", "one row, prepared", "one row, model", "one row, ONNX runtime"]
    header += ["batch, prepared", "batch, model", "batch, ONNX runtime"]
    text = table(header, lines)
    seconds = [[name, f"{value:.2f}"] for name, value in found.get("start-up", {}).items()]
    return f"{text}\n\n{table(['command', 'CPU s'], seconds)}" if seconds else text


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and keep the figures."""
    parser = argparse.ArgumentParser(description="Time single rows, batches and start-up.")
    parser.add_argument("--train", type=int, default=5000, help="training rows")
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--batch", type=int, default=20_000, help="rows of a batch")
    parser.add_argument("--calls", type=int, default=300, help="calls of a round")
    parser.add_argument("--no-start-up", action="store_true")
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found = measure(options.train, options.features, options.batch, options.calls)
    if not options.no_start_up:
        found["start-up"] = start_up()
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(as_table(found))


if __name__ == "__main__":
    main()
