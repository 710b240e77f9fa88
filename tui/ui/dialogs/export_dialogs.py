"""The dialog for exports of a conversation and of entries.

It shows the contents before anything is written, and asks for the format, the file and whether to redact.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.core.errors import McptuiError
from tui.core.files import is_replaceable
from tui.core.language.translate import N_, _, localized
from tui.storage.exports.contents import WHOLE, Choice
from tui.ui.dialogs.dialog import Dialog, heading
from tui.ui.widgets.bar import PartsBar
from tui.ui.widgets.files import path_problem, typed_path
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row


class ExportFormat(NamedTuple):
    """A format: its name, the suffix of its files, and the words for it."""

    name: str
    ending: str
    words: str


REVIEWED = "html"
"""The format for sharing, whose parts are reviewed before it is written."""

OF_SESSIONS = (
    ExportFormat("markdown", ".md", N_("Markdown")),
    ExportFormat("json", ".json", N_("JSON (can be imported again)")),
    ExportFormat(REVIEWED, ".html", N_("HTML page")),
)
OF_ENTRIES = (
    ExportFormat("jsonl", ".jsonl", N_("JSON Lines (for mcptui)")),
    ExportFormat("md", ".md", N_("Markdown")),
    ExportFormat(REVIEWED, ".html", N_("HTML page")),
    ExportFormat("har", ".har", N_("HAR (HTTP only)")),
)
_REDACT = (
    N_("○ redact   Off: texts are kept, configured secrets removed."),
    N_("● redact   On: texts become their type and length. Names and times stay."),
)


@dataclass(frozen=True, slots=True)
class Export:
    """The export to write, and what was chosen for it.

    `over`: the user agreed that an existing file is written to.
    """

    format: str
    path: Path
    choice: Choice = WHOLE
    over: bool = False

    @property
    def is_reviewed(self) -> bool:
        """Whether what it contains is reviewed part by part before it is written."""
        return self.format == REVIEWED


class ExportDialog(Dialog[Export | None]):
    """Returns the export to write, or None; confirms before a file is overwritten.

    `path` is the default, with or without its suffix. `contents` returns summaries of the contents by format;
    that of "" is for all formats without one of their own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "kind", N_("next format"), priority=True),
        Binding("shift+tab", "shapes", N_("redact"), priority=True),
    ]

    DEFAULT_CSS = """
    ExportDialog #formats { margin-bottom: 1; }
    ExportDialog #form { margin: 1 0; }
    ExportDialog.-short #formats, ExportDialog.-short #form { margin: 0; }
    """

    def __init__(
        self,
        what: str,
        path: Path,
        contents: Callable[[], Awaitable[Mapping[str, str]]],
        formats: Sequence[ExportFormat],
        format: str = "",
    ) -> None:
        self._all = formats
        self._chosen = next((one for one in formats if one.name == format), formats[0])
        self._formats = PartsBar(self._format_parts(), id="formats")
        self._contents = contents
        self._summaries: Mapping[str, str] = {"": _("Contains: counting…")}
        self._about = Literal(self._summaries[""], id="contents")
        self._shapes = False
        self._form = Literal(_(_REDACT[False]), id="form")
        file = f"{str(path).removesuffix(self._chosen.ending)}{self._chosen.ending}"
        self.field = Field(file, max_length=2000, compact=True, select_on_focus=False)
        self._asked: Path | None = None
        self._keys = self.key_line(("enter", self._enter), close=_("cancel"))
        parts = (self._formats, self._about, self._form, self.field)
        super().__init__(heading(_("Export"), what), *parts, keys=self._keys)

    @property
    def _enter(self) -> str:
        return _("review") if self._chosen.name == REVIEWED else _("save")

    def _format_parts(self) -> list[Row]:
        parts: list[Row] = []
        for one in self._all:
            sign, style = ("●", "accent bold") if one is self._chosen else ("○", "dim")
            parts.append(((f"{sign} {_(one.words)}", style),))
        return parts

    def _show_contents(self) -> None:
        self._about.show(localized(self._summaries.get(self._chosen.name) or self._summaries[""]))

    def on_mount(self) -> None:
        async def count() -> None:
            try:
                self._summaries = await self._contents()
            except (McptuiError, OSError) as error:
                self._summaries = {"": localized(error)}
            self._show_contents()

        self.set_focus(self.field)
        self.run_worker(count(), name="count an export")

    def action_shapes(self) -> None:
        self._shapes = not self._shapes
        self._form.show(_(_REDACT[self._shapes]))

    def typed(self) -> str:
        """Return the name of the file without the suffix of a format."""
        stem = self.field.value
        for one in self._all:
            stem = stem.removesuffix(one.ending)
        return stem

    def action_kind(self) -> None:
        stem = self.typed()
        self._chosen = self._all[(self._all.index(self._chosen) + 1) % len(self._all)]
        self._formats.show(self._format_parts())
        self._keys.label("enter", self._enter)
        self._show_contents()
        self.field.value = stem + self._chosen.ending
        self.field.cursor_position = len(self.field.value)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return format and path. If the file exists, enter must be pressed twice."""
        if not event.value.strip():
            return
        path = typed_path(event.value)
        if problem := await asyncio.to_thread(path_problem, event.value, new=False):
            self.say(localized(problem))
        elif path != self._asked and await asyncio.to_thread(os.path.lexists, path):
            self._asked = path
            replaces = await asyncio.to_thread(is_replaceable, path)
            self.say(
                _("The file already exists. Press enter to replace it.")
                if replaces
                else _("Not a regular file. Press enter to write to it.")
            )
        elif self.is_current:
            self.dismiss(Export(self._chosen.name, path, Choice(self._shapes), over=path == self._asked))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._asked = None
        self.say("")
