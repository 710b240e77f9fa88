"""Rules for any message: its text, JSON-RPC shape, matching ids, methods of the revision. Pure.

They are stricter than the host, which must work with real servers: what it tolerates is reported here.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tui.core.jsonrpc.classification import is_dialect
from tui.core.jsonrpc.protocol import MODERN, REVISIONS, is_modern
from tui.core.jsonrpc.reader import MAX_DEPTH, DuplicateKeyReader, NotJson, lone_surrogate, nests_deeper
from tui.core.language.translate import N_, message, verbatim
from tui.core.text import clean_line, mapping, object_in
from tui.core.traffic import Direction, Entry, Kind, Outcome, Severity
from tui.traffic.lint.server_session import SentRequest, ServerSession, identity, other
from tui.traffic.methods import METHODS

MAX_READ = 1 << 20
"""The linter does not parse larger bodies."""

_HTTP = ("status", "headers", "url", "http", "exchange")

OVERSIZE = 16 << 20
"""Maximum bytes of one message in mcptui's transports."""

QUOTE = 60

_BOM = b"\xef\xbb\xbf"
_PIECE = re.compile(rb'\s*(?:[{}\[\]]+,?|"[^"]{1,64}"\s*:.{0,200}|[}\]],?\s*"[^"]{1,64}"\s*:.{0,200})\s*')
_MESSAGE = re.compile(rb'\{\s*"(?:jsonrpc|id|result|error)"')
_HEADER = re.compile(rb"content-(?:length|type)\s*:", re.IGNORECASE)

BASIC = "basic"
TRANSPORT = "basic/transports"
"""Pages about messages and transports, by their names in revisions up to 2025-11-25."""


class Flaw(NamedTuple):
    """A finding before it has an entry: a stable code and a cleaned sentence.

    `page` is the page of the specification, without the revision, or ""; `revision` is the one that requires
    it, or "" for the one in force. `subject` is as in `Finding`, but raw.
    """

    code: str
    severity: Severity
    sentence: str
    page: str = ""
    revision: str = ""
    subject: str = ""


def quote(raw: bytes | str, limit: int = QUOTE) -> str:
    """Return the head of untrusted text, cleaned, in quotes."""
    text = clean_line(raw[: limit * 8].decode("utf-8", "replace") if isinstance(raw, bytes) else raw, limit)
    return f"'{text}'" if '"' in text else f'"{text}"'


def is_http(entry: Entry) -> bool:
    """Return whether an entry is an HTTP body, where newlines have no meaning."""
    return not entry.detail.keys().isdisjoint(_HTTP)


def may_be_no_rpc(entry: Entry) -> bool:
    """Return whether an HTTP body may be something else than JSON-RPC: an OAuth form, an error page."""
    status = entry.detail.get("status")
    return entry.direction is Direction.OUT or (isinstance(status, int) and status >= 400)


def is_cut(entry: Entry) -> bool:
    """Return whether an entry is truncated, or its body is too large for the linter."""
    # A redaction mark may be shorter than the secret.
    missing = entry.size > len(entry.body) and not entry.redactions
    return bool(entry.sha256) or missing or "cut" in entry.detail or len(entry.body) > MAX_READ


class MessageCheck:
    """A message that is being checked, or a batch; `revision` is the one that applies, "" if unknown."""

    __slots__ = ("entry", "revision", "said", "session")

    def __init__(self, entry: Entry, session: ServerSession) -> None:
        self.entry, self.session, self.revision = entry, session, session.revision
        self.said: list[Flaw] = []

    def say(
        self,
        code: str,
        severity: Severity,
        sentence: str,
        page: str = "",
        revision: str = "",
        subject: str = "",
    ) -> None:
        self.said.append(Flaw(code, severity, sentence, page, revision, subject))

    def error(self, code: str, sentence: str, page: str = "", subject: str = "") -> None:
        """Add a violation of the specification that causes failures in clients or servers."""
        self.say(code, Severity.ERROR, sentence, page, subject=subject)

    def warn(self, code: str, sentence: str, page: str = "", subject: str = "") -> None:
        """Add a violation that most implementations tolerate."""
        self.say(code, Severity.WARNING, sentence, page, subject=subject)

    def hint(self, code: str, sentence: str, page: str = "", subject: str = "") -> None:
        """Add something that is allowed, but often not intended."""
        self.say(code, Severity.HINT, sentence, page, subject=subject)

    def once(self, code: str, topic: str, sentence: str, page: str, revision: str = "") -> None:
        """Add a hint, at most once per session."""
        if topic not in self.session.said_once:
            self.session.said_once.add(topic)
            self.say(code, Severity.HINT, sentence, page, revision)


def read_body(look: MessageCheck, parser: DuplicateKeyReader, *, newline_framing: bool) -> tuple[Any, bool]:
    """Return the JSON value of a body and whether it is sound; report what is wrong with its text.

    With `newline_framing`, each line is a message, unlike over HTTP.
    """
    entry, raw = look.entry, look.entry.body
    if entry.size > OVERSIZE:
        sentence = message(
            "The message has {size} bytes. mcptui reads up to {limit}, other clients less.",
            size=f"{entry.size:,}",
            limit=f"{OVERSIZE:,}",
        )
        look.warn("oversize", sentence)
    if is_cut(entry):
        if entry.kind is Kind.NOT_JSON:
            sentence = message(
                "A line of {size} bytes is not JSON. It starts with {raw}.",
                size=f"{entry.size:,}",
                raw=quote(raw),
            )
            look.error("not-json", sentence, BASIC)
        elif entry.size <= OVERSIZE:
            look.hint(
                "not-whole",
                message("Only the start of its {size} bytes was checked.", size=f"{entry.size:,}"),
            )
        return None, False
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        look.warn(
            "byte-order-mark", message("A byte order mark precedes the message. It must start with {."), BASIC
        )
    if newline_framing and raw.endswith(b"\r"):
        look.hint(
            "line-ending", message("The line ends with CR LF. Messages are delimited by LF."), TRANSPORT
        )
    return _parsed(look, raw, parser, newline_framing)


def _parsed(
    look: MessageCheck, raw: bytes, parser: DuplicateKeyReader, newline_framing: bool
) -> tuple[Any, bool]:
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        bad = raw[problem.start : problem.start + 4].hex(" ")
        sentence = message(
            "Byte {start} is not UTF-8 ({octets}); messages are UTF-8 encoded.",
            start=f"{problem.start:,}",
            octets=bad,
        )
        look.error("invalid-utf8", sentence, TRANSPORT)
        text = raw.decode("utf-8", "replace")
    try:
        value = parser.read(text)
    except RecursionError:
        look.error("too-deep", message("It is nested too deeply."), BASIC)
    except ValueError as problem:
        if look.entry.redactions:
            pass  # a redaction mark may replace a number
        elif look.entry.detail.get("newline") is False:
            look.error("incomplete", message("The output ended in the middle of this line."), TRANSPORT)
        else:
            _not_json(look, raw, problem, newline_framing)
    else:
        _check_text(look, raw, value, parser.duplicate)
        return value, True
    return None, False


def _check_text(look: MessageCheck, raw: bytes, value: Any, doubled: str | None) -> None:
    if doubled is not None:
        sentence = message(
            "An object has the key {key} twice. Parsers differ in which one they use.",
            key=quote(doubled),
        )
        look.warn("duplicate-key", sentence, BASIC)
    if b"\\u" in raw and (half := lone_surrogate(raw)):
        sentence = message(
            "The text contains {surrogate}, a lone surrogate, which is not valid UTF-8.", surrogate=half
        )
        look.warn("lone-surrogate", sentence, BASIC)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
        sentence = message(
            "It is nested more than {limit} levels deep, which many parsers reject.", limit=MAX_DEPTH
        )
        look.warn("too-deep", sentence, BASIC)


def _not_json(look: MessageCheck, raw: bytes, problem: ValueError, newline_framing: bool) -> None:
    head = raw.lstrip()
    if isinstance(problem, NotJson):
        look.error(
            "not-json", message("It contains {part}, which is not valid JSON.", part=problem.part), BASIC
        )
    elif not head:
        look.hint("stray-output", message("An empty line is not a message."), TRANSPORT)
    elif not newline_framing:
        look.error("not-json", message("The body is not JSON. It starts with {raw}.", raw=quote(raw)), BASIC)
    elif isinstance(problem, json.JSONDecodeError) and problem.msg == "Extra data" and head[:1] in b"{[":
        look.error(
            "stray-output",
            message("Extra data after the message: {raw}.", raw=quote(raw[problem.pos :])),
            TRANSPORT,
        )
    elif _HEADER.match(head):
        sentence = message(
            "{text} is a header of the language server protocol. MCP has one message per line and no "
            "headers.",
            text=quote(raw),
        )
        look.error("stray-output", sentence, TRANSPORT)
    elif _MESSAGE.search(raw[1:]):
        sentence = message(
            "More than one message, or text and a message, on one line: {raw}.", raw=quote(raw)
        )
        look.error("stray-output", sentence, TRANSPORT)
    elif _PIECE.fullmatch(raw[:400]):
        sentence = message("{raw} looks like a part of a message that spans several lines.", raw=quote(raw))
        look.error("embedded-newline", sentence, TRANSPORT)
    elif head[:1] in b"{[":
        reason = clean_line(str(problem), 80)
        if isinstance(problem, json.JSONDecodeError):
            reason = f"{clean_line(problem.msg, 60)} at character {problem.pos + 1:,}"
        look.error("not-json", message("The line is not JSON: {reason}.", reason=reason), BASIC)
    else:
        sentence = message("{raw} is not a message. Only messages may be written to stdout.", raw=quote(raw))
        look.warn("stray-output", sentence, TRANSPORT)


RACE_NS = 1_000_000_000
"""A response this soon after a cancellation may already have been in transit."""

_UNREADABLE = (-32700, -32600)


def who(direction: Direction) -> str:
    """Return a word for the sender in this direction."""
    return message("the client") if direction is Direction.OUT else message("the server")


def id_words(value: Any) -> str:
    """Return an id for a sentence."""
    return quote(value, 40) if isinstance(value, str) else repr(value)[:40]


def check_dialect(look: MessageCheck, value: Any) -> bool:
    """Return whether a value belongs to a session of the "hello" line dialect; report that once."""
    if not isinstance(value, dict) or not is_dialect(value):
        return False
    if value["type"] == "hello" and look.entry.direction is Direction.IN:
        look.once(
            "not-mcp", "dialect", message('The server speaks the "hello" line dialect, which is not MCP.'), ""
        )
    return "dialect" in look.session.said_once


_JSON_TYPES = {
    list: message("an array"),
    str: message("text"),
    bool: message("a boolean"),
    type(None): verbatim("null"),
}


def check_shape(look: MessageCheck, value: Any) -> bool:
    """Return whether a JSON value is a JSON-RPC message that can be checked further."""
    if not isinstance(value, dict):
        kind = _JSON_TYPES.get(type(value), message("a number"))
        look.error(
            "not-json-rpc", message("The value is {kind}. A message must be an object.", kind=kind), BASIC
        )
        return False
    is_call, is_answer = "method" in value, "result" in value or "error" in value
    if not (is_call or is_answer):
        if "jsonrpc" in value and "id" in value:
            look.error(
                "neither",
                message("The response to {value} has neither result nor error.", value=id_words(value["id"])),
                BASIC,
            )
            return True
        look.error("not-json-rpc", message("The object has no method, no result and no error."), BASIC)
        return False
    if (version := value.get("jsonrpc")) != "2.0":
        sentence = message('"jsonrpc" is missing. It must be "2.0".')
        if "jsonrpc" in value:
            sentence = message('"jsonrpc" is {version}. It must be "2.0".', version=id_words(version))
        look.error("bad-version", sentence, BASIC)
    if is_call and is_answer:
        look.error("not-json-rpc", message("The object is both a request and a response."), BASIC)
        return False
    if is_call and not isinstance(value["method"], str):
        look.error("not-json-rpc", message("The method is not a string."), BASIC)
        return False
    if is_call and "params" in value and not isinstance(value["params"], dict):
        look.error("bad-params", message("The params are not an object."), BASIC)
    # Some implementations send `"error": null` with a result: superfluous, but unambiguous.
    if "result" in value and "error" in value:
        look.error("result-and-error", message("The response has both a result and an error."), BASIC)
    return True


def check_request_id(look: MessageCheck, value: Mapping[str, Any], method: str) -> bool:
    """Return whether a request has an id that a response can use."""
    known = value["id"]
    if known is None:
        look.error("null-id", message("The id of the request {method} is null.", method=quote(method)), BASIC)
        return False
    if not _is_id(look, known):
        return isinstance(known, float)
    session, way, key = look.session, look.entry.direction, identity(known)
    if (asked := session.open[way].get(key)) is not None and not asked.cancelled_ns:
        sentence = message(
            "The id {known} is still in use by {method} in #{seq}.",
            known=id_words(known),
            method=quote(asked.method),
            seq=asked.seq,
        )
        look.error("reused-id", sentence, BASIC)
    elif not is_modern(look.revision) and (old := session.answered[way].get(key)) is not None:
        sentence = message(
            "The id {known} was already used in this session, by #{seq}.", known=id_words(known), seq=old.seq
        )
        look.warn("reused-id", sentence, BASIC)
    return True


def _is_id(look: MessageCheck, known: Any) -> bool:
    """Return whether a value may be an id; report if not."""
    if isinstance(known, int | str) and not isinstance(known, bool):
        return True
    look.error(
        "id-type", message("The id {known} is neither a string nor an integer.", known=id_words(known)), BASIC
    )
    return False


def settle(look: MessageCheck, value: Mapping[str, Any]) -> SentRequest | None:
    """Return the request of a response; if there is none, report what is wrong with its id."""
    known, session, way = value.get("id"), look.session, other(look.entry.direction)
    if known is None:
        code = object_in(value, "error").get("code")
        is_probe = look.entry.outcome is Outcome.PROBE  # some servers of the other era reject it this way
        if not is_probe and ("error" not in value or code not in _UNREADABLE):
            sentence = message("The result has no id, so it does not say which request it responds to.")
            if "error" in value:
                sentence = message("The error has no id, so it does not say which request it responds to.")
            look.error("null-id", sentence, BASIC)
        return None
    if not _is_id(look, known):
        is_whole = isinstance(known, float) and known.is_integer()
        return session.answer(way, identity(int(known))) if is_whole else None
    key = identity(known)
    if (asked := session.answer(way, key)) is not None:
        if asked.cancelled_ns:
            late = look.entry.mono_ns - asked.cancelled_ns
            severity = Severity.WARNING if late > RACE_NS else Severity.HINT
            sentence = message(
                "The {method} of #{seq} was cancelled {late} s before.",
                method=quote(asked.method),
                seq=asked.seq,
                late=f"{late / 1000000000.0:.2f}",
            )
            look.say("answer-after-cancel", severity, sentence, "basic/utilities/cancellation")
        return asked
    if (before := session.answered[way].get(key)) is not None:
        sentence = message(
            "The {method} of #{seq} with id {known} already has a response.",
            method=quote(before.method),
            seq=before.seq,
            known=id_words(known),
        )
        look.error("duplicate-answer", sentence, BASIC)
    elif (twin := _in_other_type(known)) is not None and identity(twin) in session.open[way]:
        sentence = message(
            "The ids of the request ({twin}) and the response ({known}) differ in type.",
            twin=id_words(twin),
            known=id_words(known),
        )
        look.error("id-type", sentence, BASIC)
        return session.answer(way, identity(twin))
    elif session.whole:
        look.error("unknown-id", message("No request has the id {known}.", known=id_words(known)), BASIC)
    return None


def _in_other_type(known: int | str) -> int | str | None:
    if isinstance(known, int):
        return str(known) if known.bit_length() < 64 else None
    return int(known) if len(known) < 19 and known.isascii() and known.isdecimal() else None


def check_method(look: MessageCheck, name: str, is_request: bool) -> bool:
    """Return whether the revision has this method in this direction; report if not."""
    method, way = METHODS.get(name), look.entry.direction
    if method is None:
        if not _extended(look.session) and not name.startswith("rpc."):
            none = N_("No revision of MCP has a notification {name}.")
            if is_request:
                none = N_("No revision of MCP has a request {name}.")
            look.warn("unknown-method", message(none, name=quote(name)), BASIC)
        return False
    if method.notification and is_request:
        look.error(
            "not-json-rpc", message("The notification {name} must not have an id.", name=quote(name)), BASIC
        )
    elif not (method.notification or is_request):
        look.error(
            "not-json-rpc",
            message("The request {name} has no id. It cannot get a response.", name=quote(name)),
            BASIC,
        )
    revision, allowed = look.revision, method.out if way is Direction.OUT else method.back
    if revision not in REVISIONS or revision in allowed:
        return bool(allowed)
    if way is Direction.IN and is_request and is_modern(revision):
        sentence = message(
            "The server sent the request {name}. Since {modern}, servers must not send requests.",
            name=quote(name),
            modern=MODERN,
        )
        look.error("wrong-direction", sentence, TRANSPORT)
    elif revision in method.out | method.back:
        sentence = message("{name} must not be sent by {way}.", name=quote(name), way=who(way))
        look.error("wrong-direction", sentence, method.section(revision).partition(" ")[2])
    elif not (_extended(look.session) and name.startswith(("tasks/", "notifications/tasks/"))):
        known = sorted(method.out | method.back)
        only = N_("{revision} has no {name}. Only {first} has it.")
        if len(known) > 1:
            only = N_("{revision} has no {name}. Only {first} to {last} have it.")
        sentence = message(only, revision=revision, name=quote(name), first=known[0], last=known[-1])
        look.error("unknown-method", sentence, BASIC)
    return False


def _extended(session: ServerSession) -> bool:
    return any(
        mapping(capabilities).get("extensions") or mapping(capabilities).get("experimental")
        for capabilities in (session.server, session.client)
    )
