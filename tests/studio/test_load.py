"""Many readers while a training runs."""

import http.client
import re
import threading
import time

import pytest

READERS, PAGES = 50, 6


def request(server, method, path, body="", **headers):
    host, _, port = server.base.rpartition("/")[2].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=120)
    given = {"Cookie": server.cookie, "Origin": server.base, **headers}
    if body:
        given["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def state(server, project):
    return request(server, "GET", f"{project}/training/progress")[1]


@pytest.mark.slow
def test_fifty_readers_of_the_trade_off_while_a_training_runs(started, tables, record_property):
    server = started(str(tables[5]))
    project = re.search(r"/p/[^/]+", server.address)[0]
    assert request(server, "POST", f"{project}/data", "target=7") == (303, "")
    assert request(server, "POST", f"{project}/costs", "metric=gmean") == (303, "")
    assert request(server, "POST", f"{project}/training", "epochs=1")[0] == 303
    while '"running"' in state(server, project):
        time.sleep(0.2)
    assert '"done"' in state(server, project)
    assert request(server, "POST", f"{project}/training", "epochs=2000000")[0] == 303

    found, seconds = [], []

    def read():
        for _ in range(PAGES):
            start = time.monotonic()
            status, text = request(server, "GET", f"{project}/tradeoff")
            seconds.append(time.monotonic() - start)
            found.append((status, "What is caught" in text))

    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for one in readers:
        one.start()
    for one in readers:
        one.join()
    assert found == [(200, True)] * (READERS * PAGES)
    assert '"running"' in state(server, project)
    with open(f"/proc/{server.process.pid}/status") as file:  # noqa: PTH123
        memory = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024
    record_property("slowest page in seconds", max(seconds))
    record_property("pages per second", READERS * PAGES / sum(seconds) * READERS)
    record_property("largest memory in MB", memory)
    assert memory < 600
    assert request(server, "POST", f"{project}/training/cancel")[0] == 303
    _, complaints = server.stop()
    assert complaints == ""
