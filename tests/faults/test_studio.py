"""The studio on a failing disk: a sentence on the page, and the state of before."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest

from ecselm.studio import Workspace, create_app, questions, worker
from ecselm.studio.results import _cases
from ecselm.studio.runs import CARD, MODEL, ONNX, Run
from ecselm.studio.training import Trainer
from tests.faults.conftest import check_after
from tests.faults.injector import OPERATIONS, Injector, contents, faults
from tests.faults.test_runs import PATIENCE, awaited, is_running
from tests.studio.conftest import BASE, COMMAND, PORT, TOKEN, TestClient, choose

FAULTS = [("open", "ENOSPC"), ("write", "ENOSPC"), ("fsync", "EIO"), ("replace", "EACCES")]
FAULTS += [("mkdir", "ENOSPC")]
EVERY = [(operation, error) for operation, named in OPERATIONS.items() for error in named]

TRAINING = """
import sys, time
from dataclasses import replace
from pathlib import Path
from ecselm.studio import Workspace
from ecselm.studio.training import Trainer
workspace = Workspace(Path(sys.argv[1]))
project = workspace.add(Path(sys.argv[2])).with_target(target="state")
project = workspace.change(project.id, settings=replace(project.settings, epochs=1000))
trainer = Trainer(workspace)
trainer.start(project)
time.sleep(2.0)  # seconds in which it begins to train
print(trainer._child.process.pid, flush=True)
time.sleep(600)
"""


class Ended:
    """A process that has ended well."""

    returncode, stdin = 0, None

    def poll(self):
        return 0


@pytest.fixture
def workspace(tmp_path):
    _cases.cache_clear()
    questions._latest.clear()
    return Workspace(tmp_path / "studio")


@pytest.fixture
def client(workspace):
    app = create_app(workspace, port=PORT, token=TOKEN)
    with TestClient(app, base_url=BASE, headers={"origin": BASE}) as made:
        assert made.get(f"/?token={TOKEN}").status_code == 200
        yield made


@pytest.fixture
def project(workspace, client, made):
    """Return a project with a target."""
    project = workspace.add(made / "known.csv")
    assert choose(client, project).status_code == 200
    return workspace.get(project.id)


@pytest.fixture
def run(workspace, project, monkeypatch):
    """Return a run that is about to be trained by this process."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Ended())
    settings = {"epochs": 1, "model_name": "logistic"}
    project = workspace.change(project.id, settings=replace(project.settings, **settings))
    return Trainer(workspace).start(project)


@pytest.fixture
def trained(run):
    worker.main(str(run.folder))
    assert run.progress().state == "done"
    return run


def folders(workspace):
    return sorted(path for path in workspace.folder.rglob("*") if path.is_dir())


def prove(workspace, operation, error, request, *, every=True, undo=lambda: None):
    """Send a request with each fault in turn, until it is answered without one."""
    n_refused = 0
    for fault in faults(workspace.folder, operation, error, every=every):
        undo()
        before, places = contents(workspace.folder), folders(workspace)
        with fault:
            page = request()
        check_after(workspace.folder, before, fault)
        if page.status_code != 200:
            assert page.status_code in {422, 507}, (fault, page.status_code)
            assert "made a mistake" not in page.text
            assert "path must" not in page.text
            assert fault.fired
            if operation != "open":  # which may be of the page that follows
                assert folders(workspace) == places, fault
                assert contents(workspace.folder) == before, fault
            assert len(workspace.projects()) == len(list(workspace.folder.iterdir())), fault
            n_refused += 1
    assert page.status_code == 200
    return n_refused


@pytest.mark.parametrize(("operation", "error"), FAULTS)
def test_uploads_make_a_whole_project_or_none(workspace, client, made, operation, error):
    table = (made / "known.csv").read_bytes()

    def upload():
        return client.post("/projects", files={"table": ("known.csv", table, "text/csv")})

    assert prove(workspace, operation, error, upload)
    assert not [path for path in workspace.folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(("operation", "error"), FAULTS[:-1])
def test_choices_are_written_or_refused(workspace, client, project, operation, error):
    assert prove(workspace, operation, error, lambda: choose(client, project, by="age"))


@pytest.mark.parametrize(("operation", "error"), FAULTS)
def test_a_training_starts_or_leaves_no_folder(
    workspace, client, project, monkeypatch, operation, error
):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Ended())

    def start():
        return client.post(f"/p/{project.id}/training", data={"epochs": "1"})

    refused = 0
    for fault in faults(workspace.folder, operation, error):
        before = len(folders(workspace))
        with fault:
            page = start()
        check_after(workspace.folder, {}, fault)
        if page.status_code != 200:
            assert page.status_code in {422, 507}, (fault, page.text)
            if operation != "open":  # which may be of the page that follows
                assert len(folders(workspace)) == before, fault
            refused += 1
    assert page.status_code == 200
    assert refused


@pytest.mark.parametrize("operation", ["write", "replace"])
def test_a_failed_training_says_why(workspace, project, run, operation, capfd):
    trainer = Trainer(workspace)
    for fault in faults(run.folder, operation, "ENOSPC", lasting=True, every=False):
        try:
            with fault:
                worker.main(str(run.folder))
        except SystemExit as ended:
            assert "No space left on device" in str(ended)  # noqa: PT017  for the log
        check_after(run.folder, {}, fault)
        _, progress = trainer.current(workspace.get(project.id))
        assert progress.state in {"failed", "interrupted", "done"}
        if progress.state == "failed":
            assert "No space left on device" in progress.message
        assert (progress.state == "done") == (not fault.fired)


def test_progress_that_cannot_be_written_stops_no_training(run):
    with Injector(run.folder, "replace", 1, "ENOSPC"):  # of the first report
        worker.main(str(run.folder))
    assert run.progress().state == "done"


@pytest.mark.parametrize(("operation", "error"), FAULTS[1:-1])
def test_downloads_are_whole(workspace, client, project, trained, operation, error):
    def download():
        return client.get(f"/p/{project.id}/files/{ONNX}")

    def remove():
        trained.file(ONNX).unlink(missing_ok=True)

    refused = 0
    for fault in faults(trained.folder, operation, error, every=False):
        remove()
        with fault:
            page = download()
        check_after(workspace.folder, {}, fault)
        refused += page.status_code == 422
        assert page.status_code == 200 or fault.fired
    assert refused
    assert page.status_code == 200


def test_an_answer_that_is_not_written_does_not_count(workspace, client, project, trained):
    place = f"/p/{project.id}/questions"
    with Injector(trained.folder, "replace", 1, "ENOSPC"):
        page = client.post(place, data={"choice": "1", "question": "0"})
    choices = [one.key for one in questions.asked(trained).question.choices]
    with Injector(trained.folder, "replace", 1, "ENOSPC"):
        page = client.post(place, data={"choice": choices[0], "question": "0"})
    assert page.status_code == 422
    assert "No space left on device" in page.text
    assert questions.asked(trained).n_answers == 0
    assert client.post(place, data={"choice": choices[0], "question": "0"}).status_code == 200
    assert questions.asked(trained).n_answers == 1


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "error"), EVERY)
def test_every_fault_of_answers_in_use(workspace, client, project, trained, operation, error):
    place = f"/p/{project.id}/questions"
    choices = [one.key for one in questions.asked(trained).question.choices]
    assert client.post(place, data={"choice": choices[0], "question": "0"}).status_code == 200
    for fault in faults(trained.folder, operation, error, every=operation != "memory"):
        with fault:
            page = client.post(f"{place}/use")
        check_after(trained.folder, {}, fault)
        assert page.status_code in {200, 422, 507}, fault
        run = Run(trained.folder)
        assert {run.file(name).is_file() for name in (MODEL, CARD)} == {True}, fault
    assert page.status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads the states of processes in /proc")
def test_the_training_ends_with_a_killed_studio(tmp_path, made):
    server = subprocess.Popen(  # noqa: S603  our own code
        [sys.executable, "-c", TRAINING, str(tmp_path / "studio"), str(made / "known.csv")],
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = int(server.stdout.readline())
    assert is_running(pid)
    server.kill()
    server.communicate()
    assert awaited(lambda: not is_running(pid), PATIENCE)


def test_of_two_studios_in_one_folder_one_works(tmp_path):
    command = [sys.executable, "-c", COMMAND, "--folder", str(tmp_path / "studio"), "--no-browser"]
    running = [
        subprocess.Popen(  # noqa: S603  our own command
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        end = time.monotonic() + 120
        while all(one.poll() is None for one in running) and time.monotonic() < end:
            time.sleep(0.05)
        ended = [one for one in running if one.poll() is not None]
        assert len(ended) == 1
        assert "must be used by one studio at a time" in ended[0].communicate()[1]
        (other,) = (one for one in running if one not in ended)
        assert other.stdout.readline().startswith("studio: http://127.0.0.1:")
    finally:
        for one in running:
            one.kill()
            one.communicate()
    with Workspace(tmp_path / "studio").held():  # free after a kill
        pass
