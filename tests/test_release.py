"""What a release states: links, versions, bounds, workflows, recipe, container, changes."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ecselm

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")

pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="needs the source tree"
)


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tool(name):
    """Return a module of the folder tools."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def workflows():
    yaml = pytest.importorskip("yaml")
    paths = sorted((ROOT / ".github/workflows").glob("*.yml"))
    return {path.stem: yaml.load(path.read_text(), yaml.BaseLoader) for path in paths}


# The index page


def test_links_of_the_readme_are_absolute():
    links = LINK.findall((ROOT / "README.md").read_text())
    assert len(links) > 20
    assert [one for one in links if not one.startswith(("https://", "#"))] == []


def test_links_of_the_readme_lead_to_files_that_exist(project):
    text = (ROOT / "README.md").read_text()
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    site, source = project["urls"]["Documentation"] + "/", project["urls"]["Source"]
    raw = source.replace("github.com", "raw.githubusercontent.com")
    for link in LINK.findall(text):
        address, _, fragment = link.partition("#")
        if not address:
            assert fragment in headings, link
        elif address == site + "gallery/index.html":  # made by the build
            assert (ROOT / "examples").is_dir()
        elif address.startswith(site):
            page = ROOT / "docs" / address.removeprefix(site).replace(".html", ".md")
            assert page.exists(), link
        elif address.startswith((f"{source}/blob/main/", f"{raw}/main/")):
            assert (ROOT / address.partition("/main/")[2]).exists(), link
        else:
            assert address.startswith("https://doi.org/"), link


def test_every_address_of_the_project_is_that_of_pyproject(project):
    owner = re.fullmatch(r"https://github\.com/([\w-]+)/ecselm", project["urls"]["Source"])[1]
    hosts = r"https://(?:github\.com|raw\.githubusercontent\.com)/([\w-]+)/ecselm\b"
    pattern = re.compile(hosts + r"|https://([\w-]+)\.github\.io/ecselm\b")
    files = [*ROOT.glob("*.*"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/**/*.*")]
    files += [ROOT / "Dockerfile", *ROOT.glob("recipe/*"), *ROOT.glob("src/ecselm/**/*.py")]
    texts = {path: path.read_text(errors="ignore") for path in files if path.is_file()}
    found = {(path.name, max(one)) for path, text in texts.items() for one in pattern.findall(text)}
    assert len(found) > 5
    assert {(name, one) for name, one in found if one != owner} == set()


# Metadata


def test_classifiers_name_the_pythons_that_are_tested(project):
    named = {
        one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r":: 3\.\d", one)
    }
    assert named == set(tool("matrix").PYTHONS)
    assert project["requires-python"] == f">={min(named, key=lambda v: int(v[2:]))}"
    tested = workflows()["test"]["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert set(tested) == named


def test_the_version_is_one():
    assert f"\nversion: {ecselm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{ecselm.__version__}"' in (ROOT / "recipe/recipe.yaml").read_text()


def test_python_m_ecselm_is_the_command():
    run = [sys.executable, "-m", "ecselm", "--version"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == f"ecselm {ecselm.__version__}\n"


def test_lower_bounds_become_constraints(project):
    lines = tool("matrix").lower_bounds((ROOT / "pyproject.toml").read_text())
    assert "numpy==1.26" in lines
    named = {line.partition("==")[0] for line in lines}
    core = {re.match(r"[\w.-]+", one)[0] for one in project["dependencies"]}
    assert core <= named
    assert "ruff" not in named  # a tool: always the newest


@pytest.mark.parametrize("requirement", ["numpy", "numpy>=1,>=2", "numpy==2.0"])
def test_a_dependency_needs_one_lower_bound(requirement):
    text = f'[project]\ndependencies = ["{requirement}"]\noptional-dependencies = {{}}'
    with pytest.raises(ValueError, match="numpy must have one lower bound"):
        tool("matrix").lower_bounds(text)


def test_the_matrix_has_minimum_and_newest():
    matrix = tool("matrix")
    rows = [one.name for one in matrix.environments(("3.11", "3.12"))]
    assert rows == ["3.11-minimum", "3.11-newest", "3.12-newest"]
    assert [one.name for one in matrix.environments(("3.13",))] == ["3.13-newest"]
    assert matrix.interpreter("3.0") is None


def test_the_table_counts_tests(tmp_path):
    matrix = tool("matrix")
    log = tmp_path / "log"
    log.write_text("....\n2 failed, 30 passed, 1 skipped in 3.21s\n")
    assert matrix.summary(log) == "2 failed, 30 passed, 1 skipped"
    one = matrix.Outcome(matrix.Environment("3.12", "newest"), matrix.summary(log), seconds=61.4)
    assert "| 3.12 | newest |  |  |  |  | 2 failed, 30 passed, 1 skipped | 61 s |" in matrix.table(
        [one]
    )


# Changes


@pytest.fixture
def tree(tmp_path):
    """Return a folder with fragments, as a release finds them."""
    changes = tmp_path / "changes.d"
    changes.mkdir()
    (changes / "10.fixed.md").write_text("A mistake\nis gone.\n")
    (changes / "9.added.md").write_text("First.\n\nSecond.\n")
    (changes / "26.md").write_text("- Third, with\n  two lines.\n- Fourth.\n")
    (changes / "notes.md").write_text("A good one.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\nIntroduction.\n\n## 1.0.0 (2020-01-01)\n\n- Old.\n"
    )
    (tmp_path / "CITATION.cff").write_text("a: 1\nversion: 1.1.0\nb: 2\n")
    (tmp_path / "src/ecselm").mkdir(parents=True)
    (tmp_path / "src/ecselm/__init__.py").write_text('__version__ = "1.1.0"\n')
    return tmp_path


def test_fragments_become_a_section(tree):
    text = tool("changelog").section(tree, "1.1.0", "2021-02-03")
    assert text == (
        "## 1.1.0 (2021-02-03)\n\nA good one.\n\n"
        "### Added\n\n- First.\n- Second.\n- Third, with two lines.\n- Fourth.\n\n"
        "### Fixed\n\n- A mistake is gone.\n"
    )


def test_a_release_gathers_the_fragments(tree):
    changelog = tool("changelog")
    assert changelog.disagreements(tree, "1.1.0") == [
        "CHANGELOG.md has no section of 1.1.0",
        "changes.d has fragments that are not in CHANGELOG.md",
    ]
    assert changelog.main(["--release", "1.1.0", "--date", "2021-02-03"], tree) == 0
    text = (tree / "CHANGELOG.md").read_text()
    assert text.index("Introduction") < text.index("## 1.1.0 (2021") < text.index("## 1.0.0 (2020")
    assert list((tree / "changes.d").iterdir()) == []
    assert changelog.disagreements(tree, "1.1.0") == []
    assert changelog.released(tree, "1.0.0") == "- Old.\n"
    assert "### Fixed" in changelog.released(tree, "1.1.0")
    assert changelog.main(["--release", "1.1.0"], tree) == 1
    assert changelog.main(["--check", "1.2.0"], tree) == 1


def test_a_file_that_is_no_fragment_is_not_forgotten(tree):
    (tree / "changes.d/thing.md").write_text("Forgotten.")
    with pytest.raises(ValueError, match=r"must be named <issue>.<type>.md .* got thing.md"):
        tool("changelog").section(tree, "1.1.0", "2021-02-03")


def test_fragments_of_this_tree_make_a_section(capsys):
    assert tool("changelog").main(["--draft", "99.0.0"]) == 0
    assert capsys.readouterr().out.startswith("## 99.0.0 (")


# Workflows, recipe, container


def test_there_is_a_workflow_for_every_task():
    assert {"test", "lint", "docs", "wheels", "release", "codeql"} <= set(workflows())


def test_workflows_have_no_rights_but_those_of_their_jobs():
    for name, workflow in workflows().items():
        assert workflow["permissions"] == {}, name
        for job, one in workflow["jobs"].items():
            assert one["permissions"].get("contents", "read") == "read" or job == "notes", (
                name,
                job,
            )
            assert "uses" in one or "timeout-minutes" in one, (name, job)
            for step in one.get("steps", []):
                if step.get("uses", "").startswith("actions/checkout"):
                    assert step["with"]["persist-credentials"] == "false", (name, job)
                assert "${{ github" not in step.get("run", ""), (name, job)  # injection


def test_a_release_is_published_by_tag_and_without_a_password():
    release = workflows()["release"]
    assert set(release["on"]) == {"push"}
    assert "tags" in release["on"]["push"]
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == {"lint", "test", "wheels"}
    assert (
        "password" not in (ROOT / ".github/workflows/release.yml").read_text().partition("jobs:")[2]
    )


def test_the_recipe_has_the_dependencies_of_the_package(project):
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text())
    run = {one.replace(" ", "") for one in recipe["requirements"]["run"]} - {"python"}
    assert run == set(project["dependencies"])
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]


def test_the_container_has_no_privileges():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    last = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM ")) :]
    user = next(line.split()[1] for line in last if line.startswith("USER "))
    assert int(user.partition(":")[0]) > 0
    assert 'ENTRYPOINT ["ecselm"]' in last
    assert not [line for line in last if "apt-get" in line or "gcc" in line]
    images = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert all(":" in image and not image.endswith(":latest") for image in images)


def test_pages_that_a_project_needs_exist():
    for name in ("CODE_OF_CONDUCT.md", "CITATION.cff", "CHANGELOG.md", "docs/governance.md"):
        assert len((ROOT / name).read_text()) > 200, name
    governance = (ROOT / "docs/governance.md").read_text()
    assert "two minor versions" in governance
    assert "[semantic]" in governance
