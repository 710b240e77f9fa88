"""Explains messages of extensions: events (SEP-3415) and skills (SEP-2640)."""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.text import clean_line, compact, list_in, mapping, object_in, text_in
from tui.core.units import and_more, duration, plural, whole

MAX_EVENTS = 50
"""Maximum events of a poll that have a line each."""

WORDS: Mapping[str, str] = {
    "events/list": "{asker} lists the event types of {asked}",
    "events/poll": "{asker} polls {asked} for events",
    "events/stream": "{asker} opens a stream of events from {asked}, which ends with the response",
    "events/subscribe": "{asker} asks {asked} to send events to a webhook",
    "events/unsubscribe": "{asker} asks {asked} to stop sending events to a webhook",
    "notifications/events/active": "the event stream of {asker} is open, or skipped events",
    "notifications/events/event": "{asker} sends an event",
    "notifications/events/heartbeat": "the event stream of {asker} is alive",
    "notifications/events/error": "{asker} reports a temporary error, and the event stream stays open",
    "notifications/events/terminated": "{asker} ends the subscription to events",
    "notifications/events/list_changed": "the event types of {asker} have changed",
    "skills/list": "{asker} lists the skills of {asked}",
    "skills/get": "{asker} gets the entry of a skill of {asked}",
    "resources/directory/read": "{asker} lists a directory of {asked}",
}
"""What the sender of a message does, as in `Method.words`."""


def params_sentences(method: str, params: Mapping[str, Any]) -> list[str]:
    """Return sentences for the params of a request or a notification of an extension."""
    match method:
        case "events/poll" | "events/stream":
            start = (
                "It continues after a cursor." if params.get("cursor") is not None else "It starts from now."
            )
            given = compact(object_in(params, "arguments"), 200)
            return [f"Event type {_name(params)}, arguments {given}.", start]
        case "notifications/events/event":
            return [_event_line(params)]
        case "notifications/events/active" if params.get("truncated") is True:
            return ["The server skipped events: it no longer had those after the cursor."]
        case "notifications/events/error" | "notifications/events/terminated":
            error = object_in(params, "error")
            message = clean_line(text_in(error, "message"), 200)
            return [f"Code {clean_line(str(error.get('code')), 20)}: {message}"]
        case "skills/get":
            return [f"Skill {clean_line(text_in(params, 'uri'), 300)}."]
        case _:
            return []


def result_sentences(method: str, result: Mapping[str, Any]) -> list[str] | None:
    """Return sentences for the result of a method of an extension, None for any other."""
    match method:
        case "events/list":
            return [_counted("event type", list_in(result, "events"), result)]
        case "skills/list":
            return [_counted("skill", list_in(result, "skills"), result)]
        case "events/poll":
            return _batch(result)
        case "events/stream":
            return ["The server closed the stream."]
        case _:
            return None


def _batch(result: Mapping[str, Any]) -> list[str]:
    events = list_in(result, "events")
    lines = [_event_line(mapping(one)) for one in events[:MAX_EVENTS]]
    if len(events) > MAX_EVENTS:
        lines.append(f"and {len(events) - MAX_EVENTS:,} more.")
    said = [f"It contains {plural(len(events), 'event')}."]
    if result.get("truncated") is True:
        said.append("The server skipped events: it no longer had those after the cursor.")
    if result.get("hasMore") is True:
        said.append("There are more: the client polls again at once.")
    elif (wait := whole(result.get("nextPollMs"))) is not None:
        said.append(f"The server wants the next poll in {duration(min(wait, 1 << 50))}.")
    return [*said, *lines]


def _event_line(one: Mapping[str, Any]) -> str:
    at, known = (clean_line(text_in(one, key), 40) for key in ("timestamp", "eventId"))
    return " ".join(filter(None, (at, _name(one), known, compact(one.get("data"), 200))))


def _name(holder: Mapping[str, Any]) -> str:
    return clean_line(text_in(holder, "name"), 80) or "?"


def _counted(word: str, items: Sequence[Any], result: Mapping[str, Any]) -> str:
    more = " More pages follow." if result.get("nextCursor") is not None else ""
    names = [_name(mapping(one)) for one in items if "name" in mapping(one)]
    shown = f": {and_more(names, 12)}" if names else ""
    return f"It contains {plural(len(items), word)}{shown}.{more}"
