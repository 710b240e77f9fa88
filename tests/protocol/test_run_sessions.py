"""`mcptui run` as part of a saved conversation, with files, stdin and a file for the answer."""

import json
from pathlib import Path

from tests.endpoint import Endpoint, says
from tests.protocol.command import mcptui
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore


def config(folder: Path, endpoint: Endpoint) -> str:
    path = folder / "config.toml"
    path.write_text(f'[models.scripted]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n[servers]\n', "utf-8")
    return str(path)


def said(request):
    return [(one["role"], one["content"]) for one in request.json["messages"] if one["role"] != "system"]


async def test_a_session_is_started_by_its_name_and_resumed(tmp_path: Path):
    async with Endpoint([says("Hello Ada."), says("Ada.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "names")
        first = await mcptui(*given, "I am Ada.")
        second = await mcptui(*given, "Who am I?")
        request = endpoint.requests[1]
    assert (first.code, second.code, second.out) == (0, 0, "Ada.\n")
    assert said(request) == [("user", "I am Ada."), ("assistant", "Hello Ada."), ("user", "Who am I?")]


async def test_resume_continues_the_last_session(tmp_path: Path):
    async with Endpoint([says("One."), says("Two.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "--session", "a", "first")
        await mcptui(*given, "--resume", "second")
        assert said(endpoint.requests[1])[0] == ("user", "first")


async def test_a_session_that_cannot_be_saved_is_reported_after_the_answer(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    data = tmp_path / "file" / "data"
    async with Endpoint([says("Hello Ada.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "names")
        done = await mcptui(*given, "I am Ada.", XDG_DATA_HOME=str(data))
    assert (done.code, done.out) == (0, "Hello Ada.\n")
    why = f"cannot write to {data / 'mcptui' / 'sessions'}: Not a directory"
    assert f"mcptui: some messages were not saved: {why}\n" in done.err


async def test_traffic_that_cannot_be_recorded_is_reported_after_the_answer(tmp_path: Path):
    state = tmp_path / "state"
    (state / "mcptui").mkdir(parents=True)
    (state / "mcptui" / "recordings").write_text("in the way")
    async with Endpoint([says("Hello Ada.")]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "hi", XDG_STATE_HOME=str(state))
    assert (done.code, done.out) == (0, "Hello Ada.\n")
    assert "mcptui: the traffic was not recorded: " in done.err


async def test_without_a_name_no_session_is_saved_or_resumed(tmp_path: Path):
    async with Endpoint([says("One."), says("Two.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "first")
        await mcptui(*given, "second")
        assert said(endpoint.requests[1]) == [("user", "second")]
        nothing = await mcptui(*given, "--resume", "third")
    assert nothing.code == 2 and "no session to resume" in nothing.err


async def test_piped_input_is_appended_to_the_question(tmp_path: Path):
    async with Endpoint([says("Fine.")]) as endpoint:
        await mcptui("run", "--config", config(tmp_path, endpoint), "what is wrong here?", stdin=b"a log\n")
        assert said(endpoint.requests[0]) == [("user", "what is wrong here?\n\na log")]


async def test_a_file_is_attached_to_the_question(tmp_path: Path):
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk", "utf-8")
    async with Endpoint([says("Milk.")]) as endpoint:
        await mcptui("run", "--config", config(tmp_path, endpoint), "--file", str(notes), "what?")
        (_, content), *_ = said(endpoint.requests[0])
    assert "buy milk" in str(content) and "notes.txt" in str(content)


async def test_an_unreadable_file_ends_the_run_before_the_first_request(tmp_path: Path):
    async with Endpoint([]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--file", "/no/such", "what?")
        assert (done.code, endpoint.requests) == (2, [])
    assert "/no/such" in done.err and "No such file" in done.err


async def test_the_system_text_can_be_read_from_a_file(tmp_path: Path):
    (tmp_path / "pirate.txt").write_text("Talk like a pirate.", "utf-8")
    async with Endpoint([says("Arr."), says("Yes.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "--system", f"@{tmp_path / 'pirate.txt'}", "hi")
        await mcptui(*given, "--system", "Be brief.", "hi")
        texts = [request.json["messages"][0]["content"] for request in endpoint.requests]
    assert texts == ["Talk like a pirate.", "Be brief."]


async def test_the_answer_is_written_to_a_file_and_not_to_stdout(tmp_path: Path):
    async with Endpoint([says("The answer.")]) as endpoint:
        out = tmp_path / "answer.md"
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--output", str(out), "hi")
    assert (done.code, done.out, out.read_text("utf-8")) == (0, "", "The answer.\n")


async def test_an_unwritable_output_path_is_reported_before_the_first_request(tmp_path: Path):
    async with Endpoint([]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--output", str(tmp_path), "hi")
        assert (done.code, endpoint.requests) == (2, [])


async def test_a_session_open_elsewhere_is_reported_by_title_and_no_request_is_sent(tmp_path: Path):
    async with Endpoint([says("Hello.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "trip")
        await mcptui(*given, "hi")
        store = SessionStore(data_dir() / "sessions", Redactor)
        (info,) = await store.list()
        _, journal = await store.reopen(info.id)
        done = await mcptui(*given, "and now?")
        as_json = await mcptui(*given, "--json", "and now?")
        await journal.close()
        assert len(endpoint.requests) == 1
    assert (done.code, done.out) == (2, "")
    assert done.err == "mcptui: “trip” is open in another mcptui. Close it there first.\n"
    assert as_json.code == 2 and "trip" in json.loads(as_json.out)["message"]
