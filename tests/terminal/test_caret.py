"""The terminal's cursor is at the caret of every field of every screen and dialog. Asked of the terminal.

A walk opens a screen and presses tab until each of its widgets had the focus. In each one that edits text,
typed characters must appear at the left of the cursor. A module that creates a field needs a walk.
"""

import ast
import importlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TextArea

from tests.configurations import config_file, server
from tests.terminal.pty_app import ROOT, TerminalApp, home_in
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.answer_pause import GRACE_SECONDS
from tui.ui.widgets.inputs import PromptLine

F1, F10 = "\x1bOP", "\x1b[21~"
CTRL_R, ESCAPE = "\x12", "\x1b"

Place = tuple[int, int]


def cursor(app: TerminalApp) -> Place:
    return app.screen.cursor.x, app.screen.cursor.y


def under_cursor(app: TerminalApp) -> str:
    x, y = cursor(app)
    return app.screen.buffer[y][x].data


def left(app: TerminalApp, cells: int = 1) -> str:
    """Return the character at the left of the cursor, which takes so many cells."""
    x, y = cursor(app)
    return app.screen.buffer[y][x - cells].data if x >= cells else ""


def opened(app: TerminalApp, *steps: str) -> None:
    """Press keys and wait for texts, in turn."""
    for key, shown in zip(steps[::2], steps[1::2], strict=True):
        app.send(key)
        app.shows(shown)


def written(app: TerminalApp, hidden: bool = False) -> None:
    """Type characters of two cells and of one, each of which must appear at the left of the cursor."""
    for letter, cells in (("漢", 2), ("ю", 1)):
        app.send(letter)
        shown, size = ("•", 1) if hidden else (letter, cells)
        app.until(lambda shown=shown, size=size: left(app, size) == shown)


def test_it_is_in_every_field_on_the_way_and_returns_to_the_input(idle: TerminalApp) -> None:
    assert under_cursor(idle) == "A"  # of the placeholder
    assert idle.screen.cursor.hidden
    written(idle)
    opened(idle, F10, "model, profile or URL")
    idle.send(ESCAPE)
    idle.until(lambda: "model, profile or URL" not in idle.text and left(idle) == "ю")
    written(idle)
    opened(idle, F1, "Type to filter")
    idle.send("q\t")  # to the lines below; the field gets letters without the focus
    idle.until(lambda: left(idle) == "q")
    written(idle)
    opened(idle, ESCAPE, "Type to filter")
    idle.send(ESCAPE)
    idle.until(lambda: "esc close" not in idle.text)
    opened(idle, CTRL_R, "history ›")
    written(idle)


def test_it_follows_a_text_that_wraps(idle: TerminalApp) -> None:
    idle.send("wide 漢字 and more " * 12 + "zebra")
    idle.until(lambda: "zebra" in idle.text and left(idle) == "a")
    for size in ((60, 20), (140, 40)):
        idle.resize(*size)
        idle.until(lambda: "zebra" in idle.text and left(idle) == "a")
    written(idle)


F2, F3, F4, F5 = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~"
F9, F12, DOWN = "\x1b[20~", "\x1b[24~", "\x1b[B"
CTRL_E, CTRL_F, CTRL_G, CTRL_K, CTRL_N, CTRL_P, CTRL_S = (
    *("\x05", "\x06", "\x07", "\x0b", "\x0e", "\x10", "\x13"),
)

Steps = tuple[str, ...]
"""Keys, each with a text that the screen shows then."""

SERVERS = (F3, "enter open")
TOOL = (*SERVERS, "\r", "WORKBENCH")
RESULT = ("What's the weather in Hangzhou?\r", "answered")
TRAFFIC = (F4, "TRAFFIC")
SAID = ("hello\r", "not a language model")

Walk = tuple[str, Steps]

STORIES: Mapping[str, Sequence[Walk]] = {
    "without servers": (
        ("app.command_palette", (CTRL_P, "Search for commands")),
        ("dialogs.help", (F1, "Type to filter")),
        ("lists.models", (F10, "profile or URL")),
        ("dialogs.picker", (F10, "profile or URL", CTRL_N, "type to filter")),
        ("forms.model_form", (F10, "profile or URL", CTRL_N, "ADD MODEL", "Other\r", "Profile name")),
        ("forms.model_form", (F10, "profile or URL", CTRL_N, "ADD MODEL", "OpenAI\r", "paste the key")),
        ("dialogs.text_dialogs", (F12, "SYSTEM PROMPT OF THIS CONVERSATION")),
        ("chat.regions", (F5, "Ask anything")),
    ),
    "sample servers": (
        ("results.result_screen", (*RESULT, F2, "c copy", "v", "w save", "w", "save as")),
        ("dialogs.export_dialogs", (*SAID, F2, "c copy", "x", "EXPORT")),
        (
            "forms.share_review",
            (*SAID, F2, "c copy", "x", "EXPORT", "\t", "JSON", "\t", "enter review", "\r", "arguments"),
        ),
        ("lists.sessions", (F9, "title or words")),
        ("lists.finder", (F9, "title or words", CTRL_E, "title ›")),
        ("dialogs.text_dialogs", ("add a note: a\r", "y once", "e", "Reason for the model")),
        ("forms.server_form", (*SERVERS, "a", "ADD SERVER")),
        ("lists.rules", (*SERVERS, "P", "a rule, or a call to try")),
        ("lists.finder", (*SERVERS, "P", "a rule, or a call to try", CTRL_N, "new rule ›")),
        ("workbench.log_screen", (*SERVERS, "l", "LOG weather", "/", "search ›")),
        ("workbench.bench", (*TOOL, "/", "name or description")),
        ("workbench.screen", (*TOOL, "\r", "enter next", CTRL_K, "Save arguments")),
        ("workbench.bench", (*TOOL, "\r", "enter next", CTRL_E, "ctrl+e form")),
        ("traffic.edit_request", (*TRAFFIC, "h", "/list", *(("k", "press end") * 3), "e", "EDIT AND RESEND")),
        ("traffic.screen", (*TRAFFIC, "M", "leave empty")),
        ("traffic.screen", (*TRAFFIC, "\r", "enter fold", "/", "search in this entry ›")),
        ("traffic.screen", (*TRAFFIC, CTRL_F, "search ›")),
        ("traffic.filter_bar", (*TRAFFIC, "/", "filter ›")),
    ),
}
"""Walks that one app goes one after the other, from its chat."""

QUESTIONS = ("y once", "Who are you?", "Say hello")

ASKED: Sequence[Walk] = (
    ("questions.elicitation_dialogs", (*TOOL, CTRL_S, "Who are you?")),
    ("questions.sampling_dialog", (*TOOL, "/", "name or", "sample\r", "▸ sample", CTRL_S, "Say hello")),
)

WITHOUT_WALK = frozenset({"widgets.inputs"})
"""Creates the field of the input lines of other modules."""


class Walker:
    """The app in a terminal, and where the focus is."""

    def __init__(self, app: TerminalApp, report: Path) -> None:
        self.app = app
        self._report = report
        self._sizes = cycle(((80, 24), (100, 30)))

    @property
    def state(self) -> Mapping[str, Any]:
        """The state of the focus."""
        self.app.until(self._report.exists)
        found: Mapping[str, Any] = json.loads(self._report.read_text())
        return found

    def open(self, *steps: str) -> None:
        """Press keys and wait for texts, in turn."""
        for key, shown in zip(steps[::2], steps[1::2], strict=True):
            opened(self.app, key, shown)
            if shown in QUESTIONS:  # which ignore the first keys
                began = time.monotonic()
                self.app.until(lambda began=began: time.monotonic() > began + GRACE_SECONDS)
            if shown == "y once":  # an approval has the keys, and the caret stays in the input
                self.app.resize(*next(self._sizes))
                self.app.shows("y once")
                self.app.until(lambda: under_cursor(self.app) == "A")  # of the placeholder

    def home(self) -> None:
        """Return to the empty input of the chat."""
        asked = Path(f"{self._report}.home")
        self.app.screen.reset()
        asked.touch()
        self.app.until(lambda: not asked.exists())
        self.app.shows("Ask anything")
        self.app.until(lambda: "answering" not in self.app.text)  # or the next message is queued

    def walk(self, key: str = "\t") -> None:
        """Write into each field of the screen, going to the next with `key` until one returns."""
        self._report.unlink()  # it is of an earlier screen
        seen: set[str] = set()
        expected, fields = self.state["fields"], 0
        while (state := self.state)["focused"] not in seen:
            seen.add(state["focused"])
            if state["edits"]:
                written(self.app, state["hides"])
                fields += 1
                if fields == 1:
                    self.app.resize(*next(self._sizes))
                    last = "•" if state["hides"] else "ю"
                    self.app.until(lambda last=last: left(self.app) == last)
            self.app.send(key)
            self.app.until(lambda state=state: self.state["tabs"] > state["tabs"])
        assert fields >= (expected if len(seen) > 1 else 1), self.app.text


@contextmanager
def walking(folder: Path, *arguments: str) -> Iterator[Walker]:
    report = folder / "focus.json"
    env = home_in(folder)
    with TerminalApp.watched(f"focus={report}", *arguments, env=env, columns=100, rows=30) as app:
        yield Walker(app, report)


@pytest.mark.parametrize("story", STORIES)
def test_it_is_in_every_field(tmp_path: Path, story: str) -> None:
    alone = story == "without servers"
    with walking(tmp_path, "--demo", *(["--no-start"] if alone else [])) as walker:
        walker.app.shows(*(["0 of 3"] if alone else ["try an example", "2 tools", "4 tools"]))
        for _, steps in STORIES[story]:
            walker.open(*steps)
            walker.walk()
            walker.home()


def test_it_is_in_every_field_for_a_server(tmp_path: Path) -> None:
    asking = server("asking", ROOT / "tests" / "protocol" / "asking_server.py", sampling="ask")
    with walking(tmp_path, "--demo", "--config", config_file(tmp_path, asking)) as walker:
        walker.app.shows("4 tools")
        for _, steps in ASKED:
            walker.open(*steps)
            walker.walk()
            walker.home()


def test_it_is_in_every_row_of_a_form(tmp_path: Path) -> None:
    env = {"ARRIVED_FILE": str(tmp_path / "arrived")}
    forms = server("forms", ROOT / "tests" / "ui" / "forms_server.py", env=env)
    with walking(tmp_path, "--demo", "--config", config_file(tmp_path, forms)) as walker:
        walker.app.shows("tools")
        for tool in ("optional", "order", "shapes"):
            walker.open(*TOOL, "2", "CALLS", "/", "name or", f"{tool}\r", f"▸ {tool}", "\r", "enter next")
            walker.app.send(CTRL_N)  # an entry of a list, where there is one
            walker.walk(DOWN)
            walker.home()


def test_each_module_with_a_field_has_a_walk() -> None:
    walks = [*ASKED, *(walk for story in STORIES.values() for walk in story)]
    assert modules_with_fields() - WITHOUT_WALK <= {module for module, _ in walks}


FIELDS = (Input, TextArea, PromptLine, FormPane)


def modules_with_fields() -> set[str]:
    """Return the modules of `tui.ui` that create an input, a text area, an input line or a form."""
    found = set()
    for file in sorted((ROOT / "tui" / "ui").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT / "tui" / "ui").with_suffix("").parts)
        module = importlib.import_module(f"tui.ui.{name.removesuffix('.__init__')}")
        known = {called for called, kind in vars(module).items() if isinstance(kind, type)}
        fields = {one for one in known if issubclass(getattr(module, one), FIELDS)}
        tree = ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if fields else ()
        if any(isinstance(node, ast.Call) and getattr(node.func, "id", "") in fields for node in tree):
            found.add(name)
    return found
