"""The question whether a skill may be loaded, and the text of a skill to read."""

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.core.errors import McptuiError
from tui.core.hidden_text.readable import readable
from tui.core.questions import SkillQuestion
from tui.core.text import start_of
from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.dialogs.question_dialog import YES, QuestionDialog
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, wrap

MAX_CHARS = 100_000
"""Characters of a text that are shown, and of a question that can be answered with yes."""

TOO_LONG = "This is too long to review here, so you cannot approve it."
READING = "Reading SKILL.md…"
AROUND = 8
"""Rows of the screen around a text."""

LABEL = 10


def skill_rows(question: SkillQuestion) -> Iterator[Row]:
    """Yield the lines of a question. Its texts are the server's: made visible, never markup."""
    yield ((f"Load {question.head}", "text bold"),)
    for text in question.changes:
        yield ("~ ", "warn"), (readable(text), "warn")
    yield EMPTY
    for label, text in question.facts:
        yield (label.ljust(LABEL), "dim"), (readable(text), "text")
    for text in question.remarks:
        yield ("! ", "warn"), (readable(text), "warn")
    yield EMPTY
    for outcome in question.outcomes:
        yield ((outcome, "dim"),)


def skill_dialog(question: SkillQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog. The user may read the SKILL.md first, once it matches the manifest."""
    labels = {YES: "yes, load it", "ask.read": "read SKILL.md", "ask.decline": "no", "ask.cancel": "not now"}
    dialog: QuestionDialog

    async def read() -> None:
        assert question.read is not None
        dialog.line.say(READING)
        try:
            text = await question.read()
        except McptuiError as error:
            dialog.line.say(str(error))
            return
        dialog.line.say("")
        if dialog.is_current:  # not answered or withdrawn meanwhile
            dialog.app.push_screen(TextDialog(f"{question.name} / SKILL.md", text))

    acts = {"ask.read": lambda: dialog.run_worker(read(), exclusive=True)}
    if question.read is None:
        labels["ask.read"] = ""
    size = sum(len(text) for _, text in question.facts)
    pane = ReadPane(skill_rows(question) if size <= AT_ONCE else lambda: skill_rows(question), hang=True)
    problem = TOO_LONG if size > MAX_CHARS else ""
    dialog = QuestionDialog(question, keys, [pane], labels, acts=acts, problem=lambda: problem)
    return dialog


class TextDialog(Dialog[None]):
    """Shows a text of a server, made visible."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    DEFAULT_CSS = """
    TextDialog { align: center middle; }
    TextDialog > Vertical { width: 104; max-width: 100%; max-height: 100%; margin: 0; }
    TextDialog RowsPane { margin: 1 0; background: $panel; }
    """

    def __init__(self, heading: str, text: str) -> None:
        self._lines = readable(start_of(text, MAX_CHARS)).split("\n")
        if (more := len(text) - MAX_CHARS) > 0:
            self._lines.append(f"… {more:,} more characters")
        self._pane = RowsPane(self._lay_out)
        super().__init__(Literal(heading), self._pane, self.key_line(back="close"))

    def on_mount(self) -> None:
        self.set_focus(self._pane)

    def _lay_out(self, width: int) -> list[Row]:
        lines = (wrap(((line.expandtabs(4), "text"),), width) or [EMPTY] for line in self._lines)
        rows = [row for wrapped in lines for row in wrapped]
        self._pane.styles.height = max(3, min(len(rows), self.app.size.height - AROUND))
        return rows
