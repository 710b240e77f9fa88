"""Replaces the texts of a session with placeholders, for exports that are shared. Pure.

Names of tools, servers and models, times, tokens and costs stay.
"""

import json
import re
from dataclasses import replace

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.message_json import Object
from tui.core.units import plural
from tui.storage.exports.placeholders import named_servers, shape, values_in
from tui.storage.sessions.transcript import Rows, SessionTranscript

_SAID = frozenset({"arguments", "reason"})
"""Members of rows with conversation text. The others are names and numbers."""

_CODES = frozenset({"limit", "end"})
"""Kinds of remarks whose text is one of our codes."""

_MARK = re.compile(r"\[redacted:[^\]\s]{1,80}\]")


def with_shapes(shown: SessionTranscript) -> SessionTranscript:
    """Return a session without any of its conversation text."""
    compaction = shown.meta.compaction
    return replace(
        shown,
        info=replace(shown.info, title=str(shape(shown.info.title))),
        meta=replace(
            shown.meta,
            title=str(shape(shown.meta.title or "")),
            system=str(shape(shown.meta.system or "")),
            compaction=compaction and replace(compaction, summary=str(shape(compaction.summary))),
        ),
        messages=[_message(message) for message in shown.messages],
        intents=_rows(shown.intents),
        decisions=_rows(shown.decisions),
        results={name: str(shape(text)) for name, text in shown.results.items()},
        remarks=[
            one
            if one.kind in _CODES
            else replace(one, text=str(shape(one.text)), next_step=str(shape(one.next_step)))
            for one in shown.remarks
        ],
    )


def _rows(rows: Rows) -> Rows:
    def shaped(body: Object) -> Object:
        return {name: shape(value) if name in _SAID else value for name, value in body.items()}

    return [(at, shaped(body)) for at, body in rows]


def _message(message: Message) -> Message:
    match message:
        case UserMessage():
            return replace(message, text=str(shape(message.text)), attachments=())
        case AssistantMessage():
            return replace(
                message,
                text=str(shape(message.text)),
                reasoning=str(shape(message.reasoning)),
                calls=tuple(map(_call, message.calls)),
                echo=None,
            )
        case ToolMessage():
            return replace(message, text=str(shape(message.text)), attachments=())


def _call(call: CallRequest) -> CallRequest:
    try:
        arguments = json.dumps(shape(json.loads(call.arguments)), ensure_ascii=False)
    except (ValueError, RecursionError):
        arguments = json.dumps(str(shape(call.arguments)), ensure_ascii=False)
    return replace(call, arguments=arguments, extra=None, problem=str(shape(call.problem)))


def _argument_values(call: CallRequest) -> int:
    try:
        return values_in(json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError):
        return 1


def contents(shown: SessionTranscript) -> str:
    """Return the contents of an export: "4 messages, 1 tool call, …, 2 redacted values"."""
    texts = [*(message.text for message in shown.messages), *shown.results.values()]
    calls = [call for one in shown.messages if isinstance(one, AssistantMessage) for call in one.calls]
    attached = sum(len(one.attachments) for one in shown.messages if not isinstance(one, AssistantMessage))
    redacted = sum(len(_MARK.findall(text)) for text in [*texts, *(call.arguments for call in calls)])
    counts = [plural(len(shown.messages), "message")]
    results = sum(isinstance(one, ToolMessage) for one in shown.messages)
    servers = {str(body["server"]) for _, body in shown.intents if body.get("server")}
    counts += [plural(len(calls), "tool call")] if calls else []
    counts += [plural(sum(map(_argument_values, calls)), "argument value")] if calls else []
    counts += [plural(results, "result")] if results else []
    counts += [plural(attached, "attachment")] if attached else []
    counts += [named_servers(servers)] if servers else []
    return ", ".join([*counts, plural(redacted, "redacted value")])
