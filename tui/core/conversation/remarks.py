"""What mcptui itself said in a conversation: errors, limits, how turns ended. No model is told it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

RemarkKind = Literal["error", "limit", "end", "notice", "warn", "retry"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of mcptui's own that stood in a conversation, as its parts.

    Attributes:
        place: how many messages there were by then.
        kind: "error": something failed, and the turn with it; "limit": a hard limit was met; "end": a turn
            ended without an answer; "retry": why a request was sent again; "notice", "warn": something
            that a person should know.
        text: what was said; the limit's name, the code of `EndReason`. May be raw.
        where: of an error: "model", or whose it is.
        next_step: of an error: what to do about it.
        value: of a limit.
        at: when, in seconds since the epoch; 0.0: nobody knows.
    """

    place: int
    kind: RemarkKind
    text: str
    where: str = ""
    next_step: str = ""
    value: float = 0.0
    at: float = field(default=0.0, compare=False)


def remark_object(remark: Remark) -> dict[str, Any]:
    """Return a remark as what JSON holds, without its time; fields at their default are left out."""
    rest = {"where": remark.where, "next_step": remark.next_step, "value": remark.value}
    found = {"place": remark.place, "kind": remark.kind, "text": remark.text}
    return found | {name: value for name, value in rest.items() if value}


def remark_from(found: Mapping[str, Any], at: float = 0.0) -> Remark | None:
    """Return the remark of an object that JSON held; None if it is none, or of a kind not known here."""
    place, kind, value = found.get("place"), found.get("kind"), found.get("value", 0.0)
    if not isinstance(place, int) or isinstance(place, bool) or place < 0:
        return None
    if kind not in get_args(RemarkKind) or not isinstance(value, int | float) or isinstance(value, bool):
        return None
    text, where, next_step = (found.get(name, "") for name in ("text", "where", "next_step"))
    if not (isinstance(text, str) and isinstance(where, str) and isinstance(next_step, str)):
        return None
    return Remark(place, cast(RemarkKind, kind), text, where, next_step, value, at)
