"""The traffic of this run in plain mode: listed, read, sent again, and kept as tests."""

import asyncio
import time
from itertools import count
from typing import Any

from tui.addons.plain.asking import ALL, Asking
from tui.addons.plain.transcript import ERROR, OWN, RESULT, Transcript, json_lines
from tui.commands.traffic_lines import READ, WITH_BODY, entry_name
from tui.core.addons import brought
from tui.core.errors import UsageError, without_stop
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import _, listed, localized, message, n_
from tui.core.text import clean_line, compact, mapping
from tui.core.traffic import KIND_WORDS, OUTCOME_WORDS, Direction, Entry, Kind, Outcome
from tui.core.units import size, span, time_of_day
from tui.runtime.runtime import Runtime
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.query import Query, parse
from tui.traffic.filter.view import View
from tui.traffic.record.open_recording import ReaderThread, readable_body, whole_entry
from tui.traffic.record.resending import MOST_SENT, ResendRequest, read, refusal

NEWEST = 200
"""Maximum entries of a list."""

MAX_BODY = 1024 * 1024
"""Maximum bytes of a body to show."""

WAIT_SECONDS = 0.005


class PlainTraffic:
    """Commands on the entries of this run, which are named by their numbers."""

    def __init__(self, runtime: Runtime, transcript: Transcript, asking: Asking) -> None:
        self._runtime, self._transcript, self._asking = runtime, transcript, asking
        self._recording = runtime.recording
        self._numbers = count(1)

    async def _entry(self, seq: int, limit: int) -> Entry:
        thread = ReaderThread(self._recording.open_reader)
        try:
            found = await thread.ask(lambda reader: whole_entry(reader, seq, limit))
        finally:
            thread.close()
        if found is None:
            raise _no_entry(seq)
        return found

    async def traffic(self, text: str) -> None:
        """List the newest entries that pass a filter, the newest first. Without one, omit setup messages."""
        query = parse("" if text == ALL else text)
        if query.problems:
            raise UsageError(query.problems[0].sentence, where="/traffic")
        lines, found, omitted = await asyncio.to_thread(self._lines, query, quiet=not text)
        if omitted:
            self._transcript.say(
                OWN,
                n_(
                    "{n} handshake or list is omitted. /traffic all shows it.",
                    "{n} handshakes and lists are omitted. /traffic all shows them.",
                    omitted,
                ),
            )
        if not found:
            self._transcript.say(OWN, _("No matching entries.") if text else _("No traffic yet."))
            return
        told = n_("{n} entry, the newest first.", "{n} entries, the newest first.", found)
        self._transcript.say_pages([(OWN, told), *((OWN, line) for line in lines)])

    def _lines(self, query: Query, *, quiet: bool) -> tuple[list[str], int, int]:
        recording, columns = self._recording, self._recording.entries
        reader = recording.open_reader()
        view = View(columns, query, notes=recording.annotations.notes, reader=recording.open_reader)
        try:
            while not view.advance(50):
                time.sleep(WAIT_SECONDS)
            if view.problem:
                raise UsageError(view.problem, where="/traffic")
            rule, lines = Housekeeping(columns, recording.annotations.notes, lambda: True), list[str]()
            indices = list(view.indices(0, len(view)))
            shown = [index for index in indices if not (quiet and rule.folds(index))]
            for index in shown[: -NEWEST - 1 : -1]:
                if (entry := reader.entry(columns.seq(index), READ)) is not None:
                    lines.append(_line(entry, Outcome(columns.outcome[index]), columns.latency_ns(index)))
            return lines, len(shown), len(indices) - len(shown)
        finally:
            view.close(wait=True)
            reader.close()

    async def entry(self, text: str) -> None:
        """Show the content of an entry."""
        seq = entry_number(text, "/entry N")
        entry = await self._entry(seq, MAX_BODY)
        body, _secrets = readable_body(entry, entry.body)
        text = body.decode("utf-8", "replace")
        value = json_value(text, None)
        if value is None:
            self._transcript.say_long(RESULT, text or "\n".join(json_lines(entry.detail)))
        else:
            self._say_json(RESULT, value)

    def _say_json(self, word: str, value: Any) -> None:
        """Show a value that may nest too deeply to be taken apart."""
        try:
            text = "\n".join(json_lines(value))
        except RecursionError:
            text = compact(value, 2_000)
        self._transcript.say_long(word, text)

    def _requested(self, seq: int) -> int:
        """Return the index of the request to which an entry belongs; that of the entry if there is none."""
        columns = self._recording.entries
        if (index := columns.index(seq)) < 0:
            raise _no_entry(seq)
        if columns.kind[index] != Kind.REQUEST and (partner := columns.partner(index)) >= 0:
            index = partner if columns.kind[partner] == Kind.REQUEST else index
        return index

    async def resend(self, text: str) -> None:
        """Send a request again, after a question if it may change something."""
        runtime, columns = self._runtime, self._recording.entries
        index = self._requested(entry_number(text, "/resend N"))
        if why := refusal(columns, index, runtime.host.statuses()):
            raise UsageError(without_stop(why))
        request = read(await self._entry(columns.seq(index), MOST_SENT + 1))
        if not isinstance(request, ResendRequest):
            raise UsageError(without_stop(request))
        if not await self._may_send(request):
            return
        answer = await runtime.workbench.request(
            request.server,
            request.method,
            request.params,
            call=self._next(),
            seconds=runtime.turn_context.limits.call_timeout,
        )
        found = answer.result if answer.error is None else answer.error
        is_error = answer.error is not None or mapping(found).get("isError") is True
        word = ERROR if answer.problem or is_error else RESULT
        self._transcript.say(word, _("{request}: the answer", request=request.label))
        if answer.problem:
            self._transcript.say(word, answer.problem)
        else:
            self._say_json(word, found)

    async def _may_send(self, request: ResendRequest) -> bool:
        if not request.tool:
            return True
        known = self._runtime.workbench.tools(request.server)
        tool = next((one for one in known if one.name == request.tool), None)
        head = _("Send {request} again? It may change something again.", request=request.label)
        called = (request.server, request.tool, mapping(request.params.get("arguments")))
        is_risky = tool is None or not (tool.read_only and tool.trusted)
        return await self._asking.may_call(self._runtime, called, head, is_risky=is_risky)

    async def keep(self, text: str) -> None:
        """Keep the call of an entry as a test."""
        seq = self._recording.entries.seq(self._requested(entry_number(text, "/keep N")))
        call = await brought("service", "kept call")(self._runtime, seq, self._next)
        chosen: str | None = "again"
        while chosen == "again":
            server, tool, arguments = call.called
            head = _("Keep this call as a test? {server} › {tool}", server=server, tool=tool)
            given = compact(arguments, 2_000) if arguments else _("It has no arguments.")
            lines = [head, given, *call.lines()]
            again = [(call.again, "again")] if call.again else []
            async with self._asking.turn():
                choices = [(_("Keep it."), "keep"), (_("Do not keep it."), ""), *again]
                chosen = await self._asking.choose(lines, choices)
            if chosen == "keep":
                return self._transcript.say(RESULT, await call.keep())
            if chosen and await self._asking.may_call(
                self._runtime, call.called, localized(call.again), is_risky=False
            ):
                await call.call_again()
        return self._transcript.say(OWN, _("Not kept."))

    def _next(self) -> str:
        return f"plain-{next(self._numbers)}"


def _line(entry: Entry, outcome: Outcome, latency_ns: int) -> str:
    """Return an entry as a line that can be heard: what it is, then its name, its outcome and its figures."""
    place = {Direction.OUT: _("to {server}"), Direction.IN: _("from {server}")}.get(
        entry.direction, "{server}"
    )
    place = place.replace("{server}", clean_line(entry.source, 60))
    is_text = entry.kind in WITH_BODY or entry.kind is Kind.EVENT
    took = span(latency_ns) if latency_ns >= 0 else ""
    figures = () if is_text else (_(OUTCOME_WORDS[outcome]), took, size(entry.size))
    at = time_of_day(entry.wall_ns).partition(".")[0]
    words = without_stop(entry_name(entry, entry.body)), *figures, at
    what = f"{entry.seq}. {_(KIND_WORDS[entry.kind])} {place}"
    return _("{where}: {problem}", where=what, problem=listed(filter(None, words)))


def entry_number(text: str, usage: str) -> int:
    """Return a typed number of an entry. Raises UsageError with the `usage`."""
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        what = message("the number of an entry is required")
        raise UsageError(what, where=usage, next_step=message("/traffic lists them."))
    return int(text)


def _no_entry(seq: int) -> UsageError:
    return UsageError(message("no entry {number}", number=seq), next_step=message("/traffic lists them."))
