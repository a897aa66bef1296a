"""The contents of a build, with a compiler and without."""

import importlib.util
import os
import platform
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
    assert made <= {"plain.so", "avx2.so", "avx512.so"}
    assert build_data["artifacts"] == [f"/{FOLDER.as_posix()}/*.so"]
    assert build_data["pure_python"] is False
    assert build_data["tag"].startswith("py3-none-")
    assert not {"-", "."} & set(build_data["tag"].removeprefix("py3-none-"))
    assert (tree / FOLDER / "plain.so").stat().st_size > 5000


def test_a_pure_package_can_be_asked_for(hook_module, tree, monkeypatch):
    monkeypatch.setenv("ECSELM_PURE", "1")
    build_data, warnings, left = build(hook_module, tree, "standard")
    assert build_data == {"artifacts": []}
    assert warnings == []
    assert left == {"plain.so", "gone.so"}


@needs_compiler
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
@pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="other processor")
def test_a_library_runs_on_systems_of_2014(hook_module, tree, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    build_data, _, _ = build(hook_module, tree)
    assert build_data["tag"] == f"py3-none-manylinux_2_17_{platform.machine()}"


@pytest.mark.parametrize(
    ("content", "tag"),
    [
        (b"\0libm.so.6\0libc.so.6\0GLIBC_2.2.5\0", "manylinux_2_17_x86_64"),
        (b"\0libm.so.6\0libc.so.6\0GLIBC_2.29\0GLIBC_2.2.5\0", "manylinux_2_29_x86_64"),
        (b"\0libgomp.so.1\0libc.so.6\0GLIBC_2.2.5\0", "linux_x86_64"),
        (b"nothing that is known", "linux_x86_64"),
    ],
)
def test_the_tag_says_what_the_libraries_need(hook_module, tmp_path, monkeypatch, content, tag):
    monkeypatch.setattr(hook_module.sys, "platform", "linux")
    monkeypatch.setattr(hook_module.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(hook_module.platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(hook_module.sysconfig, "get_platform", lambda: "linux-x86_64")
    (tmp_path / "plain.so").write_bytes(content)
    assert hook_module._platform_tag([tmp_path / "plain.so"]) == tag


def test_a_universal_python_builds_for_its_processor(hook_module, tree, monkeypatch):
    monkeypatch.setattr(hook_module.sys, "platform", "darwin")
    monkeypatch.setattr(hook_module.platform, "machine", lambda: "arm64")
    monkeypatch.delenv("MACOSX_DEPLOYMENT_TARGET", raising=False)
    assert hook_module._platform_tag([]) == "macosx_11_0_arm64"
    assert hook_module._system_flags(tree) == ["-mmacosx-version-min=11.0", "-arch", "arm64"]
    monkeypatch.setenv("MACOSX_DEPLOYMENT_TARGET", "14")
    assert hook_module._platform_tag([]) == "macosx_14_0_arm64"


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
