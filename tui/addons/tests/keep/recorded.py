"""Finds finished requests in a recording, with everything that belongs to them. Blocks; call it in a thread.

An entry of any kind leads to its request: a response, progress, a round of input. Looks at a bounded part of
the recording around it.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from tui.addons.tests.keep.exchange import MOST_OTHERS, Exchange, Other, answered
from tui.addons.tests.suite.case import LISTS, METHODS, Request, RequestKind
from tui.core.errors import UsageError
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import texts_in
from tui.core.text import list_in, mapping, object_in
from tui.core.traffic import ANSWERS, Direction, Entry, Kind, Outcome, Severity, TrafficReader
from tui.runtime.copies.origin import STARTS, entries_between, is_request, launched
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import whole_entry

AROUND = 5_000
"""Entries before and after the request to look at."""

PAGE = 1_000
MOST_PAGES = 100
"""Maximum pages of a list."""

MOST_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a message."""

LINTED = 2_000
"""Entries before a response that its linter knows: what the session agreed on, and the list of tools."""

LINTED_BYTES = 1024 * 1024
"""Maximum bytes of a message to lint."""

NOTHING: Mapping[str, str] = {}
TAP = "tap:"
_ONLY = message("Only tool calls, reads, prompts and lists can be kept.")


_ENDED = {Outcome.CANCELLED: message("cancelled"), Outcome.LOST: message("lost")}


def exchange_at(
    reader: TrafficReader, seq: int, about: Mapping[str, str] = NOTHING, *, lint: bool = True
) -> Exchange:
    """Return the request that an entry belongs to.

    `about` is what the recording has about its run, such as `cwd`. `lint`: with its findings. Raises
    UsageError with the reason if it cannot be kept, and StorageError.
    """
    window = _Window(reader, seq)
    request = window.request_of(seq)
    first = window.by_seq.get(request.root, request)  # of a call in rounds
    exchange = _exchange(window, first)
    near = sorted(window.same_process(first), key=lambda one: abs(one.seq - first.seq))
    others = _equal_results(window, near, exchange, first.seq)
    hints = _hints(window, first, exchange.request) if exchange.request.kind is RequestKind.TOOL else {}
    end = window.rounds(first)[-1][1].seq
    return replace(
        exchange.compared_with(others),
        hints=hints,
        launched=launched(reader, first, about),
        findings=findings_between(reader, first.seq, end) if lint else (),
    )


def newest_request(reader: TrafficReader, last: int) -> int:
    """Return the seq of the newest finished request that can be kept, up to entry `last`; 0 if there is none.

    Requests by hand come first, because mcptui itself lists and pings.
    """
    entries = list(entries_between(reader, max(0, last - AROUND), last))
    done = {entry.pair for entry in entries if entry.kind in ANSWERS}
    kept = [one for one in entries if one.seq in done and is_request(one)]
    by_hand = [one for one in kept if one.cause is not None and one.cause.call]
    return (by_hand or kept)[-1].seq if kept else 0


def newest_lists(
    reader: TrafficReader, last: int, about: Mapping[str, str], kinds: Collection[str], server: str = ""
) -> list[Exchange]:
    """Return the newest lists of these kinds, up to entry `last`: those that have items, or else the first.

    A kind is a method, or its beginning: templates are resources. Without `kinds`, all lists are meant, and
    without `server`, those of any.
    """
    found = []
    entries = [one for one in entries_between(reader, max(0, last - AROUND), last) if is_request(one)]
    for kind in LISTS.values():
        if kinds and not {kind.method, kind.method.partition("/")[0]} & {*kinds}:
            continue
        sent = [one for one in entries if one.method == kind.method and server in ("", one.source)]
        for one in reversed(sent):
            with suppress(UsageError):  # a later page, or without a response
                found.append((exchange_at(reader, one.seq, about), kind.member))
                break
    full = [one for one, member in found if list_in(mapping(one.result), member)]
    return full or [one for one, _ in found[:1]]


def last_request(entries: EntryColumns, method: str, server: str) -> int:
    """Return the seq of the last request to a server by a method in the recording of this run, or 0."""
    sent = (at for at in entries.newest(Kind.REQUEST, method) if entries.direction[at] == Direction.OUT)
    return next((entries.seq(at) for at in sent if entries.sources.texts[entries.source[at]] == server), 0)


def similar_results(reader: TrafficReader, last: int, exchange: Exchange) -> list[Other]:
    """Return results of requests equal to this one in another recording, which ends with entry `last`."""
    window = _Window(reader, max(1, last - AROUND))
    return list(_equal_results(window, window.entries, exchange, 0))


class _Window:
    """The entries around one, without bodies, and the bodies that are asked for."""

    def __init__(self, reader: TrafficReader, seq: int) -> None:
        self._reader = reader
        self.entries = list(entries_between(reader, max(0, seq - AROUND - 1), seq + AROUND))
        self.by_seq = {entry.seq: entry for entry in self.entries}
        self.answers = {one.pair: one for one in self.entries if one.kind in ANSWERS and one.pair}

    def request_of(self, seq: int) -> Entry:
        """Return the request to a server that an entry belongs to."""
        entry = self.by_seq.get(seq)
        if entry is None:
            raise UsageError(message("The recording has dropped this entry."))
        found = self.by_seq.get(entry.root or entry.pair or seq, entry)
        if found.kind is not Kind.REQUEST or found.method not in METHODS:
            raise UsageError(_ONLY)
        if found.direction is not Direction.OUT:
            raise UsageError(message("This request came from the server. Keep the call that it belongs to."))
        return found

    def same_process(self, first: Entry) -> Iterator[Entry]:
        """Yield the entries since the start of the server that a request went to, up to its next start."""
        starts = [
            one.seq
            for one in self.entries
            if one.kind is Kind.EVENT and one.method in STARTS and one.source == first.source
        ]
        begin = max((seq for seq in starts if seq < first.seq), default=0)
        end = min((seq for seq in starts if seq > first.seq), default=math.inf)
        return (one for one in self.entries if begin <= one.seq < end)

    def rounds(self, first: Entry) -> list[tuple[Entry, Entry]]:
        """Return each request of a call with its response, in order."""
        requests = [
            one
            for one in self.entries
            if one.seq == first.seq or (one.root == first.seq and one.kind is Kind.REQUEST)
        ]
        return [(one, self.answers[one.seq]) for one in requests if one.seq in self.answers]

    def message(self, entry: Entry) -> Mapping[str, Any]:
        """Return the message of an entry."""
        found = whole_entry(self._reader, entry.seq, MOST_BYTES + 1)
        if found is None or found.is_body_lost:
            raise UsageError(message("The recording has lost this message."))
        if found.sha256 or len(found.body) > MOST_BYTES:
            step = message("Set keep_all = true under [traffic] to record large messages in full.")
            why = message("The recording has only the start of this message.")
            raise UsageError(why, next_step=step)
        value = json_value(found.body.decode("utf-8", "replace"))
        if not isinstance(value, Mapping):
            raise UsageError(message("This message is not valid JSON."))
        return value


def _exchange(window: _Window, first: Entry) -> Exchange:
    rounds = window.rounds(first)
    if not rounds or rounds[-1][1].outcome is Outcome.INPUT_REQUIRED:
        is_open = first.outcome in (Outcome.NONE, Outcome.PENDING)
        was = _ENDED.get(first.outcome, first.outcome.name.lower())
        raise UsageError(
            message("This request has no response yet.")
            if is_open
            else message("This request has no response: it was {outcome}.", outcome=was)
        )
    answer = window.message(rounds[-1][1])
    sent = [window.message(request) for request, _ in rounds]
    params = object_in(sent[0], "params")
    request = _request(first.method, params)
    ms = sum(response.mono_ns - asked.mono_ns for asked, response in rounds) / 1e6
    asked, waited = _asked(window, first, rounds[-1][1])
    answers = answered(sent, [window.message(response) for _, response in rounds[:-1]], asked)
    result, error = answer.get("result"), answer.get("error")
    if isinstance(result, Mapping) and result.get("resultType") == "task":
        raise UsageError(
            message("This call became a task, and its result is in another message."),
            next_step=message("Keep it in the workbench, where it was called."),
        )
    if request.kind is RequestKind.LIST and params.get("cursor") is not None:
        raise UsageError(message("This is a later page of a list. Keep its first page."))
    if request.kind is RequestKind.LIST and isinstance(result, Mapping):
        result = _all_pages(window, first, request.name, result)
    return Exchange(
        server=first.source.removeprefix(TAP),
        request=request,
        result=result if isinstance(result, Mapping) else None,
        error=mapping(error) if not isinstance(result, Mapping) else None,
        ms=max(0.0, ms - waited),
        answers=answers,
        secrets=secrets_in([request.name, request.arguments, answers]),
        at=first.wall_ns / 1e9,
        seq=first.seq,
        tapped=first.source.startswith(TAP),
        call=first.cause.call if first.cause is not None else "",
    )


def _request(method: str, params: Mapping[str, Any]) -> Request:
    kind = METHODS[method]
    if kind is RequestKind.LIST:
        return Request(kind, next(name for name, one in LISTS.items() if one.method == method))
    name = params.get("uri") if kind is RequestKind.READ else params.get("name")
    arguments = params.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, Mapping | None):
        raise UsageError(message("This request is invalid, so it cannot be kept."))
    return Request(kind, name, dict(arguments or {}))


def _all_pages(window: _Window, first: Entry, name: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a list with the items of the pages that were requested after the first one."""
    member = LISTS[name].member
    items, cursor = [*list_in(result, member)], result.get("nextCursor")
    later = (one for one in window.entries if one.seq > first.seq and one.method == first.method)
    pages = 1
    for one in later:
        if cursor is None or pages >= MOST_PAGES:
            break
        if one.kind is not Kind.REQUEST or one.source != first.source:
            continue
        answer = window.rounds(one)
        if answer and object_in(window.message(one), "params").get("cursor") == cursor:
            page = object_in(window.message(answer[-1][1]), "result")
            items += list_in(page, member)
            cursor, pages = page.get("nextCursor"), pages + 1
    if cursor is not None:
        raise UsageError(message("Not all pages of this list were recorded, so it cannot be kept."))
    return {**{key: value for key, value in result.items() if key != "nextCursor"}, member: items}


def _asked(
    window: _Window, first: Entry, end: Entry
) -> tuple[list[tuple[Mapping[str, Any], Mapping[str, Any]]], float]:
    """Return the server's requests during a call, each with the response; and milliseconds they took."""
    meanwhile = [
        one for one in window.entries if first.seq < one.seq < end.seq and one.source == first.source
    ]
    answers = {one.pair: one for one in meanwhile if one.kind in ANSWERS and one.direction is Direction.OUT}
    found, waited = [], 0
    for one in meanwhile:
        if one.kind is Kind.REQUEST and one.direction is Direction.IN and one.seq in answers:
            answer = answers[one.seq]
            found.append((window.message(one), window.message(answer)))
            waited += answer.mono_ns - one.mono_ns
    return found, waited / 1e6


def secrets_in(value: Any) -> tuple[str, ...]:
    """Return the names of the secrets for which a value has marks."""
    marks = (mark for text in texts_in(value) for mark in MARK.findall(text))
    return tuple(sorted({mark[:-1].rpartition("[redacted:")[2] for mark in marks}))  # one may be in another


def _equal_results(
    window: _Window, entries: Sequence[Entry], exchange: Exchange, left_out: int
) -> Iterator[Other]:
    """Yield the results of other requests that are equal to this one."""
    request, answers = exchange.request, window.answers
    alike = (
        one
        for one in entries
        if is_request(one)
        and one.seq != left_out
        and one.wall_ns / 1e9 != exchange.at  # a copy of this recording
        and one.seq in answers
        and one.root in (0, one.seq)
        and one.source.removeprefix(TAP) == exchange.server
        and METHODS[one.method] is request.kind is not RequestKind.LIST
    )
    found = 0
    for one in alike:
        answer = answers[one.seq]
        try:
            if _request(one.method, object_in(window.message(one), "params")) != request:
                continue
            result = window.message(answer).get("result")
        except UsageError:
            continue
        if not isinstance(result, Mapping) or result.get("resultType", "complete") != "complete":
            continue
        if is_tool_error(result) == exchange.is_error:
            found += 1
            yield result, (answer.mono_ns - one.mono_ns) / 1e6, one.wall_ns / 1e9
        if found >= MOST_OTHERS:
            return


def _hints(window: _Window, first: Entry, request: Request) -> Mapping[str, Any]:
    """Return the annotations of a tool in the last list before its call."""
    answers = [
        one
        for one in window.entries
        if one.kind is Kind.RESPONSE and one.method == "tools/list" and one.source == first.source
    ]
    for answer in sorted(answers, key=lambda one: (one.seq > first.seq, abs(one.seq - first.seq))):
        try:
            listed = list_in(object_in(window.message(answer), "result"), "tools")
        except UsageError:
            continue
        for tool in listed:
            if isinstance(tool, Mapping) and tool.get("name") == request.name:
                return object_in(tool, "annotations")
    return {}


def findings_between(reader: TrafficReader, first: int, end: int) -> tuple[str, ...]:
    """Return what the linter says about a recorded response, without which a case would fail at once.

    It is the codes of warnings and errors about what a server sent from its request to its response, of which
    `first` and `end` are the seq. Loads the models of the SDK.
    """
    from tui.host.schemas.judge import ModelJudge
    from tui.traffic.lint.lint import Linter

    asked = reader.entry(first, 0)
    if asked is None:
        return ()
    found: dict[str, None] = {}
    with closing(ModelJudge()) as judge:
        linter = Linter(judge)
        for entry in entries_between(reader, max(0, end - LINTED - 1), end):
            is_ours = entry.source == asked.source
            said = linter.feed((whole_entry(reader, entry.seq, LINTED_BYTES) if is_ours else None) or entry)
            if is_ours and entry.seq > first and entry.direction is Direction.IN:
                found |= dict.fromkeys(one.code for one in said if one.severity > Severity.HINT)
    return tuple(sorted(found))
