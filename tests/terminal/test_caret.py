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
CTRL_R = "\x12"

Place = tuple[int, int]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[TerminalApp]:
    with TerminalApp.real("--demo", env=home_in(tmp_path), columns=100, rows=30) as app:
        app.shows("try an example")
        yield app


def cursor(app: TerminalApp) -> Place:
    return app.screen.cursor.x, app.screen.cursor.y


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
    """Type characters of one and two cells, each of which must appear at the left of the cursor."""
    for letter, cells in (("ж", 1), ("漢", 2), ("ю", 1)):
        app.send(letter)
        shown, size = ("•", 1) if hidden else (letter, cells)
        app.until(lambda shown=shown, size=size: left(app, size) == shown)


def test_it_is_in_the_input_from_the_first_frame(app: TerminalApp) -> None:
    x, y = cursor(app)
    assert app.screen.buffer[y][x].data == "A"  # of the placeholder
    assert app.screen.cursor.hidden
    written(app)


def test_it_is_in_the_history_search(app: TerminalApp) -> None:
    opened(app, CTRL_R, "history ›")
    written(app)


def test_it_follows_a_text_that_wraps(app: TerminalApp) -> None:
    app.send("wide 漢字 and more " * 12 + "end")
    app.until(lambda: "more end" in app.text and left(app) == "d")
    for size in ((60, 20), (140, 40)):
        app.resize(*size)
        app.until(lambda: "more end" in app.text and left(app) == "d")
    written(app)


def test_it_returns_to_the_input_after_a_dialog(app: TerminalApp) -> None:
    written(app)
    opened(app, F10, "model, profile or URL")
    app.send("\x1b")
    app.until(lambda: "model, profile or URL" not in app.text and left(app) == "ю")
    written(app)


def test_it_follows_a_field_that_gets_letters_without_the_focus(app: TerminalApp) -> None:
    opened(app, F1, "Type to filter")
    app.send("q\t")  # to the lines below
    app.until(lambda: left(app) == "q")
    written(app)


def test_it_stays_in_the_input_while_an_approval_has_the_keys(app: TerminalApp) -> None:
    app.shows("4 tools")
    opened(app, "add a note: milk\r", "y once")
    app.resize(80, 24)
    app.shows("y once")
    app.until(lambda: app.screen.buffer[cursor(app)[1]][cursor(app)[0]].data == "A")  # of the placeholder


F2, F3, F4, F5 = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~"
F9, F12, DOWN = "\x1b[20~", "\x1b[24~", "\x1b[B"
CTRL_E, CTRL_F, CTRL_G, CTRL_K, CTRL_N, CTRL_P, CTRL_S = (
    "\x05",
    "\x06",
    "\x07",
    "\x0b",
    "\x0e",
    "\x10",
    "\x13",
)

Steps = tuple[str, ...]
"""Keys, each with a text that the screen shows then."""

SERVERS = (F3, "enter open")
TOOL = (*SERVERS, "\r", "WORKBENCH")
RESULT = ("What's the weather in Hangzhou?\r", "answered")
TRAFFIC = (F4, "TRAFFIC", "k", "press end", "k", "press end", "k", "press end")
SAID = ("hello\r", "not a language model")

WALKS: Sequence[tuple[str, Steps]] = (
    ("app.command_palette", (CTRL_P, "Search for commands")),
    ("chat.regions", (F5, "Ask anything")),
    ("dialogs.export_dialogs", (*SAID, F2, "c copy", "x", "Export")),
    ("dialogs.help", (F1, "Type to filter")),
    ("forms.model_form", (F10, "profile or URL", CTRL_N, "Add model", "Other\r", "Profile name")),
    ("forms.model_form", (F10, "profile or URL", CTRL_N, "Add model", "OpenAI\r", "paste the key")),
    ("dialogs.picker", (F10, "profile or URL", CTRL_N, "type to filter")),
    ("forms.server_form", (*SERVERS, "a", "Add server")),
    ("dialogs.text_dialogs", (F12, "System prompt of this conversation")),
    ("dialogs.text_dialogs", ("add a note: a\r", "y once", "e", "reason for the model")),
    ("lists.models", (F10, "profile or URL")),
    ("lists.rules", (*SERVERS, "P", "a rule, or a call to try")),
    ("lists.finder", (*SERVERS, "P", "a rule, or a call to try", CTRL_N, "new rule ›")),
    ("lists.sessions", (*SAID, F9, "title or words")),
    ("lists.finder", (*SAID, F9, "title or words", CTRL_E, "title ›")),
    ("traffic.edit_request", (*TRAFFIC, "e", "EDIT AND RESEND")),
    ("traffic.filter_bar", (*TRAFFIC, "/", "filter ›")),
    ("traffic.screen", (*TRAFFIC, CTRL_F, "search ›")),
    ("traffic.screen", (*TRAFFIC, "M", "leave empty")),
    ("traffic.screen", (*TRAFFIC, "\r", "enter fold", "/", "search in this entry ›")),
    ("workbench.bench", (*TOOL, "/", "name or description")),
    ("workbench.bench", (*TOOL, "\r", "enter next", CTRL_E, "ctrl+e form")),
    ("workbench.log_screen", (*SERVERS, "l", "LOG weather", "/", "search ›")),
    ("results.result_screen", (*RESULT, F2, "c copy", "v", "w save", "w", "save as")),
    ("workbench.screen", (*TOOL, "\r", "enter next", CTRL_K, "Save arguments")),
)


QUESTIONS = ("y once", "Who are you?", "Say hello")

ASKED: Sequence[tuple[str, Steps]] = (
    ("questions.elicitation_dialogs", (*TOOL, CTRL_S, "Who are you?")),
    ("questions.sampling_dialog", (*TOOL, "/", "name or", "sample\r", "▸ sample", CTRL_S, "Say hello")),
)

NEED_NO_SERVERS = frozenset({CTRL_P, F1, F5, F10, F12})
"""Keys with which walks begin that no running server is needed for."""

WITHOUT_WALK = frozenset({"widgets.inputs"})
"""Creates the field of the input lines of other modules."""


class Walker:
    """The app in a terminal, and where the focus is."""

    def __init__(self, app: TerminalApp, report: Path) -> None:
        self.app = app
        self._report = report

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
                    self.app.resize(80, 24)
                    written(self.app, state["hides"])
            self.app.send(key)
            self.app.until(lambda state=state: self.state["tabs"] > state["tabs"])
        assert fields >= (expected if len(seen) > 1 else 1)


@contextmanager
def walking(folder: Path, *arguments: str) -> Iterator[Walker]:
    report = folder / "focus.json"
    env = home_in(folder)
    with TerminalApp.watched(f"focus={report}", *arguments, env=env, columns=100, rows=30) as app:
        yield Walker(app, report)


@pytest.mark.parametrize(("module", "steps"), WALKS, ids=[f"{one}:{steps[-1]}" for one, steps in WALKS])
def test_it_is_in_every_field(tmp_path: Path, module: str, steps: Steps) -> None:
    alone = steps[0] in NEED_NO_SERVERS
    with walking(tmp_path, "--demo", *(["--no-start"] if alone else [])) as walker:
        walker.app.shows(*(["0 of 3"] if alone else ["try an example", "2 tools", "4 tools"]))
        walker.open(*steps)
        walker.walk()


@pytest.mark.parametrize(("module", "steps"), ASKED, ids=[f"{one}:{steps[-1]}" for one, steps in ASKED])
def test_it_is_in_every_field_for_a_server(tmp_path: Path, module: str, steps: Steps) -> None:
    asking = server("asking", ROOT / "tests" / "protocol" / "asking_server.py", sampling="ask")
    with walking(tmp_path, "--demo", "--config", config_file(tmp_path, asking)) as walker:
        walker.app.shows("4 tools")
        walker.open(*steps)
        walker.walk()


@pytest.mark.parametrize("tool", ["optional", "order", "shapes"])
def test_it_is_in_every_row_of_a_form(tmp_path: Path, tool: str) -> None:
    env = {"ARRIVED_FILE": str(tmp_path / "arrived")}
    forms = server("forms", ROOT / "tests" / "ui" / "forms_server.py", env=env)
    with walking(tmp_path, "--demo", "--config", config_file(tmp_path, forms)) as walker:
        walker.app.shows("tools")
        walker.open(*TOOL, "2", "CALLS", "/", "name or", f"{tool}\r", f"▸ {tool}", "\r", "enter next")
        walker.app.send(CTRL_N)  # an entry of a list, where there is one
        walker.walk(DOWN)


def test_each_module_with_a_field_has_a_walk() -> None:
    assert modules_with_fields() - WITHOUT_WALK <= {module for module, _ in (*WALKS, *ASKED)}


def modules_with_fields() -> set[str]:
    """Return the modules of `tui.ui` that create an input, a text area, an input line or a form."""
    found = set()
    for file in sorted((ROOT / "tui" / "ui").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT / "tui" / "ui").with_suffix("").parts)
        module = importlib.import_module(f"tui.ui.{name.removesuffix('.__init__')}")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            kind = getattr(module, called, None)
            if isinstance(kind, type) and issubclass(kind, Input | TextArea | PromptLine | FormPane):
                found.add(name)
    return found
