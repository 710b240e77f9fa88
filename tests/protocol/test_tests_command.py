"""`mcptui test` over a real server: one run of many cases, looked at in pieces."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, table
from tests.protocol.command import Done, in_this_process, mcptui
from tests.protocol.suites import HEAD, suite
from tui.runtime.recording_file import RecordingFile, take_notes
from tui.traffic.record.entry_columns import EntryColumns

CASES = """
[[call]]
name = "adds"
tool = "add"
args = { a = 1 }
text = "2"

[[call]]
name = "adds wrong"
tool = "add"
args = { a = 1 }
text = "3"

[[call]]
name = "varies"
tool = "now"
text = "It is <time>, run <number>."

[[call]]
name = "an order is placed once, even if its answer is lost"
tool = "order"
result = '{ "id": "<id>" }'
lose = "answer"
save = { id = "$.id" }
then = [ { tool = "count", result = '{ "orders": 1 }' } ]

[[call]]
name = "the order is saved"
tool = "order"
result = '{ "id": "order-3" }'
save = { last = "$.id", wrong = "$.none" }

[[call]]
name = "uses a value"
tool = "add"
args = { a = 6 }
text = "7"

[[call]]
name = "refers to what was saved"
read = "note:${id}"
error = true
text = "<text>note:order-2<text>"

[[call]]
name = "misspelled tool"
tool = "ad"
text = "2"

[[call]]
name = "bad arguments"
tool = "add"
args = { a = "one" }
text = "2"

[[call]]
name = "bad arguments are refused"
tool = "nothing"
error = true
text = "Not found: <text>"

[[call]]
name = "refused"
tool = "refuse"
text = "fine"

[[call]]
name = "refusal expected"
tool = "refuse"
error = true
text = "no such <text>"

[[call]]
name = "image"
tool = "image"
text = "here"

[[call]]
name = "output schema"
tool = "bad_output"
text = "x"

[[call]]
name = "stray output"
tool = "garbage"
text = "done"

[[call]]
name = "stray output accepted"
tool = "garbage"
text = "done"
findings = ["stray-output"]

[[call]]
name = "floods"
tool = "flood"
text = "done"

[[call]]
name = "form"
tool = "ask"
result = '{ "action": "accept", "content": { "name": "Ada" } }'
answers = { form = { name = "Ada" } }

[[call]]
name = "form without an answer"
tool = "ask"
result = '{ "action": "decline" }'

[[call]]
name = "sampling"
tool = "sample"
result = '{ "content": { "text": "Sunny" } }'
answers = { sampling = "Sunny" }

[[call]]
name = "roots"
tool = "roots"
result = '{ "roots": [{ "uri": "<re:file://.*/data>" }] }'
answers = { roots = ["data"] }

[[call]]
name = "dies"
tool = "die"
text = "x"

[[call]]
name = "the server is started again"
tool = "count"
result = '{ "calls": 1 }'

[[call]]
name = "hangs"
tool = "hang"
text = "x"

[[call]]
name = "after a hung call the server is started again"
tool = "count"
result = '{ "calls": 1 }'

[[call]]
name = "a connection is lost"
tool = "count"
result = '{ "calls": 1 }'
lose = "connection"

[[call]]
name = "a process of its own"
tool = "count"
result = '{ "calls": 1 }'
fresh = true

[[call]]
name = "the process of the others is still there"
tool = "count"
result = '{ "calls": 2 }'

[[call]]
name = "slow"
tool = "slow"
text = "done"
within = "10ms"

[[call]]
read = "note:a"
text = "Buy milk"

[[call]]
prompt = "greet"
args = { who = "Ada" }
text = "Greet Ada"

[[call]]
name = "all pages"
list = "resources"
result = '{ "resources": [{ "uri": "note:a" }, { "uri": "note:b" }] }'

[[call]]
name = "left out"
tool = "add"
skip = "needs a network"
text = "x"

[[call]]
name = "expects nothing"
tool = "add"
args = { a = 1 }
"""


class Run:
    """A run of all cases, with its outcomes by name."""

    def __init__(self, done: Done, folder: Path) -> None:
        self.done, self.folder = done, folder
        self.outcomes: Mapping[str, dict[str, Any]] = {one["case"]: one for one in done.of_type("case")}

    def state(self, name: str) -> str:
        return str(self.outcomes[name]["state"])

    def problem(self, name: str) -> str:
        return str(self.outcomes[name]["problem"])

    def paths(self, name: str) -> list[str]:
        return [one["path"] for one in self.outcomes[name]["mismatches"]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("suite")
    file = suite(folder, CASES)
    config = config_file(folder, table("limits", tool_seconds=0.6))
    env = {f"XDG_{name}_HOME": str(folder / name) for name in ("STATE", "DATA", "CONFIG", "CACHE")}
    words = ["--config", config, "--trust-config", "test", str(file), "--json"]
    words += ["--record", str(folder / "run.mcptrace")]
    yield Run(in_this_process(words, env=env), folder)


PASS = [
    "adds",
    "varies",
    "uses a value",
    "refers to what was saved",
    "bad arguments are refused",
    "refusal expected",
    "image",
    "stray output accepted",
    "floods",
    "form",
    "form without an answer",
    "sampling",
    "roots",
    "the server is started again",
    "after a hung call the server is started again",
    "a connection is lost",
    "a process of its own",
    "the process of the others is still there",
    "slow",
    "read note:a",
    "prompt greet who=Ada",
    "all pages",
]


@pytest.mark.parametrize("name", PASS)
def test_a_case_that_is_as_expected_passes(ran: Run, name: str):
    assert (ran.state(name), ran.problem(name), ran.paths(name)) == ("passed", "", [])


def test_a_failure_is_exit_code_1_with_errors_only_for_what_could_not_run(ran: Run):
    assert ran.done.code == 1
    assert [name for name, one in ran.outcomes.items() if one["state"] == "error"] == ["hangs"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("adds wrong", "text"),
        ("an order is placed once, even if its answer is lost", "then[0].result.orders"),
        ("the order is saved", "save.wrong"),
        ("misspelled tool", "args"),
        ("bad arguments", "args"),
        ("refused", "error"),
        ("output schema", "findings"),
        ("stray output", "findings"),
    ],
)
def test_a_case_that_fails_has_the_path_of_its_first_difference(ran: Run, name: str, path: str):
    assert ran.state(name) == "failed" and ran.paths(name) == [path]


def test_a_misspelled_tool_is_named_with_a_similar_one(ran: Run):
    assert "no tool “ad”, did you mean “add”?" in ran.problem("misspelled tool")


def test_arguments_that_do_not_fit_are_not_sent(ran: Run):
    assert ran.problem("bad arguments").startswith("not sent: invalid arguments for add: ")
    assert ran.outcomes["bad arguments"]["call"] == ""


def test_a_server_that_dies_fails_its_case_with_its_exit(ran: Run):
    assert ran.state("dies") == "failed" and "exited with code 3" in ran.problem("dies")


def test_a_hung_call_ends_with_a_sentence(ran: Run):
    assert ran.problem("hangs").startswith("hang did not respond within 0.6 s (tool_seconds).")


def test_notes_say_what_was_not_compared_answered_or_fast(ran: Run):
    notes = {name: "\n".join(one["notes"]) for name, one in ran.outcomes.items()}
    assert notes["image"] == "not compared: 1 image. To compare them, add content = […]."
    assert notes["form without an answer"].startswith("declined: the server asked for a form")
    assert notes["slow"].startswith("slow: ")


def test_skipped_cases_say_why(ran: Run):
    assert (ran.state("left out"), ran.problem("left out")) == ("skipped", "needs a network")
    assert ran.problem("expects nothing").startswith("expects nothing yet")


def test_failed_cases_have_a_command_that_repeats_them(ran: Run):
    assert ran.outcomes["adds wrong"]["repeat"].split(" && ")[1].startswith("mcptui call add --args")
    assert ran.outcomes["adds"]["repeat"] == ""


def test_the_test_file_is_not_changed(ran: Run):
    assert (ran.folder / "all.mcp.toml").read_text() == HEAD + CASES


def test_the_recording_opens_at_the_first_failed_case(ran: Run):
    file = ran.folder / "run.mcptrace"
    notes = take_notes(file, EntryColumns())
    opened = RecordingFile(file).recording.opens_at
    assert notes[opened] == 'failed: text: expected "3", got "2" (adds wrong)'
    assert len(notes) == sum(one["state"] in ("failed", "error") for one in ran.outcomes.values()) - 2


async def test_the_repeat_command_of_a_failure_really_repeats_it(ran: Run, monkeypatch: pytest.MonkeyPatch):
    line = ran.outcomes["adds wrong"]["repeat"]
    assert (line[0], line[-1]) == ("(", ")")
    cd, folder, then, program, *words = shlex.split(line[1:-1])
    assert (cd, then, program) == ("cd", "&&", "mcptui")
    monkeypatch.chdir(folder)
    done = await mcptui(*words)
    assert (done.code, done.out) == (0, "2\n")
