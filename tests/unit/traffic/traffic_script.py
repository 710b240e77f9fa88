"""A short recording, written message by message, for tests that check entries."""

import json
from collections.abc import Mapping
from typing import Any

from tui.core.traffic import Captured, Cause, Direction, Entry, Finding, Kind
from tui.traffic.lint.lint import Linter
from tui.traffic.lint.rules_tools import SchemaValidator
from tui.traffic.record.entry_reader import EntryReader

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
ECHO = {
    "name": "echo",
    "description": "Says it again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


class Script:
    """Messages of one server, read as by the recorder. Each entry is 10 ms after the previous one."""

    def __init__(self, source: str = "weather") -> None:
        self.source = source
        self.entries: list[Entry] = []
        self._reader = EntryReader(lambda raw: (raw, ()), 256 * 1024)
        self._ids = 0
        self._at = 1_000_000_000

    def raw(
        self,
        direction: Direction,
        raw: bytes,
        kind: Kind | None = None,
        detail: Mapping[str, Any] | None = None,
        cause: Cause | None = None,
    ) -> Entry:
        self._at += 10_000_000
        captured = Captured(
            self.source, direction, self._at, 10**18 + self._at, raw, kind, cause=cause, detail=detail or {}
        )
        before = len(self.entries)
        self._reader.read(captured, self.entries)
        return self.entries[before]

    def restart(self) -> None:
        """Start over with the ids."""
        self._ids = 0

    def wait(self, ms: int) -> None:
        self._at += ms * 1_000_000

    def event(self, word: str, **detail: Any) -> Entry:
        return self.raw(Direction.NONE, b"", Kind.EVENT, {"event": word, **detail})

    def out(self, method: str, params: Any = None, cause: Cause | None = None, **more: Any) -> Any:
        """Send a request to the server and return its id."""
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, **more}
        if params is not None:
            message["params"] = params
        self.raw(Direction.OUT, json.dumps(message).encode(), cause=cause)
        return message["id"]

    def tell(self, method: str, params: Any = None) -> Entry:
        return self.raw(Direction.OUT, json.dumps(_note(method, params)).encode())

    def hear(self, method: str, params: Any = None) -> Entry:
        return self.raw(Direction.IN, json.dumps(_note(method, params)).encode())

    def result(self, known: Any, result: Any) -> Entry:
        return self.back({"jsonrpc": "2.0", "id": known, "result": result})

    def error(self, known: Any, code: Any, message: Any = "no") -> Entry:
        return self.back({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}})

    def back(self, message: Any) -> Entry:
        return self.raw(Direction.IN, json.dumps(message).encode())

    def play(self, *steps: tuple[Any, ...]) -> "Script":
        """Send several messages: each is the name of a method, and its arguments. Ids count from 1."""
        for name, *values in steps:
            getattr(self, name)(*values)
        return self

    # ---- openings --------------------------------------------------------------------------------------

    def legacy(self, revision: str = "2025-11-25", server: Any = None, client: Any = None) -> "Script":
        """Go through the handshake."""
        known = self.out(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": client or {},
                "clientInfo": {"name": "c", "version": "1"},
            },
        )
        capabilities = {"tools": {}} if server is None else server
        info = {"name": "s", "version": "1"}
        self.result(known, {"protocolVersion": revision, "capabilities": capabilities, "serverInfo": info})
        self.tell("notifications/initialized")
        return self

    def modern(self, server: Any = None) -> "Script":
        """Discover a server without a handshake."""
        known = self.out("server/discover", {"_meta": MODERN_META})
        capabilities = {"tools": {}} if server is None else server
        found = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "ttlMs": 0}
        self.result(known, {"resultType": "complete", "cacheScope": "private", **found})
        return self

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request in the form of 2026-07-28 and return its id."""
        return self.out(method, {**params, "_meta": {**MODERN_META, **params.get("_meta", {})}})

    def listed(self, *tools: Any) -> "Script":
        """List tools, in a session with handshake."""
        self.result(self.out("tools/list"), {"tools": list(tools)})
        return self

    # ---- results -----------------------------------------------------------------------------------------

    def findings(self, judge: SchemaValidator | None = None) -> list[Finding]:
        linter = Linter(judge)
        return [finding for entry in self.entries for finding in linter.feed(entry)]

    def codes(self, judge: SchemaValidator | None = None) -> list[str]:
        return [finding.code for finding in self.findings(judge)]


def _note(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
