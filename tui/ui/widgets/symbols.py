"""The signs that stand beside words, and their stand-ins for terminals that cannot show them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbols:
    """One sign per meaning. Each is one cell wide and never stands without its word.

    Attributes:
        spinner: the frames of the only thing that turns: a server that starts or stops.
        separator: between parts of a line.
        within: between a server and its tool.
    """

    running: str = "●"
    stopped: str = "○"
    failed: str = "✗"
    spinner: tuple[str, ...] = ("◐", "◓", "◑", "◒")
    done: str = "✓"
    waiting: str = "◌"
    asks: str = "?"
    warning: str = "!"
    result: str = "→"
    within: str = "›"
    separator: str = "·"
    unfolded: str = "▾"
    folded: str = "▸"
    rule: str = "─"


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
)


def symbols_for(environment: Mapping[str, str]) -> Symbols:
    """Return what the terminal can show, as far as its environment tells.

    A locale that names another encoding than UTF-8, the bare Linux console and dumb terminals get ASCII.
    No locale at all says nothing about the terminal, so it gets the real signs.
    """
    if environment.get("TERM") in ("linux", "dumb"):
        return ASCII
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if value := environment.get(name):
            _, dot, encoding = value.partition(".")
            utf8 = encoding.lower().replace("-", "").startswith("utf8")
            return UNICODE if utf8 or not dot else ASCII
    return UNICODE
