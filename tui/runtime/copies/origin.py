"""How the server of a recorded request was started or reached, and the request of a call in a recording.

What is written of a server elsewhere, in a test file or a copied command, has no secret: one in `env`,
`headers` or `url` becomes `${NAME}`.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from tui.core.errors import UsageError
from tui.core.language.translate import message
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.secret_names import MARK, is_secret_header, names_a_secret
from tui.core.servers import EraChoice, Reference, ServerSpec, Transport
from tui.core.text import list_in, object_in, text_in
from tui.core.traffic import Direction, Entry, Kind, TrafficReader
from tui.runtime.recording import UNCONFIGURED
from tui.settings.locations import server_folder, state_dir
from tui.settings.references import escaped, names_in
from tui.traffic.copies.request import METHODS
from tui.traffic.record.column_parts import mark_of, places_of
from tui.traffic.record.entry_columns import EntryColumns

PAGE = 1_000


class StartsIn(Enum):
    """Why a server started in a folder."""

    CURRENT = "current"
    CHOSEN = "chosen"
    ITS_OWN = "its own"


@dataclass(frozen=True, slots=True)
class Launched:
    """How the server of a recording was started, or reached: its command, or its `url`.

    Secrets in `command`, `url` and `headers` are masked. `cwd` is absolute; "" if it is unknown. `env` are
    names. `headers` are those that were added to requests. `references` are texts with `${NAME}` by place, as
    in `ServerSpec`. `is_unconfigured`: the command line had its command or URL.
    """

    command: tuple[str, ...] = ()
    cwd: str = ""
    env: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: str = ""
    era: str = ""
    references: Mapping[str, Reference] = field(default_factory=dict)
    starts_in: StartsIn = StartsIn.CURRENT
    is_unconfigured: bool = False


def request_of_call(reader: TrafficReader, call: str, turn: int) -> int:
    """Return the seq of the request that a tool call of a turn sent, 0 if there is none."""
    for one in entries_between(reader, 0, sys.maxsize):
        cause = one.cause
        if cause is not None and (cause.call, cause.turn) == (call, turn) and is_request(one):
            return one.seq
    return 0


def request_in(entries: EntryColumns, call: str, turn: int = 0) -> int:
    """Return the seq of the request of a call in the recording of this run, 0 if there is none."""
    for at in places_of(entries.call, mark_of(call), 0, len(entries)):
        is_request = entries.kind[at] == Kind.REQUEST and entries.direction[at] == Direction.OUT
        if is_request and entries.turn[at] == turn and entries.methods.texts[entries.method[at]] in METHODS:
            return entries.seq(at)
    return 0


def is_request(entry: Entry) -> bool:
    """Return whether an entry is a request to a server that can be kept and copied."""
    return entry.kind is Kind.REQUEST and entry.direction is Direction.OUT and entry.method in METHODS


def entries_between(reader: TrafficReader, after: int, last: int) -> Iterator[Entry]:
    """Yield the entries after one, up to `last`, without their bodies."""
    while after < last and (page := reader.columns(after, min(PAGE, last - after))):
        yield from (entry for entry in page if entry.seq <= last)
        after = page[-1].seq


def about(reader: TrafficReader) -> Mapping[str, str]:
    """Return what a recording has about its run, the current folder if nothing is stored."""
    meta: Callable[[], Mapping[str, str]] | None = getattr(reader, "meta", None)
    return meta() if meta is not None else {"cwd": os.getcwd()}


STARTS = ("spawn", "connect")
"""Events with which a server starts, or is reached."""

NEAR_PAGES = 6
"""Pages of entries before the request to look at."""

OWN_HEADERS = frozenset(
    "host connection user-agent transfer-encoding cache-control last-event-id traceparent tracestate baggage"
    " cookie".split()
)
"""Headers of every request, besides those of content, of what is accepted, and of MCP."""


def launched(reader: TrafficReader, first: Entry, about: Mapping[str, str]) -> Launched | None:
    """Return how the server was started, from the last such event before a request."""
    has_endpoint = False
    near = (max(0, first.seq - PAGE * pages) for pages in range(1, NEAR_PAGES + 1))
    for place in (*near, 0):  # the first page, for a server that runs for long
        for one in reversed(reader.columns(place, PAGE)):
            if one.kind is not Kind.EVENT or one.source != first.source or one.seq >= first.seq:
                continue
            if one.method in STARTS:
                found = _launched_by(one, first, about)
                return replace(found, transport=Transport.SSE.value) if has_endpoint else found
            has_endpoint |= one.method == "endpoint"  # of HTTP+SSE only
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
    return {
        lower.get(name.lower(), name): value
        for name, value in header_pairs(detail)
        if name.lower() not in OWN_HEADERS and not name.lower().startswith(("mcp-", "accept", "content-"))
    }


def header_pairs(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the headers in the detail of an entry."""
    pairs: list[Any] = list_in(detail, "headers")
    return [(str(one[0]), str(one[1])) for one in pairs if isinstance(one, list) and len(one) == 2]


@dataclass(frozen=True, slots=True)
class Origin:
    """How the server of a call was started or reached.

    Attributes:
        name: its name, for the file.
        spec: as it ran. Only its command, URL and what goes with them are used.
        base: the absolute folder in which a relative path of its command begins.
        configured: whether a configuration of the user has it under `name`.
        names_only: whether values of `env` are unknown, because only their names were recorded.
    """

    name: str
    spec: ServerSpec
    base: str
    configured: bool = False
    names_only: bool = False

    @classmethod
    def of_spec(cls, spec: ServerSpec, folder: str, *, configured: bool) -> "Origin":
        """Return the origin of a server of this run; `folder` is the current one."""
        return cls(spec.name, spec, os.path.abspath(os.path.join(folder, spec.cwd or "")), configured)

    @classmethod
    def of_recording(cls, name: str, launched: Launched, folder: str) -> "Origin":
        """Return the origin of a server in a recording; `folder` is taken if the recording has none."""
        program, *arguments = launched.command or ("",)
        transport = Transport(launched.transport) if launched.transport in set(Transport) else Transport.STDIO
        spec = ServerSpec(
            name,
            program,
            tuple(arguments),
            env=dict.fromkeys(launched.env, ""),
            url=launched.url or None,
            headers=launched.headers,
            era=EraChoice(launched.era) if launched.era in set(EraChoice) else EraChoice.AUTO,
            references=launched.references,
            transport=transport if program or transport is not Transport.STDIO else Transport.HTTP,
            cwd=launched.cwd if launched.starts_in is StartsIn.CHOSEN else None,
            folder=launched.cwd if launched.starts_in is StartsIn.ITS_OWN else "",
        )
        return cls(name, spec, launched.cwd or folder, names_only=True)

    def url(self, redact: Callable[[str], str]) -> str:
        """Return its URL as it is written."""
        url = self.spec.url or ""
        if (reference := self.spec.references.get("url")) is not None:
            return reference.text
        is_secret = masked(url) != url or has_secret(url, redact)
        return f"${{{upper(self.name)}_URL}}" if is_secret else escaped(url)

    def value(self, kind: str, name: str, value: str, redact: Callable[[str], str]) -> str:
        """Return a variable or a header (`kind`) as it is written, a secret as a reference to a variable."""
        if (reference := self.spec.references.get(f"{kind}.{name}")) is not None:
            return reference.text
        is_header = kind == "headers"
        is_secret = is_secret_header(name) if is_header else self.names_only or names_a_secret(name)
        if is_secret or has_secret(value, redact):
            return f"${{{upper(self.name)}_{upper(name)}}}" if is_header else f"${{{name}}}"
        return escaped(value)


def origin_of(server: str, launched: Launched | None, specs: Iterable[ServerSpec], current: Path) -> Origin:
    """Return the server of a recording: a configured one that starts in the same way, or as recorded."""
    for spec in specs:
        if spec.name == server and launched is not None and not launched.is_unconfigured:
            is_same = (
                spec.shown_url == launched.url if launched.url else spec.shown_command == launched.command
            )
            if is_same:
                return Origin.of_spec(spec, str(current), configured=True)
    if launched is None:
        raise UsageError(
            message("The recording does not say how its server was started."),
            next_step=message("Call it again, and keep that call."),
        )
    return Origin.of_recording(server, launched, str(current))


def has_secret(text: str, redact: Callable[[str], str]) -> bool:
    """Return whether a text has a secret, or the mark for one."""
    return redact(text) != text or MARK.search(text) is not None


def upper(name: str) -> str:
    """Return a name as a part of that of a variable."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper() or "SERVER"
