"""The tools, resources, prompts and tasks of a server, as items of one type; resources as a tree. Pure."""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from tui.core import units
from tui.core.language.translate import N_, _, localized, message, n_
from tui.core.matching import has_words
from tui.core.tasks import Task
from tui.core.text import clean_line
from tui.core.tools import Tool, is_off
from tui.core.workbench import CallKey, CallKind, PromptInfo, ResourceInfo
from tui.ui.forms.form_rows import FormHead
from tui.ui.widgets.rows import Row, joined, wrap

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens


_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]{0,400})\}")
_RESERVED = ":/?#[]@!$&'()*+,;="
MOST_VARIABLES = 50

NO_MARKS: Mapping[str, str] = MappingProxyType({})
PINNED = N_("pinned")
UNALARMING = (PINNED, N_("loaded"), N_("not loaded"), N_("off"))
"""Prefixes of marks that are not warnings."""

NOT_OFFERED = "not offered: "
"""Prefix of a mark that gives the reason why the model is not offered a tool."""

OFF = message("off: disabled by you")


ItemVerb = Literal["call", "read", "get", "fetch"]
"""The action for an item, as on its button."""


@dataclass(frozen=True, slots=True)
class Item:
    """A tool, resource, template, prompt or task of a server; its texts are cleaned.

    Attributes:
        key: identifies it among those of its server.
        note: a word or two next to the name.
        schema: the JSON Schema of its arguments, an object.
        warning: why a call needs confirmation, or "".
        mark: its status for the model, such as pinned, repaired, or why it is not offered, or "".
        tokens: the tokens of its definition in each model request, as text, or "".
    """

    key: str
    label: str
    note: str
    about: Tool | ResourceInfo | PromptInfo | Task
    verb: ItemVerb
    schema: Mapping[str, Any] = field(default_factory=dict)
    warning: str = ""
    mark: str = ""
    size: str = ""
    tokens: str = field(default="", compare=False)

    def call_key(self, server: str) -> CallKey:
        """Return the key under which its arguments are stored."""
        match self.about:
            case Tool(name=name):
                return CallKey(server, CallKind.TOOL, name)
            case ResourceInfo(uri=uri):
                return CallKey(server, CallKind.RESOURCE, uri)
            case PromptInfo(name=name):
                return CallKey(server, CallKind.PROMPT, name)
            case Task():
                return CallKey(server, CallKind.REQUEST, "tasks/get")

    @property
    def is_offered(self) -> bool:
        """Whether it may be offered to the model."""
        return self.mark != OFF and not self.mark.startswith(NOT_OFFERED)

    def matches(self, typed: str) -> bool:
        """Return whether its name, title and description contain every word of a typed text."""
        return has_words(f"{self.label}\n{self.about.title}\n{self.about.description[:4000]}", typed)


def item_key(kind: Literal["tool", "prompt", "resource", "template", "task"], name: str) -> str:
    """Return the key of an item, from its name, URI or id."""
    return f"{kind} {name}"


def of_tools(
    tools: Iterable[Tool],
    marks: Mapping[tuple[str, str], str] | None = None,
    off: Sequence[str] = (),
    tokens: "DefinitionTokens | None" = None,
) -> list[Item]:
    """Return tools as items; `marks` are their status for the model, `off` patterns of those turned off."""
    items: list[Item] = []
    for tool in tools:
        note = (N_("read-only") if tool.trusted else N_("marked read-only")) if tool.read_only else ""
        note = N_("destructive") if tool.destructive else note
        name = clean_line(tool.name, 60)
        warning = _("{tool} may delete or overwrite data, according to the server.", tool=name)
        size = tokens.tools.get(tool.name) if tokens is not None else None
        items.append(
            Item(
                key=item_key("tool", tool.name),
                label=clean_line(tool.name, 120),
                note=" · ".join(filter(None, (note, N_("app") if tool.app_view else ""))),
                about=tool,
                verb="call",
                schema=tool.schema,
                warning=warning if tool.destructive else "",
                mark=mark_of(tool, (marks or {}).get((tool.server, tool.name), ""), off),
                tokens=localized(tokens.words(size)) if tokens is not None and size is not None else "",
            )
        )
    return items


def of_tasks(tasks: Iterable[Task]) -> list[Item]:
    """Return background tasks as items, newest first.

    An item only contains data that does not change, so that it keeps its place and its calls.
    """
    now = time.time()
    return [
        Item(
            key=item_key("task", task.id),
            label=f"{clean_line(task.tool, 100)} {units.clock_time(task.created, now)}",
            note=N_("task"),
            about=Task(task.server, task.origin, task.id, task.tool, task.created),
            verb="fetch",
            schema={"type": "object", "properties": {}, "additionalProperties": False},
        )
        for task in reversed(tuple(tasks))
    ]


def mark_of(tool: Tool, known: str, off: Sequence[str]) -> str:
    """Return the status of a tool for the model: why it is not offered, turned off, or `known`."""
    if tool.withheld:
        return message("not offered: {why}", why=tool.withheld)
    return OFF if is_off(tool.name, off) else clean_line(known, 400)


def of_resources(resources: Iterable[ResourceInfo], marks: Mapping[str, str] = NO_MARKS) -> list[Item]:
    """Return resources and templates as items, the templates last; `marks` are remarks by URI."""
    return [
        Item(
            key=item_key("template" if one.template else "resource", one.uri),
            label=clean_line(one.name or one.title or one.uri, 120),
            note=N_("template") if one.template else clean_line(one.mime, 24),
            about=one,
            verb="read",
            mark=marks.get(one.uri, ""),
            schema={
                "type": "object",
                "properties": {name: {"type": "string"} for name in variables(one.uri) if one.template},
                "required": variables(one.uri, required=True) if one.template else [],
                "additionalProperties": False,
            },
            size=units.size(one.size) if one.size is not None else "",
        )
        for one in sorted(resources, key=lambda one: one.template)
    ]


def of_prompts(prompts: Iterable[PromptInfo]) -> list[Item]:
    """Return prompts as items."""
    return [
        Item(
            key=item_key("prompt", prompt.name),
            label=clean_line(prompt.name, 120),
            note=n_("{n} argument", "{n} arguments", len(prompt.arguments)) if prompt.arguments else "",
            about=prompt,
            verb="get",
            schema=prompt.schema,
        )
        for prompt in prompts
    ]


def head_of(item: Item, *, has_output_schema: bool = False) -> FormHead:
    """Return what the form of an item shows above its fields."""
    title = clean_line(item.about.title, 120)
    title = f"   {title}" if title not in ("", item.label) else ""
    row: Row = ((f"  {item.label}", "text bold"), (title, "dim"))

    def facts(columns: int) -> list[Row]:
        room, rows = max(8, columns - 2), list[Row]()
        if hints := tuple(_hints(item, has_output_schema)):
            rows.append((("  ", ""), *joined(((hint,) for hint in hints), ((" · ", "dim"),), room)))
        if view := item.about.app_view if isinstance(item.about, Tool) else "":
            words = _("has an app view (not shown here): {uri}", uri=clean_line(view, 120))
            rows += wrap(((words, "dim"),), room, first=(("  ", ""),))
        if item.mark:
            style = "dim" if item.mark.partition(":")[0] in UNALARMING else "warn"
            rows += wrap(
                ((f"{_('For the model')}   {localized(item.mark)}", style),), room, first=(("  ", ""),)
            )
        for one in () if isinstance(item.about, Task) else item.about.hidden:
            place = (f"{clean_line(_(one.place), 80)}: {_(one.sign.value)}   ", "warn")
            rows += wrap((place, (clean_line(one.excerpt), "dim")), room, first=(("  ! ", "warn"),))
        return rows

    empty = _("No arguments") if item.verb in ("call", "get") else ""
    return FormHead(row, facts, item.about.description, empty)


def _hints(item: Item, has_output_schema: bool) -> Iterator[tuple[str, str]]:
    about = item.about
    match about:
        case Tool():
            yield from _tool_hints(about, item.tokens)
            if has_output_schema:
                yield _("structured result"), "dim"
            if about.has_icon:
                yield _("has an icon"), "dim"
        case Task():
            yield _("running on the server. Fetch waits for its result"), "dim"
        case ResourceInfo():
            yield clean_line(about.uri, 400), "tool"
            if about.mime:
                yield clean_line(about.mime, 60), "dim"
            if about.size is not None:
                yield units.size(about.size), "dim"


def _tool_hints(tool: Tool, tokens: str) -> Iterator[tuple[str, str]]:
    """Yield hints on a tool's effects and costs, the most important first: a narrow pane omits the last."""
    if tool.destructive:
        yield f"! {_('destructive')}", "warn"
    if tool.read_only and tool.trusted:
        yield _("read-only"), "ok"
    if tokens:
        yield tokens, "dim"
    if tool.read_only and not tool.trusted:
        yield _("marked read-only by the server"), "dim"
    if tool.destructive is False and not tool.read_only:
        trusted = (_("non-destructive"), "ok")
        yield trusted if tool.trusted else (_("marked non-destructive by the server"), "dim")
    if tool.idempotent:
        yield _("idempotent") if tool.trusted else _("marked idempotent by the server"), "dim"


# ---- URI templates (RFC 6570, level 3, and the modifiers of level 4 for strings) ----


def variables(template: str, *, required: bool = False) -> list[str]:
    """Return the distinct names of a template's variables, in order.

    Those of a query or fragment are not `required`.
    """
    names: dict[str, None] = {}
    for match in _EXPRESSION.finditer(template):
        if not (required and match.group(1) in ("?", "&", "#")):
            names |= dict.fromkeys(_name(one) for one in match.group(2).split(","))
    return [name for name in names if name][:MOST_VARIABLES]


def _name(variable: str) -> str:
    return variable.partition(":")[0].rstrip("*").strip()


def expanded(template: str, values: Mapping[str, str]) -> str:
    """Return the URI of a template with these values; variables without a value are omitted."""
    return _EXPRESSION.sub(lambda match: _expand(match.group(1), match.group(2), values), template)


_JOINTS = {"": ("", ","), "+": ("", ","), "#": ("#", ","), "?": ("?", "&")}
"""The prefix and the joining text of an expression's values, by its operator; by default that itself."""


def _expand(operator: str, body: str, values: Mapping[str, str]) -> str:
    first, joint = _JOINTS.get(operator, (operator, operator))
    safe, named = _RESERVED if operator in ("+", "#") else "", operator in (";", "?", "&")
    parts = []
    for variable in body.split(","):
        name, (_start, colon, length) = _name(variable), variable.partition(":")
        if (value := values.get(name)) is None:
            continue
        if colon and length.isascii() and length.isdigit() and len(length) < 5:
            value = value[: int(length)]
        text = quote(value, safe=safe)
        if named:
            text = f"{name}={text}" if text or operator != ";" else name
        parts.append(text)
    return first + joint.join(parts) if parts else ""


FEW = 12
"""Up to this many resources are listed without a tree."""

MOST_OPEN = 200
"""With more resources, only the first level of the tree is unfolded at first."""

MOST_LEVELS = 12
TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class Folder:
    """`count` resources, at any depth, whose URIs begin with `key`; `label` is its last part, cleaned."""

    key: str
    label: str
    count: int
    is_open: bool


TreeRow = tuple[Item | Folder, int]
"""An item or a folder, and its depth."""


def has_tree(items: Sequence[Item]) -> bool:
    """Return whether there are enough resources for a tree."""
    return sum(isinstance(item.about, ResourceInfo) and not item.about.template for item in items) > FEW


Placed = tuple[Sequence[str], Item]
"""The folders around a resource that are not shown yet, and the resource."""


def tree_rows(items: Sequence[Item], turned: Collection[str]) -> list[TreeRow]:
    """Return resources as a tree, with templates last; `turned` are folders that the user toggled."""
    placed: list[Placed] = [
        ((TEMPLATES,) if item.about.template else folders_of(item.about.uri), item)
        for item in items
        if isinstance(item.about, ResourceInfo)
    ]
    return list(_rows(placed, "", 0, turned, closed_from=1 if len(placed) > MOST_OPEN else MOST_LEVELS))


def _rows(
    placed: Sequence[Placed], prefix: str, depth: int, turned: Collection[str], closed_from: int
) -> Iterator[TreeRow]:
    folders: dict[str, list[Placed]] = {}
    for parts, item in placed:
        if parts:
            folders.setdefault(parts[0], []).append((parts[1:], item))
    for label, inside in folders.items():
        # A folder with nothing but one folder in it is one row with that.
        while len({parts[0] if parts else "" for parts, _item in inside}) == 1 and inside[0][0]:
            label += inside[0][0][0]
            inside = [(parts[1:], item) for parts, item in inside]
        key = prefix + label
        is_open = (depth < closed_from) is not (key in turned)
        yield Folder(key, clean_line(label, 200), len(inside), is_open), depth
        if is_open:
            yield from _rows(inside, key, depth + 1, turned, closed_from)
    yield from ((item, depth) for parts, item in placed if not parts)


def folders_of(uri: str) -> list[str]:
    """Return the parts of a URI before the last one: scheme and host, then each folder of the path."""
    scheme, mark, rest = uri.partition("://")
    if not mark:
        scheme, mark, rest = uri.partition(":")
        return [f"{scheme}:"] if mark else []
    host, *folders = re.split("[?#]", rest)[0].rstrip("/").split("/")
    if not folders:
        return [f"{scheme}://"]
    return [f"{scheme}://{host}/", *(f"{one}/" for one in folders[:-1][:MOST_LEVELS])]
