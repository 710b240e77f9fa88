"""Resources and prompts as servers list them, sifted one by one. Pure.

Texts stay raw: whoever shows them cleans them. One malformed entry never costs the others.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tui.core.workbench import PromptArgument, PromptInfo, ResourceInfo

MAX_URI = 8_192
MAX_ARGUMENTS = 200

T = TypeVar("T")


def resource_infos(server: str, items: list[Any], *, template: bool) -> tuple[list[ResourceInfo], str]:
    """Return the resources, or templates of resources, among the raw items; and what was left out, or ""."""
    return _sifted(
        items, lambda raw: _resource(server, raw, template), "templates" if template else "resources"
    )


def prompt_infos(server: str, items: list[Any]) -> tuple[list[PromptInfo], str]:
    """Return the prompts among the raw items; and what was left out, or ""."""
    return _sifted(items, lambda raw: _prompt(server, raw), "prompts")


def _sifted(
    items: list[Any], read: Callable[[Mapping[str, Any]], T | None], what: str
) -> tuple[list[T], str]:
    found = [made for raw in items if isinstance(raw, Mapping) and (made := read(raw)) is not None]
    missing = len(items) - len(found)
    return found, f"{missing:,} of {len(items):,} {what} are malformed and left out." if missing else ""


def _resource(server: str, raw: Mapping[str, Any], template: bool) -> ResourceInfo | None:
    uri = raw.get("uriTemplate" if template else "uri")
    if not isinstance(uri, str) or not uri or len(uri) > MAX_URI:
        return None
    size = raw.get("size")
    return ResourceInfo(
        server,
        uri,
        name=_text(raw, "name"),
        title=_text(raw, "title"),
        description=_text(raw, "description"),
        mime=_text(raw, "mimeType"),
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
        template=template,
    )


def _prompt(server: str, raw: Mapping[str, Any]) -> PromptInfo | None:
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        return None
    listed = raw.get("arguments")
    arguments = tuple(
        PromptArgument(one["name"], _text(one, "description"), one.get("required") is True)
        for one in (listed[:MAX_ARGUMENTS] if isinstance(listed, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("name"), str)
    )
    return PromptInfo(server, name, _text(raw, "title"), _text(raw, "description"), arguments)


def _text(holder: Mapping[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""
