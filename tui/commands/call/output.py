"""Output of `mcptui call`, `read`, `prompt` and `list`: results, lists, and the log of the server.

Text is cleaned, also in a file, because it may be shown on a terminal. JSON escapes unsafe characters. Images
and files are written as their bytes.
"""

import base64
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.commands.call.arguments import Arguments
from tui.commands.headless import write_problem
from tui.commands.streams import err, err_later, out, width
from tui.commands.table import lines_at
from tui.core.errors import UsageError, reason_of
from tui.core.files import atomic_write, is_replaceable
from tui.core.jsonrpc.extensions import PREFIX, why_unused
from tui.core.permission.rules import Rules
from tui.core.secrets.encodings import plain_base64
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerStatus
from tui.core.text import clean, clean_line, compact, text_in
from tui.core.tools import (
    BinaryContent,
    Content,
    LinkContent,
    ResourceContent,
    TextContent,
    ToolResult,
    is_off,
)
from tui.core.traffic import Captured, Direction, Kind
from tui.core.units import plural, size
from tui.core.workbench import PromptArgument, PromptInfo, PromptResult

if TYPE_CHECKING:
    from tui.host.workbench import HandWorkbench


class OutputFile:
    """The file of `-o`, checked before the call and written once there is a result."""

    def __init__(self, path: str) -> None:
        """Raises UsageError if it cannot be written."""
        self._path = Path(os.path.expanduser(path))
        if why := write_problem(self._path):
            raise UsageError(f"cannot write the result: {why}.", where=clean_line(path, 4096))

    def write(self, result: ToolResult) -> None:
        """Write the images and files, or the text if there are none. Raises UsageError if that fails."""
        files = [_decoded(item) for item in result.content if isinstance(item, BinaryContent)]
        if not files:
            files = [clean(result_text(result)).encode()]
        elif said := _joined([text for item in result.content if (text := text_of(item)) is not None]):
            write_text(said + "\n")
        for number, data in enumerate(files, 1):
            path = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
            try:
                if path != self._path and not is_replaceable(path):
                    raise OSError(0, "not a file")
                pieces = [data.decode("utf-8", "surrogateescape")]
                atomic_write(path, pieces, errors="surrogateescape")
            except OSError as error:
                why, where = f"cannot write the result: {reason_of(error)}.", clean_line(str(path), 4096)
                raise UsageError(why, where=where) from None
            print(f"· wrote {clean_line(str(path), 4096)} ({size(len(data))})", file=err())


def write_json(value: Any) -> None:
    """Write JSON as ASCII, which is safe from escape sequences, lone surrogates and narrow locales."""
    out().write(json.dumps(value, ensure_ascii=True, indent=2, default=str) + "\n")


def write_text(text: str) -> None:
    """Write cleaned text. On a terminal, end its last line."""
    shown = clean(text)
    if shown and not shown.endswith("\n") and out().isatty():
        shown += "\n"
    out().flush()
    out().buffer.write(shown.encode())


def write_result(result: ToolResult) -> None:
    """Write the result of a tool. Raises UsageError if it is binary and stdout is a terminal."""
    alone = result.content[0] if len(result.content) == 1 else None
    if isinstance(alone, BinaryContent):
        _write_binary(alone)
        return
    text = result_text(result)
    write_text(text if text.endswith("\n") or not text else text + "\n")
    if any(isinstance(item, BinaryContent) for item in result.content):
        print("· save images and files of the result with -o FILE", file=err())


def write_contents(result: ToolResult) -> None:
    """Write the content of a resource. Raises UsageError if only files can hold it."""
    files = [item for item in result.content if isinstance(item, BinaryContent)]
    if len(files) > 1 or (files and len(result.content) > 1):
        raise UsageError(
            f"the resource has {len(result.content)} parts, and some are binary.",
            next_step="Write them to files with -o FILE, or print everything with --json.",
        )
    if files:
        _write_binary(files[0])
        return
    write_text(_joined([text_of(item) or "" for item in result.content], mark=""))


def write_prompt(result: PromptResult) -> None:
    """Write the messages of a prompt, each with its role unless it is the only one."""
    texts = [_shown(one.content) for one in result.messages]
    if len(texts) != 1:
        texts = [f"{one.role}: {text}" for one, text in zip(result.messages, texts, strict=True)]
    if text := "\n\n".join(one.rstrip("\n") for one in texts):
        write_text(text + "\n")


def result_text(result: ToolResult) -> str:
    """Return the text of a result. Structured content is used only if there is no other content."""
    if not result.content and result.structured is not None:
        return json.dumps(result.structured, ensure_ascii=False, indent=2)
    return _joined([_shown(item) for item in result.content])


def text_of(content: Content) -> str | None:
    """Return the text of a content item, or None for an image, a sound or a file."""
    match content:
        case TextContent(text) | ResourceContent(_, _, text):
            return text
        case LinkContent(uri, name):
            return f"[{name or 'resource'}: {uri}]"
        case _:
            return None


def _shown(content: Content) -> str:
    if not isinstance(content, BinaryContent):
        return text_of(content) or ""
    return f"[{' '.join(filter(None, (content.kind, content.mime, content.uri)))}, {size(content.size)}]"


def _joined(parts: Sequence[str], mark: str = "\n") -> str:
    return mark.join(part.removesuffix("\n") if mark and part is not parts[-1] else part for part in parts)


def _write_binary(content: BinaryContent) -> None:
    if out().isatty():
        kind = clean_line(content.mime, 80) or content.kind
        raise UsageError(
            f"the result is binary ({kind}, {size(content.size)}), and stdout is a terminal.",
            next_step="Write it to a file with -o FILE.",
        )
    out().flush()
    out().buffer.write(_decoded(content))


def _decoded(content: BinaryContent) -> bytes:
    if (data := plain_base64(content.data)) is None:
        raise UsageError(
            f"the {content.kind} from the server is not valid base64.",
            next_step="Use --json to print the raw response.",
        )
    return base64.b64decode(data)


_PARTS = {"tools": ("tools",), "resources": ("resources", "resourceTemplates"), "prompts": ("prompts",)}
_DESCRIPTION = 160
_REASONS = 3

Listed = dict[str, list[Any]]


Lister = Callable[[], Awaitable[tuple[list[Any], list[str], str]]]
"""Lists what a server serves by an extension: as JSON and as lines, and a problem, or ""."""


async def write_listing(
    workbench: "HandWorkbench",
    status: ServerStatus,
    kinds: Sequence[str],
    *,
    as_json: bool,
    rules: Rules,
    listers: Mapping[str, Lister] = {},
) -> bool:
    """List and print these kinds; return whether the server could list everything that it supports.

    Tools that `rules` deny are marked. `listers` are for the extensions among the kinds that it declares.
    """
    identity = await workbench.identity(status.name)
    offered = identity.capabilities
    listed: Listed = {}
    lines: dict[str, list[str]] = {}
    complete = True
    for kind in kinds:
        parts = _PARTS.get(kind, (kind,))
        if kind not in listers and (kind not in _PARTS or offered.get(kind) in (None, False)):
            if len(kinds) == 1:
                why = why_unused(identity.extensions, f"{PREFIX}{kind}")
                name = clean_line(status.name, 80)
                print(f"· {name}: {why}" if why else f"· {name} does not support {kind}", file=err())
            if kind in _PARTS or len(kinds) == 1:
                listed |= {part: [] for part in parts}
            continue
        for part in parts:
            if kind in listers:
                listed[part], lines[part], problem = await listers[kind]()
            else:
                items, problem = await workbench.entries(status.name, part)
                listed[part] = list(items)
            if problem:
                complete = False
                print(f"mcptui: {clean_line(problem, 600)}", file=err())
    if as_json:
        write_json(listed)
    else:
        _write_text(listed, lines, dict(status.quarantined), _not_offered(workbench, status, rules))
    if "tools" in kinds and (left_out := status.quarantined):
        print(f"· {plural(len(left_out), 'tool')} omitted:", file=err())
        for name, why in left_out[:_REASONS]:
            print(f"  {clean_line(name, 60)}: {clean_line(why, 160)}", file=err())
        if len(left_out) > _REASONS:
            print(f"  and {len(left_out) - _REASONS} more", file=err())
    return complete


def _not_offered(workbench: "HandWorkbench", status: ServerStatus, rules: Rules) -> Mapping[str, str]:
    found = {}
    for tool in workbench.tools(status.name):
        if tool.withheld:
            found[tool.name] = tool.withheld
        elif (rule := rules.denying(tool)) is not None:
            found[tool.name] = clean_line(str(rule), 200)
        elif is_off(tool.name, status.spec.off):
            found[tool.name] = "disabled"
    return found


def _write_text(
    listed: Listed,
    written: Mapping[str, list[str]],
    left_out: Mapping[str, str],
    not_offered: Mapping[str, str],
) -> None:
    shown = {part: items for part, items in listed.items() if items}
    blocks = []
    for part, items in shown.items():
        lines = written.get(part) or [
            line for item in items for line in _lines(part, item, left_out, not_offered)
        ]
        head = "resource templates" if part == "resourceTemplates" else part
        blocks.append("\n".join([head, *(f"  {line}" for line in lines)] if len(listed) > 1 else lines))
    if blocks:
        out().write("\n\n".join(blocks) + "\n")


def _lines(part: str, item: Any, left_out: Mapping[str, str], not_offered: Mapping[str, str]) -> list[str]:
    if not isinstance(item, Mapping):
        return [f"(invalid, not an object: {compact(item, 80)})"]
    name = clean_line(text_in(item, "name"), 120) or ("" if part.startswith("resource") else "(no name)")
    about = clean_line(text_in(item, "description") or text_in(item, "title"), _DESCRIPTION)
    match part:
        case "tools":
            schema = item.get("inputSchema")
            takes = Arguments("", schema).signature if isinstance(schema, Mapping) else ""
            head = f"{name} {takes}".strip()
            why = left_out.get(text_in(item, "name"))
            about = f"omitted: {clean_line(why, 200)}" if why else about
            if why := not_offered.get(text_in(item, "name")):
                return [head, *_described(about), f"    not offered to the model: {why}"]
        case "prompts":
            head = f"{name} {_prompt_signature(item)}".strip()
        case _:
            where = clean_line(text_in(item, "uri") or text_in(item, "uriTemplate"), 400) or "(no URI)"
            head = "  ".join(filter(None, (where, name, clean_line(text_in(item, "mimeType"), 80))))
    return [head, *_described(about)]


def _described(about: str) -> list[str]:
    """Return a description below its head; on a terminal, it is broken between words."""
    return lines_at(about, max(1, width() - 2) if width() else 0, "    ") if about else []


def _prompt_signature(item: Mapping[str, Any]) -> str:
    listed = item.get("arguments")
    found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    arguments = tuple(PromptArgument(text_in(one, "name"), "", one.get("required") is True) for one in found)
    return Arguments("", PromptInfo("", "", arguments=arguments).schema).signature


_LOG = b'"notifications/message"'
_SHOWN = 2_000
_MAX_BYTES = 256 * 1024


def server_log(server: str, redactor: Redactor) -> Callable[[Captured], None]:
    """Return a listener that prints the log of a server, one line each."""
    stream = err_later()  # the listener is not called by the command

    def show(level: str, text: str) -> None:
        line = clean_line(redactor.redact(text[: _SHOWN * 4]), _SHOWN)
        name = clean_line(server, 40)
        print(f"{name} {level}: {line}" if level else f"{name}: {line}", file=stream(), flush=True)

    def listen(captured: Captured) -> None:
        if captured.source != server:
            return
        is_from_server = captured.kind is None and captured.direction is Direction.IN
        if captured.kind is Kind.STDERR:
            show("", captured.raw.decode("utf-8", "replace"))
        elif is_from_server and _LOG in captured.raw[:_MAX_BYTES]:
            with suppress(ValueError, RecursionError):
                match json.loads(captured.raw):
                    case {"method": "notifications/message", "params": {**params}}:
                        data = params.get("data")
                        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
                        show(clean_line(str(params.get("level", "")), 20), text)

    return listen
