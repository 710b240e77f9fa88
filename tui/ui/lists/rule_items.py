"""The rows of rules, of earlier approvals, and of the outcome of a call that is tried. Pure."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tui.core.text import clean_line
from tui.core.turn.rules import Rule, Verdict
from tui.ui.lists.finder_list import FinderItem
from tui.ui.widgets.rows import Row, crop, pad, wrap

if TYPE_CHECKING:
    from tui.runtime.rule_changes import EarlierApproval, Trial

ACTION_CELLS = 7
STYLES: Mapping[Verdict, str] = {Verdict.ALLOW: "ok", Verdict.ASK: "warn", Verdict.DENY: "bad"}
OUTCOMES: Mapping[Verdict, str] = {
    Verdict.ALLOW: "Runs without approval",
    Verdict.ASK: "Needs approval",
    Verdict.DENY: "Denied",
}


def rule_item(key: str, rule: Rule, sign: str = " ", *, dim: bool = False) -> FinderItem:
    """Return the row of a rule; `sign` shows its effect on the call that is tried."""
    return FinderItem(key, partial(_rule_rows, rule, sign, dim))


def _rule_rows(rule: Rule, sign: str, dim: bool, width: int) -> Sequence[Row]:
    origin = f"{rule.origin}[{rule.number}]"
    room = max(8, width - ACTION_CELLS - len(origin) - 6)
    text = crop(((clean_line(rule.pattern, 400), "dim" if dim else "text"),), room)
    return [
        (
            (f"{sign} ", "accent"),
            (f"{rule.action.value:<{ACTION_CELLS}}", "dim" if dim else STYLES[rule.action]),
            *pad(text, room + 2),
            (origin, "dim"),
        )
    ]


def approval_item(key: str, found: "EarlierApproval") -> FinderItem:
    """Return the row of an earlier approval."""
    how = "always, until its definition changes" if found.always else "until mcptui quits"
    row: Row = (
        ("  ", ""),
        (f"{'allow':<{ACTION_CELLS}}", "ok"),
        (clean_line(found.tool, 200), "text"),
        (f"   {how}", "dim"),
    )
    return FinderItem(key, lambda width: [crop(row, width)])


def outcome_item(trial: "Trial") -> FinderItem:
    """Return the rows of what happens to a call, and why."""
    return FinderItem("", partial(_outcome_rows, trial))


def _outcome_rows(trial: "Trial", width: int) -> Sequence[Row]:
    found = trial.judgement
    why = f"rule: {found.rule}" if found.rule else found.why or found.by
    style = f"{STYLES[found.verdict]} bold"
    return wrap(((OUTCOMES[found.verdict], style), (f"   {clean_line(why, 400)}", "text")), width)
