"""A session in the form for exports: valid, and without secrets."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from tui.core.conversation.conversation import (
    Message,
    Remark,
    SessionMeta,
    ToolMessage,
    remark_from,
    remark_object,
)
from tui.core.conversation.message_json import Object, message_object, message_of, plain
from tui.core.conversation.sessions import Reopened, SessionInfo
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line
from tui.core.turn.turn_endings import said_once
from tui.core.units import count, local_time, plural
from tui.storage.sessions.stored_session import StoredSession

Rows = list[tuple[float, Object]]


@dataclass(frozen=True, slots=True)
class SessionTranscript:
    """A session in the form for exports. A time of 0 is unknown. Rows have their times."""

    info: SessionInfo
    meta: SessionMeta
    messages: list[Message]
    times: list[float]
    intents: Rows
    decisions: Rows
    usage: Rows
    results: dict[str, str]
    remarks: list[Remark]

    @property
    def title(self) -> str:
        """Its title as a cleaned line, never empty."""
        return clean_line(self.info.title, 200) or "a conversation"

    @property
    def tools(self) -> dict[str, str]:
        """The display name of each sent call, such as "weather › get_weather", by its id."""
        return {
            str(body.get("call_id")): clean_line(f"{body.get('server')} › {body.get('tool')}", 120)
            for _, body in self.intents
        }

    @property
    def entries(self) -> Iterator[tuple[Message | Remark, float]]:
        """Messages and remarks with their times. No remark separates a call from its result."""
        remarks = said_once(self.remarks)
        for place, (message, at) in enumerate(zip(self.messages, self.times, strict=True)):
            while remarks and remarks[0].place <= place and not isinstance(message, ToolMessage):
                yield remarks[0], remarks.pop(0).at
            yield message, at
        yield from ((remark, remark.at) for remark in remarks)

    @property
    def facts(self) -> str:
        """Time, size, model and cost on one line."""
        info = self.info
        parts = [
            day_and_time(info.created),
            plural(info.turns, "turn"),
            plural(len(self.messages), "message"),
            clean_line(info.model, 80),
            f"{'~' if info.estimated else ''}{count(info.tokens)} tokens" if info.tokens else "",
            f"cost {info.cost:.4f}" if info.cost is not None else "",
            info.problem,
        ]
        return " · ".join(part for part in parts if part)


def transcript(stored: StoredSession, found: Reopened, redactor: Redactor) -> SessionTranscript:
    """Return a session in the form for exports."""
    clear = partial(redactor.redact_spoken, shapes=True)
    last = found.info.changed

    def rows(kept: Rows) -> Rows:
        return [(at, plain(body, clear)) for at, body in kept]

    messages = [message_of(message_object(message, clear)) for message in found.conversation.messages]
    meta = found.meta
    compaction = meta.compaction
    return SessionTranscript(
        info=replace(found.info, title=clear(found.info.title)),
        meta=replace(
            meta,
            title=clear(meta.title or ""),
            system=clear(meta.system or ""),
            compaction=compaction and replace(compaction, summary=clear(compaction.summary)),
        ),
        messages=messages,
        times=[stored.times.get(place, last) for place in range(len(messages))],
        intents=rows(stored.intents),
        decisions=rows(stored.decisions),
        usage=rows(stored.usage),
        results={name: clear(text) for name, text in stored.results.items()},
        remarks=[
            clean
            for one in found.conversation.remarks
            if (clean := remark_from(plain(remark_object(one), clear), one.at)) is not None
        ],
    )


def day_and_time(seconds: float) -> str:
    """Return a local time to the minute; "" if there is none."""
    return time.strftime("%Y-%m-%d %H:%M", local_time(seconds)) if seconds else ""
