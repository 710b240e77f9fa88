"""How the server of a recorded request was started, or reached. Blocks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tui.addons.tests.keep.exchange import Launched, StartsIn
from tui.addons.tests.suite.references import names_in
from tui.core.servers import Reference
from tui.core.text import list_in, object_in, text_in
from tui.core.traffic import Entry, Kind, TrafficReader
from tui.runtime.recording import UNCONFIGURED
from tui.settings.locations import server_folder, state_dir

STARTS = ("spawn", "connect")
"""Events with which a server starts, or is reached."""

PAGE = 1_000
NEAR_PAGES = 6
"""Pages of entries before the request to look at."""

OWN_HEADERS = frozenset(
    "host connection user-agent transfer-encoding cache-control last-event-id traceparent tracestate baggage"
    " cookie".split()
)
"""Headers of every request, besides those of content, of what is accepted, and of MCP."""


def launched(reader: TrafficReader, first: Entry, about: Mapping[str, str]) -> Launched | None:
    """Return how the server was started, from the last such event before a request."""
    near = (max(0, first.seq - PAGE * pages) for pages in range(1, NEAR_PAGES + 1))
    for place in (*near, 0):  # the first page, for a server that runs for long
        for one in reversed(reader.columns(place, PAGE)):
            is_start = one.kind is Kind.EVENT and one.method in STARTS
            if is_start and one.source == first.source and one.seq < first.seq:
                return _launched_by(one, first, about)
    return None


def _launched_by(event: Entry, request: Entry, about: Mapping[str, str]) -> Launched:
    detail, folder = event.detail, text_in(event.detail, "cwd")
    references = dict(_references(detail))
    is_remote = event.method == "connect"
    return Launched(
        tuple(word for word in list_in(detail, "argv") if isinstance(word, str)),
        "" if is_remote else folder or about.get("cwd", ""),
        tuple(name for name in list_in(detail, "env") if isinstance(name, str)),
        url=text_in(detail, "url"),
        headers=_headers(request.detail, references) if is_remote else {},
        transport=text_in(detail, "transport"),
        era=text_in(detail, "era"),
        references=references,
        starts_in=_starts_in(folder),
        is_unconfigured=about.get("server") == UNCONFIGURED,
    )


def _references(detail: Mapping[str, Any]) -> Iterator[tuple[str, Reference]]:
    for place, text in object_in(detail, "references").items():
        found = Reference(text, names_in(text)[0]) if isinstance(text, str) else None
        if found is not None and found.is_plain:
            yield place, found


def _starts_in(folder: str) -> StartsIn:
    """Return why a server started in the folder of its event; that of a server is in the state folder."""
    if not folder:
        return StartsIn.CURRENT
    is_own = Path(folder).parts[-3:-1] == (state_dir().name, server_folder("any").parent.name)
    return StartsIn.ITS_OWN if is_own else StartsIn.CHOSEN


def _headers(detail: Mapping[str, Any], references: Mapping[str, Reference]) -> Mapping[str, str]:
    """Return the headers of a request that neither HTTP nor MCP adds itself, named as in `references`."""
    names = {place.removeprefix("headers."): place for place in references if place.startswith("headers.")}
    lower = {name.lower(): name for name in names}
    found: dict[str, str] = {}
    for one in list_in(detail, "headers"):
        match one:
            case [str(name), str(value)] if name.lower() not in OWN_HEADERS and not name.lower().startswith(
                ("mcp-", "accept", "content-")
            ):
                found[lower.get(name.lower(), name)] = value
    return found
