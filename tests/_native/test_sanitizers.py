"""The tests of the library pass with its memory and its arithmetic checked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ecselm._native import calls as library

SOURCES = Path(library.__file__).parent
COMPILER = shutil.which("gcc") or shutil.which("cc")
FLAGS = {
    "plain": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"],
}
SANITIZERS = {
    "address": ["-fsanitize=address"],
    "undefined": ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"],
}
PLUGIN = """
import os
from pathlib import Path

from ecselm._native import calls

calls.FOLDER = Path(os.environ["SANITIZED"])
"""


def runtime(name):
    """Return the file of a sanitizer's runtime, or skip."""
    if COMPILER is None or not list(SOURCES.glob("*.c")):
        pytest.skip("needs a C compiler and the sources")
    file = {"address": "libasan.so", "undefined": "libubsan.so"}[name]
    command = [COMPILER, f"-print-file-name={file}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    if not Path(found.stdout.strip()).is_absolute():
        pytest.skip(f"the compiler has no {file}")
    return found.stdout.strip()


def sanitized(folder, name):
    """Compile all libraries with a sanitizer."""
    for variant, flags in FLAGS.items():
        command = [COMPILER, "-O1", "-g", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden"]
        command += ["-Wno-psabi", *flags, *SANITIZERS[name], *map(str, SOURCES.glob("*.c"))]
        subprocess.run([*command, "-o", str(folder / f"{variant}.so"), "-lm"], check=True)  # noqa: S603


def run(folder, preloaded, *arguments):
    """Run Python with the libraries of a folder and a runtime loaded first."""
    (folder / "sanitized_plugin.py").write_text(PLUGIN)
    environment = os.environ | {
        "SANITIZED": str(folder),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "LD_PRELOAD": preloaded,
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter itself leaves memory behind
        "OPENBLAS_NUM_THREADS": "1",
    }
    environment.pop("ECSELM_COMPILED", None)
    return subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SANITIZERS)
def test_the_tests_of_the_library_pass_under_a_sanitizer(tmp_path, name):
    preloaded = runtime(name)
    sanitized(tmp_path, name)
    done = run(
        tmp_path,
        preloaded,
        *("-m", "pytest", "-q", "-p", "sanitized_plugin", "-p", "no:cacheprovider"),
        *("-n", "0", "-m", "not slow", str(Path(__file__).parent)),
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.slow
def test_a_write_beyond_an_array_is_found(tmp_path):
    preloaded = runtime("address")
    sanitized(tmp_path, "address")
    script = (
        "import sanitized_plugin, numpy as np; from ecselm._native import calls; "
        "A = np.zeros(1000); calls._call('ecselm_activate64', A, 1001, 1)"
    )
    done = run(tmp_path, preloaded, "-c", script)
    assert done.returncode
    assert "heap-buffer-overflow" in done.stderr
