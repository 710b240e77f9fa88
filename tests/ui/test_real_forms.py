"""Forms of a server as Pydantic describes it, filled in with keys only; what arrives is what was typed."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app, to_chat
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.items import item_key
from tui.ui.workbench.screen import ServerScreen

SERVER = Path(__file__).parent / "forms_server.py"
TOOLS = ("optional", "order", "shapes")


class Filled:
    """The form of one tool on screen, and the calls that reached the server."""

    def __init__(self, app: RealApp, bench: Bench, arrived: Path) -> None:
        self.app = app
        self.bench = bench
        self._arrived = arrived

    async def press(self, *keys: str) -> None:
        """Press keys; of a text that starts with an apostrophe, each character."""
        for key in keys:
            await self.app.pilot.press(*(key[1:] if key.startswith("'") else [key]))

    async def sends(self, *keys: str) -> Any:
        """Press keys and call the tool; return the arguments that arrived."""
        count = len(self._lines())
        await self.press(*keys, "ctrl+s")
        await until(lambda: len(self._lines()) > count, what="a call arrived")
        return json.loads(self._lines()[-1])["arguments"]

    def _lines(self) -> list[str]:
        return self._arrived.read_text().splitlines() if self._arrived.exists() else []

    @property
    def value(self) -> Any:
        return self.bench.form.form.value()[0]


Opens = Callable[[str], Awaitable[Filled]]


@asynccontextmanager
async def forms(home: Path) -> AsyncIterator[Opens]:
    """Open the app, and yield what opens the empty form of a tool with the cursor on its first field."""
    arrived = home / "arrived.jsonl"
    config = (
        f'[servers.forms]\ncommand = "{sys.executable}"\nargs = ["{SERVER}"]\n'
        f'env = {{ ARRIVED_FILE = "{arrived}" }}\n'
    )
    async with real_app(home, config, size=(120, 60)) as app:
        await app.has_state("forms", "RUNNING")

        async def opens(tool: str) -> Filled:
            await to_chat(app)
            navigator = app.app.main.parts.navigator
            for each in TOOLS:  # not the arguments of the last call
                navigator.call_book.drafts["forms", item_key("tool", each)] = {}, ""
            navigator.open_server("forms")
            await until(lambda: isinstance(app.app.screen, ServerScreen) and app.app.screen.focused)
            screen = app.app.screen
            assert isinstance(screen, ServerScreen)
            await until(lambda: screen.bench is not None and screen.bench.item, what="tools listed")
            bench = screen.bench
            assert bench is not None
            await app.pilot.press("home", *["down"] * TOOLS.index(tool), "enter")
            assert bench.item is not None
            assert bench.item.label == tool
            return Filled(app, bench, arrived)

        yield opens


async def test_optional_and_nested_values_are_filled_in_with_keys_and_as_json(separate_home: Path) -> None:
    async with forms(separate_home) as opens:  # once, because the SDK takes a second to start
        form = await opens("optional")
        keys = ("ctrl+n", "'red", "ctrl+n", "'blue", "tab", "ctrl+n", "'k", "enter", "'3", "tab")
        sent = await form.sends(*keys, "ctrl+n", "'4", "tab", "tab", "ctrl+n", "'/x")
        assert sent == {
            "tags": ["red", "blue"],
            "counts": {"k": 3},
            "size": {"width": 4},
            "strict": {"path": "/x"},
        }

        # An object can be null, have content again and be left out.
        form = await opens("optional")
        await form.press("tab", "tab", "ctrl+n", "'4", "shift+tab")
        assert await form.sends("ctrl+a") == {"size": None}
        assert await form.sends("ctrl+a") == {"size": {"width": 4}}
        assert await form.sends("ctrl+d") == {}

        # An invalid value of a nested object is named and not sent.
        form = await opens("optional")
        await form.press("tab", "tab", "ctrl+n", "'wide", "ctrl+s")
        await form.app.shows("size › width is not an integer.")
        assert await form.sends("ctrl+u", "'5") == {"size": {"width": 5}}

        # Lists and maps of models, lists of lists, and tuples.
        form = await opens("order")
        await form.press("ctrl+n", "'Bolt", "tab", "'2", "tab", "r", "tab", "ctrl+n", "'7", "tab", "tab")
        await form.press("ctrl+n", "'x", *["shift+tab"] * 6, "ctrl+n", "'Nut")
        await form.press(*["tab"] * 5, "ctrl+n", "'first", "enter", "'One", *["tab"] * 5, "right", "right")
        sent = await form.sends("tab", "tab", "t")
        assert sent == {
            "items": [
                {"name": "Bolt", "count": 2, "colour": "red", "size": {"width": 7}, "tags": ["x"]},
                {"name": "Nut"},
            ],
            "by_name": {"first": {"name": "One"}},
            "pet": {"kind": "dog", "barks": True},
        }

        form = await opens("shapes")
        await form.press(
            "ctrl+n", "ctrl+n", "'1", "ctrl+n", "'2", *["shift+tab"] * 3, "ctrl+n", "ctrl+n", "'3"
        )
        await form.press("tab", "ctrl+n", "'7", "tab", "'seven")
        # A tuple that is complete takes no more, so the key adds the next one of the list.
        sent = await form.sends("tab", "ctrl+n", "'a", "tab", "'1", "ctrl+n", "'b", "tab", "'2")
        assert sent == {"grid": [[1, 2], [3]], "point": [7, "seven"], "pairs": [["a", 1], ["b", 2]]}

        # JSON and back keeps what has no value yet, and what is changed there.
        form = await opens("optional")
        await form.press("tab", "ctrl+n", "'k", "enter")
        fields = form.bench.form.form.fields()
        await form.press("ctrl+e", "ctrl+e")
        assert form.bench.form.form.fields() == fields
        assert await form.sends("tab", "tab", "'3") == {"counts": {"k": 3}}

        form = await opens("optional")
        await form.press("ctrl+n", "'red", "ctrl+e")
        form.bench.raw.load_text('{"tags": null, "size": {"width": 3, "height": null}}')
        await form.press("ctrl+e")
        assert await form.sends() == {"tags": None, "size": {"width": 3, "height": None}}
