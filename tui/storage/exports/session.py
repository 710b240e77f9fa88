"""A session in the form for exports, and as a document. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    SessionMeta,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.message_json import Object
from tui.core.conversation.sessions import SessionInfo
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import shown_result
from tui.core.turn.turn_endings import in_order, words_of
from tui.core.units import count, day_and_time, duration, plural
from tui.storage.exports.document import (
    Aside,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Portion,
    Prose,
    bounded,
    bounded_json,
)

Rows = list[tuple[float, Object]]


@dataclass(frozen=True, slots=True)
class SessionTranscript:
    """A session in the form for exports: valid, and without secrets. A time of 0 is unknown.

    Rows of calls, answers and usage have their times, by the name of their table.
    """

    info: SessionInfo
    meta: SessionMeta
    messages: list[Message]
    times: list[float]
    rows: dict[str, Rows]
    results: dict[str, str]
    remarks: list[Remark]

    @property
    def tools(self) -> dict[str, str]:
        """The display name of each sent call, such as "weather › get_weather", by its id."""
        return {
            str(body.get("call_id")): clean_line(f"{body.get('server')} › {body.get('tool')}", 120)
            for _, body in self.rows["intents"]
        }

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


@dataclass(frozen=True, slots=True)
class TurnTraffic:
    """What was recorded of a turn: the parts to show at its end.

    `anchors` are those of the message of a call (False) and of its result (True), by the call's id.
    """

    parts: Iterable[Part] = ()
    anchors: Mapping[tuple[str, bool], str] = field(default_factory=dict)


TrafficOfTurn = Callable[[int], TurnTraffic]
"""Returns the traffic of the turn whose question is the message of an index."""


def session_document(
    shown: SessionTranscript, traffic_of: TrafficOfTurn = lambda place: TurnTraffic()
) -> Document:
    """Return a session as a document."""
    title = clean_line(shown.info.title, 200) or "a conversation"
    called = frozenset(str(body["server"]) for _, body in shown.rows["intents"] if body.get("server"))
    return Document(title, shown.facts, _parts(shown, traffic_of), servers=called)


def _parts(shown: SessionTranscript, traffic_of: TrafficOfTurn) -> Iterator[Part]:
    if shown.meta.system:
        yield Heading("System prompt", portion=Portion.SYSTEM)
        yield Block("", bounded(shown.meta.system), portion=Portion.SYSTEM)
    tools = shown.tools
    turn, traffic = 0, TurnTraffic()
    for place, part in in_order(shown.messages, shown.remarks):
        match part:
            case UserMessage():
                yield from traffic.parts
                turn, traffic = turn + 1, traffic_of(place)
                yield Heading("You", day_and_time(shown.times[place]), turn)
                yield Prose(bounded(part.text))
                yield Files(part.attachments)
            case AssistantMessage():
                yield from _reply(part)
            case CallRequest():
                name = tools.get(part.id) or clean_line(part.name, 120)
                anchor = traffic.anchors.get((part.id, False), "")
                yield Block(f"→ {name}", bounded_json(part.arguments), "json", anchor=anchor)
            case ToolMessage():
                name = tools.get(part.call_id) or clean_line(part.name, 120)
                text, warning = shown_result(part)
                mark, note = "✗" if part.is_error else "←", clean_line(warning, 4000).strip()
                anchor = traffic.anchors.get((part.call_id, True), "")
                yield Block(f"{mark} {name}", bounded(text), is_bad=part.is_error, note=note, anchor=anchor)
                yield Files(part.attachments, is_result=True)
            case Remark():
                if words := clean_line(words_of(part), 4000).strip():
                    yield Aside(words)
    yield from traffic.parts


def _reply(message: AssistantMessage) -> Iterator[Part]:
    label = clean_line(message.model, 80) or "Model"
    took = duration(message.seconds * 1000) if message.seconds else ""
    yield Heading(f"{label}{' · truncated' if message.partial else ''}", took)
    if message.reasoning:
        thought = f", {duration(message.thought * 1000)}" if message.thought else ""
        yield Block(f"Thinking{thought}", bounded(message.reasoning), portion=Portion.REASONING)
    if message.text:
        yield Prose(bounded(message.text), is_markdown=True)
