"""A definition: all parts of a tool that a model reads or the user approves, and its digest. Pure."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Definition = Mapping[str, Any]

KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The keys of a definition. Nobody reads the others (`_meta`, icons), and some servers generate them anew
each time."""

INSTRUCTIONS = ""
"""The name under which a server's instructions are stored; no tool can have it."""


def definition_of(raw: Mapping[str, Any]) -> Definition:
    """Return the definition in a tool as it was listed."""
    return {key: raw[key] for key in KEYS if key in raw}


def instructions_definition(text: str) -> Definition:
    """Return a server's instructions as a definition."""
    return {"instructions": text}


def digest_of(definition: Definition) -> str:
    """Return the SHA-256 of a definition. The order of keys has no effect, every other character does."""
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
