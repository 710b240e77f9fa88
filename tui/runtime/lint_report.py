"""The static findings of recordings as a SARIF log: the rules of the linter, each server, and its script."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tui.core.text import text_in
from tui.core.traffic import Entry, Finding, Kind
from tui.storage.exports.sarif import SarifRule, SarifRun, sarif
from tui.traffic.lint.lint import SKIPPED, section_of
from tui.traffic.lint.static_rules import STATIC_RULES

_OTHERS = SKIPPED | {Kind.EVENT}
"""Kinds that are no message of a server."""

MOST_ARGUMENTS = 50


class StaticFindings:
    """Collects what the linter finds in recordings. Findings that depend on the course of a run are left out.

    A server is in the log from its first message on, so that its alerts close when nothing is found.
    """

    def __init__(self, base: Path) -> None:
        """`base` is the folder of the repository. The script of a server is looked for in it."""
        self._base = base
        self._runs: dict[str, SarifRun] = {}
        self._scripts: dict[str, str] = {}
        self._servers: dict[str, str] = {}

    def see_start(self, entry: Entry) -> None:
        """Take the start of a server, or of one of its processes, which comes before its messages."""
        server = self._servers[entry.source] = text_in(entry.detail, "server") or entry.source
        if script := self._script(entry):
            self._scripts.setdefault(server, script)

    def see(self, entry: Entry, findings: Sequence[Finding], recording: Path) -> None:
        """Take the next entry with its findings."""
        if entry.kind in _OTHERS:
            return
        server = self._servers.get(entry.source, entry.source)
        if (run := self._runs.get(server)) is None:
            file = self._scripts.get(server) or recording.name
            run = self._runs[server] = SarifRun(server, _rules(), file)
        for finding in findings:
            run.add(replace(finding, source=server))

    def pieces(self) -> Iterator[str]:
        """Yield the log."""
        return sarif([run for _, run in sorted(self._runs.items())])

    def _script(self, entry: Entry) -> str:
        """Return the first word of a command that is a file below the folder, relative to it, or ""."""
        words, folder = entry.detail.get("argv"), entry.detail.get("cwd")
        base = self._base.resolve()
        start = base / folder if isinstance(folder, str) else base
        for word in words[:MOST_ARGUMENTS] if isinstance(words, list) else ():
            with suppress(OSError, ValueError):  # not a name of a file
                found = (start / word).resolve() if isinstance(word, str) else base
                if found.is_file() and found.is_relative_to(base):
                    return found.relative_to(base).as_posix()
        return ""


def _rules() -> Sequence[SarifRule]:
    return [
        SarifRule(code, rule.severity, rule.meaning, section_of(rule.page, ""))
        for code, rule in STATIC_RULES.items()
    ]
