"""The findings of recordings as a SARIF log."""

import json
from pathlib import Path
from typing import Any

from tests.unit.traffic.traffic_script import Script
from tui.runtime.lint_report import StaticFindings
from tui.traffic.lint.lint import Linter

BAD = {"name": "no way", "inputSchema": {"type": "array"}}


def runs(base: Path, *scripts: Script) -> list[dict[str, Any]]:
    report = StaticFindings(base)
    for script in scripts:
        linter = Linter()
        for entry in script.entries:
            if entry.method in ("spawn", "connect"):
                report.see_start(entry)
            report.see(entry, linter.feed(entry), Path("of-today.mcptrace"))
    return list(json.loads("".join(report.pieces()))["runs"])


def started(base: Path, *argv: str, cwd: str = "") -> Script:
    script = Script()
    script.event("spawn", pid=1, argv=list(argv), cwd=cwd)
    return script.legacy().listed(BAD)


def file_of(run: dict[str, Any]) -> str:
    return str(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_findings_of_definitions_and_messages_are_in_the_log_and_those_of_the_run_are_not(tmp_path: Path):
    script = Script().legacy().listed(BAD)
    script.result(99, {})  # unknown-id
    (run,) = runs(tmp_path, script)
    assert {result["ruleId"] for result in run["results"]} == {"bad-schema", "no-description", "tool-name"}


def test_a_server_without_findings_is_in_the_log_with_all_rules(tmp_path: Path):
    (run,) = runs(tmp_path, Script().legacy())
    assert run["results"] == [] and len(run["tool"]["driver"]["rules"]) > 20


def test_each_server_is_a_run(tmp_path: Path):
    found = runs(tmp_path, Script("b").legacy(), Script("a").legacy(), Script("b").legacy())
    assert [run["automationDetails"]["id"] for run in found] == ["mcptui/a/", "mcptui/b/"]


def test_the_processes_of_a_server_are_one_run_with_each_finding_once(tmp_path: Path):
    other = Script("shop-fresh")
    other.event("connect", server="shop")
    (run,) = runs(tmp_path, Script("shop").legacy().listed(BAD), other.legacy().listed(BAD))
    assert run["automationDetails"]["id"] == "mcptui/shop/"
    codes = [result["ruleId"] for result in run["results"]]
    assert len(codes) == len({*codes}) == 3


def test_the_file_of_a_finding_is_the_script_of_the_server(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "server.py").touch()
    (run,) = runs(tmp_path, started(tmp_path, "python", "-u", "server.py", cwd="src"))
    assert file_of(run) == "src/server.py"


def test_a_script_elsewhere_is_not_named(tmp_path: Path):
    (run,) = runs(tmp_path, started(tmp_path, "/bin/sh", "../server.py", "\0"))
    assert file_of(run) == "of-today.mcptrace"


def test_fingerprints_are_the_same_in_each_run(tmp_path: Path):
    longer = Script().legacy()
    longer.out("ping")
    prints = [
        sorted(result["partialFingerprints"]["mcptui/v1"] for result in run["results"])
        for run in (
            runs(tmp_path, Script().legacy().listed(BAD))[0],
            runs(tmp_path, longer.listed(BAD, BAD))[0],
        )
    ]
    assert set(prints[0]) <= set(prints[1])


def test_model_traffic_is_no_server(tmp_path: Path):
    script = Script("model:x")
    script.event("connect")
    assert runs(tmp_path, script) == []
