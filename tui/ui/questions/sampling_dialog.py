"""Shows a server's sampling request before it is sent to the model, or the reply before it is returned.

It is one text to read and edit: sections with headings. Other content is named in its heading and cannot be
edited.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.core import units
from tui.core.context.sampling_texts import (
    LINES_ON_SCREEN,
    ON_SCREEN,
    changed,
    facts_of,
    is_editable,
    sections_of,
    text_of,
)
from tui.core.language.translate import N_, _, sentences
from tui.core.questions import Action, QuestionAnswer, SamplingQuestion, cause_of
from tui.core.text import clean_line, quoted_name, start_of
from tui.ui.dialogs.question_dialog import YES, QuestionDialog
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.inputs import LinesField
from tui.ui.widgets.rows import Row, filled

TOO_LONG = N_("This is too long to be read here, so it cannot be sent.")


def sampling_dialog(question: SamplingQuestion, model: str, keys: KeyOverrides) -> QuestionDialog:
    """Return a dialog that shows a request or a reply, and asks whether to send it on.

    The user can edit a short text. A long one must be read completely before a yes counts.
    """
    params, label = question.params, _("send to the model")
    if question.reply is not None:
        params, label = question.reply, _("send to the server")
    body: LinesField | ReadPane
    if is_editable(params):
        body = editor = LinesField(text_of(sections_of(params)), compact=True, highlight_cursor_line=False)
        editor.move_cursor(editor.document.end)

        def edited() -> tuple[Mapping[str, Any], str]:
            return changed(params, editor.text)
    else:
        problems = []  # known once the text was laid out

        def rows() -> Sequence[Row]:
            text = text_of(sections_of(params))
            lines = start_of(text, ON_SCREEN).split("\n")
            shown: list[Row] = [((line.expandtabs(4), "text"),) for line in lines[:LINES_ON_SCREEN]]
            if left_out := len(text) - len("\n".join(lines[:LINES_ON_SCREEN])):
                problems.append(_(TOO_LONG))
                more = _("… {n} more characters.", n=units.count(left_out))
                shown.append(((sentences(more, _(TOO_LONG)), "warn"),))
            return shown

        def edited() -> tuple[Mapping[str, Any], str]:
            return params, "".join(problems)

        body = ReadPane(rows)
    body.add_class("body", "apart")
    return QuestionDialog(
        question,
        keys,
        [*_above(question, model), body],
        {YES: label, "ask.decline": _("decline"), "ask.cancel": _("cancel")},
        accept=lambda: QuestionAnswer(Action.ACCEPT, edited()[0]),
        problem=lambda: edited()[1],
    )


def _above(question: SamplingQuestion, model: str) -> Iterator[Widget]:
    server, model = quoted_name(question.server, 60), clean_line(model, 60) or _("the model")
    places = {"server": (server, "bold"), "model": (model, ""), "cause": (cause_of(question), "")}
    head = Content.assemble(*filled(question.head, "", **places))
    yield Static(head, markup=False, classes="question")
    yield Static(Content.styled(facts_of(question.params, question.reply), "$text-dim"), markup=False)
