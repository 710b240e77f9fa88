"""Calls made by hand: arguments, state and result of one call, running it, and the history of calls."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tui.core import units
from tui.core.context.content import contents_of, prompt_of, result_of
from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import OMITTED, changed
from tui.core.tasks import Task
from tui.core.time_limits import CallTimeout
from tui.core.tools import (
    BinaryContent,
    CallFailure,
    Content,
    LinkContent,
    ResourceContent,
    TextContent,
    Tool,
    ToolResult,
)
from tui.core.traffic import Kind, Outcome
from tui.core.workbench import MAX_DEPTH, CacheHint, PromptInfo, PromptResult, ResourceInfo
from tui.traffic.record.column_parts import mark_of, places_of
from tui.ui.workbench.items import Item, expanded
from tui.ui.workbench.kept_calls import KeptVerdict

if TYPE_CHECKING:  # not needed for the first frame
    from tui.host.workbench import HandWorkbench
    from tui.storage.recordings.past_calls import PastCall
    from tui.traffic.record.entry_columns import EntryColumns

MOST_KEPT = 50
"""Maximum calls of one item that are stored with their results."""

MOST_BYTES = 64 * 1024 * 1024
"""Approximate maximum bytes of stored results; the newest call is always stored."""


STATE_WORDS = {
    Outcome.PENDING: N_("running"),
    Outcome.OK: N_("done"),
    Outcome.ERROR: N_("failed"),
    Outcome.LOST: N_("lost"),
    Outcome.CANCELLED: N_("cancelled"),
}
"""The states of a call, in words."""


@dataclass(slots=True, eq=False)
class HandCall:
    """One call made by hand; `took_ms` and `result` are None while it runs, and the latter if cancelled."""

    number: int  # from 1 in each run of the program
    item: Item
    arguments: Any
    clock: str  # time of day at which it started
    began_ns: int
    took_ms: float | None = None
    state: Outcome = Outcome.PENDING
    result: ToolResult | PromptResult | None = None
    progress: tuple[float | None, float | None, str] | None = None  # done, total, the server's words
    promised: Mapping[str, Any] | None = None  # the output schema
    kept: KeptVerdict | None = None  # None if there is no kept call with these arguments
    past: "PastCall | None" = None  # of an earlier run, whose numbers are its own
    at: float = field(default_factory=time.time)  # seconds since 1970

    @property
    def id(self) -> str:
        """The id of its messages in the traffic, where the filter is `call:hand-3`."""
        return f"hand-{self.number}"

    @property
    def name(self) -> str:
        """What distinguishes it from other calls: its number, and its time with the day if it is not new."""
        if self.past is not None:
            at = f"{units.day(self.at)} {self.clock}"
            return _("call {number} on {day}", number=self.number, day=at)
        return _("call {number} at {time}", number=self.number, time=self.clock)

    @property
    def reusable(self) -> Any:
        """Its arguments without the secrets that the recording of an earlier run does not have."""
        if self.past is None:
            return self.arguments

        def kept(path: Path, value: Any) -> Any:
            is_lost = isinstance(value, str) and MARK.search(value) is not None
            return OMITTED if is_lost or len(path) > MAX_DEPTH else value

        return changed(self.arguments, kept)

    @property
    def hint(self) -> CacheHint | None:
        """How long a resource's content stays fresh, according to the server."""
        if not isinstance(self.item.about, ResourceInfo) or not isinstance(self.result, ToolResult):
            return None
        return CacheHint.of(self.result.raw or {}, self.began_ns)

    @property
    def size(self) -> int:
        return size_of(self.result)


@dataclass(slots=True)
class BenchHistory:
    """The calls made by hand in one run, by server and item; confirmed items; drafts of forms.

    Attributes:
        drafts: the forms as the user left them: the arguments, and the raw JSON if the user edited that.
        news: what the user has not seen yet on a tab of a server, by item key: "new" or "changed".
        updates: the number of displayed updates of each resource of a server, by URI.
        subscribed_on: the item from which each resource of a server was subscribed to, by URI.
        past: the calls of earlier runs, newest first, by server once they are read.
    """

    count: int = 0
    confirmed: set[tuple[str, str]] = field(default_factory=set)
    drafts: dict[tuple[str, str], tuple[Any, str]] = field(default_factory=dict)
    news: defaultdict[tuple[str, str], dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    updates: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    subscribed_on: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    past: "dict[str, Sequence[PastCall]]" = field(default_factory=dict)
    _calls: dict[tuple[str, str], list[HandCall]] = field(default_factory=dict)
    _listed: dict[tuple[str, str], Mapping[str, object]] = field(default_factory=dict)
    _starts: dict[tuple[str, str], int] = field(default_factory=dict)
    _of_past: dict[tuple[str, str], list[HandCall]] = field(default_factory=dict)

    def listed(self, server: str, tab: str, items: Sequence[Item], start: int = 0) -> None:
        """Record the items that a server offers on a tab. Items that it has changed since are news.

        Another `start` of the server ends the news of the last one.
        """
        before, news = self._listed.get((server, tab)), self.news[server, tab]
        if self._starts.get((server, tab), start) != start:
            news.clear()
        self._starts[server, tab] = start
        self._listed[server, tab] = now = {item.key: _offered(item) for item in items}
        if before is None:
            return
        for key in before.keys() - now.keys():
            news.pop(key, None)
        for key, about in now.items():
            if before.get(key) != about:
                news[key] = "changed" if key in before else "new"

    def next_id(self) -> str:
        """Return the id for a call that is made elsewhere, with the next number."""
        self.count += 1
        return f"hand-{self.count}"

    def of(self, server: str, key: str) -> list[HandCall]:
        """Return the calls of an item, newest first."""
        return self._calls.get((server, key), [])[::-1]

    def of_item(self, server: str, item: Item) -> list[HandCall]:
        """Return the calls of an item, newest first: those of this run, then those of earlier runs."""
        key = server, item.key
        if key not in self._of_past and server in self.past:
            name = item.call_key(server).name
            method = _RESULTS[type(item.about)][0] if type(item.about) in _RESULTS else ""
            same = (one for one in self.past[server] if (one.entry.method, one.name) == (method, name))
            self._of_past[key] = [earlier(one, item) for one in same]
        return [*self.of(*key), *self._of_past.get(key, ())]

    def begin(self, server: str, item: Item, arguments: Any, clock: str, now_ns: int) -> HandCall:
        self.count += 1
        call = HandCall(self.count, item, arguments, clock, now_ns)
        calls = self._calls.setdefault((server, item.key), [])
        calls.append(call)
        if len(calls) > MOST_KEPT:
            del calls[0]
        while len(calls) > 2 and sum(one.size for one in calls) > MOST_BYTES:
            del calls[0]
        return call


_RESULTS: "Mapping[type, tuple[str, Callable[[Mapping[str, Any]], ToolResult | PromptResult]]]" = {
    Tool: ("tools/call", result_of),
    ResourceInfo: ("resources/read", contents_of),
    PromptInfo: ("prompts/get", prompt_of),
}
"""The method of an item of each kind, and what reads its results."""


def earlier(past: "PastCall", item: Item) -> HandCall:
    """Return a call of an earlier run as one of its item."""
    entry, answer, read = past.entry, past.answer, _RESULTS[type(item.about)][1]
    number = entry.cause.call.removeprefix("hand-") if entry.cause is not None else ""
    result = read(past.result) if past.result is not None else None
    if past.problem:
        is_prompt = isinstance(item.about, PromptInfo)
        result = PromptResult(problem=past.problem) if is_prompt else ToolResult.failed(past.problem)
    return HandCall(
        number=int(number) if number.isdecimal() and len(number) < 10 else 0,
        item=item,
        arguments=dict(past.arguments),
        clock=units.time_of_day(entry.wall_ns)[:8],
        began_ns=0,
        took_ms=(answer.mono_ns - entry.mono_ns) / 1e6 if answer is not None else 0.0,
        state=answer.outcome if answer is not None else Outcome.LOST,
        result=result,
        past=past,
        at=entry.wall_ns / 1e9,
    )


def _offered(item: Item) -> object:
    """Return an item as its server offers it. What the user decides about a tool is no change of it."""
    return item.about.digest if isinstance(item.about, Tool) else item.about


async def run(bench: "HandWorkbench", server: str, call: HandCall, seconds: CallTimeout) -> None:
    """Make a call, and update it with progress, result and end, also if it is cancelled."""

    def progress(done: float | None, total: float | None, message: str) -> None:
        call.progress = (done, total, message)

    about, arguments, id = call.item.about, call.arguments, call.id
    try:
        match about:
            case Tool():
                call.promised = bench.output_schema(about)
                call.result = await bench.call_tool(
                    about, arguments, call=id, seconds=seconds, progress=progress
                )
            case Task():
                call.result = await bench.fetch_task(about, call=id, progress=progress)
            case ResourceInfo():
                uri = uri_of(about, arguments)
                call.result = await bench.read_resource(server, uri, call=id, seconds=seconds)
            case PromptInfo():
                texts = texts_of(arguments)
                call.result = await bench.get_prompt(server, about.name, texts, call=id, seconds=seconds)
        call.state = state_of(call.result)
    except asyncio.CancelledError:
        call.state = Outcome.CANCELLED
        raise
    finally:
        call.took_ms = (time.monotonic_ns() - call.began_ns) / 1e6
        if call.state is Outcome.PENDING:  # a defect, which is logged
            call.state = Outcome.ERROR


def recorded_ms(entries: "EntryColumns", call: str) -> float | None:
    """Return how long the request of a call took in the traffic, None if it is not there or has several."""
    places = [
        at
        for at in places_of(entries.call, mark_of(call), 0, len(entries))
        if entries.kind[at] == Kind.REQUEST
    ]
    if len(places) != 1 or (ns := entries.latency_ns(places[0])) < 0:
        return None
    return ns / 1e6


def uri_of(about: ResourceInfo, arguments: Any) -> str:
    """Return the URI of a resource, or of a template with these arguments."""
    return expanded(about.uri, texts_of(arguments)) if about.template else about.uri


def texts_of(arguments: Any) -> dict[str, str]:
    """Return arguments with their values as strings, as templates and prompts require."""
    given = arguments.items() if isinstance(arguments, dict) else ()
    return {name: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for name, one in given}


def state_of(result: ToolResult | PromptResult) -> Outcome:
    """Return the state of a call with this result."""
    if isinstance(result, PromptResult):
        lost, failed = result.lost, bool(result.problem)
    else:
        lost = result.failure is CallFailure.SERVER_DIED
        failed = result.is_error or result.failure is not CallFailure.NONE
    return Outcome.LOST if lost else Outcome.ERROR if failed else Outcome.OK


def as_json(result: ToolResult | PromptResult) -> Any:
    """Return a result as a JSON value to compare and save, including base64."""
    if isinstance(result, PromptResult):
        value: dict[str, Any] = {"description": result.description} if result.description else {}
        value["messages"] = [
            {"role": one.role, "content": _content_json(one.content)} for one in result.messages
        ]
        return value | ({"problem": result.problem} if result.problem else {})
    value = {"content": [_content_json(one) for one in result.content]}
    if result.structured is not None:
        value["structuredContent"] = result.structured
    if result.is_error:
        value["isError"] = True
    return value


def _content_json(content: Content) -> dict[str, Any]:
    match content:
        case TextContent(text):
            return {"type": "text", "text": text}
        case BinaryContent():
            known = {"uri": content.uri} if content.uri else {}
            return {"type": content.kind, "mimeType": content.mime, "data": content.data, **known}
        case LinkContent(uri, name, description):
            return {"type": "resource_link", "uri": uri, "name": name, "description": description}
        case ResourceContent(uri, mime, text):
            return {"type": "resource", "uri": uri, "mimeType": mime, "text": text}


def size_of(result: ToolResult | PromptResult | None) -> int:
    """Return the approximate size of a result: characters of its texts, bytes of other content."""
    if result is None:
        return 0
    if isinstance(result, ToolResult) and result.structured is not None and not result.content:
        return len(json.dumps(result.structured, default=str))
    parts = [one.content for one in result.messages] if isinstance(result, PromptResult) else result.content
    total = 0
    for one in parts:
        if isinstance(one, BinaryContent):
            total += one.size
        else:
            total += len(one.uri if isinstance(one, LinkContent) else one.text)
    return total
