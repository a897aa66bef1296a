"""The contents of a build, with a compiler and without."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = Path("src/ecselm/_native")

pytestmark = pytest.mark.skipif(
    not (ROOT / "hatch_build.py").exists(), reason="needs the source tree"
)
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler"
)


class HookInterface:
    """The part of hatchling's interface that a hook uses."""

    def __init__(self, root, app):
        self.root, self.app = root, app


@pytest.fixture
def hook_module(monkeypatch):
    """Return hatch_build.py, imported without hatchling."""
    name = "hatchling.builders.hooks.plugin.interface"
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:i]), ModuleType(".".join(parts[:i])))
    sys.modules[name].BuildHookInterface = HookInterface
    spec = importlib.util.spec_from_file_location("hatch_build_under_test", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COMMON", [f for f in module.COMMON if f != "-O3"])  # quick
    return module


@pytest.fixture
def tree(tmp_path):
    """Return a source tree with the C files, and libraries of an older build."""
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for path in (ROOT / FOLDER).glob("*.[ch]"):
        shutil.copy(path, folder)
    (folder / "plain.so").write_bytes(b"stale")
    (folder / "gone.so").write_bytes(b"stale")
    return tmp_path


def build(module, tree, version="editable"):
    """Run the hook; return the build data, the warnings and the names of the libraries."""
    warnings = []
    app = SimpleNamespace(display_warning=warnings.append)
    build_data = {"artifacts": []}
    module.CustomBuildHook(str(tree), app).initialize(version, build_data)
    return build_data, warnings, {path.name for path in (tree / FOLDER).glob("*.so")}


@pytest.mark.parametrize("compiler", ["false", "no-such-compiler --at-all"])
def test_without_a_compiler_the_package_is_pure(hook_module, tree, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    build_data, warnings, made = build(hook_module, tree)
    assert build_data == {"artifacts": []}
    assert made == set()
    assert len(warnings) == 1
    assert "without its compiled path" in warnings[0]


def test_a_wheel_without_a_compiler_leaves_an_editable_install_alone(
    hook_module, tree, monkeypatch
):
    monkeypatch.setenv("CC", "false")
    build_data, warnings, left = build(hook_module, tree, "standard")
    assert build_data == {"artifacts": []}  # only artifacts are in the wheel
    assert left == {"plain.so", "gone.so"}
    assert warnings


def test_on_windows_nothing_is_compiled(hook_module, tree, monkeypatch):
    monkeypatch.setattr(hook_module.sys, "platform", "win32")
    build_data, warnings, made = build(hook_module, tree)
    assert (build_data, made) == ({"artifacts": []}, set())
    assert warnings


@needs_compiler
def test_with_a_compiler_the_libraries_are_in_the_wheel(hook_module, tree, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    build_data, warnings, made = build(hook_module, tree)
    assert warnings == []
    assert "plain.so" in made
    assert made <= {"plain.so", "avx2.so"}
    assert build_data["artifacts"] == [f"/{FOLDER.as_posix()}/*.so"]
    assert build_data["pure_python"] is False
    assert build_data["tag"].startswith("py3-none-")
    assert not {"-", "."} & set(build_data["tag"].removeprefix("py3-none-"))
    assert (tree / FOLDER / "plain.so").stat().st_size > 5000


@needs_compiler
def test_a_processor_family_without_avx2_gets_the_plain_library(hook_module, tree, monkeypatch):
    flags = {"plain": [], "avx2": ["-mno-such-processor"]}
    monkeypatch.setattr(hook_module, "VARIANTS", flags)
    build_data, _, made = build(hook_module, tree)
    assert made == {"plain.so"}
    assert build_data["pure_python"] is False


def test_sources_that_do_not_compile_leave_nothing_behind(hook_module, tree):
    for path in (tree / FOLDER).glob("*.c"):
        path.unlink()
    (tree / FOLDER / "cholesky.c").write_text("this is not C")
    build_data, warnings, made = build(hook_module, tree)
    assert (build_data, made) == ({"artifacts": []}, set())
    assert warnings


@pytest.mark.parametrize("compiler", ["false", None], ids=["without a compiler", "with one"])
def test_a_wheel_contains_the_compiled_libraries(tmp_path, compiler):
    pytest.importorskip("hatchling", reason="needs hatchling in this environment")
    if compiler is None and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler")
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {name: value for name, value in os.environ.items() if name != "CC"}
    if compiler is not None:
        environment["CC"] = compiler
    subprocess.run(  # noqa: S603
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--wheel-dir", str(tmp_path), str(tree)),
        ],
        env=environment,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "ecselm/report/style.css" in names
    libraries = {name for name in names if name.endswith(".so")}
    if compiler is None:
        assert "ecselm/_native/plain.so" in libraries
        assert "-none-any" not in wheel.name
    else:
        assert libraries == set()
        assert wheel.name.endswith("-py3-none-any.whl")
