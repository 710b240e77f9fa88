"""Explains messages of extensions: events (SEP-3415) and skills (SEP-2640)."""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.language.translate import N_, Message, message, n_message, sentences, verbatim
from tui.core.text import clean_line, compact, list_in, mapping, object_in, text_in
from tui.core.units import and_more, duration, whole

MAX_EVENTS = 50
"""Maximum events of a poll that have a line each."""

WORDS: Mapping[str, str] = {
    "events/list": N_("{asker} lists the event types of {asked}"),
    "events/poll": N_("{asker} polls {asked} for events"),
    "events/stream": N_("{asker} opens a stream of events from {asked}, which ends with the response"),
    "events/subscribe": N_("{asker} asks {asked} to send events to a webhook"),
    "events/unsubscribe": N_("{asker} asks {asked} to stop sending events to a webhook"),
    "notifications/events/active": N_("the event stream of {asker} is open, or skipped events"),
    "notifications/events/event": N_("{asker} sends an event"),
    "notifications/events/heartbeat": N_("the event stream of {asker} is alive"),
    "notifications/events/error": N_("{asker} reports a temporary error, and the event stream stays open"),
    "notifications/events/terminated": N_("{asker} ends the subscription to events"),
    "notifications/events/list_changed": N_("the event types of {asker} have changed"),
    "skills/list": N_("{asker} lists the skills of {asked}"),
    "skills/get": N_("{asker} gets the entry of a skill of {asked}"),
    "resources/directory/read": N_("{asker} lists a directory of {asked}"),
}
"""What the sender of a message does, as in `Method.words`."""


def params_sentences(method: str, params: Mapping[str, Any]) -> list[Message]:
    """Return sentences for the params of a request or a notification of an extension."""
    match method:
        case "events/poll" | "events/stream":
            start = message("It starts from now.")
            if params.get("cursor") is not None:
                start = message("It continues after a cursor.")
            given = compact(object_in(params, "arguments"), 200)
            what = message("Event type {name}, arguments {arguments}.", name=_name(params), arguments=given)
            return [what, start]
        case "notifications/events/event":
            return [_event_line(params)]
        case "notifications/events/active" if params.get("truncated") is True:
            return [message("The server skipped events: it no longer had those after the cursor.")]
        case "notifications/events/error" | "notifications/events/terminated":
            error = object_in(params, "error")
            text = clean_line(text_in(error, "message"), 200)
            return [message("Code {code}: {text}", code=clean_line(str(error.get("code")), 20), text=text)]
        case "skills/get":
            return [message("Skill {uri}.", uri=clean_line(text_in(params, "uri"), 300))]
        case _:
            return []


def result_sentences(method: str, result: Mapping[str, Any]) -> list[Message] | None:
    """Return sentences for the result of a method of an extension, None for any other."""
    match method:
        case "events/list":
            kinds = list_in(result, "events")
            count = n_message("It contains {n} event type", "It contains {n} event types", len(kinds))
            return [_listed(count, kinds, result)]
        case "skills/list":
            skills = list_in(result, "skills")
            count = n_message("It contains {n} skill", "It contains {n} skills", len(skills))
            return [_listed(count, skills, result)]
        case "events/poll":
            return _batch(result)
        case "events/stream":
            return [message("The server closed the stream.")]
        case _:
            return None


def _batch(result: Mapping[str, Any]) -> list[Message]:
    events = list_in(result, "events")
    lines = [_event_line(mapping(one)) for one in events[:MAX_EVENTS]]
    if len(events) > MAX_EVENTS:
        lines.append(message("and {count} more.", count=f"{len(events) - MAX_EVENTS:,}"))
    said = [n_message("It contains {n} event.", "It contains {n} events.", len(events))]
    if result.get("truncated") is True:
        said.append(message("The server skipped events: it no longer had those after the cursor."))
    if result.get("hasMore") is True:
        said.append(message("There are more: the client polls again at once."))
    elif (wait := whole(result.get("nextPollMs"))) is not None:
        time = duration(min(wait, 1 << 50))
        said.append(message("The server wants the next poll in {time}.", time=time))
    return [*said, *lines]


def _event_line(one: Mapping[str, Any]) -> Message:
    at, known = (clean_line(text_in(one, key), 40) for key in ("timestamp", "eventId"))
    return verbatim(" ".join(filter(None, (at, _name(one), known, compact(one.get("data"), 200)))))


def _name(holder: Mapping[str, Any]) -> str:
    return clean_line(text_in(holder, "name"), 80) or "?"


def with_pages(contains: Message, result: Mapping[str, Any]) -> Message:
    """Return what a page of a list contains, and whether others follow."""
    if result.get("nextCursor") is None:
        return contains
    return sentences(contains, message("More pages follow."))


def _listed(count: Message, items: Sequence[Any], result: Mapping[str, Any]) -> Message:
    names = [_name(mapping(one)) for one in items if "name" in mapping(one)]
    if names:
        count = message("{count}: {names}", count=count, names=and_more(names, 12))
    return with_pages(message("{clause}.", clause=count), result)
