"""A headless browser, driven over a pipe by the DevTools protocol."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SECONDS = 60  # that an answer may take on a busy machine
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """One browser with one page, and all that the page has asked for or complained of."""

    def __init__(self, folder):
        commands_out, commands_in = map(_beyond_four, os.pipe())
        events_out, events_in = map(_beyond_four, os.pipe())
        log = str(Path(folder) / "browser.log")
        actions = [
            (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 2, 1),
            (os.POSIX_SPAWN_DUP2, commands_out, 3),
            (os.POSIX_SPAWN_DUP2, events_in, 4),
        ]
        arguments = [PROGRAM, *SWITCHES, f"--user-data-dir={folder}/profile", "about:blank"]
        environment = {**os.environ, "HOME": str(folder)}
        self._process = os.posix_spawn(PROGRAM, arguments, environment, file_actions=actions)
        os.close(commands_out)
        os.close(events_in)
        self._in, self._out = commands_in, events_out
        self._read, self._last, self._session = b"", 0, None
        self.events = []
        self._open_page()

    def _open_page(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """Return the answer to a command; events on the way are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        answer = self._await(lambda one: one.get("id") == self._last)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, path, width=1280, height=900, scheme="light", media="screen"):
        """Show a file, and forget what happened before."""
        self.events.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)
        self.ask("Page.navigate", url=Path(path).as_uri())
        if not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self._await(lambda one: one.get("method") == "Page.loadEventFired")

    def evaluate(self, expression):
        """Return what an expression of JavaScript gives in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def complaints(self):
        """Return what was logged or thrown since the page was opened."""
        kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [one["params"] for one in self.events if one.get("method") in kinds]

    def requests(self):
        """Return the addresses that were asked for since the page was opened."""
        sent = (one for one in self.events if one.get("method") == "Network.requestWillBeSent")
        return [one["params"]["request"]["url"] for one in sent]

    def picture(self, path):
        """Write the whole page as a PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def printed(self):
        """Return the page as a PDF."""
        self.ask("Emulation.setEmulatedMedia", media="")
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        """End the browser."""
        self._session = None
        with contextlib.suppress(OSError, TimeoutError):
            self.ask("Browser.close")
        for pipe in (self._in, self._out):
            os.close(pipe)
        deadline = time.monotonic() + 10
        while os.waitpid(self._process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0.02)

    def _await(self, is_wanted):
        deadline = time.monotonic() + SECONDS
        while True:
            one = self._receive(deadline)
            self.events.append(one)
            if is_wanted(one):
                return one

    def _receive(self, deadline):
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"the browser gave no answer in {SECONDS} seconds")
            part = os.read(self._out, 1 << 16)
            if not part:
                raise OSError("the browser has ended")
            self._read += part
        message, self._read = self._read.split(b"\0", 1)
        return json.loads(message)


def _beyond_four(pipe):
    """Move a file descriptor out of the way of 3 and 4, which the browser is given."""
    moved = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(pipe)
    return moved
