"""The question whether a skill may be loaded."""

from collections.abc import Iterator

from tui.core.errors import McptuiError
from tui.core.hidden_text.readable import readable
from tui.core.language.translate import N_, _, localized
from tui.core.questions import SkillQuestion
from tui.core.text import cells_of, padded
from tui.ui.dialogs.question_dialog import YES, QuestionDialog
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.dialogs.rows_dialog import MAX_CHARS, TextDialog
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.rows import EMPTY, Row

TOO_LONG = N_("This is too long to review here, so you cannot approve it.")
READING = N_("Reading SKILL.md…")


def skill_rows(question: SkillQuestion) -> Iterator[Row]:
    """Yield the lines of a question. Its texts are the server's: made visible, never markup."""
    yield ((_("Load {what}", what=localized(question.head)), "text bold"),)
    for text in question.changes:
        yield ("~ ", "warn"), (readable(localized(text)), "warn")
    yield EMPTY
    width = max(cells_of(_(label)) for label, _text in question.facts)
    for label, text in question.facts:
        yield (f"{padded(_(label), width)}  ", "dim"), (readable(localized(text)), "text")
    for text in question.remarks:
        yield ("! ", "warn"), (readable(localized(text)), "warn")
    yield EMPTY
    for outcome in question.outcomes:
        yield ((localized(outcome), "dim"),)


def skill_dialog(question: SkillQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog. The user may read the SKILL.md first, once it matches the manifest."""
    labels = {
        YES: _("yes, load it"),
        "ask.read": _("read SKILL.md"),
        "ask.decline": _("no"),
        "ask.cancel": _("not now"),
    }
    dialog: QuestionDialog

    async def read() -> None:
        assert question.read is not None
        dialog.line.say(_(READING))
        try:
            text = await question.read()
        except McptuiError as error:
            dialog.line.say(localized(error))
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
