"""Dialogs for exports: each shows the contents before anything is written, and asks for the format.

`ExportChat` exports a conversation, and also asks for redaction and file; `ExportForm` exports entries of the
traffic.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from tui.core.conversation.sessions import ExportKind
from tui.core.errors import McptuiError
from tui.core.files import is_replaceable
from tui.core.text import clean_line
from tui.ui.dialogs.confirm import Confirm
from tui.ui.dialogs.dialog import Dialog
from tui.ui.dialogs.picker import Picker, PickerChoice
from tui.ui.widgets.bar import Bar, KeyLine
from tui.ui.widgets.files import path_problem, typed_path
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

_FORMATS = {
    "jsonl": "JSON Lines (can be opened again)",
    "md": "Markdown report",
    "html": "HTML page (one file)",
    "har": "HAR (HTTP servers only)",
}
_ENTRIES_WHOLE = "○ redact values (shift+tab)"
_ENTRIES_SHAPES = "● redact values: only type and length stay"


def selection_dialog(kinds: Mapping[str, str]) -> Picker:
    """Return a dialog for the entries to export; `kinds` are their words by name."""
    return Picker("Export", [PickerChoice(name, Content(words)) for name, words in kinds.items()])


def overwrite_dialog(path: Path) -> Confirm:
    """Return a dialog that confirms writing to an existing file."""
    name = clean_line(str(path), 300)
    if is_replaceable(path):
        return Confirm(f"{name} already exists. Replace it?", yes="replace", no="cancel")
    return Confirm(f"{name} is not a regular file. Write to it?", yes="write", no="cancel")


class Contents(Vertical):
    """What an export contains, which is counted meanwhile, and whether its texts are redacted."""

    DEFAULT_CSS = """
    Contents { height: auto; }
    Contents > Literal { margin-bottom: 1; }
    """

    def __init__(self, whole: str, shapes: str) -> None:
        super().__init__()
        self.shapes = False
        self._words = whole, shapes
        self._leaves = Literal("Contains: counting…", id="contents")
        self._form = Literal(whole, id="form")

    def compose(self) -> ComposeResult:
        yield self._leaves
        yield self._form

    def toggle(self) -> None:
        self.shapes = not self.shapes
        self._form.show(self._words[self.shapes])

    async def count(self, contents: Awaitable[str], before: str = "") -> None:
        try:
            self._leaves.show(before + await contents)
        except (McptuiError, OSError) as error:
            self._leaves.show(str(error))


class ExportForm(Picker):
    """Returns a format, or None. `about.shapes`: values are replaced with type and length, as by `--redact`.

    `contents` is called in a thread and returns a summary of the exported data. Setting its event stops it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+tab", "shapes", "redact", priority=True)]
    AROUND: ClassVar[int] = 14

    def __init__(self, heading: str, contents: Callable[[threading.Event], str]) -> None:
        choices = [PickerChoice(form, Content(words)) for form, words in _FORMATS.items()]
        super().__init__(heading, choices)
        self._contents = contents
        self._stop = threading.Event()
        self.about = Contents(_ENTRIES_WHOLE, _ENTRIES_SHAPES)

    def above(self) -> ComposeResult:
        yield self.about

    def on_mount(self) -> None:
        """Start counting, in addition to what the picker does when mounted."""
        counting = asyncio.to_thread(self._contents, self._stop)
        self.run_worker(self.about.count(counting), name="count an export")

    def on_unmount(self) -> None:
        self._stop.set()

    def action_shapes(self) -> None:
        self.about.toggle()


KINDS: tuple[tuple[ExportKind, str, str], ...] = (
    ("markdown", ".md", "Markdown"),
    ("json", ".json", "JSON (can be imported again)"),
    ("html", ".html", "HTML page"),
)
_ENDINGS = tuple(ending for _, ending, _ in KINDS)
_WHOLE = "○ redact   Off: texts are kept, configured secrets removed."
_SHAPES = "● redact   On: texts become their type and length. Names and times stay."


class _Kinds(Bar):
    """The formats, next to each other."""

    chosen = 0

    def row(self, width: int) -> Row:
        row: list[tuple[str, str]] = []
        for number, (_, _, words) in enumerate(KINDS):
            style = "accent bold" if number == self.chosen else "dim"
            row.append((("● " if number == self.chosen else "○ ") + words + "   ", style))
        return tuple(row)


@dataclass(frozen=True, slots=True)
class ChatExport:
    """The export to write; `shapes` replaces all texts with type and length, as `--redact` does."""

    kind: ExportKind
    path: Path
    shapes: bool = False


class ExportChat(Dialog[ChatExport | None]):
    """Returns the export to write, or None; confirms before a file is overwritten.

    `path` is the default, with or without its suffix. `contents` returns a summary of the contents.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "kind(1)", "as", priority=True),
        Binding("shift+tab", "shapes", "redact", priority=True),
    ]

    DEFAULT_CSS = """
    ExportChat > Vertical > * { max-width: 104; }
    ExportChat _Kinds { margin: 1 0; }
    ExportChat #there { color: $warn; display: none; }
    """

    def __init__(
        self, title: str, path: Path, contents: Callable[[], Awaitable[str]], kind: ExportKind = "markdown"
    ) -> None:
        super().__init__()
        self._what = clean_line(title, 80) or "this conversation"
        self._kinds = _Kinds()
        self._kinds.chosen = [one for one, _, _ in KINDS].index(kind)
        self._contents = contents
        self._about = Contents(_WHOLE, _SHAPES)
        ending = _ENDINGS[self._kinds.chosen]
        file = f"{str(path).removesuffix(ending)}{ending}"
        self.field = Field(file, max_length=2000, compact=True, select_on_focus=False)
        self._there = Literal("", id="there")
        self._asked: Path | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal(f"Export “{self._what}” as")
            yield self._kinds
            yield self._about
            yield self.field
            yield self._there
            yield KeyLine(
                [("enter", "save"), ("tab", "next format"), ("shift+tab", "redact"), ("esc", "cancel")]
            )

    def on_mount(self) -> None:
        self.set_focus(self.field)
        self.run_worker(self._about.count(self._contents(), "Contains: "), name="count an export")

    def action_shapes(self) -> None:
        self._about.toggle()

    def action_kind(self, step: int) -> None:
        self._kinds.chosen = (self._kinds.chosen + step) % len(KINDS)
        self._kinds.refresh()
        stem = self.field.value
        for ending in _ENDINGS:
            stem = stem.removesuffix(ending)
        self.field.value = stem + _ENDINGS[self._kinds.chosen]
        self.field.cursor_position = len(self.field.value)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return format and path. If the file exists, enter must be pressed twice."""
        if not event.value.strip():
            return
        path = typed_path(event.value)
        if problem := await asyncio.to_thread(path_problem, event.value, new=False):
            self._say(f"{problem}: {clean_line(str(path), 300)}")
        elif path != self._asked and await asyncio.to_thread(path.exists):
            self._asked = path
            replaces = await asyncio.to_thread(is_replaceable, path)
            self._say(
                "The file already exists. Press enter to replace it."
                if replaces
                else "Not a regular file. Press enter to write to it."
            )
        elif self.is_current:
            self.dismiss(ChatExport(KINDS[self._kinds.chosen][0], path, self._about.shapes))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._asked = None
        self._there.display = False

    def _say(self, text: str) -> None:
        self._there.show(text)
        self._there.display = True


def file_name(title: str) -> str:
    """Return a file name for a conversation, without a suffix: letters, digits and dashes."""
    kept = "".join(char if char.isalnum() else "-" for char in title[:60].lower())
    return "-".join(filter(None, kept.split("-"))) or "conversation"


def export_path(folder: Path, title: str) -> Path:
    """Return the default path for a conversation, without a suffix."""
    return folder / file_name(title)
