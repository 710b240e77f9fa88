"""What `mcptui servers` prints."""

from dataclasses import replace

from tui.commands.servers import MAX_NAMED, as_object, columns_for, lines
from tui.core.context.context_parts import DefinitionTokens
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason

STATUS = ServerStatus(
    "notes", ServerSpec("notes"), state=ServerState.RUNNING, tools=1, resources=1, prompts=1, start_ms=1.0
)

COLUMNS = columns_for(["notes"])


def test_counts_of_one_are_singular():
    (line,) = lines(STATUS, COLUMNS)
    assert "1 tool, 1 resource, 1 prompt  " in line
    (line,) = lines(replace(STATUS, tools=0, resources=2, prompts=None), COLUMNS)
    assert "0 tools, 2 resources  " in line


def test_the_tokens_of_a_server_are_estimated_from_its_tools_and_instructions():
    tokens = DefinitionTokens({"add_note": 90}, instructions=30)
    (line,) = lines(STATUS, COLUMNS, tokens=tokens)
    assert "1 prompt, ~120 tokens" in line
    assert as_object(STATUS, tokens)["tokens"] == {
        "total": 120,
        "tools": {"add_note": 90},
        "instructions": 30,
        "estimated": True,
    }
    assert as_object(STATUS)["tokens"] is None


def test_the_json_object_has_the_redacted_url():
    remote = ServerStatus("h", ServerSpec("h", url="https://h/k-1234567"), launch="https://h/[redacted:KEY]")
    assert as_object(remote)["url"] == "https://h/[redacted:KEY]"
    assert as_object(STATUS)["url"] is None


def test_a_listing_that_failed_is_reported_as_failed():
    status = replace(STATUS, listing_problem="no answer within 30 s")
    assert lines(status, COLUMNS)[1:] == ["    tools/list: no answer within 30 s"]
    assert as_object(status)["listing_problem"] == "no answer within 30 s"
    assert as_object(STATUS)["listing_problem"] is None


def test_a_log_line_quoted_in_the_reason_is_not_repeated():
    line = "npm error 404 " + "x" * 200
    status = ServerStatus("npx", ServerSpec("npx"), reason=StopReason.FAILED_TO_START, stderr_last=line)
    assert len(lines(replace(status, detail=f"it exited. Log: {line}"), COLUMNS)) == 2
    assert lines(replace(status, detail="it exited."), COLUMNS)[-1] == f"    log: {line}"


def test_marks_and_omitted_tools_beyond_the_named_ones_are_counted():
    many = tuple((f"tool{number}", "description (HTML comment)") for number in range(MAX_NAMED + 3))
    told = lines(replace(STATUS, hidden=many, quarantined=many[: MAX_NAMED + 1]), COLUMNS)
    assert sum("hidden text:" in line for line in told) == MAX_NAMED
    assert "    and 3 more with hidden text" in told
    assert told[-1] == "    and 1 more omitted"
    assert not any("more" in line for line in lines(replace(STATUS, hidden=many[:MAX_NAMED]), COLUMNS))


def test_a_list_fits_the_terminal_with_all_texts_and_a_heading():
    running = replace(STATUS, title="A server with a long name", version="1.2.3", protocol="2026-07-28")
    failed = ServerStatus("notes", ServerSpec("notes"), reason=StopReason.FAILED_TO_START, detail="why " * 40)
    columns = columns_for(["notes"], 60)
    printed = [*columns.heading(), *lines(running, columns), *lines(failed, columns)]
    assert max(map(len, printed)) <= 60 and printed[0].split()[:2] == ["server", "state"]
    words = " ".join(printed).split()
    assert words.count("why") == 40 and {"A", "server", "with", "long", "name", "1.2.3"} <= {*words}
