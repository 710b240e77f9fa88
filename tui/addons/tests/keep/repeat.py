"""Sends a kept request again to find what varies in its result: after a yes, and if that changes nothing."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tui.addons.tests.keep.draft import Draft
from tui.addons.tests.keep.exchange import Exchange, Other
from tui.addons.tests.keep.home import Changed
from tui.addons.tests.suite.case import Request, RequestKind, as_sent
from tui.core.comparison.placeholders import same
from tui.core.errors import ServerError
from tui.core.language.translate import message
from tui.core.text import clean_line, compact, quoted_name
from tui.core.units import plural
from tui.runtime.copies.origin import request_in

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

TIMES = 2
"""How often a request is sent again."""

ARGUMENT_CHARS = 200


def why_not_repeated(exchange: Exchange, changed: Changed | None = None) -> str:
    """Return why a request is not sent again, as a sentence, or "".

    `changed` is the newest file of the command: the server of a call before that was another one.
    """
    request = exchange.request
    if request.kind is RequestKind.LIST:
        return message("Lists are not requested again.")
    if changed is not None and 0 < exchange.at < changed.at:
        name = clean_line(changed.name, 80)
        return message(
            "{name} has changed since this call. To find what varies, call it again, and keep that call.",
            name=name,
        )
    if exchange.answers:
        return message("The server asked for input, so it is not called again.")
    hints = exchange.hints
    if request.kind is not RequestKind.TOOL or hints.get("readOnlyHint") is True:
        return ""
    if hints.get("idempotentHint") is True:
        return ""
    name = clean_line(request.name, 60)
    return message(
        "{name} is not marked read-only or idempotent, so it is not called again. "
        "To find what varies, call it twice more with the same arguments, then keep it.",
        name=name,
    )


def compared_words(draft: Draft) -> str:
    """Return with how many results of equal requests a draft was compared, and what that found, or ""."""
    number = len(draft.exchange.others)
    differing = len(draft.differing)
    found = f"{plural(differing, 'part')} {'differs' if differing == 1 else 'differ'}"
    said = f"Compared with {plural(number, 'other result')}: {found if differing else 'nothing differs'}."
    first, *rest = draft.exchange.others or ({},)
    if differing and rest and all(same(first, one) for one in rest):
        said += " They agree: if the server has changed since this call, call it again, and keep that call."
    return said if number else ""


def question(exchange: Exchange) -> tuple[str, str]:
    """Return the question before a request is sent again, and what it is about: tool and arguments."""
    request = exchange.request
    what, server = clean_line(request.name, 80), clean_line(exchange.server, 60)
    name = quoted_name(what)
    if request.kind is RequestKind.READ:
        asked = message("Read {name} twice more, to find what varies?", name=name)
    elif request.kind is RequestKind.PROMPT:
        asked = message("Get {name} twice more, to find what varies?", name=name)
    elif exchange.hints.get("readOnlyHint") is True:
        asked = message(
            "Call {name} twice more, to find what varies? {server} marks it as read-only.",
            name=name,
            server=server,
        )
    else:
        asked = message(
            "Call {name} twice more, to find what varies? {server} marks it as idempotent.",
            name=name,
            server=server,
        )
    about = f"{what} {compact(request.arguments, ARGUMENT_CHARS) if request.arguments else ''}".strip()
    return asked, about


async def results_again(
    runtime: "Runtime", server: str, request: Request, next_id: Callable[[], str]
) -> list[Other]:
    """Send a request again, and return the results.

    Raises ServerError.
    """
    seconds = runtime.turn_context.limits.call_timeout
    method, params = as_sent(request)
    found = list[tuple[str, Mapping[str, Any]]]()
    for _ in range(TIMES):
        call = next_id()
        answer = await runtime.workbench.request(
            server, method, params, call=call, seconds=seconds, whole=False
        )
        if not isinstance(answer.result, Mapping):
            said = answer.error.get("message") if answer.error is not None else ""
            why = answer.problem or clean_line(str(said), 300) or message("there was no result.")
            raise ServerError(message("calling it again failed: {why}", why=why))
        found.append((call, answer.result))
    await asyncio.to_thread(_flushed, runtime)
    entries = runtime.recording.entries
    now = time.time()
    return [
        (result, max(0, entries.latency_of(request_in(entries, call))) / 1e6, now) for call, result in found
    ]


def _flushed(runtime: "Runtime") -> None:
    """Wait until all traffic is in the recording."""
    runtime.recording.open_reader().close()
