"""Who may talk to the studio: this computer, this browser, this page, and bodies of a bounded size.

A page of another site can make a browser send requests to 127.0.0.1. It cannot read the token,
cannot make the browser send the cookie (SameSite=Strict), and has another Origin; a name that it
points to 127.0.0.1 has another Host. Each of these refuses the request by itself.
"""

from __future__ import annotations

import re
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecselm.studio.pages import render

UPLOAD_PATH = "/projects"
MAX_UPLOAD = 100 * 2**20  # bytes of the body of an upload
MAX_FORM = 2**20  # bytes of any other body
MAX_DRAINED = 2**30  # bytes that are read and dropped so that a browser shows the refusal
SAFE = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none, browsers send a form with Origin: null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LANDING = re.compile(r"/(p/[a-z0-9-]{1,80}/[a-z]+)?")  # pages that an address with a token opens


class BodyTooLargeError(Exception):
    """A body without a stated length is larger than allowed."""


class Guard:
    """Refuse requests of other hosts, origins and browsers, and bodies that are too large.

    Parameters
    ----------
    app : ASGI application
    port : int
        Of the server, which is part of Host and Origin.
    token : str
        Opens the studio for a browser, which gets it as a cookie.
    max_upload : int, default=MAX_UPLOAD
        Bytes of the body of an upload.
    """

    def __init__(
        self, app: ASGIApp, *, port: int, token: str, max_upload: int = MAX_UPLOAD
    ) -> None:
        self._app, self._token, self._max_upload = app, token, max_upload
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}
        self._cookie = f"ecselm_studio_{port}"  # cookies do not differ by port, their names do

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer_then_drain(refusal, scope, receive, guarded)
            return
        limit = self._max_upload if scope["path"] == UPLOAD_PATH else MAX_FORM
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            await _answer_then_drain(_too_large(limit), scope, receive, guarded)
            return
        try:
            await self._app(scope, _counted(receive, limit), guarded)
        except BodyTooLargeError:
            await _answer_then_drain(_too_large(limit), scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not passed on."""
        headers, method = Headers(scope=scope), scope["method"]
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return refused(403, "This address is not that of the studio.")
        own = {f"http://{host}" for host in self._hosts}
        origin = headers.get("origin")
        if (origin is not None or method not in SAFE) and origin not in own:
            return refused(403, "The request comes from another page than the studio.")
        if scope["path"].startswith("/static/") and method in SAFE:
            return None  # files of the package, which the page of a refusal shows as well
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is not None and method in SAFE:
            return self._opened(scope["path"]) if self._is_token(given[0]) else _no_token()
        return None if self._is_token(self._cookie_of(headers)) else _no_token()

    def _opened(self, path: str) -> Response:
        """Give the token to a browser as a cookie.

        The page then leads on by itself. A redirect would count as made by the site where the
        link was clicked, and a strict cookie would not be sent.
        """
        place = path if _LANDING.fullmatch(path) else "/"
        page = HTMLResponse(render("opened.html", place=place))
        page.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return page

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self._token.encode())

    def _cookie_of(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value


def refused(status: int, sentence: str) -> HTMLResponse:
    """Return a page that says why a request is refused."""
    return HTMLResponse(render("refused.html", sentence=sentence), status)


def _no_token() -> HTMLResponse:
    return refused(
        403,
        "This browser has not opened the studio. Open the address that the command 'ecselm studio' "
        "printed, with its token.",
    )


def _too_large(limit: int) -> HTMLResponse:
    return refused(
        413,
        f"The file must have at most {limit // 2**20} MB. Larger tables can be fitted by the "
        "command 'ecselm fit --stream'.",
    )


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)  # the report has a policy of its own
        await send(message)

    return sent


def _counted(receive: Receive, limit: int) -> Receive:
    """Return a receiver that raises once a body is larger than the limit."""
    n_bytes = 0

    async def received() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > limit:
            raise BodyTooLargeError
        return message

    return received


async def _answer_then_drain(
    response: Response, scope: Scope, receive: Receive, send: Send
) -> None:
    """Send an answer at once, and drop what is left of the body.

    A browser reads the answer after it has sent the body; were the connection closed before, it
    would show an error of its own.
    """
    response.headers["connection"] = "close"
    held: list[Message] = []

    async def hold_end(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            held.append({**message, "body": b""})
            message = {**message, "more_body": True}
        await send(message)

    await response(scope, receive, hold_end)
    n_bytes = 0
    while n_bytes <= MAX_DRAINED:
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            break
    for message in held:
        await send(message)
