"""Symbols: the signs used on screen, with ASCII replacements for terminals that cannot show them. Pure."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tui.core.language.translate import N_, _
from tui.core.traffic import Direction, Kind


@dataclass(frozen=True, slots=True)
class Symbols:
    """One sign per meaning, each one cell wide but `delta`. No sign relies on its color alone."""

    running: str = "●"
    stopped: str = "○"
    failed: str = "✗"
    spinner: tuple[str, ...] = ("◐", "◓", "◑", "◒")  # a server that starts or stops
    done: str = "✓"
    waiting: str = "◌"
    asks: str = "?"
    warning: str = "!"
    result: str = "→"
    within: str = "›"  # between a server and its tool
    separator: str = "·"
    unfolded: str = "▾"
    folded: str = "▸"
    rule: str = "─"
    edge: str = "▌"  # left of an input
    chosen: str = "•"  # of some values side by side
    out: str = "→"
    into: str = "←"
    cursor: str = "▸"
    pair: str = "⇄"
    same_call: str = "┊"
    mark: str = "◆"
    note: str = "✎"
    hit: str = "•"
    ascending: str = "▲"
    descending: str = "▼"
    digits: tuple[str, ...] = ("¹", "²", "³", "⁴", "⁵", "⁶")
    stderr: str = "│"
    event: str = "◇"
    delta: str = "Δ"
    thin: str = "━"
    bar: str = "▏▎▍▌▋▊▉█"  # from empty to full, in parts of a cell
    outcomes: tuple[str, ...] = (" ", "◌", "✓", "✗", "✗", "⊘", "†", "↻", "⊘")  # by `Outcome`
    severities: tuple[str, ...] = (" ", "·", "!", "‼")  # by `Severity`


UNICODE = Symbols()

ASCII = Symbols(
    running="*",
    stopped="o",
    failed="x",
    spinner=("|", "/", "-", "\\"),
    done="+",
    waiting=".",
    result="=",
    within=">",
    separator="-",
    unfolded="v",
    folded=">",
    rule="-",
    edge="|",
    chosen="*",
    out=">",
    into="<",
    cursor=">",
    pair="=",
    same_call=":",
    mark="*",
    note="#",
    hit="+",
    ascending="^",
    descending="v",
    digits=("1", "2", "3", "4", "5", "6"),
    stderr="|",
    event="o",
    delta="after",
    thin="=",
    bar="#",
    outcomes=(" ", ".", "+", "x", "x", "-", "?", "~", "-"),
    severities=(" ", ".", "!", "X"),
)


def symbols_for(environment: Mapping[str, str] = os.environ) -> Symbols:
    """Return the symbols that the terminal can show, judging by its environment.

    A locale with an encoding other than UTF-8, the Linux console and dumb terminals get ASCII. A missing
    locale says nothing about the terminal, so it gets the Unicode signs.
    """
    if environment.get("TERM") in ("linux", "dumb"):
        return ASCII
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if value := environment.get(name):
            _, dot, encoding = value.partition(".")
            utf8 = encoding.lower().replace("-", "").startswith("utf8")
            return UNICODE if utf8 or not dot else ASCII
    return UNICODE


OUTCOME_STYLES = ("dim", "warn", "ok", "bad", "bad", "warn", "bad", "warn", "dim")
SEVERITY_STYLES = ("dim", "dim", "warn", "bad")
SEVERITY_WORDS = ("", N_("hint"), N_("warning"), N_("error"))

_KIND_LOOKS = {
    Kind.REQUEST: (N_("request"), N_("request"), "text"),
    Kind.RESPONSE: (N_("response"), N_("response"), "dim"),
    Kind.ERROR: (N_("error"), N_("error"), "bad"),
    Kind.NOTIFICATION: (N_("notification"), N_("notify"), "dim"),
    Kind.BATCH: (N_("batch"), N_("batch"), "warn"),
    Kind.NOT_RPC: (N_("not JSON-RPC"), N_("not RPC"), "warn"),
    Kind.NOT_JSON: (N_("not JSON"), N_("not JSON"), "warn"),
    Kind.STDERR: ("stderr", "stderr", "dim"),
    Kind.EVENT: (N_("event"), N_("event"), "tool"),
    Kind.MODEL_REQUEST: (N_("model request"), N_("asked"), "model"),
    Kind.MODEL_REPLY: (N_("model reply"), N_("said"), "model"),
}


def kind_look(kind: Kind, direction: Direction) -> tuple[str, str, str]:
    """Return name, abbreviation and style of an entry's kind; both texts start with a sign."""
    symbols = symbols_for()
    words, short, style = _KIND_LOOKS[kind]
    if kind is Kind.STDERR:
        sign = symbols.stderr
    elif kind is Kind.EVENT or direction is Direction.NONE:
        sign = symbols.event
    else:
        sign = symbols.out if direction is Direction.OUT else symbols.into
    return f"{sign} {_(words)}", f"{sign} {_(short)}", style
