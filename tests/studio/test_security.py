"""Requests that are refused, one reason at a time."""

import asyncio

import pytest

from ecselm.studio import create_app
from ecselm.studio.security import MAX_FORM, POLICY, Guard
from tests.studio.conftest import BASE, PORT, TOKEN, TestClient


@pytest.fixture
def stranger(workspace):
    """Return a browser without the token."""
    with TestClient(create_app(workspace, port=PORT, token=TOKEN), base_url=BASE) as made:
        yield made


def sentence(page):
    return page.text.partition('role="alert">')[2].partition("<")[0]


@pytest.mark.parametrize("path", ["/", "/p/a-1/data", "/p/a-1/files/model.skops", "/nothing"])
def test_a_browser_without_the_token_is_refused(stranger, path):
    page = stranger.get(path)
    assert page.status_code == 403
    assert "has not opened the studio" in sentence(page)


@pytest.mark.parametrize("token", ["", "x", f"{TOKEN}x", "é"])
def test_a_wrong_token_is_refused(stranger, token):
    page = stranger.get("/", params={"token": token})
    assert page.status_code == 403
    assert "set-cookie" not in page.headers
    assert stranger.get("/").status_code == 403


def test_the_token_becomes_a_strict_cookie_of_this_port(stranger):
    page = stranger.get(f"/?token={TOKEN}")
    kept = page.headers["set-cookie"]
    assert kept.startswith(f"ecselm_studio_{PORT}={TOKEN};")
    assert "HttpOnly" in kept
    assert "samesite=strict" in kept.lower()
    assert 'content="0; url=/"' in page.text
    assert TOKEN not in page.text
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    ("path", "place"),
    [("/p/a-1/data", "/p/a-1/data"), ("//evil.example/x", "/"), ("/p/%22%3E/data", "/")],
)
def test_the_token_leads_to_pages_of_the_studio_only(stranger, path, place):
    page = stranger.get(f"{BASE}{path}?token={TOKEN}")
    assert f'content="0; url={place}"' in page.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{PORT}.a", ""],
)
def test_another_host_is_refused_even_with_the_token(client, host):
    page = client.get("/", headers={"host": host})
    assert page.status_code == 403
    assert "not that of the studio" in sentence(page)


def test_localhost_is_this_computer(client):
    host = f"localhost:{PORT}"
    headers = {"host": host, "origin": f"http://{host}", "cookie": f"ecselm_studio_{PORT}={TOKEN}"}
    assert client.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"https://127.0.0.1:{PORT}"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(client, origin, method):
    page = client.request(method, "/projects", headers={"origin": origin})
    assert page.status_code == 403
    assert "another page than the studio" in sentence(page)


def test_a_form_without_an_origin_is_refused(client):
    del client.headers["origin"]
    assert client.get("/").status_code == 200
    assert client.post("/p/a-1/delete").status_code == 403


def test_a_token_in_the_address_does_not_authorise_a_form(stranger):
    page = stranger.post(f"/projects?token={TOKEN}", headers={"origin": BASE})
    assert page.status_code == 403


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/studio.css"])
def test_every_answer_has_the_policy(client, path):
    page = client.get(path)
    assert page.headers["content-security-policy"] == POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-store"


def test_the_policy_allows_nothing_but_own_files():
    parts = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert parts.pop("default-src") == "'none'"
    assert set(parts.values()) == {"'self'", "'none'"}


def test_pages_have_no_script_or_style_inside(client):
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script src="/static/') == 1


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/none.js"])
def test_only_static_files_are_served(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "project", ["..", "%2e%2e", "..%2f..%2fetc", "a b", "A-1", "-a", "a" * 200, "none-000000"]
)
def test_no_project_outside_the_folder_is_found(client, project):
    page = client.get(f"/p/{project}/data")
    assert page.status_code == 404


def test_a_large_form_is_refused_by_its_stated_length(client):
    page = client.post("/p/a-1/costs", data={"sentences": "x" * (MAX_FORM + 1)})
    assert page.status_code == 413
    assert "must have at most 1 MB" in sentence(page)


class Endless:
    """A body without a stated length, and what became of it."""

    def __init__(self, n_blocks, size=1 << 16):
        self.n_left, self.n_read, self.size, self.sent = n_blocks, 0, size, []

    async def receive(self):
        self.n_left -= 1
        self.n_read += 1
        return {
            "type": "http.request", "body": bytes(self.size), "more_body": self.n_left > 0,
        }  # fmt: skip

    async def send(self, message):
        self.sent.append((self.n_read, message))


def asked_with(body, limit, *headers):
    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    scope = {
        "type": "http", "method": "POST", "path": "/projects", "query_string": b"",
        "headers": [
            (b"host", f"127.0.0.1:{PORT}".encode()), (b"origin", BASE.encode()),
            (b"cookie", f"ecselm_studio_{PORT}={TOKEN}".encode()), *headers,
        ],
    }  # fmt: skip
    guard = Guard(app, port=PORT, token=TOKEN, max_upload=limit)
    asyncio.run(guard(scope, body.receive, body.send))


def test_a_body_without_a_length_is_refused_while_it_arrives():
    body = Endless(100)
    asked_with(body, limit=10 * body.size)
    n_read, start = body.sent[0]
    assert start["status"] == 413
    assert n_read == 11  # not after all of it was read
    assert body.n_left == 0  # the rest was dropped, so that a browser shows the answer
    assert not body.sent[-1][1].get("more_body", False)


@pytest.mark.parametrize("length", [b"200000000", b"-1", b"many"])
def test_a_stated_length_is_refused_before_anything_is_read(length):
    body = Endless(5)
    asked_with(body, 100, (b"content-length", length))
    assert body.sent[0][0] == 0
    assert body.sent[0][1]["status"] == 413


def test_a_body_within_the_limit_passes():
    body = Endless(5)
    asked_with(body, 5 * body.size)
    assert body.sent == []


def test_a_socket_is_refused(workspace):
    sent = []

    async def send(message):
        sent.append(message["type"])

    guard = Guard(None, port=PORT, token=TOKEN)
    asyncio.run(guard({"type": "websocket"}, None, send))
    assert sent == ["websocket.close"]
