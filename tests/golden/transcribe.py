"""Run commands in a folder and write down all that a person gets to see of them.

A transcript holds, for every command line, its exit code, what it printed, what it complained
about and what it wrote: models as their cards, tables as text, graphs as a summary. Replaced is
only what differs between two runs of one command on one machine, or between two releases of a
library: the folder, seconds, dates, versions, bars of progress.
"""

import contextlib
import hashlib
import io
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import warnings
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

import ecselm
from ecselm.cli import main

LONGEST = 8000  # characters of a table that is kept as it is

# Fixed: how wide help is. Absent: data sets of one's own, and wishes for colours.
ENVIRONMENT = {"COLUMNS": "100"}
ABSENT = ("ECSELM_DATA", "FORCE_COLOR", "NO_COLOR", "PYTHON_COLORS", "TTY_COMPATIBLE")
QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)

_BAR = re.compile(r" [━╸╺]+ +(\d+/\d+) [-:\d]+ *$")
_PAGE_VERSIONS = re.compile(r"<caption>Versions</caption>.*?</table>", re.DOTALL)
_VARYING = (
    (re.compile(r'("seconds": )[-+.\de]+'), r"\1<seconds>"),
    (re.compile(r'(seconds" data-value=")[^"]*(">)[^<]*'), r"\1<seconds>\2<seconds>"),
    (re.compile(r'("version": )"[^"]*"'), r'\1"<version>"'),
    (re.compile(r'(made_on"?: )"[^"]*"'), r'\1"<date>"'),
    (re.compile(r"(Made on )[-\d]+"), r"\1<date>"),
    (re.compile(r"^ecselm \d[\w.+]*$", re.MULTILINE), "ecselm <version>"),
)
_DIGEST = r"sha256 [0-9a-f]+|\b(?=[a-f]*\d)[0-9a-f]{8}\b"
_NUMBER = rf"(?:{_DIGEST}|[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_NUMBERS = re.compile(rf"{_NUMBER}(?:[\s,;()\[\]MLHVZ]+{_NUMBER})*")


@dataclass
class Transcript:
    """What came of a scenario.

    Attributes
    ----------
    text : str
        Commands, and all that came of them but pages.
    pages : dict of str
        HTML by the name of its file.
    """

    text: str = ""
    pages: dict[str, str] = field(default_factory=dict)


def transcribed(commands, folder):
    """Run command lines in a folder that has their tables, and return the transcript."""
    done, seen = Transcript(), _contents(folder)
    with contextlib.chdir(folder), _plain_surroundings():
        for command in commands:
            code, out, err = _run(shlex.split(command)[1:])
            done.text += f"$ {command}\nexit code {code}\n"
            done.text += _told("printed", out) + _told("complained", _last_bars(err))
            now = _contents(folder)
            for path in sorted(now):
                if seen.get(path) != now[path]:
                    _keep(path, done)
            seen = now
            done.text += "\n"
    done.text = _plain(done.text, folder)
    done.pages = {name: _plain(page, folder) for name, page in done.pages.items()}
    return done


def masked(text):
    """Return a text without its numbers, and without what their widths do to a table."""
    without = _NUMBERS.sub("#", text)
    return re.sub(r"[ ─]+", " ", without)


@cache
def fingerprint():
    """Return what the last bits of a result depend on."""
    built = any(Path(ecselm.__file__).parent.rglob("*.so"))
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": _blas(),
        "compiled": built and os.environ.get("ECSELM_COMPILED", "1") != "0",
    }


def _blas():
    """Return NumPy's and SciPy's BLAS, seen from a process where no test has loaded another."""
    code = "import json, scipy.linalg, threadpoolctl as t; print(json.dumps(t.threadpool_info()))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
    return sorted(
        f"{one['internal_api']} {one['version']} {one.get('architecture')} "
        f"on {one['num_threads']} threads"
        for one in json.loads(told.stdout)
        if one["user_api"] == "blas"
    )


def _processor():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


@contextlib.contextmanager
def _plain_surroundings():
    """Set the environment, and warnings as Python has them where no test turns them to errors."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    for name in ABSENT:
        os.environ.pop(name, None)
    try:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            for quiet in QUIET:
                warnings.simplefilter("ignore", quiet)
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as ended:  # by which argparse ends after help and after mistakes
            code = ended.code
    return code, out.getvalue(), err.getvalue()


def _told(what, text):
    """Return a part of a transcript, with the end of its last line made visible if it has none."""
    if not text:
        return ""
    return f"--- {what}\n{text}" + ("" if text.endswith("\n") else "<no end of line>\n")


def _contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).digest() for path in files}


def _keep(path, done):
    """Write down what is in a file; of those that hold nothing to read, their names alone."""
    kinds = {".skops": _card, ".parquet": _columns, ".onnx": _graph, ".npz": _arrays}
    if path.suffix == ".html":
        done.pages[path.name] = path.read_text(encoding="utf-8")
        told = "a page\n"
    elif path.suffix in kinds:
        told = kinds[path.suffix](path)
    elif path.suffix in (".csv", ".tex", ".json"):
        told = _shortened(path.read_bytes().decode())
    else:
        told = ""
    done.text += _told(f"wrote {path.as_posix()}", told or "\n")


def _shortened(text):
    if len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    lines = text.splitlines()
    return "\n".join([*lines[:4], f"... {len(lines)} lines, sha256 {digest}\n"])


def _card(path):
    """Return the card in the file of a model, a line for each of its parts."""
    with zipfile.ZipFile(path) as archive:
        stored = archive.read("card.json").decode()
    card = json.loads(stored)
    assert json.dumps(card, ensure_ascii=False) == stored  # so nothing is lost below
    lines = []
    for name, part in card.items():
        if isinstance(part, dict) and name not in ("settings", "versions"):
            lines += [f"{name}.{inner}: {_json(value)}" for inner, value in part.items()]
        else:
            lines.append(f"{name}: {_json(part)}")
    lines = [re.sub(r"^(search\.seconds): .*", r"\1: <seconds>", line) for line in lines]
    lines = [re.sub(r"^made_on: .*", "made_on: <date>", line) for line in lines]
    lines = [_without_versions(line) if line.startswith("versions") else line for line in lines]
    return "\n".join(lines) + "\n"


def _json(value):
    return json.dumps(value, ensure_ascii=False)


def _columns(path):
    """Return a table of Parquet as text; of one that holds seconds, its columns alone."""
    frame = pd.read_parquet(path)
    head = ", ".join(f"{name} ({kind})" for name, kind in frame.dtypes.items())
    told = f"{len(frame)} rows of {head}\n"
    timed = path.name == "seconds.parquet"
    return told if timed else told + _shortened(frame.to_csv(index=False, lineterminator="\n"))


def _graph(path):
    """Return what a graph takes and gives, its nodes, and a digest of every constant."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    lines = [f"input {_value(one)}" for one in graph.input]
    lines += [f"output {_value(one)}" for one in graph.output]
    lines += [f"node {one.op_type}" for one in graph.node]
    for one in graph.initializer:
        content = onnx.numpy_helper.to_array(one)
        text = content.tolist() if content.dtype == object else content.tobytes()
        digest = hashlib.sha256(text if isinstance(text, bytes) else repr(text).encode())
        lines.append(f"constant {content.dtype} {content.shape} sha256 {digest.hexdigest()}")
    opsets = ((one.domain or "ai.onnx", one.version) for one in model.opset_import)
    lines += [f"opset {domain} {number}" for domain, number in sorted(opsets)]  # from a set
    for one in model.metadata_props:
        lines.append(f"{one.key}: {'<version>' if 'version' in one.key else one.value}")
    return "\n".join([f"from {model.producer_name}", *lines]) + "\n"


def _value(one):
    kind = one.type.tensor_type
    shape = ", ".join(size.dim_param or str(size.dim_value) for size in kind.shape.dim)
    return f"{one.name}, type {kind.elem_type}, shape ({shape})"


def _arrays(path):
    """Return the names of arrays, and their shapes."""
    with np.load(path, allow_pickle=False) as stored:
        lines = [f"{name} {stored[name].dtype} {stored[name].shape}" for name in stored.files]
    return "\n".join(lines) + "\n"


def _plain(text, folder):
    """Return a text without what differs from run to run."""
    text = text.replace(str(folder), "<folder>")
    text = re.sub(r'"versions": \{[^}]*\}', lambda found: _without_versions(found[0]), text)
    text = _PAGE_VERSIONS.sub(
        lambda found: re.sub(r"<code>[^<]*</code>", "<code>&lt;version&gt;</code>", found[0]), text
    )
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def _without_versions(text):
    return re.sub(r'(": )"[^"]*"', r'\1"<version>"', text)


def _last_bars(text):
    """Keep of every bar of progress its end: how often one is drawn is up to a clock."""
    lines = (line.rpartition("\r")[2] for line in text.split("\n"))
    return "\n".join(_BAR.sub(r" \1 <bar>", line) for line in lines)
