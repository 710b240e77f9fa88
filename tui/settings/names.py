"""Names of servers, models, identity providers and snippets. Pure."""

import re
from typing import Any

from tui.core.language.translate import message

MAX_NAME = 64


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a server, a model or an identity provider, or ""."""
    if not name or len(name) > MAX_NAME:
        return message("must have 1 to {limit} characters", limit=MAX_NAME)
    if not name.isprintable() or name != name.strip():
        return message("must contain only printable characters, without surrounding spaces")
    if "/" in name or "\\" in name or name.startswith("."):
        return message("must not contain / or \\, or start with a dot")
    return ""


def fitted_name(found: str) -> str:
    """Return a name for a server or a model that is made from a foreign one, "" if it has no usable part."""
    fitted = re.sub(r"[^\w.-]+", "-", found).strip("-._")[:MAX_NAME].rstrip("-._")
    return "" if name_fault(fitted) else fitted


def snippet_fault(name: str, text: Any) -> str:
    """Return what is wrong with a snippet, or ""."""
    if not re.fullmatch(r"[A-Za-z][\w-]{0,63}", name):
        return message("the name must start with a letter, and contain only letters, digits, - and _")
    if not isinstance(text, str) or not text.strip():
        return message("must be a string")
    return message("must not contain a null character") if "\0" in text else ""
