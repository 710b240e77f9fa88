"""What the body of a message says that is worth a sentence: arguments, progress, errors, results. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from tui.core.text import clean_line
from tui.core.traffic import Entry, Kind, Outcome
from tui.core.units import duration, plural
from tui.traffic.explain.codes import error_words, status_words
from tui.traffic.lint.state import mapping
from tui.traffic.methods import REVISIONS, VERSION_KEY, is_modern

MAX_READ = 256 * 1024
"""Bodies beyond are explained by their columns alone."""

ENDS = {
    Outcome.ERROR: "It failed",
    Outcome.TOOL_ERROR: "The tool failed, which its result says itself (isError); the model is told",
    Outcome.CANCELLED: "It was cancelled",
    Outcome.LOST: "Its server ended before it answered",
    Outcome.INPUT_REQUIRED: "The server needs more input first; the same call goes on in a new request",
}


_LISTS = {
    "tools": "tool",
    "resources": "resource",
    "resourceTemplates": "resource template",
    "prompts": "prompt",
    "content": "content block",
    "contents": "content block",
    "messages": "message",
}


def details(entry: Entry) -> list[str]:
    """Return what the params of a request or notification say."""
    params = mapping(body_of(entry).get("params"))
    match entry.method:
        case "tools/call":
            names = [clean_line(str(name), 40) for name in list(mapping(params.get("arguments")))[:8]]
            given = (
                [f"Arguments: {', '.join(names)}." if names else "It gives no arguments."] if params else []
            )
            return given + _input_sentence(params)
        case "initialize":
            version = clean_line(str(params.get("protocolVersion", "?")), 20)
            return [f"It wants the revision {version}."] if params else []
        case "notifications/progress":
            done, total = params.get("progress"), params.get("total")
            of = f" of {_plain(total)}" if total is not None else ""
            message = clean_line(str(params.get("message", "")), 120)
            return [f"{_plain(done)}{of}{': ' + message if message else ''}."] if params else []
        case "notifications/message":
            level = clean_line(str(params.get("level", "?")), 20)
            return [f"Level {level}: {clean_line(_plain(params.get('data')), 160)}"] if params else []
        case "notifications/cancelled":
            reason = clean_line(str(params.get("reason", "")), 120)
            return [f"The reason given: {reason}"] if reason else []
        case _ if params.get("cursor") is not None:
            return ["It asks for a further page."]
        case _:
            return _input_sentence(params)


def _input_sentence(params: Mapping[str, Any]) -> list[str]:
    if "inputResponses" not in params:
        return []
    return ["It brings what the server had asked for, and goes on with an earlier round of the call."]


def error_sentences(error: Mapping[str, Any]) -> list[str]:
    """Return what a JSON-RPC error says."""
    code, message = error.get("code"), clean_line(str(error.get("message", "")), 200)
    said = [f"The receiver says: {message}"] if message else []
    if isinstance(code, int) and not isinstance(code, bool) and code.bit_length() < 64:
        return [f"Code {code}: {error_words(code)}.", *said]
    return ["An error without a usable code.", *said] if error else said


def result_sentences(entry: Entry, result: Mapping[str, Any], revision: str) -> list[str]:
    """Return what a result brings."""
    said: list[str] = []
    if entry.outcome in (Outcome.TOOL_ERROR, Outcome.INPUT_REQUIRED):
        said.append(f"{ENDS[entry.outcome]}.")
    if entry.method == "initialize" and (version := result.get("protocolVersion")):
        said.append(f"From now on the revision {clean_line(str(version), 20)} is in force.")
    versions = result.get("supportedVersions")
    if entry.method == "server/discover" and isinstance(versions, list):
        named = ", ".join(clean_line(str(version), 20) for version in versions[:8])
        said.append(f"The server speaks {named}.")
    for key, word in _LISTS.items():
        if isinstance(items := result.get(key), list):
            more = " There are further pages." if result.get("nextCursor") is not None else ""
            said.append(f"It brings {plural(len(items), word)}.{more}")
    if is_modern(revision) and isinstance(ttl := result.get("ttlMs"), int) and ttl > 0:
        said.append(f"It may be used for {duration(min(ttl, 1 << 50))} before it is asked for again.")
    return said + status_sentences(entry.detail)


def status_sentences(detail: Mapping[str, Any]) -> list[str]:
    """Return what the status of HTTP says, if there was one."""
    status = detail.get("status")
    if not isinstance(status, int) or isinstance(status, bool):
        return []
    return [f"HTTP {status}: {status_words(status)}."]


def own_revision(entry: Entry) -> str:
    """Return the revision that a request names itself (2026-07-28), "" if none that is known."""
    params = mapping(body_of(entry).get("params")) if entry.kind is Kind.REQUEST else {}
    named = mapping(params.get("_meta")).get(VERSION_KEY)
    return named if isinstance(named, str) and named in REVISIONS else ""


def body_of(entry: Entry) -> Mapping[str, Any]:
    """Return the message of an entry, empty if it is not there or cannot be read."""
    if not entry.body or entry.sha256 or len(entry.body) > MAX_READ:
        return {}
    try:
        return mapping(json.loads(entry.body))
    except (ValueError, RecursionError):  # what is not JSON is explained as that
        return {}


def _plain(value: Any) -> str:
    """A value of a server as short text; numbers of thousands of digits are none."""
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "?"}[value]
    if isinstance(value, int) and value.bit_length() > 512:
        return "a huge number"
    return value[:400] if isinstance(value, str) else json.dumps(value)[:400]
