"""A Chromium without a window, over its DevTools protocol on two pipes. Debian installs it as `chromium`."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
SECONDS = 30.0

_FLAGS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--no-zygote",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-features=SpareRendererForSitePerProcess",
    *("--remote-debugging-pipe", "--window-size=1200,900", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
_KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    " ": (32, " "),
}


class Browser:
    """The two pipes to a browser: messages in JSON, each ended by a zero byte."""

    def __init__(self, pid: int, send: int, receive: int) -> None:
        self.pid = pid
        self._send, self._receive = send, receive
        self._rest, self._number = b"", 0

    def processes(self) -> set[int]:
        """Return the ids of all its processes, which come and go with its tabs."""
        return {self.pid, *(one.pid for one in psutil.Process(self.pid).children(recursive=True))}

    def send(self, message: dict[str, Any]) -> int:
        """Send a message, and return its id."""
        self._number += 1
        os.write(self._send, json.dumps({"id": self._number, **message}).encode() + b"\0")
        return self._number

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._receive], [], [], SECONDS)
            assert ready, "Chromium does not answer"
            data = os.read(self._receive, 1 << 20)
            assert data, "Chromium ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found


class Tab:
    """One page of a browser: what it asked of the network, and what went wrong on it."""

    def __init__(self, browser: Browser) -> None:
        self._browser, self._session, self._target = browser, "", ""
        self.requests: list[str] = []
        self.problems: list[str] = []

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file, and wait until it is loaded."""
        self._target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Audits", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=f"{path.as_uri()}{fragment}")
        self.until("document.readyState === 'complete'")

    def close(self) -> None:
        if self._target:
            self._session = ""
            self.call("Target.closeTarget", targetId=self._target)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; note the events that arrive meanwhile."""
        session = {"sessionId": self._session} if self._session else {}
        number = self._browser.send({"method": method, "params": params, **session})
        while (found := self._browser.receive()).get("id") != number:
            if found.get("sessionId") == self._session:
                self._see(found)
        assert "error" not in found, found["error"]
        result: dict[str, Any] = found["result"]
        return result

    def _see(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled":
                self.problems.append(json.dumps(params)[:600])
            case "Log.entryAdded":
                self.problems.append(params["entry"]["text"])
            case "Audits.issueAdded":
                self.problems.append(json.dumps(params["issue"])[:600])
            case "Page.javascriptDialogOpening":
                self.problems.append(f"dialog {params['message']}")

    def value(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression on the page is true."""
        end = time.monotonic() + SECONDS
        while not self.value(script):
            assert time.monotonic() < end, script
            select.select([], [], [], 0.02)

    def press(self, *keys: str, shift: bool = False) -> None:
        for key in keys:
            code, text = _KEYS.get(key, (ord(key[0].upper()), key))
            shown = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shown)
            self.call("Input.dispatchKeyEvent", type="keyUp", **shown)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def tree(self) -> list[dict[str, Any]]:
        """Return the nodes that a screen reader hears, as role, name and properties."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{one["name"]: one["value"].get("value") for one in node.get("properties", ())},
            }
            for node in nodes
            if not node.get("ignored")
        ]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser with an empty profile; end it, and leave nothing behind."""
    (its_read, send), (receive, its_write) = os.pipe(), os.pipe()

    def as_3_and_4() -> None:
        first, second = os.dup(its_read), os.dup(its_write)
        os.dup2(first, 3)
        os.dup2(second, 4)

    assert CHROMIUM is not None
    with TemporaryDirectory(prefix="mcptui-chromium-", ignore_cleanup_errors=True) as home:
        process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={home}/profile"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": home},
            close_fds=False,
            preexec_fn=as_3_and_4,
        )
        os.close(its_read)
        os.close(its_write)
        started = Browser(process.pid, send, receive)
        try:
            yield started
            started.send({"method": "Browser.close"})
            process.wait(SECONDS)
        finally:
            process.kill()
            process.wait()
            os.close(send)
            os.close(receive)
