"""Chromium without a window, driven over its debugging pipe: no package, no port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["CHROMIUM", "Browser", "Page"]

CHROMIUM = next(
    (
        found
        for name in ("chromium", "google-chrome", "chromium-browser", "chrome")
        if (found := shutil.which(name))
    ),
    None,
)
PATIENCE = 60.0
_KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}


class Browser:
    """One process of Chromium with an empty profile."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        script = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        options = (
            *("--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}"),
            *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--mute-audio"),
        )
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, CHROMIUM, *options],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(to_read)
        os.close(to_write)
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def command(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Run a command of the debugging protocol, and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            received = self._message()
            if received.get("id") == number:
                assert "error" not in received, received
                result: dict[str, Any] = received["result"]
                return result
            if "method" in received:
                self.events.append(received)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "the browser ended"
            self._rest += chunk
        one, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        return found

    def page(self, width: int = 1200, height: int = 900, *, is_dark: bool = False) -> Page:
        """Return a new page in a context of its own: another browser, as the server sees it."""
        context = self.command("Target.createBrowserContext")["browserContextId"]
        target = self.command("Target.createTarget", url="about:blank", browserContextId=context)
        attached = self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        return Page(self, attached["sessionId"], width, height, is_dark=is_dark)

    def close(self) -> None:
        os.close(self._write)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)


class Page:
    """One tab."""

    def __init__(
        self, browser: Browser, session: str, width: int, height: int, *, is_dark: bool
    ) -> None:
        self._browser, self._session = browser, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")
        self.resize(width, height)
        theme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[theme])

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.command(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def open(self, url: str) -> None:
        self.command("Page.navigate", url="about:blank")
        self.command("Page.navigate", url=url)
        self.settle()

    def run(self, expression: str) -> Any:
        """Evaluate an expression in the page, as its console would, and return its JSON value."""
        done = self.command(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}; {self.text()[:2000]}"
            time.sleep(0.03)

    def settle(self) -> None:
        """Wait until the view of the present address is complete."""
        self.wait(
            "document.readyState === 'complete' && "
            "document.getElementById('main')?.dataset.place === location.hash && "
            "document.getElementById('main').getAttribute('aria-busy') === 'false'"
        )

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def key(self, key: str) -> None:
        """Press a key: a character, or one of a few named keys."""
        name, code, text = _KEYS.get(key, (key, ord(key[0].upper()), key))
        down = {"type": "keyDown", "key": name, "windowsVirtualKeyCode": code}
        self.command("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        self.command("Input.insertText", text=text)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def events(self, method: str) -> list[dict[str, Any]]:
        self.run("1")  # takes in what is waiting
        return [
            event["params"]
            for event in self._browser.events
            if event["method"] == method and event.get("sessionId") == self._session
        ]

    def errors(self) -> list[str]:
        """Return what the console has of errors: exceptions, refusals of the policy, failed loads."""
        found = [
            event["exceptionDetails"]["text"] for event in self.events("Runtime.exceptionThrown")
        ]
        entries = (event["entry"] for event in self.events("Log.entryAdded"))
        found += [entry["text"] for entry in entries if entry["level"] == "error"]
        calls = self.events("Runtime.consoleAPICalled")
        return found + [str(call["args"]) for call in calls if call["type"] == "error"]

    def requested(self) -> list[str]:
        """Return the addresses of all requests."""
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]


Make = Callable[..., Page]
