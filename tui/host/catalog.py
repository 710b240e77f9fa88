"""Reads the paged listings of a server and checks each tool, resource and prompt. Does no I/O.

A malformed entry does not affect the others. It is omitted, and the user can see why a tool is missing.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.errors import reason_of
from tui.core.jsonrpc.app_views import app_view, is_app_only
from tui.core.jsonrpc.reader import Unreadable
from tui.core.language.translate import N_, as_message, message
from tui.core.permission.differences import Definition, definition_of, digest_of
from tui.core.schemas.schema_faults import schema_fault
from tui.core.text import clean, clean_line, list_in, object_in, quoted_name, start_of, text_in
from tui.core.tools import Tool
from tui.core.units import whole
from tui.core.workbench import CacheHint, PromptArgument, PromptInfo, ResourceInfo

if TYPE_CHECKING:
    from tui.core.hidden_text.scan import HiddenText

MAX_PAGES = 100
MAX_TOOLS = 10_000
MAX_CURSOR = 64 * 1024
MAX_NAME = 128
DESCRIPTION_CHARS = 2048
MAX_QUARANTINED = 200
TASKS_IN_CORE = "2025-11-25"
"""The only revision with tasks in its core; later ones have them as an extension."""

_DESCRIBING = (("properties", dict), ("$ref", str), ("anyOf", list), ("oneOf", list), ("allOf", list))
"""The keywords that describe an object's properties at the root of a schema, and their types."""

_TAGS = re.compile("[\U000e0000-\U000e0fff]+")

FetchPage = Callable[[str | None], Awaitable[Mapping[str, Any]]]
"""Requests the page at a cursor (None for the first) and returns the raw result."""

HeaderReader = Callable[[Any], Mapping[tuple[str, ...], str] | str]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The usable tools of one server, in its order, and the `quarantined` ones as (name, reason).

    `output_schemas` are by tool name; `listing_problem` says why tools/list failed or ended early, or is "".
    `headers` says by tool name which arguments are repeated in HTTP headers, and in which. `definitions` are
    the tools as they were listed, by name; `is_complete` says that no failure cut the listing short.
    """

    tools: tuple[Tool, ...] = ()
    output_schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quarantined: tuple[tuple[str, str], ...] = ()
    listing_problem: str = ""
    headers: Mapping[str, Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict, compare=False, repr=False)
    is_complete: bool = field(default=True, compare=False)

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


NO_TOOLS = Catalog()


@dataclass(slots=True)
class Walk:
    """The raw items of a paged listing.

    `note` says why it ended early; `incomplete`, whether that was a failure, so that a later listing may have
    more; `is_late`, whether it was a timeout. `ttl_ms` and `scope` are the server's caching hints, None and
    "" without them.
    """

    items: list[Any] = field(default_factory=list)
    note: str = ""
    incomplete: bool = False
    is_late: bool = False
    ttl_ms: int | None = None
    scope: str = ""

    def hear(self, page: Mapping[str, Any]) -> None:
        """Record how long a page may be cached; the list expires with the first page that does."""
        said = CacheHint.of(page, 0)
        if said.ttl_ms is not None:
            self.ttl_ms = said.ttl_ms if self.ttl_ms is None else min(said.ttl_ms, self.ttl_ms)
        if said.scope and self.scope != "private":
            self.scope = said.scope


def _stopped_by(error: Exception, page: int) -> str:
    if isinstance(error, TimeoutError):
        return message("listing stopped because page {page} took too long", page=page)
    why = reason_of(error, 160)
    return message("listing stopped because page {page} failed: {reason}", page=page, reason=why)


async def walk_pages(fetch: FetchPage, key: str) -> Walk:
    """Request page after page; return the items under `key`.

    A cursor is opaque and may be an empty string; a repeated cursor ends the listing. Many servers mean the
    end by an empty one, and return the same page for it again. Items of earlier pages are kept when a later
    page fails; an error on the first page is raised unchanged.
    """
    walk = Walk()
    before: Any = None
    cursor: str | None = None
    seen: set[str] = set()
    too_many = message("more than {limit:,} entries were listed, and the rest is omitted", limit=MAX_TOOLS)
    for number in range(1, MAX_PAGES + 1):
        try:
            page = await fetch(cursor)
        except Exception as error:  # whatever happened to page 7, pages 1 to 6 are valid
            if number == 1:
                raise
            walk.incomplete, walk.is_late = True, isinstance(error, TimeoutError)
            walk.note = _stopped_by(error, number)
            return walk
        items = page.get(key)
        walk.hear(page)
        if cursor == "" and items == before:
            return walk
        before = items
        if isinstance(items, list):
            room = MAX_TOOLS - len(walk.items)
            walk.items.extend(items[:room])
            if len(items) > room:
                walk.note = too_many
                return walk
        else:
            walk.note = message("page {number} has no list of {key}", number=number, key=key)
            walk.incomplete = True
        following = page.get("nextCursor")
        if following is None:
            return walk
        if not isinstance(following, str):
            walk.note = message("listing stopped because a cursor is not a string")
        elif len(following) > MAX_CURSOR:
            walk.note = message(
                "listing stopped because a cursor has {count:,} characters", count=len(following)
            )
        elif following in seen:
            walk.note = message(
                "listing stopped after {number} pages because cursor {cursor} was repeated",
                number=number,
                cursor=quoted_name(following, 40),
            )
        elif len(walk.items) >= MAX_TOOLS:
            walk.note = too_many
        else:
            seen.add(following)
            cursor = following
            continue
        return walk
    walk.note = message("more than {limit} pages were listed, and the rest is omitted", limit=MAX_PAGES)
    return walk


def build_catalog(
    server: str,
    walk: Walk,
    *,
    trusted: bool,
    pins: Sequence[str] = (),
    before: Catalog = NO_TOOLS,
    protocol: str = "",
    header_map: HeaderReader | None = None,
) -> Catalog:
    """Check the raw tools of a listing one by one.

    `before` is the previous catalog, whose tools are kept if an incomplete listing lacks them. `protocol` is
    the negotiated revision. `header_map` reads the headers that a schema asks for, over HTTP, or returns
    their problem.
    """
    tools: dict[str, Tool] = {}
    outputs: dict[str, Mapping[str, Any]] = {}
    headers: dict[str, Mapping[tuple[str, ...], str]] = {}
    definitions: dict[str, Definition] = {}
    scanned = {(tool.name, tool.digest): tool.hidden for tool in before.tools}
    left_out: list[tuple[str, str]] = []
    for number, raw in enumerate(walk.items, 1):
        fault = tool_fault(raw)
        wanted = header_map(raw["inputSchema"]) if header_map is not None and not fault else {}
        if fault := wanted if isinstance(wanted, str) else fault:
            left_out.append((_shown_name(raw, number), fault))
            continue
        tool = _tool(server, raw, trusted=trusted, pins=pins, protocol=protocol)
        known = tools.get(tool.name)
        if known is None:
            definitions[tool.name] = definition = definition_of(raw)
            if (hidden := scanned.get((tool.name, tool.digest))) is None:
                hidden = _hidden_in(definition)
            tools[tool.name] = replace(tool, hidden=hidden) if hidden else tool
            if isinstance(raw.get("outputSchema"), dict):
                outputs[tool.name] = raw["outputSchema"]
            if isinstance(wanted, Mapping) and wanted:
                headers[tool.name] = wanted
        elif known.digest != tool.digest:
            left_out.append((_shown_name(raw, number), message("a different tool with the same name")))
    if walk.incomplete:
        listed = {raw["name"] for raw in walk.items if isinstance(raw, dict) and _has_name(raw)}
        kept = [tool for tool in before.tools if tool.name not in listed][: max(0, MAX_TOOLS - len(tools))]
        tools |= {tool.name: tool for tool in kept}
        outputs |= {tool.name: schema for tool in kept if (schema := before.output_schemas.get(tool.name))}
        headers |= {tool.name: map_ for tool in kept if (map_ := before.headers.get(tool.name))}
        definitions |= {tool.name: before.definitions.get(tool.name, {}) for tool in kept}
    if len(left_out) > MAX_QUARANTINED:
        more = len(left_out) - MAX_QUARANTINED
        left_out[MAX_QUARANTINED:] = [("…", message("{more} more omitted", more=more))]
    whole = not walk.incomplete
    return Catalog(
        tuple(tools.values()), outputs, tuple(left_out), walk.note, headers, definitions, is_complete=whole
    )


def tool_fault(raw: Any) -> str:
    """Return why a tool cannot be offered, or ""."""
    if not isinstance(raw, dict):
        return message("is not an object")
    if isinstance(raw, Unreadable):
        return raw.why
    if not _has_name(raw):
        return message("has no name")
    name = raw["name"]
    if len(name) > MAX_NAME:
        return message("has a name of {count:,} characters (limit: {limit})", count=len(name), limit=MAX_NAME)
    if clean(name) != name or "\n" in name or "\t" in name:
        return message("has control or invisible characters in its name")
    schema: Any = raw.get("inputSchema")
    if fault := schema_fault(schema):
        return message(
            "its inputSchema {fault}", fault=fault if "inputSchema" in raw else message("is missing")
        )
    # "type" is optional if the schema describes properties.
    is_described = any(isinstance(schema.get(key), kind) for key, kind in _DESCRIBING)
    if schema.get("type", "object" if is_described else None) != "object":
        return message('its inputSchema does not have "type": "object"')
    if raw.get("outputSchema") is not None and (fault := schema_fault(raw["outputSchema"])):
        return message("its outputSchema {fault}", fault=fault)
    return ""


def _has_name(raw: Mapping[str, Any]) -> bool:
    return isinstance(raw.get("name"), str) and bool(raw["name"].strip())


def _shown_name(raw: Any, number: int) -> str:
    name = raw.get("name") if isinstance(raw, dict) else None
    shown = clean_line(name, 60) if isinstance(name, str) else ""
    return shown or f"number {number}"


def _tool(server: str, raw: Mapping[str, Any], *, trusted: bool, pins: Sequence[str], protocol: str) -> Tool:
    hints = object_in(raw, "annotations")
    title = raw.get("title") or hints.get("title")
    destructive = hints.get("destructiveHint")
    return Tool(
        server=server,
        name=raw["name"],
        title=clean_line(title, 120) if isinstance(title, str) else "",
        description=described(raw.get("description")),
        schema=raw["inputSchema"],
        read_only=hints.get("readOnlyHint") is True,
        destructive=destructive if isinstance(destructive, bool) else None,
        idempotent=hints.get("idempotentHint") is True,
        trusted=trusted,
        digest=digest_of(definition_of(raw)),
        pinned=any(fnmatchcase(raw["name"], pattern) for pattern in pins),
        has_icon=isinstance(raw.get("icons"), list) and bool(raw["icons"]),
        withheld=_withheld(raw, protocol),
        app_view=app_view(raw),
    )


NOT_FOR_MODELS = message("meant for the app (_meta.ui.visibility)")
NEEDS_LEGACY_TASKS = message(
    "requires tasks of revision {revision}, which mcptui does not support", revision=TASKS_IN_CORE
)


def _withheld(raw: Mapping[str, Any], protocol: str) -> str:
    """Return why a usable tool is not offered to the model, or ""."""
    if is_app_only(raw):
        return NOT_FOR_MODELS
    if protocol == TASKS_IN_CORE and object_in(raw, "execution").get("taskSupport") == "required":
        return NEEDS_LEGACY_TASKS
    return ""


def described(text: Any, limit: int = DESCRIPTION_CHARS) -> str:
    """Return a description cleaned and truncated to `limit` characters.

    A run of Unicode tag characters, which only a model would read, becomes one U+FFFD.
    """
    if not isinstance(text, str):
        return ""
    head = clean(_TAGS.sub("\ufffd", start_of(text, limit))).strip()
    if len(text) <= limit:
        return head
    return f"{head}… [truncated: {len(text):,} characters]"


MAX_URI = 8_192
MAX_ARGUMENTS = 200
MAX_REASONS = 3

T = TypeVar("T")


def resource_infos(server: str, items: list[Any], *, template: bool) -> tuple[list[ResourceInfo], str]:
    """Return the resources, or resource templates, among the raw items, and what was omitted, or ""."""
    return _readable_entries(
        items, lambda raw: _resource(server, raw, template), N_("templates") if template else N_("resources")
    )


def prompt_infos(server: str, items: list[Any]) -> tuple[list[PromptInfo], str]:
    """Return the prompts among the raw items, and what was omitted, or ""."""
    return _readable_entries(items, lambda raw: _prompt(server, raw), N_("prompts"))


def _readable_entries(
    items: list[Any], read: Callable[[Mapping[str, Any]], T | None], what: str
) -> tuple[list[T], str]:
    damaged = [
        f"{_shown_name(raw, number)}: {raw.why}"
        for number, raw in enumerate(items, 1)
        if isinstance(raw, Unreadable)
    ]
    sound = [raw for raw in items if isinstance(raw, Mapping) and not isinstance(raw, Unreadable)]
    found = [made for raw in sound if (made := read(raw)) is not None]
    missing = len(items) - len(found)
    if not missing:
        return found, ""
    reasons = f" ({'; '.join(damaged[:MAX_REASONS])})" if damaged else ""
    return found, message(
        "{missing:,} of {items:,} {what} are malformed and were omitted{reasons}.",
        missing=missing,
        items=len(items),
        what=as_message(what),
        reasons=reasons,
    )


def _resource(server: str, raw: Mapping[str, Any], template: bool) -> ResourceInfo | None:
    uri = raw.get("uriTemplate" if template else "uri")
    if not isinstance(uri, str) or not uri or len(uri) > MAX_URI:
        return None
    size = raw.get("size")
    return ResourceInfo(
        server,
        uri,
        name=text_in(raw, "name"),
        title=text_in(raw, "title"),
        description=text_in(raw, "description"),
        mime=text_in(raw, "mimeType"),
        size=whole(size) if isinstance(size, int) else None,
        template=template,
        hidden=_hidden_in(raw),
    )


def _prompt(server: str, raw: Mapping[str, Any]) -> PromptInfo | None:
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        return None
    arguments = tuple(
        PromptArgument(item["name"], text_in(item, "description"), item.get("required") is True)
        for item in list_in(raw, "arguments")[:MAX_ARGUMENTS]
        if isinstance(item, Mapping) and isinstance(item.get("name"), str)
    )
    return PromptInfo(
        server, name, text_in(raw, "title"), text_in(raw, "description"), arguments, _hidden_in(raw)
    )


def _hidden_in(raw: Mapping[str, Any]) -> "tuple[HiddenText, ...]":
    # Compiles many patterns, which a start without servers does not need.
    from tui.core.hidden_text.scan import in_definition

    return in_definition(raw)
