"""What mcptui itself says in a conversation, as notes with the keys that act on it. Pure."""

from collections.abc import Mapping, Sequence

from tui.core.conversation.conversation import Remark
from tui.core.events import EndReason
from tui.core.turn.turn_endings import words_of

END_HINTS: Mapping[str, str] = {
    EndReason.LIMIT: "Press {go_on} to let it go on with fresh limits.",
    EndReason.MODEL_ERROR: "{again} asks again.",
    EndReason.FILTERED: "{again} asks again.",
    EndReason.EMPTY: "{again} asks again.",
}
"""What can be done once a turn has ended so; `{go_on}` and `{again}` are keys."""

_KINDS = {"error": "bad", "limit": "warn", "warn": "warn", "retry": "warn"}


def note_of(remark: Remark, *, go_on: str, again: str) -> tuple[str, str]:
    """Return what is said, "" for nothing, and the kind of note: info, warn or bad.

    Args:
        remark: what is said; its texts may be raw.
        go_on: the key that goes on after a limit.
        again: the key that asks again.
    """
    hint = END_HINTS.get(remark.text, "") if remark.kind == "end" else ""
    words = " ".join(filter(None, (words_of(remark), hint.format(go_on=go_on, again=again))))
    return words, _KINDS.get(remark.kind, "info")


def ended_at_limit(remarks: Sequence[Remark], messages: int) -> bool:
    """Return whether the last turn of a conversation of so many messages ended at a limit."""
    last = remarks[-1] if remarks else None
    return last is not None and (last.place, last.kind, last.text) == (messages, "end", EndReason.LIMIT)


def end_sentence(reason: EndReason, *, go_on: str, again: str) -> str:
    """Return what is said when a turn has ended, for the reason that it has."""
    return note_of(Remark(0, "end", reason.value), go_on=go_on, again=again)[0]
