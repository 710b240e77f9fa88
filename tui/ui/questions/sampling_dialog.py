"""Shows a server's sampling request before it is sent to the model, or the reply before it is returned."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from tui.core import units
from tui.core.questions import Action, SamplingAnswer, SamplingQuestion, SamplingReview
from tui.core.text import clean_line, quoted_name
from tui.ui.dialogs.question_dialog import QuestionDialog, Reply, Room
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.sampling_text import (
    LINES_ON_SCREEN,
    ON_SCREEN,
    changed,
    is_editable,
    sections_of,
    text_of,
)
from tui.ui.widgets.rows import Row

ROOM = Room(11, 7)

TOO_LONG = "This is too long to be read here, so it cannot be sent."


def sampling_dialog(
    question: SamplingQuestion | SamplingReview, model: str, keys: KeyOverrides, *, waiting: int
) -> QuestionDialog:
    """Return a dialog that shows a request or a reply, and asks whether to send it on.

    The user can edit a short text. A long one must be read completely before a yes counts.
    """
    is_request = isinstance(question, SamplingQuestion)
    params = question.params if isinstance(question, SamplingQuestion) else question.reply
    body: TextArea | ReadPane
    if is_editable(params):
        body = editor = _editor(text_of(sections_of(params)))
        edited = partial(changed, params)
        send = Reply(
            "", lambda: SamplingAnswer(Action.ACCEPT, edited(editor.text)[0]), lambda: edited(editor.text)[1]
        )
    else:
        text = _LongText(params)
        body = ReadPane(text.rows)
        send = Reply("", lambda: SamplingAnswer(Action.ACCEPT, params), lambda: text.problem)
    body.add_class("body", "apart")
    replies = {
        "ask.send": replace(send, label="send to the model" if is_request else "send to the server"),
        "ask.decline": Reply("decline", lambda: SamplingAnswer(Action.DECLINE)),
        "ask.cancel": Reply("cancel", lambda: SamplingAnswer(Action.CANCEL)),
    }
    return QuestionDialog(
        question, keys, [*_above(question, model), body], replies, waiting=waiting, room=ROOM
    )


def _above(question: SamplingQuestion | SamplingReview, model: str) -> Iterator[Widget]:
    server, model = quoted_name(question.server, 60), clean_line(model, 60) or "the model"
    if isinstance(question, SamplingQuestion):
        round = f", round {question.round}" if question.round > 1 else ""
        head = Content.assemble("The server ", (server, "bold"), f" requests a reply from {model}{round}")
        facts = ", ".join(request_facts(question.params))
    else:
        head = Content.assemble(f"The reply of {model} for the server ", (server, "bold"))
        facts = "The server gets exactly this text."
    yield Static(head, markup=False)
    yield Static(Content.styled(facts, "$text-dim"), markup=False)


class _LongText:
    """A text that cannot be edited; `problem` says that it is too long for a yes, once it was laid out."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self.problem = ""

    def rows(self) -> Sequence[Row]:
        text = text_of(sections_of(self._params))
        lines = text[:ON_SCREEN].split("\n")
        shown: list[Row] = [((line.expandtabs(4), "text"),) for line in lines[:LINES_ON_SCREEN]]
        if left_out := len(text) - len("\n".join(lines[:LINES_ON_SCREEN])):
            self.problem = TOO_LONG
            shown.append(((f"… {units.count(left_out)} more characters. {TOO_LONG}", "warn"),))
        return shown


def _editor(text: str) -> TextArea:
    area = TextArea(text, compact=True, highlight_cursor_line=False, soft_wrap=True)
    area.set_reactive(TextArea.cursor_blink, False)
    area.move_cursor(area.document.end)
    return area


def request_facts(params: Mapping[str, Any]) -> list[str]:
    """Return the settings of a request besides its texts, a few words each."""
    messages, tools = params.get("messages"), params.get("tools")
    facts = [f"up to {clean_line(str(params.get('maxTokens')), 20)} tokens"]
    if isinstance(messages, list):
        facts.append(units.plural(len(messages), "message"))
    if isinstance(tools, list) and tools:
        names = [clean_line(str(tool.get("name", "")), 30) for tool in tools if isinstance(tool, Mapping)]
        facts.append(f"{units.plural(len(tools), 'tool')}: {', '.join(names[:6])}")
    if params.get("includeContext") not in (None, "none"):
        facts.append("without the requested server context")
    return facts
