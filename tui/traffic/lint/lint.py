"""The linter: findings on each entry of the traffic, in order, from the entries alone. Pure.

It learns the revision of each server from the messages (the response to `initialize`, `server/discover`, the
`_meta` of requests), so it treats a saved recording like a live one. It raises nothing and remembers a
bounded amount per server. Latency is not its concern.

A rule is a `check_…` in one of the `rules_…` modules, and is called from here. If many entries have the same
finding, a recording stores only the first few sentences; `sentence_of` returns one for the others.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from tui.core.jsonrpc.classification import id_text
from tui.core.jsonrpc.protocol import BATCHES, CAPABILITIES_KEY, LOG_LEVEL_KEY, MODERN, REVISIONS, is_modern
from tui.core.jsonrpc.reader import DuplicateKeyReader
from tui.core.language.translate import N_, message
from tui.core.text import clean_line, mapping, object_in
from tui.core.traffic import CHANGES, Direction, Entry, Finding, Kind
from tui.traffic.lint import rules_apps as apps
from tui.traffic.lint import rules_caching as caching
from tui.traffic.lint import rules_messages as messages
from tui.traffic.lint import rules_session as rules
from tui.traffic.lint.rules_errors import check_error
from tui.traffic.lint.rules_messages import BASIC, MessageCheck, quote
from tui.traffic.lint.rules_tools import SchemaValidator, check_call_result, check_list
from tui.traffic.lint.server_session import (
    LONG_NAME,
    SentRequest,
    ServerSession,
    identity,
    other,
    sent_request,
)
from tui.traffic.methods import METHODS
from tui.traffic.record.pairing import PEER

MOST_SOURCES = 256
MOST_PEERS = 256
MOST_MEMBERS = 1_000
"""Maximum messages of one batch to check."""

SENTENCE, SUBJECT = 320, 200
"""Maximum characters of a sentence and a subject."""

JUDGED_BYTES = 64 * 1024
"""Larger messages are not validated against the SDK's models, except lists of tools."""

_RPC_KEYS = frozenset({"jsonrpc", "id", "method", "result"})
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""A numeric id, as JSON text."""

MOST_STRUCK = 10_000
_OPENING = frozenset({"initialize", "notifications/initialized"})
_BROKEN = {True: frozenset({Kind.NOT_JSON, Kind.NOT_RPC}), False: frozenset({Kind.ERROR})}
"""Kinds of a message without an id that a fault may have broken, or that complain about one that it has."""

SKIPPED = frozenset({Kind.STDERR, Kind.MODEL_REQUEST, Kind.MODEL_REPLY})
_PAGES = {
    "basic/transports": "basic/transports/stdio",
    "basic/lifecycle": "basic/versioning",
    "basic/utilities/cancellation": "basic/patterns/cancellation",
    "basic/utilities/progress": "basic/patterns/progress",
}
"""Pages with another name in 2026-07-28."""


def section_of(page: str, revision: str) -> str:
    """Return a page of the specification with the revision, as in `Finding`; "" without a page."""
    named = revision if revision in REVISIONS else "2025-11-25"
    return f"{named} {_PAGES.get(page, page) if named == MODERN else page}" if page else ""


class Linter:
    """Lints entries in the order of their seq. Used by one thread."""

    def __init__(self, judge: SchemaValidator | None = None) -> None:
        self._judge = judge
        self._parser = DuplicateKeyReader()
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self._peers: OrderedDict[tuple[str, int], ServerSession] = OrderedDict()
        self._next = 1
        self._struck: dict[str, set[str]] = {}  # ids of the requests that a fault has changed, by source
        self._is_whole = True  # no entry was missed so far, and no session forgotten

    def revision(self, source: str) -> str:
        """Return the revision in force between the client and a server, or the last one; "" if unknown."""
        session = self._sessions.get(source)
        return session.revision or session.before if session is not None else ""

    def feed(self, entry: Entry) -> list[Finding]:
        if entry.seq > self._next:
            self._lose()
        self._next = entry.seq + 1
        if entry.kind in SKIPPED or entry.source.startswith("model:") or "batch" in entry.detail:
            return []  # a message of a batch was linted with its line
        if entry.kind is Kind.EVENT:
            self._event(entry)
            return []
        look = MessageCheck(entry, self._session(entry.source, entry.detail.get(PEER)))
        self._body(look)
        if self._is_injected(entry, look):
            return []
        found = []
        for code, severity, sentence, page, revision, subject in look.said:
            finding = Finding(
                entry.seq,
                code,
                severity,
                clean_line(sentence, SENTENCE),
                section_of(page, revision or look.session.revision),
                entry.source,
                entry.method,
                subject=clean_line(subject or entry.tool, SUBJECT),
            )
            found.append(finding)
        return found

    def _session(self, source: str, peer: object = None) -> ServerSession:
        """Return the session of a server with one of its clients (`peer`), if it has several."""
        session = self._sessions.get(source)
        if session is None:
            session = self._begin(source, ServerSession(whole=self._is_whole))
        if not isinstance(peer, int) or isinstance(peer, bool):
            return session
        if not session.peer:
            session.peer = peer
        if session.peer != peer:
            self._peers[source, session.peer] = session  # of another client
            session = self._peers.pop((source, peer), None) or session.beside(peer)
            self._sessions[source] = session
            if len(self._peers) > MOST_PEERS:
                self._peers.popitem(last=False)
        return session

    def _begin(self, source: str, session: ServerSession) -> ServerSession:
        self._sessions[source] = session
        if len(self._sessions) > MOST_SOURCES:
            self._sessions.popitem(last=False)
            self._is_whole = False  # a session that comes back is not known from its first message on
        return session

    def _lose(self) -> None:
        """Record that entries are missing: a request that seems not to exist may be among them."""
        self._is_whole = False
        for session in (*self._sessions.values(), *self._peers.values()):
            session.whole = False

    def _event(self, entry: Entry) -> None:
        if entry.method in ("spawn", "exit", "connect", "disconnect"):
            begun = self._begin(entry.source, ServerSession(whole=True, before=self.revision(entry.source)))
            begun.acting = "acts_as" in entry.detail
            for other_peer in [known for known in self._peers if known[0] == entry.source]:
                del self._peers[other_peer]
        elif entry.method in ("dropped", "unreadable"):
            self._lose()
        elif entry.method in CHANGES and entry.detail.get("dir") == "out":
            if entry.detail.get("method") in _OPENING:
                session = self._session(entry.source)
                session.opened = session.ready = True  # for all that the other side can know
            struck = self._struck.setdefault(entry.source, set())
            if len(struck) < MOST_STRUCK:
                struck.add(id_text(entry.detail.get("id")))
        elif entry.method == "gave up" and entry.detail.get("again") and entry.source in self._sessions:
            # Rejected by HTTP before it was read: the next request is the same one.
            waiting = self._sessions[entry.source].open[Direction.OUT]
            waiting.pop(identity(entry.detail.get("id")), None)

    def _is_injected(self, entry: Entry, look: MessageCheck) -> bool:
        """Return whether the findings on an entry come from a fault that mcptui has injected, or an edit.

        That is so if it changed a request: of what the server sends, an entry has what it was before.
        """
        if (struck := self._struck.get(entry.source)) is None:
            return False
        if entry.ident:
            return entry.ident in struck
        is_ours = entry.direction is Direction.OUT
        return entry.kind in _BROKEN[is_ours] or any(said[0] == "bad-cancel" for said in look.said)

    def _body(self, look: MessageCheck) -> None:
        entry, over_http = look.entry, messages.is_http(look.entry)
        if over_http and not entry.body:
            return
        value, is_sound = messages.read_body(look, self._parser, newline_framing=not over_http)
        if not is_sound and messages.is_cut(entry):
            self._by_columns(entry, look.session)
        # Over HTTP, there is authorization, and a proxy may answer.
        is_page = isinstance(value, dict) and value.keys().isdisjoint(_RPC_KEYS)
        if over_http and (is_page if is_sound else messages.may_be_no_rpc(entry)):
            look.said.clear()
        elif is_sound and isinstance(value, list):
            self._batch(look, value)
        elif is_sound:
            self._message(look, value)

    def _batch(self, look: MessageCheck, members: list[Any]) -> None:
        revision = look.session.revision
        if not members:
            look.error("batch", message("The batch is empty."), BASIC)
        elif revision != BATCHES:
            only = N_("A batch of {count} messages. Only {older} has batches.")
            if revision:
                only = N_(
                    "A batch of {count} messages. Only {older} has batches, and the negotiated revision is "
                    "{revision}."
                )
            sentence = message(
                only,
                count=f"{len(members):,}",
                older=BATCHES,
                revision=revision,
            )
            look.error("batch", sentence, BASIC)
        if len(members) > MOST_MEMBERS:
            sentence = message(
                "Only the first {checked} of {all} messages were checked.",
                checked=f"{MOST_MEMBERS:,}",
                all=f"{len(members):,}",
            )
            look.hint("not-whole", sentence)
            look.session.whole = False  # the unchecked messages may contain requests
        for member in members[:MOST_MEMBERS]:
            self._message(look, member)

    def _by_columns(self, entry: Entry, session: ServerSession) -> None:
        if not entry.ident:
            return
        is_number = _NUMBER.fullmatch(entry.ident)
        known = identity(int(entry.ident) if is_number else entry.ident.strip('"'))
        if entry.kind is Kind.REQUEST:
            session.ask(entry.direction, known, SentRequest(entry.seq, entry.method, entry.tool))
        elif entry.kind in (Kind.RESPONSE, Kind.ERROR):
            session.answer(other(entry.direction), known)

    def _message(self, look: MessageCheck, value: Any) -> None:
        look.revision, before = look.session.revision, len(look.said)
        if look.entry.detail.get("transport") == "sse":
            sentence = message("The HTTP+SSE transport is deprecated since 2025-03-26. Use Streamable HTTP.")
            look.once("deprecated", "sse", sentence, messages.TRANSPORT, "2025-03-26")
        if messages.check_dialect(look, value) or not messages.check_shape(look, value):
            return
        params = object_in(value, "params")
        if "method" not in value:
            self._answer(look, value)
        elif "id" in value:
            self._request(look, value, value["method"], params)
        else:
            self._notification(look, value, value["method"], params)
        said = look.said[before:]
        look.said[before:] = [flaw._replace(revision=flaw.revision or look.revision) for flaw in said]

    def _request(
        self, look: MessageCheck, value: Mapping[str, Any], method: str, params: Mapping[str, Any]
    ) -> None:
        asked = sent_request(look.entry.seq, method, params)
        if method == "initialize" and look.session.opened and look.entry.direction is Direction.OUT:
            # A client that reconnects without a new process also restarts its ids.
            peer = look.session.peer
            look.session = self._sessions[look.entry.source] = ServerSession(whole=True, peer=peer)
        look.revision = asked.revision or look.session.revision
        if look.entry.direction is Direction.OUT and method == "initialize":
            version = params.get("protocolVersion")
            look.revision = version if isinstance(version, str) and version in REVISIONS else ""
        elif look.entry.direction is Direction.OUT and method == "server/discover" and not asked.revision:
            look.revision = MODERN
        meta = object_in(params, "_meta")
        if method == "initialize" or CAPABILITIES_KEY in meta:
            told = params.get("capabilities") if method == "initialize" else meta[CAPABILITIES_KEY]
            look.session.client = mapping(told)
        look.session.log_wanted |= LOG_LEVEL_KEY in meta
        if messages.check_request_id(look, value, method):
            look.session.ask(look.entry.direction, identity(value["id"]), asked)
        if messages.check_method(look, method, is_request=True):
            rules.check_order(look, method)
            rules.check_capability(look, method)
            rules.check_deprecated(look, method, params)
            self._hold(look, "request", method, value.get("params"))
        if look.entry.direction is Direction.OUT and is_modern(look.revision):
            caching.check_asked_again(look, asked, params)

    def _notification(
        self, look: MessageCheck, value: Mapping[str, Any], method: str, params: Mapping[str, Any]
    ) -> None:
        if method == "notifications/initialized":
            look.session.ready = True
        elif look.entry.direction is Direction.IN:
            uri = params.get("uri")
            look.session.cache.expire(method, uri[:LONG_NAME] if isinstance(uri, str) else "")
        if not messages.check_method(look, method, is_request=False):
            return
        rules.check_capability(look, method)
        rules.check_deprecated(look, method, params)
        if method == "notifications/progress":
            rules.check_progress(look, params)
        elif method == "notifications/cancelled":
            rules.check_cancel(look, params)
        self._hold(look, "notification", method, value.get("params"))

    def _answer(self, look: MessageCheck, value: Mapping[str, Any]) -> None:
        asked = messages.settle(look, value)
        if asked is not None and asked.revision:
            look.revision = asked.revision
        if "error" in value:
            check_error(look, value["error"], asked)
            if asked is not None:
                caching.doubt(look, asked)
            return
        if "result" not in value:
            return
        result = value["result"]
        if not isinstance(result, dict):
            look.error("bad-result", message("The result is not an object."), BASIC)
        elif asked is not None:
            self._result(look, asked, result)

    def _result(self, look: MessageCheck, asked: SentRequest, result: Mapping[str, Any]) -> None:
        if look.entry.direction is Direction.IN:
            rules.negotiate(look, asked, result)
        if is_modern(look.revision) and (look.session.modern or asked.method == "server/discover"):
            if "resultType" not in result:
                sentence = message("The result of {method} has no resultType.", method=quote(asked.method))
                look.error("missing-result-type", sentence, BASIC)
                result = {**result, "resultType": "complete"}
            kind = result["resultType"]
            if kind == "input_required":
                rules.check_input_requests(look, result)
            elif kind != "complete":
                if not mapping(look.session.client).get("extensions"):
                    sentence = message(
                        "The client did not declare the resultType {kind}.", kind=quote(str(kind), 40)
                    )
                    look.error("unknown-result-type", sentence, BASIC)
                return  # there are no rules for an extension
            else:
                caching.check_cacheable(look, asked, result)
        if asked.method == "tools/list":
            check_list(look, asked, result, self._judge)
        elif asked.method == "tools/call":
            check_call_result(look, asked, result, self._judge)
            apps.check_view_fallback(look, asked, result)
        elif asked.method == "resources/list":
            apps.check_views_listed(look, result)
        elif asked.method == "resources/read":
            apps.check_view_read(look, asked, result)
        if "task" not in result:
            self._hold(look, "result", asked.method, result)

    def _hold(self, look: MessageCheck, role: str, method: str, value: Any) -> None:
        if self._judge is None or look.revision not in REVISIONS:
            return
        is_too_large = look.entry.size > JUDGED_BYTES and method != "tools/list"
        if is_too_large or not (value is None or isinstance(value, dict)):
            return
        problems = self._judge.problems(look.revision, look.entry.direction, role, method, value)
        part, of = "params", N_("The params of {method}: {problem}.")
        if role == "result":
            part, of = "result", N_("The result of {method}: {problem}.")
        for problem in problems[:3]:
            sentence = message(of, method=quote(method), problem=problem)
            known = METHODS.get(method)
            page = known.section(look.revision).partition(" ")[2] if known is not None else ""
            look.error(f"bad-{part}", sentence, page, _DIGITS.sub("*", problem))


def sentence_of(finding: Finding, entry: Entry | None) -> str:
    """Return a sentence for a finding without one: from linting the entry alone, or else a reference."""
    for found in Linter().feed(entry) if entry is not None else ():
        if (found.code, found.severity) == (finding.code, finding.severity):
            return found.sentence
    like = ", ".join(f"#{seq}" for seq in finding.places)
    return f"The same finding as in {like}." if like else "The sentence was not stored."
