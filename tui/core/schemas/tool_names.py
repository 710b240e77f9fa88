"""Names of tools as models accept them, and resolving them. Pure.

A name is `server__tool`, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$` (OpenAI's rule, and Gemini's and Kimi's that it
must not start with a digit). The map is injective and independent of the order of servers: a name that was
changed, is too long or is ambiguous gets a hash of what it stands for. It is only resolved by table, never by
splitting: a server named `a__b` must not be able to pose as a tool of the server `a`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from tui.core.matching import folded_name, similar_names
from tui.core.tools import Tool

_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_PLAIN = 60
_MAX_HEAD = 51


def _plain(server: str, tool: str) -> tuple[str, bool]:
    parts = (_NOT_ALLOWED.sub("_", server), _NOT_ALLOWED.sub("_", tool))
    name = "__".join(parts)
    exact = parts == (server, tool) and "__" not in server + "_" and "__" not in "_" + tool and bool(tool)
    if not re.match(r"[a-zA-Z_]", name):
        name, exact = f"_{name}", False
    return name, exact and len(name) <= _MAX_PLAIN


def _hashed(name: str, server: str, tool: str, digits: int = 8) -> str:
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "backslashreplace")).hexdigest()
    return f"{name[: _MAX_HEAD + 8 - digits]}_{digest[:digits]}"


def accepted_names(names: Iterable[str]) -> dict[str, str]:
    """Return for each of `names` one that every model accepts; no two get the same.

    They are without a server. A name that models accept stays as it is, others get a hash if that is needed
    to tell them apart.
    """
    plain = {name: accepted_name(name) for name in names}
    count = Counter(plain.values())
    return {
        name: one if name == one or count[one] == 1 else _hashed(one, "", name) for name, one in plain.items()
    }


def accepted_name(name: str) -> str:
    """Return a name in the form that endpoints accept, similar to what it was."""
    safe = _NOT_ALLOWED.sub("_", name)[:64]
    return safe if re.match(r"[a-zA-Z_]", safe) else f"_{safe}"[:64]


def server_of(name: str, servers: Iterable[str]) -> str | None:
    """Return the server that the name of a tool begins with, or None; the longest name wins."""
    wanted = folded_name(name)
    found = (one for one in servers if wanted.startswith(folded_name(f"{_NOT_ALLOWED.sub('_', one)}__")))
    return max(found, key=len, default=None)


class NameTable:
    """The names of a set of tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        pairs = [(tool, *_plain(tool.server, tool.name)) for tool in tools]
        folded = Counter(folded_name(name) for _, name, _ in pairs)
        self._tools: dict[str, Tool] = {}
        for tool, name, exact in pairs:
            if not (exact and folded[folded_name(name)] == 1):
                plain, name = name, _hashed(name, tool.server, tool.name)
                if folded[folded_name(name)]:  # another tool has exactly the name that our hash gives
                    name = _hashed(plain, tool.server, tool.name, 32)
            self._tools.setdefault(name, tool)
        self._names = {(tool.server, tool.name): name for name, tool in self._tools.items()}

    def items(self) -> list[tuple[str, Tool]]:
        return list(self._tools.items())

    def name_of(self, tool: Tool) -> str:
        """Return the qualified name of `tool`; KeyError if it is not in the table."""
        return self._names[(tool.server, tool.name)]

    def resolve(self, name: str) -> Tool | None:
        """Return the tool that a model means by `name`, or None.

        It is the tool with exactly that name; else the only one whose name differs just in case or -/_; else
        the only one with that own name. It never guesses between two.
        """
        if name in self._tools:
            return self._tools[name]
        wanted = folded_name(name)
        same = [key for key in self._tools if folded_name(key) == wanted]
        same = same or [key for key, tool in self._tools.items() if folded_name(tool.name) == wanted]
        return self._tools[same[0]] if len(same) == 1 else None

    def close_to(self, name: str) -> list[str]:
        """Return the names most similar to `name`: of the server that `name` begins with, if it has tools."""
        servers = {tool.server for tool in self._tools.values()}
        server = server_of(name, servers)
        own = (key for key, tool in self._tools.items() if server in (None, tool.server))
        return similar_names(name, own, cutoff=0.5)
