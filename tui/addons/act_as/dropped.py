"""Which tools of a server a host would drop, or fail with, and why. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui.addons.act_as.hosts import HOSTS, ActingHost
from tui.core.schemas.portability import problems
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.units import plural

MAX_NAMED = 40
"""Maximum dropped tools that are named."""


class DroppedTool(NamedTuple):
    """A tool, by its cleaned name, and why the host does not use it; with the name "", all of the server."""

    name: str
    why: str


def dropped_tools(host: str, server: str, tools: Sequence[Tool]) -> Sequence[DroppedTool]:
    """Return the tools of a server that a host would drop; none if the host is unknown."""
    found = HOSTS.get(host)
    return [] if found is None else list(_dropped(found, server, tools))


def acting_facts(host: str, server: str, tools: Sequence[Tool]) -> Sequence[tuple[str, str, str]]:
    """Return name, value and style of each fact about a host as which mcptui acts; no tools, no drops."""
    found = HOSTS.get(host)
    if found is None:
        return []
    info = found.profile.info
    facts = [
        ("host", f"{found.title}, as {info['name']} {info['version']}", "warn"),
        ("observed", f"{found.observed}: {', '.join(found.sources)}", "dim"),
    ]
    if found.unserved:
        facts.append(("left out", f"{', '.join(found.unserved)}, which mcptui cannot answer", "dim"))
    if tools:
        dropped = dropped_tools(host, server, tools)
        of = f"{sum(bool(one.name) for one in dropped)} of {plural(len(tools), 'tool')}"
        facts.append(("drops", of, "warn" if dropped else "text"))
        facts += [
            ("", f"{one.name}: {one.why}" if one.name else one.why, "warn") for one in dropped[:MAX_NAMED]
        ]
    return facts


def _dropped(host: ActingHost, server: str, tools: Sequence[Tool]) -> Iterator[DroppedTool]:
    if host.most_tools and len(tools) > host.most_tools:
        limit = f"{host.title} takes {host.most_tools} tools of all servers together"
        yield DroppedTool("", f"{len(tools)} tools, and {limit}")
    for tool in tools:
        if why := "; ".join(_reasons(host, server, tool)):
            yield DroppedTool(clean_line(tool.name, 64), why)


def _reasons(host: ActingHost, server: str, tool: Tool) -> Iterator[str]:
    rule = host.names
    name = rule.form.format(server=server, tool=tool.name)
    if rule.longest and len(name) > rule.longest:
        known = "" if name == tool.name else f" as {clean_line(name, 90)}"
        yield f"its name has {len(name)} characters{known}, at most {rule.longest} are accepted"
    if not rule.pattern.fullmatch(name):
        yield "its name has other characters than letters, digits, _ and -"
    if host.provider is not None:
        yield from problems(tool.schema, host.provider)
