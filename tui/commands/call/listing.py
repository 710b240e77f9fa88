"""Output of `mcptui list`: tools, resources and prompts, as text or as raw JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tui.commands.call.arguments import ToolArguments
from tui.commands.call.output import write_json
from tui.core.servers import ServerStatus
from tui.core.text import clean_line
from tui.core.tools import is_off
from tui.core.turn.rules import Rules
from tui.core.units import plural
from tui.core.workbench import Workbench

_PARTS = {"tools": ("tools",), "resources": ("resources", "resourceTemplates"), "prompts": ("prompts",)}
_HEADS = {
    "tools": "tools",
    "resources": "resources",
    "resourceTemplates": "resource templates",
    "prompts": "prompts",
}
_DESCRIPTION = 160
_REASONS = 3

Listed = dict[str, list[Any]]


NO_RULES = Rules()


async def write_listing(
    workbench: Workbench,
    status: ServerStatus,
    kinds: Sequence[str],
    *,
    as_json: bool,
    rules: Rules = NO_RULES,
) -> bool:
    """List and print these kinds; return whether the server could list everything that it supports.

    Tools that `rules` deny are marked.
    """
    offered = (await workbench.identity(status.name)).capabilities
    listed: Listed = {}
    complete = True
    for kind in kinds:
        if offered.get(kind) in (None, False):
            if len(kinds) == 1:
                print(f"· {clean_line(status.name, 80)} does not support {kind}", file=sys.stderr)
            listed |= {part: [] for part in _PARTS[kind]}
            continue
        for part in _PARTS[kind]:
            items, problem = await workbench.entries(status.name, part)
            listed[part] = list(items)
            if problem:
                complete = False
                print(f"mcptui: {clean_line(problem, 600)}", file=sys.stderr)
    if as_json:
        write_json(listed)
    else:
        _write_text(listed, dict(status.quarantined), _not_offered(workbench, status, rules))
    if "tools" in kinds:
        _print_omitted(status)
    return complete


def _print_omitted(status: ServerStatus) -> None:
    """Print on stderr how many tools are omitted, and why the first few are."""
    left_out = status.quarantined
    if left_out:
        print(f"· {plural(len(left_out), 'tool')} omitted:", file=sys.stderr)
        for name, why in left_out[:_REASONS]:
            print(f"  {clean_line(name, 60)}: {clean_line(why, 160)}", file=sys.stderr)
        if len(left_out) > _REASONS:
            print(f"  and {len(left_out) - _REASONS} more", file=sys.stderr)


def _not_offered(workbench: Workbench, status: ServerStatus, rules: Rules) -> Mapping[str, str]:
    """Return why tools are not offered to the model, by name."""
    off = {
        tool.name: "disabled" for tool in workbench.tools(status.name) if is_off(tool.name, status.spec.off)
    }
    tools = workbench.tools(status.name)
    off |= {
        tool.name: clean_line(str(rule), 200) for tool in tools if (rule := rules.denying(tool)) is not None
    }
    return off | {tool.name: tool.withheld for tool in workbench.tools(status.name) if tool.withheld}


def _write_text(listed: Listed, left_out: Mapping[str, str], not_offered: Mapping[str, str]) -> None:
    shown = {part: items for part, items in listed.items() if items}
    blocks = []
    for part, items in shown.items():
        lines = [line for item in items for line in _lines(part, item, left_out, not_offered)]
        blocks.append(
            "\n".join([_HEADS[part], *(f"  {line}" for line in lines)] if len(listed) > 1 else lines)
        )
    if blocks:
        sys.stdout.write("\n\n".join(blocks) + "\n")


def _lines(part: str, item: Any, left_out: Mapping[str, str], not_offered: Mapping[str, str]) -> list[str]:
    if not isinstance(item, Mapping):
        return [f"(invalid, not an object: {clean_line(json.dumps(item, default=str), 80)})"]
    name = clean_line(_text(item, "name"), 120)
    about = clean_line(_text(item, "description") or _text(item, "title"), _DESCRIPTION)
    match part:
        case "tools":
            head = " ".join(filter(None, (name, _signature(item))))
            why = left_out.get(_text(item, "name"))
            about = f"omitted: {clean_line(why, 200)}" if why else about
            if why := not_offered.get(_text(item, "name")):
                return [head, *([f"    {about}"] if about else []), f"    not offered to the model: {why}"]
        case "prompts":
            head = " ".join(filter(None, (name, _prompt_signature(item))))
        case _:
            where = clean_line(_text(item, "uri") or _text(item, "uriTemplate"), 400)
            head = "  ".join(filter(None, (where, name, clean_line(_text(item, "mimeType"), 80))))
    return [head, *([f"    {about}"] if about else [])]


def _signature(item: Mapping[str, Any]) -> str:
    schema = item.get("inputSchema")
    if not isinstance(schema, Mapping):
        return ""
    return ToolArguments("", schema).signature


def _prompt_signature(item: Mapping[str, Any]) -> str:
    arguments = item.get("arguments")
    words = []
    for one in arguments if isinstance(arguments, list) else ():
        if isinstance(one, Mapping):
            word = f"{clean_line(_text(one, 'name'), 60)}=TEXT"
            words.append(word if one.get("required") is True else f"[{word}]")
    return " ".join(words)


def _text(holder: Mapping[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""
