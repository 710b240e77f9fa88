"""`mcptui mock`: answers over stdio as the recorded server did.

A request plays the script of the same recorded request (`recorded_server`); a repeated request plays the next
recorded one, and in the end the last one every time. Bytes are unchanged except for ids and progress tokens,
which are those of the new request. A batch is answered with a batch, unless the server answered it message by
message. For a client of the other era, it is translated.
"""

import argparse
import heapq
import json
import os
import select
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from tui.addons.replay.recorded_server import (
    HANDSHAKES,
    KNOWN,
    SUBSCRIPTION_PATH,
    Bodies,
    Body,
    Question,
    RecordedServer,
    Script,
    handshake,
    input_required,
    is_sent_unasked,
    legacy_revision,
    modern_answer,
    nearest,
    parsed,
    wanted_input,
)
from tui.commands.recordings import open_entries, recordings
from tui.core.errors import McptuiError, UsageError, reason_of
from tui.core.jsonrpc import protocol
from tui.core.jsonrpc.framing import Framer
from tui.core.jsonrpc.skimmer import outline
from tui.core.text import clean_line, mapping
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.traffic.methods import METHODS

ALWAYS_ANSWERED = frozenset({"ping", "logging/setLevel"})
"""Requests that every server answers alike, recorded or not."""

MAX_LISTED = 20
MAX_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Send:
    """A line to write, without newline, and its delay after the line that caused it.

    `is_shared`: a response to a message of a batch, to be joined with the others.
    """

    raw: bytes
    after_ns: int = 0
    is_shared: bool = False


@dataclass(slots=True)
class _Play:
    """A script being played for a request; it waits while `open` requests of the server are pending.

    `sent_as` are the ids of the server's requests by the recorded ones.
    """

    script: Script
    at: int
    base_ns: int
    ident: bytes
    asked: Question
    open: int = 0
    sent_as: dict[str, bytes] = field(default_factory=dict)

    @property
    def is_modernized(self) -> bool:
        return self.asked.modern and not self.script.modern


class MockServer:
    """Responds like a recorded server, whose `entries` are its columns, in order.

    `unanswered` collects a sentence for each request that the recording cannot answer; the caller empties it.
    """

    def __init__(self, entries: Iterable[Entry], body: Body) -> None:
        self.unanswered: list[str] = []
        self._bodies = Bodies(body)
        self._recorded = RecordedServer(self._bodies)
        self._waiting: dict[str, _Play] = {}
        self._rounds: dict[str, _Play] = {}
        self._asked = 0
        self._used: set[str] = set()
        self._begun: Any = None
        self._recorded.read(entries)

    def take(self, line: bytes) -> list[Send]:
        if not line.strip():
            return []
        message = parsed(line)
        if message is None:
            return [self._refused("null", protocol.PARSE_ERROR, "not JSON")]
        if message == []:
            return [self._refused("null", protocol.INVALID_REQUEST, "empty batch")]
        try:
            if not isinstance(message, list):
                return self._take(message)
            sends = [send for one in message[:MAX_BATCH] for send in self._take(one)]
        except RecursionError:
            return [self._refused("null", protocol.INVALID_REQUEST, "nested too deeply")]
        shared = [send for send in sends if send.is_shared]
        if not shared:
            return sends
        answer = b"[" + b",".join(send.raw for send in shared) + b"]"
        alone = [send for send in sends if not send.is_shared]
        return [*alone, Send(answer, max(send.after_ns for send in shared))]

    def _take(self, message: Any) -> list[Send]:
        if not isinstance(message, dict):
            return [self._refused("null", protocol.INVALID_REQUEST, "not a JSON-RPC message")]
        method, ident = message.get("method"), json.dumps(message.get("id"))
        if not isinstance(method, str):
            play = self._waiting.pop(ident, None)  # the client's response to a request of the server
            if play is not None:
                play.open -= 1
            return [] if play is None or play.open > 0 else list(self._continue_play(play))
        asked = Question.of(method, message.get("params"))
        if method == "notifications/cancelled" and isinstance(params := message.get("params"), dict):
            wanted = json.dumps(params.get("requestId")).encode()
            for pending in (self._waiting, self._rounds):
                for key in [key for key, play in pending.items() if play.ident == wanted]:
                    del pending[key]
        if "id" not in message:
            script = self._recorded.find(asked)
            return [] if script is None else list(self._play(script, b"", asked))
        return list(self._request(asked, ident))

    def _request(self, asked: Question, ident: str) -> Iterator[Send]:
        if asked.revision and asked.revision not in KNOWN:
            data = {"supported": [*KNOWN], "requested": asked.revision}
            yield _error(ident, protocol.UNSUPPORTED_VERSION, f"no revision {asked.revision[:40]}", data)
            return
        state = asked.param("requestState")
        play = self._rounds.pop(state, None) if isinstance(state, str) else None
        if play is not None:
            play.ident, play.asked = ident.encode(), asked
            yield from self._continue_play(play)
        elif asked.method in HANDSHAKES:
            yield from self._handshake(asked, ident)
        elif (script := self._recorded.find(asked)) is not None:
            yield from self._play(script, ident.encode(), asked)
        else:
            yield self._unknown(asked, ident)

    def _handshake(self, asked: Question, ident: str) -> Iterator[Send]:
        """Respond in the era of the client. A client like the recorded one gets the recorded response."""
        is_initialize = asked.method == "initialize"
        if is_initialize:
            self._begun = asked.params
        script = self._recorded.exact(asked)
        if script is None and (recorded := self._recorded.handshakes.get(asked.method)) and recorded.result():
            script = self._recorded.find(asked)
        if script is not None and (script.result() or not is_initialize):
            for send in self._play(script, ident.encode(), asked):
                version = legacy_revision(asked.param("protocolVersion")) if is_initialize else ""
                if version and send.is_shared:
                    raw = with_member(send.raw, ("result", "protocolVersion"), json.dumps(version).encode())
                    send = replace(send, raw=raw)
                yield send
            return
        scripts = (self._recorded.handshakes.get(name) for name in HANDSHAKES)
        answer = next(filter(None, (one.result() for one in scripts if one is not None)), None)
        recorded = mapping(parsed(self._bodies.read(answer))).get("result") if answer is not None else None
        version, methods = asked.param("protocolVersion"), self._recorded.methods()
        result = handshake(asked.method, version, recorded, methods)
        yield _result_send(ident, result)

    def _play(self, script: Script, ident: bytes, asked: Question) -> Iterator[Send]:
        yield from self._continue_play(_Play(script, 0, script.mono_ns, ident, asked))
        unanswered = ident and not any(answers for _, answers in script.steps)
        if unanswered and script.outcome is not Outcome.CANCELLED and asked.method not in protocol.STAY_OPEN:
            yield self._ends_before(asked, ident)

    def _ends_before(self, asked: Question, ident: bytes) -> Send:
        text = f"the recording ends before the response to {asked.method}"
        return self._refused(ident.decode(), protocol.INTERNAL_ERROR, text)

    def _continue_play(self, play: _Play) -> Iterator[Send]:
        steps = play.script.steps
        base = play.base_ns
        while play.at < len(steps):
            entry, answers = steps[play.at]
            play.at += 1
            after = max(0, entry.mono_ns - base)
            waits = entry.kind is Kind.REQUEST and any(answers for _, answers in steps[play.at :])
            if entry.kind is Kind.REQUEST and (missing := self._missing(play, entry.method)):
                if waits:
                    yield self._incapable(play, missing)
                    return
                continue
            if play.is_modernized and not answers:
                if waits:
                    play.base_ns = entry.mono_ns
                    yield Send(self._next_round(entry, play), after, True)
                    return
                kept = entry.kind not in (Kind.REQUEST, Kind.NOTIFICATION)
                if not kept and not is_sent_unasked(entry.method, play.asked.meta):
                    continue
            raw, is_in_batch = self._words(entry, answers, play), entry.in_batch is not None
            wanted = wanted_input(raw) if answers else None
            if wanted is not None:
                if missing := next(
                    (m for one in wanted if (m := self._missing(play, one.get("method")))), ""
                ):
                    yield self._incapable(play, missing)
                    return
                if play.script.modern and not play.asked.modern:
                    yield from self._ask(play, wanted, after)
                    return
            if raw:  # an accepted notification has none over HTTP
                is_shared = answers and (is_in_batch or not play.script.is_in_batch)
                yield Send(raw, after, is_shared)
            if waits:
                play.base_ns = entry.mono_ns
                play.open = 1
                self._waiting[play.sent_as[entry.ident].decode()] = play
                return

    def _fresh_id(self, recorded: str = "") -> str:
        """Return an id for a request of the server, as JSON: the recorded one, unless it was used before."""
        ident = recorded
        while not ident or ident in self._used:
            self._asked += 1
            ident = json.dumps(f"mock-{self._asked}")
        self._used.add(ident)
        return ident

    def _missing(self, play: _Play, method: Any) -> str:
        """Return the capability that the client lacks for a request of the server, or "".

        A client that declares nothing is not checked.
        """
        known = METHODS.get(str(method))
        declared = mapping(play.asked.meta).get(protocol.CAPABILITIES_KEY)
        if declared is None:
            declared = mapping(self._begun).get("capabilities")
        needed = known.needs if known is not None and known.needs_client and not known.notification else ""
        return "" if not isinstance(declared, Mapping) or needed in declared else needed

    def _incapable(self, play: _Play, missing: str) -> Send:
        text = (
            f"{play.asked.method}: the recorded server requires {missing}, which the client does not declare"
        )
        data: dict[str, Any] = {"requiredCapabilities": {missing: {}}}
        return self._refused(play.ident.decode(), protocol.MISSING_CAPABILITY, text, data)

    def _next_round(self, asking: Entry, play: _Play) -> bytes:
        """Return a result that asks a modern client for what the recorded server asked in a request."""
        self._asked += 1
        state = f"mock-{self._asked}"
        self._rounds[state] = play
        return input_required(play.ident.decode(), self._bodies.read(asking), state)

    def _ask(self, play: _Play, wanted: Sequence[Mapping[str, Any]], after: int) -> Iterator[Send]:
        """Send a legacy client the requests of a recorded result; the next round follows its responses."""
        then = play.script.then
        if then is None:
            yield self._ends_before(play.asked, play.ident)
            return
        following = _Play(then, 0, then.mono_ns, play.ident, play.asked, len(wanted))
        for one in wanted:
            ident = self._fresh_id()
            self._waiting[ident] = following
            members = {name: one[name] for name in ("method", "params") if one.get(name) is not None}
            message = {"jsonrpc": "2.0", "id": json.loads(ident), **members}
            yield Send(json.dumps(message).encode(), after)
        if not wanted:
            yield from self._continue_play(following)

    def _words(self, entry: Entry, answers: bool, play: _Play) -> bytes:
        raw = self._bodies.read(entry)
        if answers:
            size = self._bodies.missing(entry, raw)
            if size is not None:
                text = f"the recording has only the beginning of this response ({size} bytes)"
                text = text if size else "this response was dropped from the recording"
                return self._refused(play.ident.decode(), protocol.INTERNAL_ERROR, text).raw
            raw = with_member(raw, ("id",), play.ident)
            return modern_answer(raw, play.asked.method) if play.is_modernized else raw
        if entry.kind is Kind.NOTIFICATION:
            raw = with_member(raw, SUBSCRIPTION_PATH, play.ident) if play.ident else raw
            if entry.method == "notifications/cancelled":  # of a request of the server, by the id it had then
                start, end = member_span(raw, path := ("params", "requestId"))
                sent_as = play.sent_as.get(raw[start : max(start, end)].decode("utf-8", "replace"))
                raw = raw if sent_as is None else with_member(raw, path, sent_as)
            token = play.asked.token
            return with_member(raw, ("params", "progressToken"), token) if token else raw
        if entry.kind is Kind.REQUEST:
            ident = play.sent_as[entry.ident] = self._fresh_id(entry.ident).encode()
            return with_member(raw, ("id",), ident)
        return raw

    def _unknown(self, asked: Question, ident: str) -> Send:
        """Return the answer to a request that was not recorded."""
        if asked.method in ALWAYS_ANSWERED:
            return _result_send(ident, {})
        if asked.method == protocol.LISTEN:  # the mock never changes, so nothing more is sent
            meta = {protocol.SUBSCRIPTION_KEY: json.loads(ident)}
            params = {"_meta": meta, "notifications": asked.param("notifications") or {}}
            method = "notifications/subscriptions/acknowledged"
            return Send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())
        known = self._recorded.recorded(asked.method)
        if not known:
            methods = self._recorded.methods()
            text = f"{asked.method} was not recorded. Recorded: {', '.join(methods) or 'nothing'}"
            return self._refused(ident, protocol.METHOD_NOT_FOUND, text, {"recorded": methods})
        text = f"{asked.method} was not recorded with these parameters"
        listed = [one.shown() for one in nearest(asked, known)[:MAX_LISTED]]
        self.unanswered.append(f"{text}: {asked.shown()}")
        return _error(ident, protocol.INVALID_PARAMS, f"{text}. Closest: {listed[0]}", {"recorded": listed})

    def _refused(self, ident: str, code: int, text: str, data: Mapping[str, Any] | None = None) -> Send:
        self.unanswered.append(text)
        return _error(ident, code, text, data)


def _result_send(ident: str, result: Mapping[str, Any]) -> Send:
    return Send(f'{{"jsonrpc":"2.0","id":{ident},"result":{json.dumps(result)}}}'.encode(), is_shared=True)


def _error(ident: str, code: int, text: str, data: Mapping[str, Any] | None = None) -> Send:
    error = {"code": code, "message": f"mcptui mock: {text}", **({"data": data} if data else {})}
    raw = f'{{"jsonrpc":"2.0","id":{ident},"error":{json.dumps(error)}}}'.encode()
    return Send(raw, is_shared=True)


def with_member(raw: bytes, path: tuple[str, ...], value: bytes) -> bytes:
    """Return `raw` with another value at `path`, every other byte unchanged; `raw` if there is none."""
    start, end = member_span(raw, path)
    return raw if end < 0 else raw[:start] + value + raw[end:]


def member_span(raw: bytes, path: tuple[str, ...]) -> tuple[int, int]:
    """Return start and end of a member's value. The end is -1 if it is truncated or missing."""
    start, end = 0, -1
    try:
        for key in path:
            start, end = outline(raw, start).members[key]
    except (ValueError, KeyError):
        return start, -1
    return start, end


# ---- the command

CHUNK = 64 * 1024
MAX_REPORTED = 1000
UNANSWERED, UNUSABLE, NOBODY_READS = 1, 2, 141
MAX_LINE = 64 * 1024 * 1024
"""Maximum bytes of a line. After a longer line, the client is ignored."""


def mock(args: argparse.Namespace) -> int:
    """Run `mcptui mock`.

    Return 0 at the end of stdin, 1 if a request could not be answered, 2 if the recording cannot be read or
    does not have the server, or if the output cannot be written, 141 if the client closed the output.
    """
    try:
        with open_entries(recordings().find(args.recording)) as recording:
            source = server_of(recording.entries(), args.server, recording.path)
            ours = (entry for entry in recording.whole_entries() if entry.source == source)
            server = MockServer(ours, recording.reader.body)
            if recording.reader.damage:
                shown = clean_line(str(recording.path), 400)
                print(f"mcptui mock: {shown}: {recording.reader.damage}", file=sys.stderr)
            complete = answer(server, timing=args.timing)
    except McptuiError as error:
        print(f"mcptui mock: {error}", file=sys.stderr)
        return UNUSABLE
    except OSError as error:
        print(f"mcptui mock: cannot write to stdout: {reason_of(error)}", file=sys.stderr)
        return NOBODY_READS if isinstance(error, BrokenPipeError) else UNUSABLE
    return 0 if complete else UNANSWERED


def server_of(entries: Iterable[Entry], wanted: str | None, path: Path) -> str:
    """Return the selected server of a recording.

    Raises UsageError if it has no server, none of this name, or several and none was selected.
    """
    names = sorted(
        {entry.source for entry in entries if entry.direction is Direction.OUT and entry.kind is Kind.REQUEST}
    )
    shown = ", ".join(clean_line(name, 80) for name in names)
    if wanted is not None and wanted not in names:
        raise UsageError(f"server not in the recording. It has: {shown or 'none'}", where=wanted)
    if wanted is not None:
        return wanted
    if len(names) != 1:
        what = (
            f"the recording has several servers: {shown}"
            if names
            else "the recording has no requests to servers"
        )
        raise UsageError(what, where=str(path), next_step="Choose one with --server NAME." if names else "")
    return names[0]


def answer(server: MockServer, *, timing: bool) -> bool:
    """Answer stdin on stdout until stdin ends and everything is sent.

    With `timing`, delay each response as the recorded server did. Requests that cannot be answered are
    reported on stderr, each distinct sentence once. Return whether all requests were answered.
    """
    said: set[str] = set()
    due: list[tuple[int, int, bytes]] = []
    order = count()
    framer, ended = Framer(MAX_LINE), False
    while due or not ended:
        wait = None if not due else max(0.0, (due[0][0] - time.monotonic_ns()) / 1e9)
        if not ended and select.select([0], [], [], wait)[0]:
            chunk = os.read(0, CHUNK)
            now = time.monotonic_ns()
            for line in framer.feed(chunk) if chunk else [framer.finish()]:
                for send in server.take(line) if isinstance(line, bytes) else ():
                    heapq.heappush(due, (now + send.after_ns if timing else now, next(order), send.raw))
            while server.unanswered:
                text = clean_line(server.unanswered.pop(0), 1000)
                if text not in said and len(said) < MAX_REPORTED:
                    said.add(text)
                    print(f"mcptui mock: not answered: {text}", file=sys.stderr, flush=True)
            ended = not chunk or framer.partial > MAX_LINE
        elif ended and wait:
            time.sleep(wait)
        while due and (not timing or due[0][0] <= time.monotonic_ns()):
            left = memoryview(heapq.heappop(due)[2] + b"\n")
            while left:
                left = left[os.write(1, left) :]
    return not said
