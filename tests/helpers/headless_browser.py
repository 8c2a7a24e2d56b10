"""A headless Chromium, spoken to by its debugging protocol over two pipes: no library is needed."""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-pipe"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1400,1000"),
    # Whatever is not this machine is a failure to resolve a name.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
PATIENCE = 40.0  # seconds until what is waited for is there


def find_browser():
    """The program, or None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page. `requests` and `problems` are what it asked for, and what its console said."""

    def __init__(self, send, receive):
        self._send, self._receive = send, receive
        self._count = 0
        self.requests, self.problems = [], []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        found = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": found["sessionId"]}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        return self._ask(method, self._session, **parameters)

    def _ask(self, method, session=None, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters, **(session or {})}
        self._send(json.dumps(message).encode() + b"\0")
        while True:
            found = json.loads(self._receive())
            if found.get("id") == self._count:
                assert "error" not in found, found
                return found["result"]
            self._notice(found)

    def _notice(self, found):
        parameters = found.get("params", {})
        if found.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif found.get("method") == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"]["text"])
        elif found.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"]["text"])

    def evaluate(self, expression):
        """What an expression of JavaScript is."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression):
        """Wait until an expression of JavaScript is true, and give it."""
        end = time.monotonic() + PATIENCE
        while not (found := self.evaluate(f"document.body && ({expression})")):
            assert time.monotonic() < end, (expression, self.evaluate("document.body?.innerText"))
            time.sleep(0.1)
        return found

    def click(self, x, y, count=1):
        where = {"x": x, "y": y, "button": "left", "clickCount": count}
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, **where)

    def screenshot(self):
        """What is drawn, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])


@contextmanager
def headless_page(program, folder):
    """A page of a browser whose profile is in a folder."""
    to_browser, ours = os.pipe()
    theirs, from_browser = os.pipe()

    # The browser reads what it is told from 3, and writes what it says to 4.
    script = (
        "import fcntl, os, sys\n"
        f"kept = [fcntl.fcntl(n, fcntl.F_DUPFD, 10) for n in ({to_browser}, {from_browser})]\n"
        "[os.dup2(each, 3 + at) for at, each in enumerate(kept)]\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(
        [sys.executable, "-c", script, *command],
        pass_fds=(to_browser, from_browser),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(to_browser)
        os.close(from_browser)
        buffer = bytearray()

        def receive():
            while b"\0" not in buffer:
                piece = os.read(theirs, 1 << 16)
                assert piece, "the browser has ended"
                buffer.extend(piece)
            end = buffer.index(0)
            message = bytes(buffer[:end])
            del buffer[: end + 1]
            return message

        try:
            yield Page(lambda message: os.write(ours, message), receive)
        finally:
            process.kill()
            os.close(ours)
            os.close(theirs)
