"""The signs of the traffic screen, with stand-ins for terminals that cannot show them. Pure."""

from dataclasses import dataclass

from tui.core.traffic import Direction, Kind, Outcome, Severity
from tui.ui.widgets.symbols import ASCII as PLAIN
from tui.ui.widgets.symbols import Symbols


@dataclass(frozen=True, slots=True)
class Signs:
    """One sign per meaning, one cell wide each; none stands for anything by its colour alone.

    Attributes:
        bar: a bar from empty to full, in parts of a cell.
    """

    out: str = "→"
    into: str = "←"
    cursor: str = "▸"
    pair: str = "⇄"
    same_call: str = "┊"
    mark: str = "◆"
    note: str = "✎"
    stderr: str = "│"
    event: str = "◇"
    delta: str = "Δ"
    thin: str = "━"
    bar: str = "▏▎▍▌▋▊▉█"
    outcomes: tuple[str, ...] = (" ", "◌", "✓", "✗", "✗", "⊘", "†", "↻")
    severities: tuple[str, ...] = (" ", "·", "!", "‼")
    unfolded: str = "▾"
    folded: str = "▸"
    rule: str = "─"
    upright: str = "│"


UNICODE = Signs()

ASCII = Signs(
    out=">",
    into="<",
    cursor=">",
    pair="=",
    same_call=":",
    mark="*",
    note="#",
    stderr="|",
    event="o",
    delta="after",
    thin="=",
    bar="#",
    outcomes=(" ", ".", "+", "x", "x", "-", "?", "~"),
    severities=(" ", ".", "!", "X"),
    unfolded="v",
    folded=">",
    rule="-",
    upright="|",
)


def signs_like(symbols: Symbols) -> Signs:
    """Return the signs for a terminal that can show `symbols`."""
    return ASCII if symbols is PLAIN else UNICODE


OUTCOME_WORDS = {
    Outcome.NONE: "",
    Outcome.PENDING: "waiting",
    Outcome.OK: "ok",
    Outcome.ERROR: "error",
    Outcome.TOOL_ERROR: "tool error",
    Outcome.CANCELLED: "cancelled",
    Outcome.LOST: "lost",
    Outcome.INPUT_REQUIRED: "asks for input",
}
OUTCOME_STYLES = ("dim", "warn", "ok", "bad", "bad", "warn", "bad", "warn")
SEVERITY_STYLES = ("dim", "dim", "warn", "bad")
SEVERITY_WORDS = {
    Severity.NONE: "",
    Severity.HINT: "hint",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}

_KIND_LOOKS = {
    Kind.REQUEST: ("request", "request", "text"),
    Kind.RESPONSE: ("response", "response", "dim"),
    Kind.ERROR: ("error", "error", "bad"),
    Kind.NOTIFICATION: ("notification", "notify", "dim"),
    Kind.BATCH: ("batch", "batch", "warn"),
    Kind.NOT_RPC: ("not JSON-RPC", "not RPC", "warn"),
    Kind.NOT_JSON: ("not JSON", "not JSON", "warn"),
    Kind.STDERR: ("stderr", "stderr", "dim"),
    Kind.EVENT: ("event", "event", "tool"),
    Kind.MODEL_REQUEST: ("model asked", "asked", "model"),
    Kind.MODEL_REPLY: ("model said", "said", "model"),
}


def kind_look(kind: Kind, direction: Direction, signs: Signs) -> tuple[str, str, str]:
    """Return what an entry is, as words, as fewer words, and the style; a sign stands first."""
    words, short, style = _KIND_LOOKS[kind]
    if kind is Kind.STDERR:
        sign = signs.stderr
    elif kind is Kind.EVENT or direction is Direction.NONE:
        sign = signs.event
    else:
        sign = signs.out if direction is Direction.OUT else signs.into
    return f"{sign} {words}", f"{sign} {short}", style
