# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium through ChromeDriver's own HTTP protocol (W3C WebDriver): no extra package."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from types import TracebackType

# No background traffic: on a closed network it fails, and would end up in the console.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def installed() -> tuple[str, str] | None:
    """(browser, driver) on this machine, or None."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """A browser with an empty profile in `profile`; closes with the `with` block."""

    def __init__(self, profile: Path, dark: bool = False) -> None:
        browser, driver = installed() or ("", "")
        self.process = subprocess.Popen(
            [driver, "--port=0", "--allowed-ips=127.0.0.1"], stdout=subprocess.PIPE, text=True
        )
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            flags = [*FLAGS, f"--user-data-dir={profile}"]
            if dark:
                flags.append("--blink-settings=preferredColorScheme=0")
            options = {"binary": browser, "args": flags}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.base += f"/session/{answer['sessionId']}"
        except BaseException:
            self.process.kill()
            raise

    def _port(self) -> int:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "successfully on port" in line:
                return int(line.rsplit("port", 1)[1].strip(" .\n"))
        raise RuntimeError("chromedriver did not start")

    def _send(self, method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        # The proxy settings of the machine are not for the loopback address.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._send("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(10)

    def open(self, page: Path, width: int = 1280, height: int = 900) -> None:
        """Load a local page in a viewport of this size (CSS pixels)."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", size)
        self._send("POST", "/url", {"url": page.resolve().as_uri()})

    def run(self, script: str) -> object:
        """The value that a piece of JavaScript returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": []})

    def console(self) -> list[str]:
        """What the console has said since the last call: every level."""
        said = self._send("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in said]

    def devtools(self, command: str, parameters: dict) -> dict:
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path: Path) -> None:
        """The whole page, not only the viewport, as PNG."""
        shot = self.devtools(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True}
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
