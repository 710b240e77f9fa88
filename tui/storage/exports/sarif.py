"""Lint findings as a SARIF 2.1.0 log, which code scanning shows as alerts: a run for each server. Pure.

An alert closes when a later log has its rule but not its fingerprint, so that a run has all rules, also when
nothing was found, and a fingerprint depends on nothing that changes from run to run. The same finding on
several entries is one result. GitHub needs a file for each: the server's script, if it is known.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import tui
from tui.core.text import clean_line
from tui.core.traffic import Finding, Severity
from tui.core.units import plural

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SPECIFICATION = "https://modelcontextprotocol.io/specification"
FINGERPRINTS = ("mcptui/v1", "primaryLocationLineHash")
"""The second is the only one that GitHub reads. It would compute one from the line, which is not ours."""

MOST_RESULTS = 5_000
"""Maximum results of a run: GitHub shows no more."""

MOST_PLACES = 5
"""Maximum entries of a result that are named."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note", Severity.NONE: "none"}


@dataclass(frozen=True, slots=True)
class SarifRule:
    """A rule: its code, the worst severity of its findings, its meaning, and its page as in `Finding`."""

    code: str
    severity: Severity
    meaning: str
    section: str = ""


@dataclass(slots=True)
class _Result:
    finding: Finding
    seqs: list[int] = field(default_factory=list)
    count: int = 0


class SarifRun:
    """The findings of a server. `file` is the path of its script from the root of the repository."""

    def __init__(self, server: str, rules: Sequence[SarifRule], file: str) -> None:
        self.server = clean_line(server, 200)
        self.file = file
        self._rules = sorted(rules, key=lambda rule: rule.code)
        self._places = {rule.code: place for place, rule in enumerate(self._rules)}
        self._results: dict[str, _Result] = {}
        self._omitted = 0

    def add(self, finding: Finding) -> None:
        """Add a finding; one of no rule of this run is left out."""
        if finding.code not in self._places:
            return
        print_ = fingerprint(finding)
        if print_ not in self._results:
            if len(self._results) >= MOST_RESULTS:
                self._omitted += 1
                return
            self._results[print_] = _Result(finding)
        result = self._results[print_]
        result.count += 1
        if len(result.seqs) < MOST_PLACES and finding.seq not in result.seqs:
            result.seqs.append(finding.seq)

    def as_json(self) -> dict[str, Any]:
        """Return the run as SARIF has it."""
        driver = {
            "name": "mcptui",
            "semanticVersion": tui.__version__,
            "rules": [_rule(rule) for rule in self._rules],
        }
        found = sorted(self._results.items(), key=lambda one: (one[1].finding.code, one[0]))
        return {
            "tool": {"driver": driver},
            "automationDetails": {"id": f"mcptui/{self.server}/"},
            "invocations": [{"executionSuccessful": True} | self._notifications()],
            "columnKind": "utf16CodeUnits",
            "results": [self._result(print_, result) for print_, result in found],
        }

    def _notifications(self) -> dict[str, Any]:
        if not self._omitted:
            return {}
        said = f"{plural(self._omitted, 'more finding')} of other kinds are not in this log."
        return {"toolExecutionNotifications": [{"level": "warning", "message": {"text": said}}]}

    def _result(self, print_: str, result: _Result) -> dict[str, Any]:
        finding = result.finding
        place: dict[str, Any] = {
            "physicalLocation": {"artifactLocation": {"uri": quote(self.file)}, "region": {"startLine": 1}}
        }
        if finding.subject:
            name = f"{self.server}/{finding.subject}"
            place["logicalLocations"] = [{"name": finding.subject, "fullyQualifiedName": name}]
        return {
            "ruleId": finding.code,
            "ruleIndex": self._places[finding.code],
            "level": _LEVELS[finding.severity],
            "message": {"text": finding.sentence or finding.code},
            "locations": [place],
            "partialFingerprints": dict.fromkeys(FINGERPRINTS, print_),
            "occurrenceCount": result.count,
            "properties": {"method": finding.method, "section": finding.section, "entries": result.seqs},
        }


def sarif(runs: Sequence[SarifRun]) -> Iterator[str]:
    """Yield the log."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run.as_json() for run in runs]}
    yield json.dumps(log, indent=2) + "\n"


def fingerprint(finding: Finding) -> str:
    """Return what identifies a finding in each run: its server, rule, method and subject."""
    parts = (finding.source, finding.code, finding.method, finding.subject)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _rule(rule: SarifRule) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": rule.code,
        "shortDescription": {"text": rule.meaning},
        "help": {"text": rule.meaning},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["mcp"]},
    }
    return found | ({"helpUri": spec_address(rule.section)} if rule.section else {})


def spec_address(section: str) -> str:
    """Return the address of a page of the specification ("2025-11-25 server/tools")."""
    revision, _, page = section.partition(" ")
    return f"{SPECIFICATION}/{revision}/{page}"
