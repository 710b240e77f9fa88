"""`mcptui test`: selecting cases, eras, consent, wrong files and options, and a run that is interrupted."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.configurations import config_file, server
from tests.http_server import http_server
from tests.protocol.command import Done, doubtful, mcptui, recordings, start
from tests.protocol.suites import COMMAND, HEAD, SERVER, THREE, lines, suite

ASKING = Path(__file__).with_name("asking_server.py")
TASKS_SERVER = Path(__file__).with_name("task_server.py")

# ---- selection, eras, servers ------------------------------------------------------------------------------


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


TASKS = """
[[call]]
tool = "count"
text = "<text>"
result = '{ "n": 3 }'

[[call]]
tool = "greet"
text = "Hello, Ada!"
answers = { form = { name = "Ada" } }

[[call]]
tool = "wrong"
error = true
text = "no such thing"

[[call]]
tool = "broken"
text = "x"
"""


async def test_a_task_that_a_server_makes_of_a_call_is_awaited(tmp_path: Path):
    head = f"[server]\ncommand = {json.dumps([sys.executable, str(TASKS_SERVER)])}\n"
    head += 'env = { TASKS_FILE = "${TASKS_FILE}" }\n'
    words = ["test", str(suite(tmp_path, TASKS, head=head)), "--trust-config"]
    done = await mcptui(*words, TASKS_FILE=str(tmp_path / "tasks"))
    assert lines(done) == [
        *(f"all.mcp.toml::{name} PASSED" for name in ("count", "greet", "wrong")),
        "all.mcp.toml::broken FAILED",
    ]
    assert "The task failed: error -32603, out of luck" in done.out


async def test_each_case_runs_in_both_eras(tmp_path: Path):
    case = '[[call]]\ntool = "greet"\ntext = "<any>"\nanswers = { form = { name = "Ada" } }\n'
    head = HEAD.replace(json.dumps(COMMAND), json.dumps([sys.executable, str(ASKING)]))
    done = await mcptui("test", str(suite(tmp_path, case, head=head)), "--era", "both", "--trust-config")
    assert lines(done)[0] == "all.mcp.toml::greet [legacy] ERROR"
    assert lines(done)[1] == "all.mcp.toml::greet [modern] PASSED"
    assert done.code == 5 and "legacy" in done.out.split("\n\n")[1]


async def test_a_remote_server_gets_its_headers_and_a_lost_connection_is_a_new_session(tmp_path: Path):
    case = """
[[call]]
tool = "echo"
args = { text = "hi" }
result = '{ "text": "hi" }'
lose = "connection"

[[call]]
name = "wrong"
tool = "echo"
args = { text = "hi" }
text = "no"
"""
    async with http_server(modern=False) as remote:
        head = f'[server]\nurl = "{remote.url.replace("/mcp", "/${PLACE}")}"\n'
        head += 'headers = { Authorization = "Bearer ${SOME_TOKEN}" }\n'
        env = {"PLACE": "mcp", "SOME_TOKEN": "t-3kq9Zt"}
        done = await mcptui("test", str(suite(tmp_path, case, head=head)), "--trust-config", **env)
        assert lines(done) == ["all.mcp.toml::echo text=hi PASSED", "all.mcp.toml::wrong FAILED"]
        assert {one.headers.get("authorization") for one in remote.asked} == {"Bearer t-3kq9Zt"}
        assert remote.methods().count("tools/call") == 3 and len(remote.sessions) == 2
    assert "t-3kq9Zt" not in done.out + done.err
    assert (
        '/"${PLACE:?}" echo --args' in done.out
        and "--header 'Authorization: Bearer ${SOME_TOKEN}'" in done.out
    )


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


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[servers.mine]\ncommand = "x"\ndisabled = true\n', "“mine” is disabled"),
        ("[servers.mine]\ncommand = 5\n", "servers.mine.command"),
        ("[servers", "config.toml"),
    ],
    ids=["disabled", "invalid", "unreadable"],
)
async def test_a_server_that_is_configured_but_unusable_says_why(tmp_path: Path, table: str, said: str):
    config = config_file(tmp_path, table)
    done = await mcptui("test", str(suite(tmp_path, THREE)), "--config", config, "--server", "mine")
    assert done.code == 2 and said in done.out + done.err, done


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
    assert done.out.count("bad.mcp.toml") == 2, "as a file that was not run, and with the line"
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
        (["--server", "mine"], "server “mine” is not configured"),
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


TWICE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    tool = {"name": "count", "inputSchema": {"type": "object"}}
    result = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "1"}]},
    }.get(asked["method"], {})
    for _ in range(1 + (asked["method"] == "tools/call")):
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


async def test_a_response_that_comes_again_fails_its_case_also_later(tmp_path: Path):
    cases = "".join(f'[[call]]\nname = "{name}"\ntool = "count"\ntext = "1"\n' for name in "ab")
    (tmp_path / "server.py").write_text(TWICE)
    file = suite(tmp_path, cases)
    done = await mcptui("test", str(file), "--", sys.executable, str(tmp_path / "server.py"))
    assert done.code == 1 and done.out.count("finding duplicate-answer") == 2
    assert lines(done)[-1] == "all.mcp.toml::b FAILED"


async def test_two_files_with_the_same_configured_server_both_run(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(server("counting", SERVER))
    case = '[[call]]\ntool = "count"\nresult = \'{ "calls": 1 }\'\n'
    for name in ("one", "two"):
        suite(tmp_path, case, name, 'server = "counting"\n')
    done = await mcptui("--config", str(config), "test", str(tmp_path))
    assert lines(done) == ["one.mcp.toml::count PASSED", "two.mcp.toml::count PASSED"], done.err
