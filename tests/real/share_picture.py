"""Takes the picture of the page to share for the docs, in Chromium.

    python -m tests.real.share_picture

writes docs/pictures/share.png and share-light.png, from a conversation with the sample servers and the demo
model. Run it again when the page changes.
"""

import base64
import os
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.real.chromium import Tab, browser

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
QUESTIONS = ("What's the weather in Hangzhou?", "which notes mention milk?")
WIDTH, HEIGHT = 1200, 780
UNFOLDED = "main.querySelector('.wire').open = true; main.querySelector('.row:nth-of-type(2)').open = true"


def write_page(home: Path) -> Path:
    """Have a conversation in an empty home, and export it."""
    page = home / "talk.html"
    env = {**os.environ, "HOME": str(home)} | {
        f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    for command in (
        *(("run", "--demo", "--session", "Weather and notes", question) for question in QUESTIONS),
        ("sessions", "export", "last", "--output", str(page)),
    ):
        subprocess.run([sys.executable, "-m", "tui", *command], env=env, check=True, capture_output=True)
    return page


def main() -> None:
    with tempfile.TemporaryDirectory() as home, browser() as chromium:
        page = write_page(Path(home))
        for name, theme in (("share.png", "dark"), ("share-light.png", "light")):
            with closing(Tab(chromium)) as tab:
                tab.open(page)
                size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
                tab.call("Emulation.setDeviceMetricsOverride", **size)
                feature = {"name": "prefers-color-scheme", "value": theme}
                tab.call("Emulation.setEmulatedMedia", features=[feature])
                tab.value(UNFOLDED)
                taken = tab.call("Page.captureScreenshot", format="png")["data"]
                (FOLDER / name).write_bytes(base64.b64decode(taken))


if __name__ == "__main__":
    main()
