"""Presses random keys in the real app, with the sample servers and the demo model: it must not crash.

Run it: python tests/soak/random_keys.py [SEED] [KEYS]
Prints how many keys were pressed. If the app crashes, prints the last keys and the traceback. The same seed
presses the same keys. The app gets a new working folder and home.
"""

import asyncio
import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from textual.pilot import Pilot  # noqa: E402

from tui.runtime.options import Options  # noqa: E402
from tui.runtime.runtime import Runtime  # noqa: E402
from tui.ui.app.app import McptuiApp  # noqa: E402

CONTROL = [f"ctrl+{letter}" for letter in "abdegjklnoprstuwxyz"]
MOVES = ["up", "down", "left", "right", "pageup", "pagedown", "home", "end", "ctrl+up", "ctrl+down"]
OTHERS = ["enter", "escape", "tab", "shift+tab", "space", "backspace", "delete", "alt+enter", "shift+enter"]
FUNCTIONS = [f"f{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)]
KEYS = [*CONTROL, *MOVES, *OTHERS, *FUNCTIONS, "ctrl+pageup", "ctrl+pagedown"]
LETTERS = [*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "slash", "at", "full_stop"]
LINES = [
    "weather in Oslo", "add a note: buy milk", "/help", "/tools", "/model demo", "/system be brief", "/clear",
    "/compact", "/export json", "/retry", "@", "/sessions", "/branch", "/rename x", "status:failed",
    "/prompt",
]  # fmt: skip
SIZES = [(80, 24), (120, 40), (200, 60), (30, 8)]
NAMES = {" ": "space", "/": "slash", "@": "at", ":": "colon"}


async def press(app: McptuiApp, pilot: Pilot[int], draw: random.Random, count: int) -> list[str]:
    """Press `count` keys, or fewer if one of them quits the app; return them."""
    pressed: list[str] = []
    while len(pressed) < count and app.is_running:
        match draw.randrange(50):
            case 0 | 1 | 2:
                keys = [NAMES.get(char, char) for char in draw.choice(LINES)] + ["enter"]
            case 3:
                await pilot.resize_terminal(*draw.choice(SIZES))
                continue
            case number if number < 16:
                keys = [draw.choice(LETTERS)]
            case _:
                keys = [draw.choice(KEYS)]
        pressed += keys
        try:
            await pilot.press(*keys)
        except BaseException:
            print("after", *pressed[-30:], file=sys.stderr)
            raise
    return pressed


async def main(seed: int, count: int) -> None:
    """Open the app and press keys."""
    runtime = Runtime(Options(demo=True), os.environ)
    app = McptuiApp(lambda: runtime, theme="harbor", keys={})
    try:
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            pressed = await press(app, pilot, random.Random(seed), count)
    finally:
        await runtime.shutdown()
    print(f"seed {seed}: {len(pressed)} keys, nothing broke")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as home:
        places = {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "s"}
        os.environ.update({name: str(Path(home, place)) for name, place in places.items()})
        os.environ.update(HOME=home, EDITOR="true")
        os.chdir(home)
        asyncio.run(main(given[0] if given else random.randrange(1 << 30), given[1] if given[1:] else 600))
