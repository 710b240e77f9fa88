"""Asks before a call by hand that may change something, and records the decision."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.core.permission.rules import Rule, Verdict
from tui.core.ports import BY_KEY, hand_call
from tui.core.text import clean_line
from tui.ui.dialogs.confirm import Confirm

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


def shown_arguments(arguments: object) -> str:
    """Return arguments as one line for a question."""
    return clean_line(json.dumps(arguments, ensure_ascii=False, default=str), 600)


def rule_on(
    runtime: "Runtime", server: str, tool: str, arguments: Mapping[str, Any], *verdicts: Verdict
) -> Rule | None:
    """Return the rule that decides on a call, if it is one of these verdicts."""
    rule = runtime.turn_context.policy.rules.deciding(server, tool, arguments)
    return rule if rule is not None and rule.action in verdicts else None


def call_after(
    question: Confirm | None,
    app: App[Any],
    runtime: "Runtime",
    called: tuple[str, str, Mapping[str, Any]] | None,
    call: Callable[[], None],
) -> None:
    """Call at once if there is no question, otherwise after a yes; record the decision.

    `called` is the server, the tool and its arguments; None for anything but a tool.
    """

    def answered(yes: bool | None) -> None:
        if called is not None:
            asked = question is not None
            runtime.decisions.add(hand_call(*called, by=BY_KEY, allowed=bool(yes), asked=asked))
        if yes:
            call()

    if question is None:
        answered(True)
    else:
        app.push_screen(question, answered)
