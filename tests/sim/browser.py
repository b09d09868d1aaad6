# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium over its DevTools pipe: no driver and no Python package needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from types import TracebackType

# No background traffic: on a closed network it fails, and would end up in the console.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "/snap/bin/chromium")
PATIENCE = 60.0  # seconds for one answer


def installed() -> str | None:
    """The browser on this machine."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One tab of a browser with an empty profile in `profile`; closes with the `with` block.

    console: what the page has said, at every level, exceptions included. requests: every address
    it asked for, but for the page's own.
    """

    def __init__(self, profile: Path, dark: bool = False) -> None:
        browser = installed()
        if browser is None:
            raise FileNotFoundError("no Chromium")
        self.console: list[str] = []
        self.requests: list[str] = []
        self.count, self.buffer, self.session = 0, b"", ""
        self.loaded = False
        # Chromium reads commands from descriptor 3 and answers on 4, each ended by a zero byte.
        # High numbers here, so that giving the child its 3 and 4 cannot overwrite one of them.
        theirs_in, self.out = _pipe()
        self.into, theirs_out = _pipe()
        self.pid = os.posix_spawn(
            browser,
            [browser, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs_in, 3),
                (os.POSIX_SPAWN_DUP2, theirs_out, 4),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
            self.session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            self.call("Emulation.setEmulatedMedia", features=[scheme])
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.session = ""
            self.call("Browser.close")
        finally:
            self._end()

    def _end(self) -> None:
        """Wait a little for the browser to go by itself, then make it."""
        for descriptor in (self.out, self.into):
            os.close(descriptor)
        for _ in range(100):
            if os.waitpid(self.pid, os.WNOHANG) != (0, 0):
                return
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def call(self, method: str, **parameters: object) -> dict:
        """Send a DevTools command and wait for its answer."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _next(self) -> dict:
        """The browser's next message; events are noted on the way."""
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.into, 1 << 20)
            if not part:
                raise EOFError("the browser has gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, said: dict) -> None:
        if event == "Runtime.consoleAPICalled":
            words = " ".join(str(a.get("value", a.get("description"))) for a in said["args"])
            self.console.append(f"{said['type']}: {words}")
        elif event == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            words = details.get("exception", {}).get("description", details["text"])
            self.console.append(f"exception: {words}")
        elif event == "Log.entryAdded":
            self.console.append(f"{said['entry']['level']}: {said['entry']['text']}")
        elif event == "Network.requestWillBeSent" and said["type"] != "Document":
            self.requests.append(said["request"]["url"])
        elif event == "Page.loadEventFired":
            self.loaded = True

    def open(self, page: Path, width: int = 1280, height: int = 900) -> None:
        """Load a local page in a viewport of this size (CSS pixels); returns when it has loaded."""
        self.resize(width, height)
        self.loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self.loaded:
            self._next()

    def resize(self, width: int, height: int = 900) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def run(self, script: str) -> object:
        """The value of a piece of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def move_to(self, x: float, y: float) -> None:
        """Move the mouse (CSS pixels in the viewport)."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        """The whole page, not only the viewport, as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))


def _pipe() -> tuple[int, int]:
    """(read end, write end), both numbered from 10 and not handed to other children."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
