"""A real browser, driven over the WebDriver protocol by means of the standard library alone."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A headless Chromium with an empty profile."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._address = f"http://127.0.0.1:{port}"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--no-first-run", f"--user-data-dir={self._folder.name}",
            "--window-size=1280,900",
        ]  # fmt: skip
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        for attempt in range(100):
            try:
                made = self._post("/session", {"capabilities": {"alwaysMatch": wanted}})
                break
            except OSError:
                if attempt == 99:
                    raise
                time.sleep(0.1)
        self._session = f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            self._send("DELETE", self._session)
        finally:
            self._process.terminate()
            self._process.wait(10)
            self._folder.cleanup()

    def open(self, path):
        """Open a file of the disk."""
        self._post(f"{self._session}/url", {"url": Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """Run JavaScript in the page, and return what it returns."""
        return self._post(f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, script, *arguments):
        """Run JavaScript that ends by calling its last argument, and return what it calls it with."""
        return self._post(f"{self._session}/execute/async", {"script": script, "args": list(arguments)})

    def press(self, key):
        """Press a key."""
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._post(
            f"{self._session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]}
        )

    def tell(self, command, **parameters):
        """Give a command of the developer's protocol."""
        return self._post(f"{self._session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        """Return what was logged since last asked: "browser" or "performance"."""
        return self._post(f"{self._session}/se/log", {"type": kind})

    def picture(self, path):
        """Save what the whole page looks like."""
        shot = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def _post(self, place, content):
        return self._send("POST", place, json.dumps(content).encode())

    def _send(self, method, place, content=None):
        asked = urllib.request.Request(
            self._address + place, data=content, method=method, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())["value"]
