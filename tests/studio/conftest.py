"""Small tables, an application without a network, and a server in a process of its own."""

import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from ecselm.studio import Workspace, create_app
from ecselm.studio.results import _cases

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the client of Starlette prefers a successor of httpx
    from starlette.testclient import TestClient

PORT, TOKEN = 8765, "a-token-of-the-tests"
BASE = f"http://127.0.0.1:{PORT}"
COMMAND = """
import argparse, sys
from ecselm.cli.studio import add_parser
parser = argparse.ArgumentParser()
add_parser(parser.add_subparsers(), "")
args = parser.parse_args(["studio", *sys.argv[1:]])
args.run(args)
"""


def write_table(path, k, n=240, columns=4):
    """Write rows of k classes in words."""
    X, y = make_classification(
        n, columns, n_informative=columns, n_redundant=0, n_classes=k, n_clusters_per_class=1,
        class_sep=0.7, flip_y=0.1, random_state=k,
    )  # fmt: skip
    names = np.array(["ill", "well", "unsure", "other", "new"])[:k]
    frame = pd.DataFrame(X.round(3)).rename(columns=lambda i: f"measure {i}")
    frame["ward"] = np.where(np.arange(n) % 2, "north", "south")
    frame["patient"] = np.arange(n) // 2
    frame["loss"] = np.linspace(1, 9, n).round(2)
    frame.assign(state=names[y]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Return files with two and with five classes."""
    folder = tmp_path_factory.mktemp("tables")
    return {k: write_table(folder / f"patients{k}.csv", k) for k in (2, 5)}


@pytest.fixture
def workspace(tmp_path):
    _cases.cache_clear()
    return Workspace(tmp_path / "studio")


@pytest.fixture
def client(workspace):
    """Return a browser that has the token."""
    app = create_app(workspace, port=PORT, token=TOKEN)
    with TestClient(app, base_url=BASE, headers={"origin": BASE}) as made:
        assert made.get(f"/?token={TOKEN}").status_code == 200
        yield made


def posted(client, path, **fields):
    """Send a form and return the page that follows."""
    return client.post(path, data=fields)


def choose(client, project, target="state", **more):
    """Choose columns by name."""
    places = {column.name: str(i) for i, column in enumerate(project.columns)}
    fields = {"target": places[target]}
    fields |= {
        key: [places[one] for one in name] if isinstance(name, list) else places[name]
        for key, name in more.items()
    }
    return client.post(f"/p/{project.id}/data", data=fields)


def trained(client, project, **options):
    """Start a training and wait for its end."""
    page = client.post(f"/p/{project.id}/training", data={"epochs": "1", **options})
    assert page.status_code == 200, page.text
    return awaited(client, project)


def awaited(client, project):
    for _ in range(600):
        found = client.get(f"/p/{project.id}/training/progress").json()
        if found["state"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError(found)


class Server:
    """The command in a process of its own."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", COMMAND, "--folder", str(folder), "--no-browser", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        self.address = re.search(r"http://\S+", line)[0]
        self.base = re.match(r"http://[^/]+", self.address)[0]
        self.token = self.address.rpartition("=")[2]
        self.cookie = f"ecselm_studio_{self.base.rpartition(':')[2]}={self.token}"

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        """End it as Ctrl-C does, and return what it printed and complained about."""
        if self.process.poll() is None:
            self.process.send_signal(2)
        return self.process.communicate(timeout=30)


@pytest.fixture
def started(tmp_path):
    """Return a function that starts a server of a test's own, which does not outlive it."""
    running = []

    def start(*arguments):
        running.append(Server(tmp_path / "studio", *arguments))
        return running[-1]

    yield start
    for one in running:
        one.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("studio"))
    yield running
    _, complaints = running.stop()
    assert complaints == ""
