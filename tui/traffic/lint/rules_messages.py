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
        sentence = (
            f"The message has {entry.size:,} bytes. mcptui reads up to {OVERSIZE:,}, other clients less."
        )
        look.warn("oversize", sentence)
    if is_cut(entry):
        if entry.kind is Kind.NOT_JSON:
            sentence = f"A line of {entry.size:,} bytes is not JSON. It starts with {quote(raw)}."
            look.error("not-json", sentence, BASIC)
        elif entry.size <= OVERSIZE:
            look.hint("not-whole", f"Only the start of its {entry.size:,} bytes was checked.")
        return None, False
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        look.warn("byte-order-mark", "A byte order mark precedes the message. It must start with {.", BASIC)
    if newline_framing and raw.endswith(b"\r"):
        look.hint("line-ending", "The line ends with CR LF. Messages are delimited by LF.", TRANSPORT)
    return _parsed(look, raw, parser, newline_framing)


def _parsed(
    look: MessageCheck, raw: bytes, parser: DuplicateKeyReader, newline_framing: bool
) -> tuple[Any, bool]:
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        bad = raw[problem.start : problem.start + 4].hex(" ")
        sentence = f"Byte {problem.start:,} is not UTF-8 ({bad}); messages are UTF-8 encoded."
        look.error("invalid-utf8", sentence, TRANSPORT)
        text = raw.decode("utf-8", "replace")
    try:
        value = parser.read(text)
    except RecursionError:
        look.error("too-deep", "It is nested too deeply.", BASIC)
    except ValueError as problem:
        if look.entry.redactions:
            pass  # a redaction mark may replace a number
        elif look.entry.detail.get("newline") is False:
            look.error("incomplete", "The output ended in the middle of this line.", TRANSPORT)
        else:
            _not_json(look, raw, problem, newline_framing)
    else:
        _check_text(look, raw, value, parser.duplicate)
        return value, True
    return None, False


def _check_text(look: MessageCheck, raw: bytes, value: Any, doubled: str | None) -> None:
    if doubled is not None:
        sentence = f"An object has the key {quote(doubled)} twice. Parsers differ in which one they use."
        look.warn("duplicate-key", sentence, BASIC)
    if b"\\u" in raw and (half := lone_surrogate(raw)):
        sentence = f"The text contains {half}, a lone surrogate, which is not valid UTF-8."
        look.warn("lone-surrogate", sentence, BASIC)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
        sentence = f"It is nested more than {MAX_DEPTH} levels deep, which many parsers reject."
        look.warn("too-deep", sentence, BASIC)


def _not_json(look: MessageCheck, raw: bytes, problem: ValueError, newline_framing: bool) -> None:
    head = raw.lstrip()
    if isinstance(problem, NotJson):
        look.error("not-json", f"It contains {problem.part}, which is not valid JSON.", BASIC)
    elif not head:
        look.hint("stray-output", "An empty line is not a message.", TRANSPORT)
    elif not newline_framing:
        look.error("not-json", f"The body is not JSON. It starts with {quote(raw)}.", BASIC)
    elif isinstance(problem, json.JSONDecodeError) and problem.msg == "Extra data" and head[:1] in b"{[":
        look.error("stray-output", f"Extra data after the message: {quote(raw[problem.pos :])}.", TRANSPORT)
    elif _HEADER.match(head):
        sentence = (
            f"{quote(raw)} is a header of the language server protocol. MCP has one message per line and "
        )
        look.error("stray-output", sentence + "no headers.", TRANSPORT)
    elif _MESSAGE.search(raw[1:]):
        sentence = f"More than one message, or text and a message, on one line: {quote(raw)}."
        look.error("stray-output", sentence, TRANSPORT)
    elif _PIECE.fullmatch(raw[:400]):
        sentence = f"{quote(raw)} looks like a part of a message that spans several lines."
        look.error("embedded-newline", sentence, TRANSPORT)
    elif head[:1] in b"{[":
        reason = clean_line(str(problem), 80)
        if isinstance(problem, json.JSONDecodeError):
            reason = f"{clean_line(problem.msg, 60)} at character {problem.pos + 1:,}"
        look.error("not-json", f"The line is not JSON: {reason}.", BASIC)
    else:
        sentence = f"{quote(raw)} is not a message. Only messages may be written to stdout."
        look.warn("stray-output", sentence, TRANSPORT)


RACE_NS = 1_000_000_000
"""A response this soon after a cancellation may already have been in transit."""

_UNREADABLE = (-32700, -32600)
_REMOVED_CODES = {-32002: "-32602", -32042: "the result type input_required"}
_MODERN_CODES = (-32020, -32021, -32022)
_HTTP_STATUS = {-32601: 404, -32020: 400, -32022: 400}
"""The status that 2026-07-28 requires with a code."""


def who(direction: Direction) -> str:
    """Return a word for the sender in this direction."""
    return "the client" if direction is Direction.OUT else "the server"


def id_words(value: Any) -> str:
    """Return an id for a sentence."""
    return quote(value, 40) if isinstance(value, str) else repr(value)[:40]


def check_dialect(look: MessageCheck, value: Any) -> bool:
    """Return whether a value belongs to a session of the "hello" line dialect; report that once."""
    if not isinstance(value, dict) or not is_dialect(value):
        return False
    if value["type"] == "hello" and look.entry.direction is Direction.IN:
        look.once("not-mcp", "dialect", 'The server speaks the "hello" line dialect, which is not MCP.', "")
    return "dialect" in look.session.said_once


def check_shape(look: MessageCheck, value: Any) -> bool:
    """Return whether a JSON value is a JSON-RPC message that can be checked further."""
    if not isinstance(value, dict):
        kind = {list: "an array", str: "text", bool: "a boolean", type(None): "null"}.get(
            type(value), "a number"
        )
        look.error("not-json-rpc", f"The value is {kind}. A message must be an object.", BASIC)
        return False
    is_call, is_answer = "method" in value, "result" in value or "error" in value
    if not (is_call or is_answer):
        if "jsonrpc" in value and "id" in value:
            look.error(
                "neither", f"The response to {id_words(value['id'])} has neither result nor error.", BASIC
            )
            return True
        look.error("not-json-rpc", "The object has no method, no result and no error.", BASIC)
        return False
    if (version := value.get("jsonrpc")) != "2.0":
        found = "is missing" if "jsonrpc" not in value else f"is {id_words(version)}"
        look.error("bad-version", f'"jsonrpc" {found}. It must be "2.0".', BASIC)
    if is_call and is_answer:
        look.error("not-json-rpc", "The object is both a request and a response.", BASIC)
        return False
    if is_call and not isinstance(value["method"], str):
        look.error("not-json-rpc", "The method is not a string.", BASIC)
        return False
    if is_call and "params" in value and not isinstance(value["params"], dict):
        look.error("bad-params", "The params are not an object.", BASIC)
    # Some implementations send `"error": null` with a result: superfluous, but unambiguous.
    if "result" in value and "error" in value:
        look.error("result-and-error", "The response has both a result and an error.", BASIC)
    return True


def check_request_id(look: MessageCheck, value: Mapping[str, Any], method: str) -> bool:
    """Return whether a request has an id that a response can use."""
    known = value["id"]
    if known is None:
        look.error("null-id", f"The id of the request {quote(method)} is null.", BASIC)
        return False
    if not _is_id(look, known):
        return isinstance(known, float)
    session, way, key = look.session, look.entry.direction, identity(known)
    if (asked := session.open[way].get(key)) is not None and not asked.cancelled_ns:
        sentence = f"The id {id_words(known)} is still in use by {quote(asked.method)} in #{asked.seq}."
        look.error("reused-id", sentence, BASIC)
    elif not is_modern(look.revision) and (old := session.answered[way].get(key)) is not None:
        sentence = f"The id {id_words(known)} was already used in this session, by #{old.seq}."
        look.warn("reused-id", sentence, BASIC)
    return True


def _is_id(look: MessageCheck, known: Any) -> bool:
    """Return whether a value may be an id; report if not."""
    if isinstance(known, int | str) and not isinstance(known, bool):
        return True
    look.error("id-type", f"The id {id_words(known)} is neither a string nor an integer.", BASIC)
    return False


def settle(look: MessageCheck, value: Mapping[str, Any]) -> SentRequest | None:
    """Return the request of a response; if there is none, report what is wrong with its id."""
    known, session, way = value.get("id"), look.session, other(look.entry.direction)
    if known is None:
        code = object_in(value, "error").get("code")
        is_probe = look.entry.outcome is Outcome.PROBE  # some servers of the other era reject it this way
        if not is_probe and ("error" not in value or code not in _UNREADABLE):
            part = "error" if "error" in value else "result"
            look.error(
                "null-id", f"The {part} has no id, so it does not say which request it responds to.", BASIC
            )
        return None
    if not _is_id(look, known):
        is_whole = isinstance(known, float) and known.is_integer()
        return session.answer(way, identity(int(known))) if is_whole else None
    key = identity(known)
    if (asked := session.answer(way, key)) is not None:
        if asked.cancelled_ns:
            late = look.entry.mono_ns - asked.cancelled_ns
            severity = Severity.WARNING if late > RACE_NS else Severity.HINT
            sentence = f"The {quote(asked.method)} of #{asked.seq} was cancelled {late / 1e9:.2f} s before."
            look.say("answer-after-cancel", severity, sentence, "basic/utilities/cancellation")
        return asked
    if (before := session.answered[way].get(key)) is not None:
        sentence = (
            f"The {quote(before.method)} of #{before.seq} with id {id_words(known)} already has a response."
        )
        look.error("duplicate-answer", sentence, BASIC)
    elif (twin := _in_other_type(known)) is not None and identity(twin) in session.open[way]:
        sentence = (
            f"The ids of the request ({id_words(twin)}) and the response ({id_words(known)}) differ in type."
        )
        look.error("id-type", sentence, BASIC)
        return session.answer(way, identity(twin))
    elif session.whole:
        look.error("unknown-id", f"No request has the id {id_words(known)}.", BASIC)
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
            what = "request" if is_request else "notification"
            look.warn("unknown-method", f"No revision of MCP has a {what} {quote(name)}.", BASIC)
        return False
    if method.notification and is_request:
        look.error("not-json-rpc", f"The notification {quote(name)} must not have an id.", BASIC)
    elif not (method.notification or is_request):
        look.error("not-json-rpc", f"The request {quote(name)} has no id. It cannot get a response.", BASIC)
    revision, allowed = look.revision, method.out if way is Direction.OUT else method.back
    if revision not in REVISIONS or revision in allowed:
        return bool(allowed)
    if way is Direction.IN and is_request and is_modern(revision):
        sentence = (
            f"The server sent the request {quote(name)}. Since {MODERN}, servers must not send requests."
        )
        look.error("wrong-direction", sentence, TRANSPORT)
    elif revision in method.out | method.back:
        sentence = f"{quote(name)} must not be sent by {who(way)}."
        look.error("wrong-direction", sentence, method.section(revision).partition(" ")[2])
    elif not (_extended(look.session) and name.startswith(("tasks/", "notifications/tasks/"))):
        known = sorted(method.out | method.back)
        having = f"{known[0]} has" if len(known) == 1 else f"{known[0]} to {known[-1]} have"
        look.error("unknown-method", f"{revision} has no {quote(name)}. Only {having} it.", BASIC)
    return False


def _extended(session: ServerSession) -> bool:
    return any(
        mapping(capabilities).get("extensions") or mapping(capabilities).get("experimental")
        for capabilities in (session.server, session.client)
    )


def check_error(look: MessageCheck, error: Any, asked: SentRequest | None = None) -> None:
    """Check the error of a response, and whether it is one of the revision."""
    if not isinstance(error, dict):
        look.error("bad-error", "The error is not an object with code and message.", BASIC)
        return
    code, message = error.get("code"), error.get("message")
    if isinstance(code, bool) or not isinstance(code, int):
        said = "is missing" if "code" not in error else f"is {id_words(code)}"
        look.error("bad-error", f"The code of the error {said}. It must be an integer.", BASIC)
    elif is_modern(look.revision) and look.session.modern:
        if code in _REMOVED_CODES:
            sentence = f"{MODERN} uses {_REMOVED_CODES[code]} instead of the code {code}."
            look.warn("error-code", sentence, BASIC)
        elif -32099 <= code <= -32020 and code not in _MODERN_CODES:
            look.warn("error-code", f"The code {code} is reserved and not defined in {MODERN}.", BASIC)
        status = look.entry.detail.get("status")
        wanted = _HTTP_STATUS.get(code)
        if wanted and isinstance(status, int) and status != wanted:
            sentence = f"The code {code} came with HTTP {status}. {MODERN} requires {wanted}."
            look.warn("error-code", sentence, TRANSPORT)
    elif look.revision in REVISIONS and not is_modern(look.revision) and look.session.opened:
        if code in _MODERN_CODES:
            sentence = f"The code {code} is defined since {MODERN}, and the revision is {look.revision}."
            look.warn("error-code", sentence, BASIC)
        elif code == -32602 and asked is not None and asked.method == "resources/read" and asked.uri:
            sentence = f"In {look.revision}, the code for a resource that is not found is -32002. {MODERN} "
            look.hint("error-code", f"{sentence}replaced it by {code}.", "server/resources")
    if not isinstance(message, str):
        look.error("bad-error", "The error has no message.", BASIC)
