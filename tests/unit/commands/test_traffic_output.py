"""A hand-edited export is read, or refused with the line number."""

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tui.addons.replay.live import plan
from tui.addons.replay.mock import MockServer
from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.commands.recordings import open_entries

WALL = 1_700_000_000_000_000_000
BATCH = '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]'


def line(seq: int, kind: str, direction: str, **more: object) -> dict[str, Any]:
    values = {"seq": seq, "wall_ns": WALL + seq, "mono_ns": seq, "source": "s", "size": 50}
    return values | {"kind": kind, "direction": direction} | more


LINES = [
    line(1, "event", "none", method="spawn", detail={"event": "spawn", "argv": ["x"], "pid": 3}),
    line(2, "batch", "out", body=BATCH),
    line(3, "request", "out", method="tools/list", id="1", detail={"batch": 2, "at": [1, len(BATCH) - 1]}),
    line(
        4, "request", "out", method="tools/call", tool="t", id="5", root=4,
        cause={"turn": 1, "step": 2, "call": "c"}, redactions=[[1, 2, "KEY"]],
        detail={"http": "POST", "url": "http://x/mcp?a=1", "headers": [["a", "b"]], "exchange": 1},
        body='{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","arguments":{}}}',
    ),
    line(
        5, "error", "in", method="tools/call", tool="t", id="5", pair=4, root=4, outcome="error",
        detail={"status": 200, "sse": {"event": "message", "id": "4"}, "exchange": 1},
        body='{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no"}}',
    ),
    line(6, "request", "out", method="ping", id="6", sha256="ab", body='{"jsonrpc":"2.0","id":6,"met'),
    line(7, "event", "none", method="exit", detail={"event": "exit", "code": 1, "seconds": 2.5}),
]  # fmt: skip

COMMANDS = (
    "--json --filter 'tool:t or latency:>1ms or since:5m or seq:>3 or body:x'",
    "--lint",
    "--stats",
    "--slowest 3",
    "--export har",
    "--export md",
)

numbers = st.integers(-2, 9) | st.sampled_from([1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 10**30])
scalars = st.none() | st.booleans() | numbers | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
details = st.sampled_from(
    "event argv pid code signal seconds batch at http url headers exchange status sse bytes entries limit why"
    " id env stream remark times cut newline transport".split()
)
ids = st.sampled_from(["--5", "-5", "9" * 5000, "²", '"', "", "5"])
words = st.sampled_from("spawn exit end dropped unreadable http signal stop broken gave-up".split())
changes = st.tuples(
    st.integers(0, len(LINES) - 1),
    st.fixed_dictionaries(
        {},
        optional={
            "id": ids,
            "method": words,
            "size": numbers,
            "cause": values,
            "pair": numbers,
            "mono_ns": numbers,
        },
    ),
    st.dictionaries(details, values, max_size=2),
)


def parsed(command: str, path: Path) -> argparse.Namespace:
    args = build_parser().parse_args(["traffic", str(path), *shlex.split(command)])
    args.live_command = []
    return args


@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],  # shrinking a failure takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(changes, min_size=1, max_size=2))
def test_a_hand_edited_line_raises_no_exception(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: list[tuple[int, dict[str, Any], dict[str, Any]]]
):
    path = tmp_path / "edited.jsonl"
    lines = [dict(one) for one in LINES]
    for index, members, detail in made:
        changed = {"detail": lines[index].get("detail", {}) | detail} if detail else {}
        lines[index] = lines[index] | members | changed
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    for command in COMMANDS:
        if dispatch(parsed(command, path)) == 2:
            assert re.search(r"line \d+ is not a recording entry \(", capsys.readouterr().err)
            return
    capsys.readouterr()
    with open_entries(path) as recording:
        MockServer(recording.entries(), recording.reader.body)
        plan(recording.entries(), recording.reader.body)
