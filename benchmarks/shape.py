"""Measure the shape of the library: how much code a default fit passes through.

``python -m benchmarks.shape`` prints modules and functions that a default fit of
:class:`ecselm.ECSELMClassifier` runs, the depth of its own frames, the classes it inherits
from, and the size of the package.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import tokenize
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import ecselm
from ecselm import ECSELMClassifier

ROOT = Path(ecselm.__file__).parent
FACES = (
    *("ecselm", "ecselm.search", "ecselm.costs", "ecselm.metrics", "ecselm.displays"),
    *("ecselm.dask", "ecselm.streaming", "ecselm.saving", "ecselm.onnx"),
    *(f"ecselm.paper.{name}" for name in ("methods", "baselines", "subspace", "pairs")),
    *(f"ecselm.paper.{name}" for name in ("datasets", "protocols", "statistics")),
)
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


@dataclass(frozen=True)
class FitShape:
    """Code that one fit passes through."""

    modules: tuple[str, ...]  # with a function that was called
    n_functions: int
    depth: int  # most own frames on the stack
    deepest: tuple[str, ...]  # these frames


def fit_shape(fit: Any) -> FitShape:
    """Call ``fit`` and return the own code it passes through."""
    root = str(ROOT) + os.sep
    functions: set[Any] = set()
    deepest: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        if event != "call" or not frame.f_code.co_filename.startswith(root):
            return
        functions.add(frame.f_code)
        stack, above = [], frame
        while above is not None:
            if above.f_code.co_filename.startswith(root):
                place = above.f_code.co_filename.removeprefix(root)
                stack.append(f"{place}:{above.f_code.co_qualname}")
            above = above.f_back
        if len(stack) > len(deepest):
            deepest = stack[::-1]

    sys.setprofile(profile)
    try:
        fit()
    finally:
        sys.setprofile(None)
    modules = sorted({code.co_filename.removeprefix(root) for code in functions})
    return FitShape(tuple(modules), len(functions), len(deepest), tuple(deepest))


def default_fit() -> None:
    """Fit the default classifier on two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(200) > 0.8).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ECSELMClassifier(random_state=0).fit(X, y)


def own_classes(estimator: type) -> list[str]:
    """Return the classes of this package among those an estimator inherits from."""
    return [one.__name__ for one in estimator.__mro__ if one.__module__.startswith("ecselm.")]


@dataclass(frozen=True)
class PackageShape:
    """Size of the package."""

    n_modules: int
    n_lines: int
    n_code_lines: int  # without comments, docstrings and blank lines
    n_exported: int  # names of the public places


def package_shape() -> PackageShape:
    """Count modules, lines and exported names."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))]
    exported = 0
    for name in FACES:
        try:
            face = importlib.import_module(name)
        except ImportError:  # an optional dependency that is not installed
            continue
        exported += len(getattr(face, "__all__", ()))
    n_lines = sum(text.count("\n") for text in texts)
    return PackageShape(len(texts), n_lines, sum(map(_code_lines, texts)), exported)


def _code_lines(text: str) -> int:
    lines, source = set(), text.splitlines()
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE
    ]
    starts_line = {token.start[0]: token for token in reversed(tokens)}
    for token in tokens:
        is_docstring = token.type == tokenize.STRING and starts_line[token.start[0]] is token
        if not (is_docstring and source[token.end[0] - 1].strip().endswith('"""')):
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def main() -> None:
    """Print all measurements."""
    default_fit()  # once before, so that imports and caches are not counted
    shape = fit_shape(default_fit)
    print(f"modules of a default fit      {len(shape.modules)}")
    print(f"functions of a default fit    {shape.n_functions}")
    print(f"own frames deep               {shape.depth}")
    print(f"own classes of the classifier {', '.join(own_classes(ECSELMClassifier))}")
    for name, value in asdict(package_shape()).items():
        print(f"{name:<29} {value}")
    print("\ndeepest stack:", *shape.deepest, sep="\n  ")
    print("\nmodules:", *shape.modules, sep="\n  ")


if __name__ == "__main__":
    main()
