"""Write docs/licences.md: the licence of every dependency and of every bundled file.

``python tools/licences.py`` writes the page from the metadata of the installed packages, for
which all extras must be installed, with the oldest Python, where most packages are needed;
``--check`` compares the page with them and writes nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/licences.md"
OWN = "BSD-3-Clause"

# What may be a dependency of `all`. Of a file-level copyleft, nothing reaches code that uses
# the package unchanged.
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "HPND"),
    *("ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"),
}
FILE_LEVEL = {"MPL-2.0"}

# Packages whose metadata name no licence, or not which one of a family: read from the licence
# files that they install.
READ = {
    "alabaster": "BSD-3-Clause",
    "array-api-strict": "BSD-3-Clause",
    "axe-playwright-python": "MIT",
    "cycler": "BSD-3-Clause",
    "docutils": "BSD-2-Clause AND PSF-2.0 AND GPL-3.0-or-later",
    "empulse": "AGPL-3.0-only",
    "gfdl": "BSD-3-Clause",
    "graphemeu": "MIT",
    "ipython-pygments-lexers": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "jupyterlab-widgets": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "PSF-2.0",
    "mpmath": "BSD-3-Clause",
    "numpydoc": "BSD-2-Clause",
    "partd": "BSD-3-Clause",
    "prompt-toolkit": "BSD-3-Clause",
    "reuse": "Apache-2.0 AND CC0-1.0 AND CC-BY-SA-4.0 AND GPL-3.0-or-later",
    "scikit-image": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "sklearn-compat": "BSD-3-Clause",
    "skops": "MIT",
    "sympy": "BSD-3-Clause",
    "traitlets": "BSD-3-Clause",
    "zict": "BSD-3-Clause",
}
# How packages without a licence expression write it, lower case and without punctuation.
WRITTEN = {
    "3 clause bsd": "BSD-3-Clause",
    "3 clause bsd license": "BSD-3-Clause",
    "apache 2 0": "Apache-2.0",
    "apache license v2 0": "Apache-2.0",
    "apache license version 2 0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2 clause": "BSD-2-Clause",
    "bsd 2 clause license": "BSD-2-Clause",
    "bsd 3 clause": "BSD-3-Clause",
    "bsd 3 clause license": "BSD-3-Clause",
    "gplv3": "GPL-3.0-only",
    "gpl 3 0": "GPL-3.0-only",
    "isc license": "ISC",
    "isc license iscl": "ISC",
    "mit": "MIT",
    "mit license": "MIT",
    "mozilla public license 2 0 mpl 2 0": "MPL-2.0",
    "mpl 2 0": "MPL-2.0",
    "mpl 2 0 and mit and bsd 3 clause": "MPL-2.0 AND MIT AND BSD-3-Clause",
    "python software foundation license": "PSF-2.0",
}
DEVELOPMENT = ("docs", "test", "bench", "bench-gpl", "fuzz", "release")
BUNDLED = ("src/ecselm", "docs/_static")
# What is not Python and is installed, or served with the documentation.
BUNDLED_SUFFIXES = {
    *(".c", ".css", ".eot", ".gif", ".h", ".html", ".ico", ".jpg", ".js", ".otf", ".png"),
    *(".svg", ".ttf", ".woff", ".woff2"),
}
FOREIGN = re.compile(r"(?i)copyright|@license|spdx-license-identifier|all rights reserved")

INTRODUCTION = """\
# Licences

ecselm is BSD-3-Clause ([text](https://github.com/ecselm/ecselm/blob/main/LICENSE)). This page
lists the licences of its dependencies and of the files that it bundles. `python
tools/licences.py` makes it from the metadata of the installed packages, and a test compares it
with them.
"""
COPYLEFT = """\
## Copyleft packages

`pip install "ecselm[all]"` installs no package under the GPL or the AGPL. Packages under these
licences are in extras that have the licence in their name:

| extra | package | licence | used for |
|---|---|---|---|
| `compare-agpl` | empulse | {empulse} | CSLogit, CSBoost, CSTree, CSThreshold of `get_method` |
| `bench-gpl` | intelelm, mealpy | {intelelm} | two baselines of `make bench`, in a clone only |

ecselm contains no code of theirs and works without them. Who gives a program to others together
with one of them, or offers one of them over a network (AGPL), has to meet its licence; that of
ecselm does not change. The first use of empulse through ecselm in a process warns of this.

`boosting` is not in `all` for its size; on Linux, XGBoost installs NVIDIA's NCCL, which is not
free software.
"""


def licence(found: Distribution) -> str:
    """Return the SPDX expression of a package.

    Raises
    ------
    ValueError
        If the metadata do not say which licence it is; then it is to be read, and to be added
        to ``READ``.
    """
    name = canonicalize_name(found.name)
    expression = found.metadata.get("License-Expression")
    if expression:
        return str(expression)
    if name in READ:
        return READ[name]
    classifiers = found.metadata.get_all("Classifier") or []
    stated = [found.metadata.get("License") or ""]
    stated += [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    for text in stated:
        key = " ".join(re.findall(r"\w+", text.splitlines()[0].lower())) if text else ""
        if key in WRITTEN:
            return WRITTEN[key]
    raise ValueError(
        f"the licence of {name} must be known, got {stated}: read it, and add it to READ"
    )


def may_be_in_all(expression: str) -> bool:
    """Tell whether a licence is permissive, or a copyleft of files, in one of its choices.

    Examples
    --------
    >>> may_be_in_all("Apache-2.0 OR GPL-3.0-only"), may_be_in_all("MIT AND GPL-3.0-only")
    (True, False)
    """
    allowed = PERMISSIVE | FILE_LEVEL
    choices = expression.replace("(", "").replace(")", "").split(" OR ")
    return any(set(choice.split(" AND ")) <= allowed for choice in choices)


def project() -> dict[str, list[str]]:
    """Return the requirements of the package by extra; those of the package itself are "core"."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"core": table["dependencies"], **table["optional-dependencies"]}


def closure(requirements: Iterable[str]) -> dict[str, Distribution]:
    """Return all packages that requirements install here, directly or not, by name."""
    own = project()
    found: dict[str, Distribution] = {}
    waiting = [(Requirement(one), "") for one in requirements]
    seen: set[str] = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        key = f"{name}[{sorted(requirement.extras)}]"
        if key in seen:
            continue
        seen.add(key)
        if name == "ecselm":
            waiting += [(Requirement(one), "") for e in requirement.extras for one in own[e]]
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            raise ValueError(f"{name} must be installed to know its licence") from None
        for one in found[name].requires or []:
            waiting += [(Requirement(one), asked) for asked in ("", *requirement.extras)]
    return found


def extras_of_all() -> list[str]:
    """Return the names of the extras that `all` has."""
    return sorted({e for one in project()["all"] for e in Requirement(one).extras})


def dependencies() -> dict[str, tuple[str, str]]:
    """Return licence and origin of the packages of `all`, by name."""
    own = project()
    parts = {name: closure(own[name]) for name in ("core", *extras_of_all())}
    rows = {}
    for name in sorted({name for part in parts.values() for name in part}):
        origins = [extra for extra, part in parts.items() if name in part]
        one = next(part[name] for part in parts.values() if name in part)
        rows[name] = licence(one), "core" if "core" in origins else ", ".join(origins)
    return rows


def tools() -> dict[str, tuple[str, str]]:
    """Return licence and extra of the packages that only development needs."""
    own = project()
    users = set(closure([*own["core"], *own["all"]]))
    rows: dict[str, tuple[str, str]] = {}
    for extra in (one for one in DEVELOPMENT if one in own):
        for text in own[extra]:
            name = canonicalize_name(Requirement(text).name)
            if name != "ecselm" and name not in users and name not in rows:
                rows[name] = READ.get(name) or licence(distribution(name)), extra
    return dict(sorted(rows.items()))


def bundled() -> list[str]:
    """Return the files of the package and of the site that are not Python, without folders."""
    paths = [path for folder in BUNDLED for path in sorted((ROOT / folder).rglob("*"))]
    chosen = [path for path in paths if path.suffix.lower() in BUNDLED_SUFFIXES]
    return [path.relative_to(ROOT).as_posix() for path in chosen]


def foreign() -> list[str]:
    """Return the bundled files that name a licence or copyright, or cannot be read as text."""
    found = []
    for name in bundled():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.append(name)
            continue
        if FOREIGN.search(text):
            found.append(name)
    return found


def page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    yield "## Dependencies"
    yield ""
    yield "Packages that `ecselm` (core) and `ecselm[all]` install on Linux, directly or not:"
    yield ""
    yield from _table(("package", "licence", "needed by"), dependencies())
    yield ""
    named = {
        name: READ.get(name) or licence(distribution(name)) for name in ("empulse", "intelelm")
    }
    yield COPYLEFT.format(**named)
    yield "## Development"
    yield ""
    yield "Direct dependencies of the extras for development; nothing of them is distributed."
    yield ""
    yield from _table(("package", "licence", "extra"), tools())
    yield ""
    yield "## Bundled files"
    yield ""
    yield f"The package and the site bundle no files of others. These files are ours, {OWN}:"
    yield ""
    yield from (f"- `{name}`" for name in _by_folder(bundled()))


def _table(header: tuple[str, ...], rows: dict[str, tuple[str, str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for name, (expression, origin) in rows.items():
        yield f"| {name} | {expression} | {origin} |"


def _by_folder(names: list[str]) -> list[str]:
    """Return file names with the files of a folder and a suffix in one."""
    return sorted({f"{Path(name).parent.as_posix()}/*{Path(name).suffix}" for name in names})


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    args = parser.parse_args(arguments)
    refused = {name: row for name, row in dependencies().items() if not may_be_in_all(row[0])}
    if refused:
        print(f"not permissive, and so not for `all`: {refused}", file=sys.stderr)
        return 1
    if foreign():
        print(f"licences to be stated: {foreign()}", file=sys.stderr)
        return 1
    if not args.check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        print("docs/licences.md is not up to date: run python tools/licences.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
