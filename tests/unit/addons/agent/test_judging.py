"""What went wrong is explained in one answer: a failure, both messages, the crash, the findings."""

import pytest

from tests.unit.addons.agent.agent_stage import agent, files, keep
from tests.unit.traffic.traffic_script import Script
from tui.addons.agent import opened
from tui.core.errors import UsageError
from tui.core.traffic import Direction, Kind

CRASH = (
    b"Traceback (most recent call last):",
    b'  File "/srv/files.py", line 12, in read',
    b"KeyError: 'path'",
)


def crashed(script: Script) -> None:
    for line in CRASH:
        script.raw(Direction.NONE, line, Kind.STDERR)


async def explained(script: Script, **given: int) -> str:
    keep(script)
    async with agent() as ask:
        return await ask("explain", **given)


async def test_a_failure_is_explained_with_both_messages_and_the_crash():
    script = files(2)
    known = script.out("tools/call", {"name": "read", "arguments": {"path": 7}})
    crashed(script)
    script.error(known, -32603, "Internal error")
    said = await explained(script)
    assert "1 failed, cancelled or unanswered" in said
    assert "KeyError: 'path'\nat /srv/files.py:12 in read" in said
    assert '"path": 7' in said and '"Internal error"' in said
    assert "text 0" not in said


async def test_the_cause_of_an_exception_is_found_before_the_long_traceback_of_its_wrapper():
    script = files(1)
    known = script.out("tools/call", {"name": "read", "arguments": {"path": 7}})
    crashed(script)
    wrapper = [b'  File "/usr/lib/python3.11/site-packages/mcp/server.py", line 442, in handle'] * 120
    chain = (b"", b"The above exception was the direct cause of the following exception:", b"", CRASH[0])
    for line in (*chain, *wrapper, b"UnexpectedToolError: Error executing tool read"):
        script.raw(Direction.NONE, line, Kind.STDERR)
    script.error(known, -32603, "Internal error")
    assert "KeyError: 'path'\nat /srv/files.py:12 in read" in await explained(script)


async def test_a_server_that_crashes_at_its_start_is_explained():
    script = Script("files")
    script.event("spawn", argv=["python", "files.py"], pid=7)
    script.out("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    crashed(script)
    script.event("exit", code=1)
    assert "at /srv/files.py:12 in read" in await explained(script)


@pytest.mark.parametrize("answers", [False, True])
async def test_a_server_that_answers_no_probe_is_explained_unless_it_answers_what_follows(answers: bool):
    script = Script("files")
    probe = script.out("server/discover")
    script.event("gave up", id=probe, why="it requires valid credentials.")
    if answers:
        script.result(script.out("initialize"), {})
    script.event("stop")
    said = await explained(script)
    assert ("1 failed, cancelled or unanswered" in said) is not answers
    assert (
        "\nmcptui stopped waiting for the response to request 1 of server files: it requires" in said
    ) is (not answers)


async def test_a_call_without_a_response_counts():
    script = files()
    script.out("tools/call", {"name": "read", "arguments": {"path": "slow"}})
    said = await explained(script)
    assert "1 failed, cancelled or unanswered" in said and '"path": "slow"' in said


async def test_output_without_a_message_is_explained():
    script = files()
    script.raw(Direction.IN, b"DEBUG reading")
    said = await explained(script)
    assert "1 line without a message" in said and "warning stray-output" in said


async def test_a_request_without_an_answer_is_explained_with_what_was_on_stderr_before():
    script = Script("files")
    script.raw(Direction.NONE, b"waiting for the database", Kind.STDERR)
    script.out("initialize", {})
    said = await explained(script)
    assert "from stderr of the server files" in said and "waiting for the database" in said


async def test_without_a_failure_the_worst_finding_is_explained():
    script = Script("files").legacy().listed({"name": "read", "inputSchema": {"type": "string"}})
    said = await explained(script)
    assert "0 failed" in said and "error bad-schema" in said and "Entry 5:" in said


async def test_a_recording_in_which_nothing_failed_says_so():
    said = await explained(files())
    assert "0 failed, cancelled or unanswered, 0 lines without a message" in said
    assert "The slowest call took 10 ms (entry 6)." in said
    assert "recordings lists them" in said


async def test_an_entry_is_explained_by_its_number():
    said = await explained(files(), entry=7)
    assert "The response to #6, a call of read on the server files." in said


async def test_findings_are_grouped_and_counted():
    script = files()
    for _ in range(7):
        script.raw(Direction.IN, b"DEBUG")
    keep(script)
    async with agent() as ask:
        assert "7 × files, entries 8, 9, 10, 11, 12…: warning stray-output" in await ask("lint")
        assert "No findings" in await ask("lint", filter="kind:response")
        assert "2 of 14 entries" in await ask("find_entries", filter="lint:any seq:8..9")


async def test_findings_of_what_is_recorded_later_are_added():
    script = files()
    keep(script)
    async with agent() as ask:
        assert "No findings" in await ask("lint")
        script.raw(Direction.IN, b"DEBUG")
        keep(script, "20260102T000000Z-1")
        assert "1 finding" in await ask("lint")


async def test_two_calls_are_compared_without_expected_differences():
    keep(files(2))
    async with agent() as ask:
        said = await ask("compare", entry=6, other=8)
        assert '~ request.params.arguments.path: "/0.txt" -> "/1.txt"' in said
        assert "request.id" not in said and '"exact": true shows them' in said
        assert "request.id" in await ask("compare", entry=6, other=8, exact=True)


async def test_entries_that_cannot_be_compared_say_why():
    keep(files())
    async with agent() as ask:
        with pytest.raises(UsageError, match="no entry 99"):
            await ask("compare", entry=6, other=99)


async def test_a_stream_that_stays_open_has_not_failed():
    script = files()
    script.ask("subscriptions/listen", notifications={})
    assert "0 failed, cancelled or unanswered" in await explained(script)


async def test_an_answer_does_not_wait_for_the_linter_of_a_large_recording(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opened, "LINT_SECONDS", 0.0)
    monkeypatch.setattr(opened, "LINTED_AT_ONCE", 5)
    keep(files(20))
    async with agent() as ask:
        assert "The linter has read 5 of 45 entries so far." in await ask("lint")
        while "so far" in (said := await ask("find_entries", filter="lint:any")):
            pass
        assert "0 of 45 entries match" in said
