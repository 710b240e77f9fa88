"""Selects the tools to offer to a model, of the running servers and under names it accepts. Pure.

Tools are always in the order of their servers, and each is converted once, so that an endpoint's prompt cache
stays valid.

`find_tools` is offered while the model is not offered all tools. It searches all tools by name, description
and arguments, and loads the best matches. The loaded tools are read from the conversation, so they are the
same after resuming, branching and summarizing.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tui.core.context.built_in_tools import (
    FIND_TOOLS,
    built_in,
    built_in_tool,
    number_property,
    own_server,
    text_property,
)
from tui.core.context.context_meter import estimate_tool
from tui.core.context.tool_ranking import Key, OfferContext, choose, key_of, ranked, relevance
from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage
from tui.core.language.translate import listed, message, n_message, sentences
from tui.core.matching import folded_name
from tui.core.ports import MAX_TOOLS, ToolSpec
from tui.core.schemas.schemas import SchemaRefused, model_schema
from tui.core.schemas.tool_names import NameTable
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.units import and_more, plural

FOUND, MOST_FOUND = 5, 20
"""Tools that a search loads: the default, and the maximum."""

CLOSE = 0.3
"""The share of the best match's score that another match needs to be loaded too."""

MAX_SERVERS = 20
MAX_LINE = 160
MAX_LOADED = 60
"""Maximum number of loaded tools that are remembered, newest first."""

_LINE = re.compile(r"^- ([a-zA-Z_][a-zA-Z0-9_-]{0,63}): ", re.MULTILINE)
_PROPERTIES: Mapping[str, Any] = {
    "query": text_property("What the tool should do, in a few words, or its name"),
    "limit": number_property(f"Maximum number of tools to load (default: {FOUND})", 1, maximum=MOST_FOUND),
}


def find_tools(tools: Sequence[Tool]) -> Tool:
    """Return the tool that searches `tools`; its description changes only with the servers."""
    others = Counter(tool.server for tool in tools if not built_in(tool))
    about = (
        "Search all tools and load the best matches. Not all tools are loaded: search before you say "
        "that there is no tool for something. Loaded tools can be called from the next step on. "
    )
    return built_in_tool(own_server(tools), FIND_TOOLS, about + _counts(others), _PROPERTIES, "query")


def _counts(servers: Counter[str]) -> str:
    named = [f"{clean_line(server, 40)} ({number})" for server, number in servers.most_common(MAX_SERVERS)]
    if more := len(servers) - len(named):
        named.append(plural(more, "more server"))
    return f"Tools by server: {', '.join(named)}."


def matches(query: str, table: NameTable, count: int = FOUND) -> list[Tool]:
    """Return the best matches of a query: the tool with that name, then by `relevance`, then in order."""
    tools = [tool for _, tool in table.items() if not built_in(tool)]
    scores = relevance(query, tools)
    least = max(scores, default=0.0) * CLOSE
    ranks = sorted((-score, at) for at, score in enumerate(scores) if score and score >= least)
    named = table.resolve(query.strip())
    found = [tools[at] for _, at in ranks]
    if named is not None and not built_in(named):
        found = [named, *(tool for tool in found if tool is not named)]
    return found[:count]


def result_text(query: str, table: NameTable, loaded: Sequence[Tool], too_large: Sequence[Tool]) -> str:
    """Return the text for the model: the tools that its search has loaded, one per line.

    Matching tools that are too large to load are named after them.
    """
    if not loaded and not too_large:
        servers = Counter(tool.server for _, tool in table.items() if not built_in(tool))
        return f"No tool matches “{clean_line(query, 100)}”. Try other words. {_counts(servers)}"
    lines = [
        f"- {table.name_of(tool)}: {clean_line(tool.description or tool.title or tool.name, MAX_LINE)}"
        for tool in loaded
    ]
    text = f"Loaded {plural(len(loaded), 'tool')}:\n" + "\n".join(lines)
    if too_large:
        names = ", ".join(table.name_of(tool) for tool in too_large)
        text = f"{text if loaded else 'Loaded no tools.'}\nTheir definitions are too large to load: {names}"
    return text


def loaded_in(talk: Sequence[Message], table: NameTable, own: Tool) -> tuple[Key, ...]:
    """Return the tools that searches in this conversation have loaded, newest first."""
    ids = {
        call.id
        for message in talk
        if isinstance(message, AssistantMessage)
        for call in message.calls
        if folded_name(call.name).endswith(FIND_TOOLS) and table.resolve(call.name) is own
    }
    found: dict[Key, None] = {}
    if not ids:
        return ()
    for said in reversed(talk):
        if isinstance(said, ToolMessage) and said.call_id in ids and not said.is_error:
            for one in _LINE.findall(said.text):
                if (tool := table.resolve(one)) is not None:
                    found.setdefault(key_of(tool))
        if len(found) >= MAX_LOADED:
            break
    return tuple(found)[:MAX_LOADED]


MAX_DESCRIPTION = 1024
FEW = 16
"""A number of tools that every endpoint accepts."""

NOT_LOADED = message("not loaded: the model can find it with find_tools")
LOADED = message("loaded: the model asked for it")

MAX_NAMED = 3
"""Maximum tools named in a notice."""

MAX_MADE = 4096


@dataclass(frozen=True, slots=True)
class _ConvertedTool:
    """A tool as a model reads it and its tokens, or the reason why it is never sent."""

    spec: ToolSpec | None
    tokens: int = 0
    why_not: str = ""


class ToolSelection:
    """Makes offers of at most `max_tools`; lives as long as the conversation."""

    def __init__(self, max_tools: int = MAX_TOOLS) -> None:
        self.max_tools = max_tools
        self._made: dict[tuple[str, str, str], _ConvertedTool] = {}
        self._last: frozenset[Key] = frozenset()
        self.marks: Mapping[Key, str] = {}
        """Remarks on tools of the last offer: not loaded and why, loaded on request, or pinned."""
        self.revision = 0
        """Grows with each offer."""
        self._explained: object = None

    def offer(
        self, tools: Sequence[Tool], *, window: int | None = None, talk: Sequence[Message] = ()
    ) -> "ToolOffer":
        """Return the offer of a turn; omitted tools are explained in full only once."""
        offer = self.preview(tools, window=window, talk=talk)
        self.offered(offer)
        situation = (self.max_tools, window, frozenset(map(key_of, tools)))
        if offer.notice and situation == self._explained:
            offer.notice = n_message(
                "{part} of {n} tool are offered to the model.",
                "{part} of {n} tools are offered to the model.",
                len(tools),
                part=len(offer.keys),
            )
        self._explained = situation if offer.notice else None
        return offer

    def preview(
        self, tools: Sequence[Tool], *, window: int | None = None, talk: Sequence[Message] = ()
    ) -> "ToolOffer":
        """Return the offer that a turn would begin with now."""
        context = OfferContext(self.max_tools, window, tuple(talk), earlier=self._last)
        return ToolOffer(tools, context, self)

    def offered(self, offer: "ToolOffer") -> None:
        self._last = offer.keys
        self.marks = offer.marks()
        self.revision += 1

    def made(self, name: str, tool: Tool) -> _ConvertedTool:
        if built_in(tool):  # few, and their digest does not change with the servers that they name
            return _make(name, tool)
        key = (name, tool.server, tool.digest)
        if (made := self._made.get(key)) is None:
            if len(self._made) >= MAX_MADE:
                self._made.clear()
            made = self._made[key] = _make(name, tool)
        return made


def _make(name: str, tool: Tool) -> _ConvertedTool:
    try:
        schema = model_schema(tool.schema)
    except SchemaRefused as error:
        return _ConvertedTool(None, why_not=message("its schema has {problem}", problem=str(error)))
    except Exception as error:
        # A schema is whatever a server sends: an unforeseen one must cost only its own tool.
        name = type(error).__name__
        return _ConvertedTool(None, why_not=message("its schema is invalid ({error})", error=name))
    description = clean_line(tool.description or tool.title or tool.name, MAX_DESCRIPTION)
    spec = ToolSpec(name=name, description=description, schema=schema, server=tool.server, tool=tool.name)
    return _ConvertedTool(spec, estimate_tool(spec))


class ToolOffer:
    """The tools of one step, their names, and how a model reads them.

    Attributes:
        table: resolves the names that a model writes, also those of tools that are not offered.
        specs: what is sent to the model; `keys` are the tools in it, without `find_tools`.
        quarantined: tools that are never sent, each with the reason.
        searches: `find_tools` is offered, because tools were left out.
        notice: about tools that were left out, or "".
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        context: OfferContext | None = None,
        tool_selection: ToolSelection | None = None,
    ) -> None:
        self._tools = tuple(tools)
        self._context = context or OfferContext()
        self._tool_selection = tool_selection or ToolSelection()
        self.table = NameTable(tools)
        refused: dict[str, tuple[Tool, str]] = {}

        def tokens_of(name: str, tool: Tool) -> int | None:
            made = self._tool_selection.made(name, tool)
            if made.spec is None:
                refused[name] = (tool, made.why_not)
            return None if made.spec is None else made.tokens

        searches = find_tools(tools)
        with_search = NameTable([*tools, searches])
        if not self._context.loaded and not self._context.turn:  # a new turn
            self._context = replace(
                self._context, loaded=loaded_in(self._context.talk, with_search, searches)
            )
        self.keys, everything, self._order = choose(self.table, self._context, tokens_of)
        self.quarantined = tuple(refused.values())
        offered = set(self.keys)
        left = len(self.table.items()) - len(self.keys) - len(self.quarantined)
        self.searches = not everything and left > 0 and self._context.max_tools > 1
        if self.searches:
            self.table = with_search
            offered.add(key_of(searches))
        self.specs = tuple(
            spec
            for name, tool in self.table.items()
            if key_of(tool) in offered and (spec := self._tool_selection.made(name, tool).spec) is not None
        )
        self.notice = sentences(self._refused(), "" if everything else self._left_out())

    def __len__(self) -> int:
        return len(self.specs)

    def marks(self) -> Mapping[Key, str]:
        marks = {key_of(tool): message("not offered: {reason}", reason=why) for tool, why in self.quarantined}
        for tool in self._tools:
            if (key := key_of(tool)) not in self.keys:
                marks.setdefault(key, NOT_LOADED)
            elif tool.pinned:
                marks[key] = message("pinned")
            elif self.searches and key in self._context.loaded:
                marks[key] = LOADED
        return marks

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The names of the offered tools, most important first; empty if there are few."""
        if len(self.specs) <= FEW:
            return ()
        order = self._order or ranked(self.table, self._context)
        own = [one for one in self.table.items() if built_in(one[1]) == FIND_TOOLS]
        best = dict.fromkeys(self.table.name_of(tool) for _, tool in (*own, *order))
        offered = {spec.name for spec in self.specs}
        return tuple(name for name in best if name in offered)

    def renewed(self, tools: Sequence[Tool]) -> "ToolOffer":
        """Return the offer of `tools` in the same turn: this one if nothing changed.

        Offered tools stay offered while they exist; new tools take free positions.
        """
        if tuple(tools) == self._tools:
            return self
        return self._next(tools, self._context.loaded)

    def is_loaded(self, tool: Tool) -> bool:
        return key_of(tool) in self.keys or built_in(tool) == FIND_TOOLS

    def loading(self, tools: Sequence[Tool]) -> "ToolOffer":
        """Return the offer of the same turn with these tools, which take the place of others."""
        keys = dict.fromkeys([*map(key_of, tools), *self._context.loaded])
        return self._next(self._tools, tuple(keys)[:MAX_LOADED])

    def _next(self, tools: Sequence[Tool], loaded: tuple[Key, ...]) -> "ToolOffer":
        offer = ToolOffer(tools, replace(self._context, turn=self.keys, loaded=loaded), self._tool_selection)
        self._tool_selection.offered(offer)
        return offer

    def search(self, query: str, count: int) -> tuple["ToolOffer", str]:
        """Load the tools that match a query best; return the new offer, and the text for the model."""
        found = matches(query, self.table, count)
        offer = self.loading(found)
        loaded = [tool for tool in found if offer.is_loaded(tool)]
        return offer, result_text(query, self.table, loaded, [tool for tool in found if tool not in loaded])

    def _refused(self) -> str:
        if not self.quarantined:
            return ""
        named = [
            message("{name} ({reason})", name=_shown_name(tool), reason=why) for tool, why in self.quarantined
        ]
        return message("Not offered to the model: {names}.", names=and_more(named, MAX_NAMED))

    def _left_out(self) -> str:
        left = [tool for _, tool in self.table.items() if not self.is_loaded(tool)]
        if len(left) <= len(self.quarantined):
            return ""
        context = self._context
        if len(self.specs) >= context.max_tools - 1:
            why = message("it accepts {most}", most=context.max_tools)
        else:
            window = f"{context.window:,}"
            why = message("more would exceed the context window of {window} tokens", window=window)
        servers = Counter(tool.server for tool in left).most_common(MAX_NAMED)
        most = [
            message("{count} of {server}", count=count, server=clean_line(server, 40))
            for server, count in servers
        ]
        pinned = [_shown_name(tool) for tool in left if tool.pinned][:MAX_NAMED]
        return sentences(
            n_message(
                "{part} of {n} tool are offered to the model because {reason}.",
                "{part} of {n} tools are offered to the model because {reason}.",
                len(self._tools),
                part=len(self.keys),
                reason=why,
            ),
            message(
                "The model can find and load the others with {tool}: {counts}.",
                tool=FIND_TOOLS,
                counts=listed(most),
            ),
            message("Pinned but not loaded: {names}.", names=listed(pinned)) if pinned else "",
            message('Pin tools with pin = ["name*"] under [servers.NAME].'),
        )


def _shown_name(tool: Tool) -> str:
    return f"{clean_line(tool.server, 40)} › {clean_line(tool.name, 60)}"
