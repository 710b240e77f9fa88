"""`mcptui test` over a real server: one run of many cases, looked at in pieces, and bad input."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.configurations import config_file, server, table
from tests.protocol.command import Done, doubtful, in_this_process, mcptui, recordings, start
from tui.runtime.recording_file import RecordingFile, take_notes
from tui.traffic.record.entry_columns import EntryColumns

SERVER = Path(__file__).with_name("suite_server.py")
ASKING = Path(__file__).with_name("asking_server.py")
COMMAND = [sys.executable, "-I", str(SERVER)]
HEAD = f"[server]\ncommand = {json.dumps(COMMAND)}\n"
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


def suite(folder: Path, cases: str, name: str = "all", head: str = HEAD) -> Path:
    path = folder / f"{name}.mcp.toml"
    path.write_text(head + cases)
    return path


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
    assert notes[opened] == "failed: adds wrong: text differs"
    assert len(notes) == sum(one["state"] in ("failed", "error") for one in ran.outcomes.values()) - 2


async def test_the_repeat_command_of_a_failure_really_repeats_it(ran: Run, tmp_path: Path):
    process = await asyncio.create_subprocess_shell(
        ran.outcomes["adds wrong"]["repeat"].replace("mcptui", f"{sys.executable} -m tui", 1),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    out, _ = await process.communicate()
    assert (process.returncode, out) == (0, b"2\n")


# ---- selection, eras, servers ------------------------------------------------------------------------------

THREE = """
[[call]]
name = "first count"
tool = "count"
result = '{ "calls": 1 }'
tags = ["counting"]

[[call]]
name = "second count"
tool = "count"
result = '{ "calls": 2 }'
tags = ["counting"]

[[call]]
name = "adding"
tool = "add"
args = { a = 1 }
text = "5"
"""


def lines(done: Done) -> list[str]:
    """Return the lines of cases, without spaces: file::name STATE."""
    found = (line.split() for line in done.out.splitlines() if "::" in line)
    return [" ".join(words[:-2] if words[-1] in ("ms", "s") else words).rpartition("/")[2] for words in found]


async def test_words_select_cases_and_options_may_stand_between_names(tmp_path: Path):
    one, two = suite(tmp_path, THREE, "one"), suite(tmp_path, THREE, "two")
    done = await mcptui("test", str(one), "-k", "COUNT second", str(two), "--tag", "counting", "--", *COMMAND)
    assert done.code == 1  # the second count is now the first
    assert lines(done) == ["one.mcp.toml::second count FAILED", "two.mcp.toml::second count FAILED"]


async def test_files_run_side_by_side_and_are_reported_in_order(tmp_path: Path):
    for name in "cab":
        suite(tmp_path, THREE, name)
    done = await mcptui("test", str(tmp_path), "-k", "count", "--jobs", "3", "--trust-config")
    assert done.code == 0
    assert lines(done) == [
        f"{file}.mcp.toml::{name} count PASSED" for file in "abc" for name in ("first", "second")
    ]


async def test_the_first_failure_ends_the_run_with_x(tmp_path: Path):
    file = suite(tmp_path, THREE.replace('"calls": 1', '"calls": 9'))
    done = await mcptui("test", str(file), "-x", "--trust-config")
    assert lines(done) == [
        "all.mcp.toml::first count FAILED",
        "all.mcp.toml::second count SKIPPED",
        "all.mcp.toml::adding SKIPPED",
    ]


async def test_fresh_is_a_process_for_each_case(tmp_path: Path):
    done = await mcptui("test", str(suite(tmp_path, THREE)), "-k", "count", "--fresh", "--trust-config")
    assert lines(done) == ["all.mcp.toml::first count PASSED", "all.mcp.toml::second count FAILED"]


async def test_a_slow_response_fails_with_strict_time(tmp_path: Path):
    case = '[[call]]\ntool = "slow"\ntext = "done"\nwithin = "10ms"\n'
    done = await mcptui("test", str(suite(tmp_path, case)), "--strict-time", "--trust-config")
    assert done.code == 1 and "within  (the response was slow)" in done.out


MODERN = """
[[call]]
tool = "greet"
text = '<text>"name": "Ada"<text>"exact": true<text>'
answers = { form = { name = "Ada" } }

[[call]]
tool = "sample"
text = "<text>Sunny<text>"
answers = { sampling = "Sunny" }

[[call]]
read = "note:x"
text = "yours s"
answers = { form = { name = "Ada" } }

[[call]]
prompt = "p"
text = "for you s"
answers = { form = { name = "Ada" } }
"""


async def test_what_a_server_asks_in_rounds_is_answered(tmp_path: Path):
    done = await mcptui("test", str(suite(tmp_path, MODERN)), "--", sys.executable, str(ASKING))
    assert done.code == 0, done.out
    assert len(lines(done)) == 4


async def test_each_case_runs_in_both_eras(tmp_path: Path):
    case = '[[call]]\ntool = "greet"\ntext = "<any>"\nanswers = { form = { name = "Ada" } }\n'
    head = HEAD.replace(json.dumps(COMMAND), json.dumps([sys.executable, str(ASKING)]))
    done = await mcptui("test", str(suite(tmp_path, case, head=head)), "--era", "both", "--trust-config")
    assert lines(done)[0] == "all.mcp.toml::greet [legacy] ERROR"
    assert lines(done)[1] == "all.mcp.toml::greet [modern] PASSED"
    assert done.code == 5 and "legacy" in done.out.split("\n\n")[1]


# ---- consent -----------------------------------------------------------------------------------------------


async def test_a_file_from_elsewhere_starts_nothing_without_consent(tmp_path: Path):
    head = f'[server]\ncommand = ["touch", "{tmp_path}/started"]\n'
    done = await doubtful("test", str(suite(tmp_path, THREE, head=head)))
    assert done.code == 2 and not (tmp_path / "started").exists()
    for words in ("touch", f"{tmp_path}/started", "the test file", "--trust-config", "-- COMMAND"):
        assert words in done.err


async def test_a_configured_server_needs_consent_too(tmp_path: Path):
    config = config_file(tmp_path, server("prod", "-c", f"open({str(tmp_path / 'started')!r}, 'w')"))
    file = suite(tmp_path, THREE, head='server = "prod"\n')
    done = await doubtful("test", str(file), MCPTUI_CONFIG=config)
    assert done.code == 2 and not (tmp_path / "started").exists()
    assert "prod" in done.err


async def test_a_server_that_the_user_names_needs_no_consent(tmp_path: Path, separate_home: Path):
    (separate_home / "config" / "mcptui").mkdir(parents=True)
    config_file(separate_home / "config" / "mcptui", server("mine", SERVER))
    done = await doubtful("test", str(suite(tmp_path, THREE, head="")), "-k", "count", "--server", "mine")
    assert done.code == 0, done.err


# ---- bad input ---------------------------------------------------------------------------------------------


async def refused(*words: str, said: str, code: int = 2) -> Done:
    done = await mcptui("test", *words, "--trust-config")
    assert done.code == code and said in done.out + done.err, (done.out, done.err)
    assert "Traceback" not in done.err
    return done


async def test_an_invalid_file_is_named_with_line_and_key_and_others_still_run(tmp_path: Path):
    suite(tmp_path, THREE, "good")
    suite(tmp_path, THREE.replace('text = "5"', 'txt = "5"'), "bad")
    done = await refused(
        str(tmp_path), "-k", "count", said="bad.mcp.toml:20 call[3].txt: unknown key, did you mean “text”?"
    )
    assert done.out.count("bad.mcp.toml:20") == 1
    assert lines(done) == ["good.mcp.toml::first count PASSED", "good.mcp.toml::second count PASSED"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.mcp.toml"], "missing.mcp.toml"),
        (["-k", "nothing"], "none of 3 cases"),
        (["--tag", "nothing"], "Tags: counting"),
        (["--report", "junit"], "KIND=FILE"),
        (["--report", "junt=x.xml"], "did you mean “junit”"),
        (["--report", "junit=/no/such/folder/x.xml"], "cannot write the report"),
        (["--record", "x.txt"], "ends in .mcptrace"),
        (["--server", "mine", "--", "x"], "--server cannot be combined"),
        (["--server", "mine"], "server “mine” not found"),
        (["--min-coverage", "120"], "a percentage"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
async def test_wrong_options_are_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
):
    monkeypatch.chdir(tmp_path)
    suite(tmp_path, THREE)
    cut = words.index("--") if "--" in words else len(words)
    done = await mcptui("test", *words[:cut], "--trust-config", *words[cut:])
    assert done.code == 2 and said in done.err and "Traceback" not in done.err, done.err


async def test_a_folder_without_files_says_how_to_make_one(tmp_path: Path):
    await refused(str(tmp_path), said="mcptui test --init")


async def test_a_server_that_does_not_start_is_tried_once_with_its_log(tmp_path: Path):
    code = "import sys; open('starts', 'a').write('x'); sys.exit('no such module')"
    head = f'[server]\ncommand = {json.dumps([sys.executable, "-c", code])}\nera = "legacy"\n'
    done = await refused(str(suite(tmp_path, THREE, head=head)), said="no such module", code=5)
    assert (tmp_path / "starts").read_text() == "x"
    assert "3 errors" in done.out


async def test_a_report_without_space_is_told_and_the_others_are_written(tmp_path: Path):
    file, good = suite(tmp_path, THREE), tmp_path / "good.xml"
    full = tmp_path / "full.md"
    full.symlink_to("/dev/full")
    words = ["--report", f"md={full}", "--report", f"junit={good}"]
    done = await refused(str(file), "-k", "count", *words, said="full.md")
    assert good.read_text().startswith("<?xml") and "2 passed" in done.out


async def test_an_interrupted_run_names_its_case_and_writes_its_reports(tmp_path: Path):
    cases = (
        THREE
        + '[[call]]\nname = "hanging"\ntool = "hang"\ntext = "x"\n'
        + '[[call]]\nread = "note:a"\ntext = "x"\n'
    )
    file, report = suite(tmp_path, cases), tmp_path / "report.xml"
    words = ["test", str(file), "-k", "", "--trust-config", "--report", f"junit={report}"]
    process = await start(*words, PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    while b"adding" not in await asyncio.wait_for(process.stdout.readline(), 30):
        pass
    servers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 130, err
    assert b"hanging" in out and b"interrupted" in out
    assert "hanging" in report.read_text()
    assert not [one for one in servers if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


async def test_a_run_is_recorded_and_says_how_to_open_it(tmp_path: Path):
    done = await mcptui("test", str(suite(tmp_path, THREE)), "--trust-config")
    (recording,) = recordings()
    assert f"messages: mcptui traffic {recording.name}" in done.out
