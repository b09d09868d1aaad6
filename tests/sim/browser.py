# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium through selenium, with the driver from the system's packages."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from types import TracebackType

import pytest
from selenium import webdriver
from selenium.webdriver.common.actions.action_builder import ActionBuilder

# Disable background traffic, which fails on a closed network and would appear in the console.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
# A browser and its driver: Debian's packages, Ubuntu's snap.
BROWSERS = (
    ("chromium", "/usr/bin/chromedriver"),
    ("/snap/bin/chromium", "/snap/bin/chromium.chromedriver"),
)

# Inspects the page's layout: for each picture the size of its SVG, the number of data marks with an
# area or a length, labels outside their card, and pairs of overlapping labels.
INSPECT = """
return [...document.querySelectorAll("[data-picture]")].map((figure) => {
  const svg = figure.querySelector("svg");
  const box = svg.getBoundingClientRect();
  const card = figure.getBoundingClientRect();
  const marks = [...svg.querySelectorAll("[class*=data_] path")].filter((mark) => {
    const b = mark.getBBox();
    const style = getComputedStyle(mark);
    const ink = [style.fill, style.stroke].some((c) => c !== "none" && !/, 0\\)$/.test(c));
    return b.width + b.height > 0 && ink;
  });
  const labels = [...svg.querySelectorAll("text")].map((t) => [t, t.getBoundingClientRect()]);
  const outside = labels.filter(([, b]) => b.left < card.left || b.right > card.right
    || b.top < card.top || b.bottom > card.bottom).map(([t]) => t.textContent);
  const clashes = [];
  labels.forEach(([one, a], i) => labels.slice(i + 1).forEach(([two, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 3) clashes.push(`${one.textContent} / ${two.textContent}`);
  }));
  const drawn = marks.map((m) => (m.getAttribute("d") || "M").split("M").length - 1)
    .reduce((a, b) => a + b, 0);
  return {key: figure.dataset.picture, width: box.width, height: box.height, marks: marks.length,
          drawn, labels: labels.length, outside, clashes};
})
"""


def installed() -> tuple[str, str] | None:
    """The browser on this machine and its driver."""
    found = ((shutil.which(browser), shutil.which(driver)) for browser, driver in BROWSERS)
    return next((pair for pair in found if all(pair)), None)


# Debian has the browser, so tests must not be skipped there: tests/conftest.py.
needs_browser = pytest.mark.skipif(installed() is None, reason="no Chromium with its driver")


class Browser:
    """One tab of a browser with an empty profile in `profile`; the `with` block closes it.

    dark: whether the system's theme is dark. Raises FileNotFoundError without a browser or driver.
    """

    def __init__(self, profile: Path, dark: bool = False) -> None:
        pair = installed()
        if pair is None:
            raise FileNotFoundError("no Chromium with its driver")
        options = webdriver.ChromeOptions()
        options.binary_location = pair[0]
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # The driver is on this machine, whatever proxy leads out of it.
        direct = (*os.environ.get("no_proxy", "").split(","), "localhost")
        os.environ["no_proxy"] = ",".join(dict.fromkeys(filter(None, direct)))
        # With its path given, selenium looks for no driver and downloads none.
        service = webdriver.ChromeService(pair[1])
        self.driver = webdriver.Chrome(options=options, service=service)
        self._console: list[str] = []
        self._requests: list[str] = []
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.quit()

    @property
    def console(self) -> list[str]:
        """The console's messages at every level, including exceptions."""
        entries = self.driver.get_log("browser")  # get_log returns each entry only once
        self._console += [f"{entry['level']}: {entry['message']}" for entry in entries]
        return self._console

    @property
    def requests(self) -> list[str]:
        """All addresses that the page requested, except its own."""
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            parameters = event["params"]
            if event["method"] != "Network.requestWillBeSent" or parameters["type"] == "Document":
                continue
            if not parameters["documentURL"].startswith("chrome:"):  # the tab's page before ours
                self._requests.append(parameters["request"]["url"])
        return self._requests

    def open(self, page: Path, width: int = 1280, height: int = 900) -> None:
        """Load a local page in a viewport of this size (CSS pixels); returns when it has loaded."""
        self.resize(width, height)
        self.driver.get(page.resolve().as_uri())

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script: str) -> object:
        """The value of an expression in JavaScript."""
        return self.driver.execute_script(f"return {script.strip()}")

    def pictures(self) -> list[dict]:
        """The layout of all pictures; see INSPECT."""
        return self.driver.execute_script(INSPECT)

    def scrolls_sideways(self) -> bool:
        return self.run("document.documentElement.scrollWidth > innerWidth")

    def move_to(self, x: float, y: float) -> None:
        """Move the mouse (CSS pixels in the viewport)."""
        actions = ActionBuilder(self.driver, duration=0)
        actions.pointer_action.move_to_location(int(x), int(y))
        actions.perform()

    def screenshot(self, path: Path) -> None:
        """The whole page, not only the viewport, as PNG."""
        whole = {"format": "png", "captureBeyondViewport": True}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", whole)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
