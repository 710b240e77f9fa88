"""Arguments of `/model` and `/export`, and the messages of a prompt."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import Attachment
from tui.core.conversation.sessions import ExportKind
from tui.core.errors import McptuiError
from tui.core.text import clean, clean_line, quoted_name
from tui.core.workbench import PromptResult
from tui.ui.keys.slash_commands import nearest

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

_EFFORT = re.compile(r"(.*?)\beffort[ =]\s*(\w+)")


async def switch_model(conversations: "Conversations", rest: str) -> str:
    """Switch to a profile, to a profile and a model id, or to a model id of the current profile.

    `effort LEVEL` at the end, or alone, sets the reasoning effort. Returns a warning, or "": an id that an
    endpoint does not list may still be valid. Raises `McptuiError`.
    """
    choices = await conversations.models()
    if (found := _EFFORT.fullmatch(rest)) is not None:
        name, _, model = found[1].strip().partition(" ")
        if not name:
            name, model = next(((one.name, one.model) for one in choices if one.current), ("", ""))
        await conversations.switch(name, model, "" if found[2] == "default" else found[2])
        return ""
    name, _, model = rest.partition(" ")
    if any(one.name == name for one in choices):
        await conversations.switch(name, model.strip())
        return await _unlisted(conversations, name, model.strip()) if model.strip() else ""
    current = next((one.name for one in choices if one.current), "")
    near = nearest(name, (one.name for one in choices))
    if near or model or not current:
        known = ", ".join(clean_line(one.name, 40) for one in choices[:8])
        raise McptuiError(
            "model not found",
            where=clean_line(name, 60),
            next_step=f"{f'Did you mean {quoted_name(near)}? ' if near else ''}Available: {known}.",
        )
    await conversations.switch(current, name)
    return await _unlisted(
        conversations, current, name, f"{quoted_name(name, 60)} is neither a profile nor a listed model."
    )


async def _unlisted(
    conversations: "Conversations",
    profile: str,
    model: str,
    odd: str = "The endpoint does not list this model.",
) -> str:
    """Return `odd` if an endpoint does not list a model; "" if it does, or lists nothing."""
    try:
        ids = await conversations.offered(profile)
    except McptuiError:
        return ""
    if not ids or model in ids:
        return ""
    near = nearest(model, ids)
    return f"{odd}{f' Did you mean {quoted_name(near, 60)}?' if near else ''}"


def export_to(rest: str, title: str, folder: Path) -> tuple[ExportKind, Path]:
    """Return format and file for `/export`; raises `McptuiError` if unclear, or if the file exists."""
    from tui.ui.dialogs.export_dialogs import KINDS, file_name

    endings = {kind: ending for kind, ending, _ in KINDS}
    known = {name: kind for kind, ending in endings.items() for name in (kind, ending.lstrip("."))}
    word, _, path = rest.partition(" ")
    if (kind := known.get(word.lower())) is None:
        path = rest
        kind = known.get(Path(path).suffix.lstrip(".").lower())
    if kind is None:
        raise McptuiError(
            "unknown export format",
            where=clean_line(path, 80),
            next_step="Use a path that ends in .md, .json or .html, or put a format before the path.",
        )
    target = folder / os.path.expanduser(path.strip() or f"{file_name(title)}{endings[kind]}")
    if os.path.lexists(target):
        raise McptuiError("already exists", where=str(target), next_step="Choose another name.")
    return kind, target


def prompt_text(result: PromptResult, name: str) -> tuple[str, Sequence[Attachment]]:
    """Return the text and the attachments of a prompt's messages; raises `McptuiError` if there are none.

    Messages of the assistant are marked as such. All of it is the server's text, so it is put into the
    composer for the user to read before sending.
    """
    if result.problem:
        raise McptuiError(clean(result.problem), where=name)
    from tui.ui.results.message_draft import prompt_message

    try:
        text, attachments = prompt_message(result, name)
    except ValueError as error:
        raise McptuiError(f"returned unsupported content: {error}", where=name) from error
    if not text and not attachments:
        raise McptuiError("returned no messages", where=name)
    return text, attachments
