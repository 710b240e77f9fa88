"""A recorded call that the user keeps by hand: with its server and file, compared, written.

The keep dialog shows it. The service "kept call" asks about it where there is no screen.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.home import last_change
from tui.addons.tests.keep.keeping import Keeping, without_moved
from tui.addons.tests.keep.recorded import exchange_at
from tui.addons.tests.keep.repeat import question, results_again, why_not_repeated
from tui.addons.tests.keep.target import Target, added_to
from tui.core.errors import McptuiError, UsageError, reason_of
from tui.core.language.translate import _, localized, message, n_
from tui.core.servers import ServerState
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import TrafficReader
from tui.runtime.copies.request import origin_at

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

VALUE_CHARS = 40


def read_exchange(open_reader: Callable[[], TrafficReader], seq: int, about: Mapping[str, str]) -> Exchange:
    """Return the call that an entry belongs to. Blocks. Raises UsageError or StorageError."""
    with closing(open_reader()) as reader:
        return exchange_at(reader, seq, about)


def keeping_of(runtime: "Runtime | None", exchange: Exchange, *, is_own: bool) -> Keeping:
    """Return a call as it is proposed, with the hints of its tool. Blocks. Raises UsageError."""
    if runtime is not None:
        exchange = _with_hints(runtime, exchange)
    origin, redact = origin_at(runtime, exchange.server, exchange.launched, tapped=exchange.tapped)
    return Keeping.of(exchange, origin, Path.cwd(), redact, is_own=is_own or runtime is not None)


def _with_hints(runtime: "Runtime", exchange: Exchange) -> Exchange:
    """Return an exchange with the hints of a tool that its server lists now."""
    for tool in runtime.workbench.tools(exchange.server):
        if tool.name == exchange.request.name:
            return replace(
                exchange, hints={"readOnlyHint": tool.read_only, "idempotentHint": tool.idempotent}
            )
    return exchange


def targeted(keeping: Keeping) -> tuple[Keeping, Target]:
    """Return a call with its default file. Blocks. Raises McptuiError or OSError."""
    target = keeping.target()
    return keeping.since_kept(target).proposed_for(target), target


def why_not_again(runtime: "Runtime | None", keeping: Keeping) -> str:
    """Return why the request of a call is not sent again, as a sentence, or ""."""
    exchange = keeping.draft.exchange
    if why := why_not_repeated(exchange, last_change(keeping.origin)):
        return why
    if runtime is None:
        return message("A recording has no server to call again.")
    status = runtime.host.find(exchange.server)
    if exchange.tapped or status is None or status.state is not ServerState.RUNNING:
        return message("Its server is not running here, so it is not called again.")
    return ""


async def write(runtime: "Runtime | None", keeping: Keeping, target: Target) -> str:
    """Write the case, with the calls of its server that were saved before test files; return what to say.

    Raises McptuiError or OSError.
    """
    if runtime is None or not keeping.origin.configured:
        return await asyncio.to_thread(keeping.keep, target)
    await runtime.calls.load()
    moved = keeping.moved(runtime.calls.memory, target)
    said = await asyncio.to_thread(keeping.keep, target, moved)
    try:
        await runtime.calls.change(partial(without_moved, moved))
    except McptuiError as error:
        return message("{said}\nThe saved calls are in both files now: {why}", said=said, why=str(error))
    return said


@dataclass(slots=True)
class KeptCall:
    """A call that is about to be kept, in words.

    `again` is the question before its request is sent again, "" if it is not.
    """

    runtime: "Runtime"
    keeping: Keeping
    target: Target
    next_id: Callable[[], str]
    again: str

    def lines(self) -> Iterator[str]:
        """Yield what is written where, and what varies."""
        keeping, target, draft = self.keeping, self.target, self.keeping.draft
        there, file = keeping.same_case(target), keeping.shown_path(target.path)
        note = _("new file") if target.is_new else added_to(target)
        if there is not None:
            name = quoted_name(there.name, 80)
            note = _("replaces what {name} expects", name=name)
            if keeping.is_kept_by(there):
                note = _("already kept, with this result, as {name} in {file}", name=name, file=file)
        yield _("{first}: {others}", first=file, others=note)
        for one in draft.chosen:
            yield _(
                "Varies: {where}, here {value}. Expected: {placeholder} ({why}).",
                where=clean_line(one.where, 80),
                value=clean_line(one.value, VALUE_CHARS),
                placeholder=clean_line(one.placeholder, VALUE_CHARS) or _("left out"),
                why=localized(one.why),
            )
        others = len(draft.exchange.others)
        if not draft.chosen:
            yield _("Nothing differs.") if others else _("Nothing looks like a time or an id.")
        yield (
            n_("compared with {n} other result", "compared with {n} other results", others)
            if others
            else _("no other result to compare with")
        )

    @property
    def called(self) -> tuple[str, str, Mapping[str, object]]:
        """The server, the tool and the arguments of the call."""
        exchange = self.keeping.draft.exchange
        return exchange.server, exchange.request.name, exchange.request.arguments

    async def call_again(self) -> None:
        """Send the request twice more, and compare. Raises ServerError."""
        exchange = self.keeping.draft.exchange
        results = await results_again(self.runtime, exchange.server, exchange.request, self.next_id)
        compared = await asyncio.to_thread(self.keeping.compared_with, results)
        self.keeping, self.again = compared.named(self.keeping.draft.name), ""

    async def keep(self) -> str:
        """Write the case, and return what to say. Raises McptuiError."""
        try:
            return await write(self.runtime, self.keeping, self.target)
        except OSError as error:
            raise UsageError(reason_of(error)) from None


async def kept_call(runtime: "Runtime", seq: int, next_id: Callable[[], str]) -> KeptCall:
    """Return the call of an entry of this run. Raises McptuiError."""

    def proposed() -> tuple[Keeping, Target]:
        exchange = read_exchange(runtime.recording.open_reader, seq, {"cwd": os.getcwd()})
        return targeted(keeping_of(runtime, exchange, is_own=True))

    try:
        keeping, target = await asyncio.to_thread(proposed)
    except OSError as error:
        raise UsageError(reason_of(error)) from None
    again = "" if why_not_again(runtime, keeping) else question(keeping.draft.exchange)[0]
    return KeptCall(runtime, keeping, target, next_id, again)
