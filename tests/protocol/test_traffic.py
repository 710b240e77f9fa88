"""`mcptui traffic` on a recording of `mcptui tap`."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import until
from tests.protocol.command import Done, finish, mcptui, start
from tests.protocol.test_tap import lines_of, recordings
from tui.core.traffic import Direction
from tui.storage.recordings.database import keep_note

pytestmark = pytest.mark.usefixtures("quick_python")

SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    bad = asked["params"]["name"] == "bad"
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result":
        {"content": [{"type": "text", "text": "said " + asked["params"]["name"]}], "isError": bad}}),
        flush=True)
print("not JSON at all")
"""


def call(ident: int, name: str) -> bytes:
    params = {"name": name, "arguments": {}}
    return (
        json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}).encode() + b"\n"
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a server once for the module."""
    state = tmp_path_factory.mktemp("state")
    words = programs.command("-m", "tui", "tap", "--name", "s", "--", sys.executable, "-c", SERVER)
    sent = call(1, "good") + call(2, "bad")
    env = os.environ | {"XDG_STATE_HOME": str(state)}
    subprocess.run(words, input=sent, env=env, stdout=subprocess.DEVNULL, check=True, timeout=40)
    return next(state.glob("mcptui/recordings/*.mcptrace"))


@pytest.fixture
def recording(made: Path) -> Path:
    """Return a copy of the recording, in the place where mcptui looks for it."""
    folder = Path(os.environ["XDG_STATE_HOME"]) / "mcptui" / "recordings"
    folder.mkdir(parents=True)
    return Path(shutil.copy2(made, folder))


async def test_entries_of_the_newest_recording_are_printed_as_a_line_each(recording: Path):
    done = await mcptui("traffic")
    assert done.code == 0
    lines = done.out.splitlines()
    assert "started as process" in lines[0]
    assert [line.split()[3:7] for line in lines if "→" in line] == [
        ["→", "request", "tools/call", "good"],
        ["→", "request", "tools/call", "bad"],
    ]
    assert any("not JSON at all" in line for line in lines)
    assert (await mcptui("traffic", str(recording))).out == done.out
    assert (await mcptui("traffic", recording.stem)).out == done.out
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("expression", "count"),
    [("tool:bad", 2), ("status:error kind:response", 1), ('"said good"', 1)],
)
async def test_a_filter_selects_the_matching_entries(recording: Path, expression: str, count: int):
    done = await mcptui("traffic", "--filter", expression)
    assert len(done.out.splitlines()) == count
    assert "0 of" not in done.err


@pytest.mark.parametrize("more", [(), ("--json",), ("--slowest",), ("--stats",), ("--lint",)])
async def test_a_filter_without_matches_reports_the_number_of_entries(recording: Path, more: tuple[str, ...]):
    everything = len((await mcptui("traffic", "--json")).out.splitlines())
    done = await mcptui("traffic", "--filter", "nothing-is-so", *more)
    assert done.code == 0
    assert f"mcptui: 0 of {everything} entries\n" in done.err


async def test_the_selected_recording_is_named_first(recording: Path):
    done = await mcptui("traffic", "--filter", "tool:bad")
    assert done.err.startswith(f"mcptui: reading {recording.stem} (tap of s, 20")
    assert (await mcptui("traffic", "--filter", "tool:bad", "--json")).err == ""
    assert (await mcptui("traffic", recording.stem)).err == ""


async def test_each_failed_call_is_a_line(recording: Path):
    (line,) = (await mcptui("traffic", "--failed")).out.splitlines()
    assert line.split()[4:7] == ["request", "tools/call", "bad"]
    assert line.endswith("tool error")


async def test_the_slowest_requests_come_first(recording: Path):
    done = await mcptui("traffic", "--slowest", "--filter", "method:tools/call")
    assert sorted(line.split()[6] for line in done.out.splitlines()) == ["bad", "good"]
    slow, fast = [
        json.loads(line) for line in (await mcptui("traffic", "--slowest", "2", "--json")).out.splitlines()
    ]
    answered = {
        row["pair"]: row["mono_ns"]
        for row in map(json.loads, (await mcptui("traffic", "--json")).out.splitlines())
        if row.get("pair")
    }
    took = [answered[row["seq"]] - row["mono_ns"] for row in (slow, fast)]
    assert took == sorted(took, reverse=True)
    assert len((await mcptui("traffic", "--slowest", "1")).out.splitlines()) == 1


async def test_the_mistake_in_a_filter_is_underlined(recording: Path):
    done = await mcptui("traffic", "--filter", "server:s metod:x")
    assert done.code == 2
    assert "\n  server:s metod:x\n           ^^^^^^" in done.err, done.err


async def test_lint_errors_determine_the_exit_code(recording: Path):
    done = await mcptui("traffic", "--lint")
    assert done.code == 1
    assert "error" in done.out
    clean = await mcptui("traffic", "--lint", "--filter", "kind:event")
    assert (clean.code, clean.out.split(" in ")[0]) == (0, "no findings")
    objects = [json.loads(line) for line in (await mcptui("traffic", "--lint", "--json")).out.splitlines()]
    assert {"seq", "code", "severity", "sentence", "section"} <= objects[0].keys()


async def test_statistics_are_printed(recording: Path):
    done = await mcptui("traffic", "--stats", "--json")
    assert {(one["tool"], one["calls"], one["errors"]) for one in done.objects} == {
        ("good", 1, 0),
        ("bad", 1, 1),
    }
    head, *rows = (await mcptui("traffic", "--stats", "--filter", "tool:bad")).out.splitlines()
    assert head.split()[:5] == ["server", "method,", "tool", "calls", "errors"]
    assert [row.split()[:5] for row in rows] == [["s", "tools/call", "bad", "1", "1"]]


@pytest.mark.parametrize("form", ["jsonl", "md", "har", "html"])
async def test_a_selection_is_exported(recording: Path, tmp_path: Path, form: str):
    target = tmp_path / f"out.{form}"
    done = await mcptui("traffic", "--filter", "tool:bad", "--export", form, "-o", str(target))
    assert (done.code, done.out) == (0, "")
    text = target.read_text()
    assert ("said bad" in text) is (form != "har")
    assert ("no entries over HTTP" in done.err) is (form == "har")
    assert "said good" not in text


async def test_an_export_can_have_shapes_in_place_of_values(recording: Path, tmp_path: Path):
    whole = await mcptui("traffic", "--export", "jsonl")
    done = await mcptui("traffic", "--export", "jsonl", "--redact", "-o", str(tmp_path / "shapes"))
    assert done.code == 0 and "entries, " in done.err and "redacted value" in done.err
    shapes = [json.loads(line) for line in (tmp_path / "shapes").read_text().splitlines()[1:]]
    values = [json.loads(line) for line in whole.out.splitlines()[1:]]
    assert [one["seq"] for one in shapes] == [one["seq"] for one in values]
    calls = [json.loads(one["body"]) for one in shapes if one.get("method") == "tools/call"]
    results = [one["result"]["content"] for one in calls if "content" in one.get("result", {})]
    texts = [item["text"] for content in results for item in content]
    assert texts and all(text.startswith("<text, ") for text in texts)
    alone = await mcptui("traffic", "--redact")
    assert (alone.code, "--redact requires --export" in alone.err) == (2, True)


async def test_an_export_as_json_lines_is_read_like_the_recording(recording: Path, tmp_path: Path):
    target = tmp_path / "all.jsonl"
    await mcptui("traffic", "--export", "jsonl", "-o", str(target))
    assert (await mcptui("traffic", str(target))).out == (await mcptui("traffic")).out
    assert (await mcptui("traffic", str(target), "--json")).out == (await mcptui("traffic", "--json")).out


async def test_following_prints_new_entries_until_the_recording_ends():
    server = await start("tap", "--", "cat")
    server.stdin.write(call(1, "first"))
    assert await server.stdout.readline()
    await until(lambda: recordings() and len(lines_of(Direction.OUT)) == 1)
    follower = await start("traffic", "--follow", "--filter", "dir:out")
    assert b"first" in await follower.stdout.readline()
    server.stdin.write(call(2, "second"))
    assert b"second" in await follower.stdout.readline()
    await finish(server)
    assert (await finish(follower)).code == 0


async def test_recordings_are_listed(recording: Path):
    done = await mcptui("traffic", "--list")
    assert recording.stem in done.out
    head, line = done.out.splitlines()
    assert head.split() == "name started duration entries size recorded by servers".split()
    assert line.split()[-4:] == ["tap", "of", "s", "s"]
    told = json.loads((await mcptui("traffic", "--list", "--json")).out)
    assert (told["path"], told["servers"], told["live"]) == (str(recording), ["s"], False)
    began, ended = map(datetime.fromisoformat, (told["began"], told["ended"]))
    assert began <= ended <= datetime.now(UTC)


async def test_a_recording_still_being_written_is_listed_as_live():
    server = await start("tap", "--", "cat")
    server.stdin.write(call(1, "first"))
    assert await server.stdout.readline()
    await until(lambda: recordings() and len(lines_of(Direction.OUT)) == 1)
    assert (await mcptui("traffic", "--list")).out.splitlines()[1].split()[3] == "live"
    await finish(server)


@pytest.mark.parametrize(
    "args",
    [
        ("no-such",),
        ("/no/such.mcptrace",),
        ("--lint", "--stats"),
        ("-o", "x"),
        ("--mask", "x"),
        ("--list", "--filter", "tool:x"),
        ("--since", "1h", "--follow"),
        ("--all", "--replay", "x"),
        ("--since", "1h or 2h"),
        ("x", "--all"),
    ],
)
async def test_invalid_combinations_are_refused(recording: Path, args: tuple[str, ...]):
    done: Done = await mcptui("traffic", *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("mcptui: ")


async def test_a_recording_in_the_place_of_the_server_of_a_replay_is_refused(recording: Path):
    done = await mcptui("traffic", "--yes", "--replay", recording.stem, "--", "no-such-program")
    assert (done.code, done.out) == (2, "")
    assert "cannot be combined with a command after --" in done.err
    assert f"mcptui traffic {recording.stem} --replay -- COMMAND" in done.err


async def test_without_recordings_the_command_says_so():
    done = await mcptui("traffic")
    assert done.code == 2
    assert "no recordings yet" in done.err
    assert (await mcptui("traffic", "--list")).out == "no recordings yet\n"


@pytest.mark.parametrize(
    ("changed", "mask", "code", "said"),
    [
        ("said ", "$.time", 0, "--mask “$.time” matches nothing in the responses"),
        ("says ", "*", 1, 'result.content[0].text: "said good"'),
        ("says ", "$.content[0].text", 0, "2 requests: 2 same, 0 differ, 0 omitted"),
    ],
)
async def test_a_session_is_replayed_against_a_live_server(
    recording: Path, changed: str, mask: str, code: int, said: str
):
    live = (sys.executable, "-c", SERVER.replace("said ", changed))
    done = await mcptui("traffic", str(recording), "--mask", mask, "--yes", "--replay", "--", *live)
    assert done.code == code and said in done.out + done.err


BATCHING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    said = [{"jsonrpc": "2.0", "id": one["id"], "result": {"text": "said " + one["params"]["name"]}}
        for one in (asked if isinstance(asked, list) else [asked])]
    print(json.dumps(said if isinstance(asked, list) else said[0]), flush=True)
"""


async def test_the_requests_of_a_batch_are_replayed_and_mocked() -> None:
    batch = b"[" + call(1, "milk").strip() + b"," + call(2, "bread").strip() + b"]\n"
    await mcptui("tap", "--name", "s", "--", sys.executable, "-c", BATCHING, stdin=batch)
    name = str(recordings()[0])
    live = ("--yes", "--replay", "--", sys.executable, "-c")
    same = await mcptui("traffic", name, *live, BATCHING)
    assert (same.code, same.out.splitlines()[-1]) == (0, "2 requests: 2 same, 0 differ, 0 omitted")
    other = await mcptui("traffic", name, *live, BATCHING.replace("said ", "says "))
    assert (other.code, other.out.splitlines()[-1]) == (1, "2 requests: 0 same, 2 differ, 0 omitted")
    found = await mcptui("traffic", name, "--filter", "tool:bread or body:nothing", *live, BATCHING)
    assert found.out.splitlines()[-1] == "1 request: 1 same, 0 differ, 0 omitted"
    whole = await mcptui("traffic", name, "--filter", "body:BREAD kind:batch", *live, BATCHING)
    assert whole.out.splitlines()[-1] == "2 requests: 2 same, 0 differ, 0 omitted"
    mocked = await mcptui("mock", name, stdin=batch)
    assert [[one["id"] for one in json.loads(line)] for line in mocked.out.splitlines()] == [[1, 2]]
    alone = await mcptui("mock", name, stdin=call(7, "bread"))
    assert json.loads(alone.out) == {"jsonrpc": "2.0", "id": 7, "result": {"text": "said bread"}}


async def test_only_matching_messages_are_replayed(recording: Path):
    live = ("--yes", "--replay", "--", sys.executable, "-c", SERVER)
    done = await mcptui("traffic", str(recording), "--filter", "tool:bad", *live)
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 request: 1 same, 0 differ, 0 omitted")
    assert "good" not in done.out
    answered = await mcptui("traffic", str(recording), "--filter", '"said good"', *live)
    assert "1 request: 1 same" in answered.out


async def test_a_replay_that_compared_nothing_is_no_success_and_says_why(recording: Path):
    live = ("--yes", "--replay", "--", sys.executable, "-c", SERVER)
    nothing = await mcptui("traffic", str(recording), "--filter", "tool:x", *live)
    why = "nothing was compared: no request to the server matches the filter"
    assert (nothing.code, nothing.out, "0 of" in nothing.err) == (2, "", True)
    assert nothing.err.splitlines()[-1] == f"mcptui: {why}"
    told = await mcptui("traffic", str(recording), "--filter", "tool:x", "--json", *live)
    assert (told.code, json.loads(told.out)) == (2, {"compared": 0, "problem": why})


HELLO = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
FORGETFUL = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}), flush=True)
"""


@pytest.mark.parametrize("sent", [call(1, "a"), HELLO + call(1, "a")], ids=["call", "with handshake"])
async def test_a_replay_whose_calls_were_all_omitted_compared_nothing(sent: bytes) -> None:
    server = (sys.executable, "-c", FORGETFUL)
    await mcptui("tap", "--", *server, stdin=sent)
    done = await mcptui("traffic", "--yes", "--replay", "--", *server)
    assert done.code == 2
    assert "1 omitted" in done.out
    assert "nothing was compared: 1 request omitted: it had no response (1)" in done.err
    told = await mcptui("traffic", "--json", "--yes", "--replay", "--", *server)
    assert json.loads(told.out.splitlines()[-1])["compared"] == 0


async def test_a_replay_of_notifications_alone_compared_nothing() -> None:
    notified = b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}\n'
    server = (sys.executable, "-c", FORGETFUL)
    await mcptui("tap", "--", *server, stdin=HELLO + notified)
    notifying = ("--filter", "kind:notification")
    done = await mcptui("traffic", *notifying, "--yes", "--replay", "--", *server)
    assert done.code == 2
    assert done.err.splitlines()[-1] == "mcptui: nothing was compared: no request was sent"


async def test_a_recording_of_a_handshake_alone_is_compared() -> None:
    server = (sys.executable, "-c", FORGETFUL)
    await mcptui("tap", "--", *server, stdin=HELLO)
    done = await mcptui("traffic", "--yes", "--replay", "--", *server)
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 request: 1 same, 0 differ, 0 omitted")


SHAKING = """
import json, sys
ready = False
for line in sys.stdin:
    asked = json.loads(line)
    ready = ready or asked["method"] == "initialize"
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"ready": ready}}), flush=True)
"""


async def test_the_handshake_is_sent_before_matching_messages_and_not_listed():
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
    server = (sys.executable, "-c", SHAKING)
    await mcptui("tap", "--", *server, stdin=hello + call(1, "a") + call(2, "b"))
    done = await mcptui("traffic", "--filter", "tool:b", "--yes", "--replay", "--", *server)
    assert done.code == 0
    assert [line.split()[:3] for line in done.out.splitlines()[:-1]] == [["✓", "tools/call", "b"]]


async def test_a_replay_without_a_server_is_refused(recording: Path):
    assert (await mcptui("traffic", "--yes", "--replay", "--", "no-such-program")).code == 5
    assert (await mcptui("traffic", str(recording), "--replay", "no-such-server")).code == 2
    assert (await mcptui("traffic", str(recording), "--replay", "x", "--config", "/no/such.toml")).code == 2


async def test_marks_and_notes_from_the_screen_can_be_filtered(recording: Path):
    keep_note(recording, 2, marked=True)
    keep_note(recording, 3, text="my note")
    marked = await mcptui("traffic", "--filter", "marked:yes")
    noted = await mcptui("traffic", "--filter", "note:my")
    assert [line.split()[0] for line in marked.out.splitlines()] == ["2"]
    assert [line.split()[0] for line in noted.out.splitlines()] == ["3"]
    told = (await mcptui("traffic", "--json")).objects
    assert [(one.get("marked"), one.get("note")) for one in told[1:3]] == [(True, None), (None, "my note")]


async def test_an_export_can_be_written_to_a_fifo_and_through_a_symlink(recording: Path, tmp_path: Path):
    fifo, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(fifo)
    link.symlink_to("lines.jsonl")
    expected = (await mcptui("traffic", str(recording), "--export", "jsonl")).out
    reading = asyncio.create_task(asyncio.to_thread(fifo.read_text))
    done = await mcptui("traffic", str(recording), "--export", "jsonl", "-o", str(fifo))
    assert done.code == 0 and fifo.is_fifo()
    assert await asyncio.wait_for(reading, 20) == expected
    assert (await mcptui("traffic", str(recording), "--export", "jsonl", "-o", str(link))).code == 0
    assert link.is_symlink() and (tmp_path / "lines.jsonl").read_text() == expected


@pytest.mark.parametrize(
    ("form", "noted"), [("jsonl", "see <b>"), ("md", "Note: see \\<b>"), ("html", "Note: see &lt;b&gt;")]
)
async def test_marks_and_notes_are_in_every_export_with_both_halves_of_the_exchange(
    recording: Path, form: str, noted: str
) -> None:
    answer = next(one for one in (await mcptui("traffic", "--json")).objects if one["kind"] == "response")
    for marked, other in (("seq", "pair"), ("pair", "seq")):
        keep_note(recording, answer[marked], marked=True, text="see <b>")
        keep_note(recording, answer[other], marked=False, text="")
        for filtered in ("marked:yes", "note:see"):
            text = (await mcptui("traffic", "--filter", filtered, "--export", form)).out
            assert "said good" in text and "said bad" not in text
            assert "marked" in text and noted in text


async def test_marks_and_notes_survive_an_export_as_json_lines(recording: Path, tmp_path: Path) -> None:
    keep_note(recording, 2, marked=True, text="my note ü")
    keep_note(recording, 3, text="another")
    target = tmp_path / "all.jsonl"
    await mcptui("traffic", "--export", "jsonl", "-o", str(target))
    for filtered, seqs in (("marked:yes", [2]), ("note:*", [2, 3]), ("note:another", [3])):
        read = await mcptui("traffic", str(target), "--filter", filtered, "--json")
        assert [one["seq"] for one in read.objects] == seqs
    again = await mcptui("traffic", str(target), "--export", "jsonl")
    assert again.out == target.read_text()


async def test_a_redacted_export_has_marks_but_not_the_text_of_notes(recording: Path) -> None:
    keep_note(recording, 2, marked=True, text="my note")
    done = await mcptui("traffic", "--export", "jsonl", "--redact")
    found = [json.loads(line) for line in done.out.splitlines()[1:]]
    assert [(one.get("marked"), one.get("note")) for one in found[:2]] == [
        (None, None),
        (True, "<text, 7 characters>"),
    ]


async def test_a_filter_that_asks_for_one_half_exports_one_half(recording: Path) -> None:
    for seq in range(1, 9):
        keep_note(recording, seq, marked=True)
    done = await mcptui("traffic", "--filter", "marked:yes kind:request", "--export", "jsonl")
    assert {json.loads(line)["kind"] for line in done.out.splitlines()[1:]} == {"request"}
