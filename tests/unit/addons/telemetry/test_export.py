"""A recording as lines of OTLP/JSON."""

import json
from argparse import Namespace

from tests.unit.addons.telemetry.collector import checked_traces
from tests.unit.traffic.traffic_script import Script
from tui.addons.telemetry.export import otlp
from tui.addons.telemetry.otlp import BATCH


def lines(script: Script, *, with_content: bool = False) -> list[str]:
    bodies = {entry.seq: entry for entry in script.entries}
    columns = (entry._replace(body=b"") for entry in script.entries)
    return list(otlp(columns, bodies.get, Namespace(with_content=with_content)))


def test_a_line_is_a_request():
    script = Script()
    for _ in range(BATCH + 1):
        script.result(script.out("ping"), {})
    found = lines(script)
    assert [len(checked_traces(json.loads(line))) for line in found] == [BATCH, 1]
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in found)


def test_a_recording_without_requests_has_no_lines():
    assert lines(Script()) == []


def test_arguments_are_there_if_asked_for():
    script = Script()
    script.result(script.out("tools/call", {"name": "echo", "arguments": {"a": "CANARY"}}), {"content": []})
    assert "CANARY" not in "".join(lines(script))
    assert "CANARY" in "".join(lines(script, with_content=True))
