"""Reading the configuration: the usable part, and all problems at once."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.errors import dotted
from tui.core.permission.rules import Rules
from tui.core.text import capitalized
from tui.settings.load import MAX_FILE_BYTES, MEND, load, load_text
from tui.settings.schema import Settings
from tui.settings.specs import approval_rules

GOOD = """\
default_model = "local"
[models.local]
model = "qwen3:8b"
base_url = "http://127.0.0.1:11434/v1"
[servers.weather]
command = "python"
args = ["weather.py"]
"""

BAD = """\
default_model = "locl"
modls = 3

[models.local]
model = "qwen3:8b"
temprature = 0.3

[limits]
max_steps = "ten"
tool_seconds = 0
turn_seconds = 30

[servers.weather]
comand = "python"
args = "weather.py"

[servers.notes]
command = "${NOTES_PYTHON}"

[servers.good]
command = "python"

[ui]
them = "quay"
"""


def read(text: str, env: dict[str, str] | None = None) -> list[str]:
    return [str(problem) for problem in load_text(text, Path("config.toml"), env or {}).problems]


def test_a_valid_file_has_no_problems():
    loaded = load_text(GOOD, Path("config.toml"), {})
    assert loaded.problems == ()
    assert loaded.settings.servers["weather"].args == ["weather.py"]
    assert loaded.settings.models["local"].base_url == "http://127.0.0.1:11434/v1"


def test_all_problems_are_reported_at_once_with_line_key_and_suggestion():
    assert read(BAD) == [
        "config.toml:1 default_model: [models.locl] not found, did you mean “local”?",
        "config.toml:2 modls: unknown key, did you mean “models”?",
        "config.toml:6 models.local.temprature: unknown key, did you mean “temperature”?",
        "config.toml:9 limits.max_steps: must be an integer, not a string",
        "config.toml:10 limits.tool_seconds: must be more than 0",
        "config.toml:14 servers.weather.comand: unknown key, did you mean “command”?",
        "config.toml:15 servers.weather.args: must be an array, not a string",
        "config.toml:18 servers.notes.command: the environment variable NOTES_PYTHON is not set. "
        "Set it, or write `${NOTES_PYTHON:-default}`",
        "config.toml:24 ui.them: unknown key, did you mean “theme”?",
    ]


def test_a_mistake_affects_only_its_entry():
    found = load_text(BAD, Path("config.toml"), {}).settings
    assert list(found.servers) == ["good"]
    assert found.models == {}
    assert found.limits.turn_seconds == 30
    assert found.limits.max_steps == 20


@each_case(
    ("text", "problem"),
    [
        ('a = "x', "config.toml:1: is not TOML: Illegal character or unclosed string"),
        ("a = 1\nb = \n", "config.toml:2: is not TOML: invalid value at column 5"),
        ("a = 1\na = 2\n", "config.toml:2: is not TOML: a key appears twice at column 6"),
        ("[a]\n[a]\n", "config.toml:2: is not TOML: a table appears twice at column 3"),
        ("a = [1,\n", "config.toml:2: is not TOML: invalid value at the end of the file"),
    ],
)
def test_a_file_that_is_not_toml_is_one_problem_with_its_line(text: str, problem: str):
    found = load_text(text, Path("config.toml"), {})
    assert not found.readable
    assert len(found.problems) == 1
    assert found.problems[0].line == int(problem[12])
    if "unclosed" not in problem:
        assert str(found.problems[0]) == f"{problem}. {capitalized(MEND)}"


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a." * 3000 + "b = 1", f"a = {'9' * 5000}"])
def test_an_absurd_file_is_reported_as_a_problem(text: str):
    assert read(text)


def test_the_value_of_a_variable_can_become_a_number_or_a_boolean():
    text = '[limits]\nmax_steps = "${STEPS:-5}"\n[servers.a]\ncommand = "x"\nautostart = "${START}"\n'
    found = load_text(text, Path("c.toml"), {"START": "false"})
    assert found.problems == ()
    assert found.settings.limits.max_steps == 5
    assert not found.settings.servers["a"].autostart


def test_a_number_in_the_environment_of_a_server_becomes_text():
    found = load_text('[servers.a]\ncommand = "x"\nenv = { PORT = 3000 }\n', Path("c.toml"), {})
    assert found.settings.servers["a"].env == {"PORT": "3000"}


def test_the_python_of_mcptui_can_be_referenced():
    found = load_text('[servers.a]\ncommand = "${MCPTUI_PYTHON}"\n', Path("c.toml"), {})
    assert found.settings.servers["a"].command == sys.executable


def test_a_missing_api_key_is_not_reported_at_startup():
    text = '[models.a]\nmodel = "m"\napi_key_env = "UNSET"\n[servers.b]\ncomand = "x"\n'
    loaded = load_text(text, Path("config.toml"), {})
    told, warnings = loaded.problem_texts()
    assert told and not any("UNSET" in one for one in told) and not warnings
    assert "a" in loaded.settings.models


def test_an_api_key_in_place_of_its_variable_name_is_not_printed():
    text = '[models.a]\nmodel = "m"\napi_key_env = "sk-1234567890abcdef"\n'
    (problem,) = read(text)
    assert "must be the name of an environment variable" in problem
    assert "sk-" not in problem


@each_case(
    ("name", "problem"),
    [
        ("../x", "must not contain / or \\, or start with a dot"),
        ("a/b", "must not contain / or \\, or start with a dot"),
        ("", "must have 1 to 64 characters"),
        ("x" * 65, "must have 1 to 64 characters"),
        ("a\\u0007b", "must contain only printable characters, without surrounding spaces"),
        ("a\\u202eb", "must contain only printable characters, without surrounding spaces"),
        (" a", "must contain only printable characters, without surrounding spaces"),
        (".hidden", "must not contain / or \\, or start with a dot"),
        ("a\\\\b", "must not contain / or \\, or start with a dot"),
    ],
)
def test_a_server_name_that_could_deceive_or_break_a_path_is_refused(name: str, problem: str):
    found = load_text(f'[servers."{name}"]\ncommand = "x"\n', Path("c.toml"), {})
    assert found.settings.servers == {}
    assert problem in found.problems[0].message
    assert str(found.problems[0]).isprintable()


@each_case(
    ("body", "problem"),
    [
        ("", "needs a `command`, or a `url`"),
        ('command = "x"\nurl = "https://h"', "has a `command` and a `url`. Use one of them"),
        ('transport = "http"', "needs a `url` for the transport http"),
        ('transport = "websocket"\nurl = "https://h"', "has a `url` that does not start with ws://"),
        ('url = "file:///etc/passwd"', "must be a URL like https://host/path"),
        ('transport = "smoke"', "must be `stdio`, `http`, `sse`, `websocket` or `lines`"),
        ('command = "x"\ntool_seconds = inf', "must be finite"),
        ('command = "a\\u0000b"', "must not contain a null character"),
        ('command = "x"\nenv = { "" = "y" }', "is not a name of a variable: it is empty, or contains ="),
        ('command = "x"\nenv = { "K=" = "y" }', "is not a name of a variable: it is empty, or contains ="),
        ('command = ""', "must not be empty"),
        ('url = "https://h"\ntransport = "stdio"', "has a `url`, which the transport stdio cannot use"),
        ('url = "https://h"\ntransport = "lines"', "has a `url`, which the transport lines cannot use"),
        ('command = "https://h/mcp"', "has a URL as its `command`. Use `url`"),
        ('url = "https://exa mple.com"', "must be a URL like https://host/path. Its host contains invalid"),
    ],
)
def test_a_server_that_cannot_work_is_refused_with_the_reason(body: str, problem: str):
    assert problem in read(f"[servers.a]\n{body}\n")[0]


@each_case(
    ("text", "problem"),
    [
        (
            '[servers.a]\ncommand = "x"\ntimeout = 3\n',
            "3 servers.a.timeout: unknown key, did you mean “tool_seconds”?",
        ),
        ("[rules]\nx = 1\n", "1 rules: unknown key, did you mean “approvals”?"),
        ("[mcp_servers]\nx = 1\n", "1 mcp_servers: unknown key, did you mean “servers”?"),
        ("[profiles]\nx = 1\n", "1 profiles: unknown key, did you mean “models”?"),
        ('servers = "weather"\n', "1 servers: must be a table, not a string"),
    ],
)
def test_a_name_of_another_host_gets_a_suggestion_and_a_value_for_a_table_is_one_problem(
    text: str, problem: str
):
    assert read(text) == [f"config.toml:{problem}"]


@pytest.mark.parametrize(
    "approvals", ['denny = ["a/*"]', 'deny = ["a/*", 3]', 'allow = "nonsense"', 'allow = ["${NOPE}/x"]']
)
def test_partly_invalid_approvals_make_every_call_need_approval(approvals: str):
    found = load_text(f"[approvals]\n{approvals}\n", Path("c.toml"), {}).settings.approvals
    assert found.ask == ["*/*"]


@pytest.mark.parametrize(
    ("approvals", "rule"),
    [
        ('deny = ["notes/delete_*", "x"]', "deny notes/delete_*"),
        (
            'rules = ["deny notes/x path=/etc/*", "allow */*", "deny"]\nallow = "a/*"',
            "deny notes/x path=/etc/*",
        ),
    ],
)
def test_a_rule_that_denies_is_kept_beside_an_invalid_one(approvals: str, rule: str):
    found = load_text(f"[approvals]\n{approvals}\n", Path("c.toml"), {}).settings.approvals
    assert set(map(str, approval_rules(found).rules)) == set(map(str, Rules.parsed([rule, "ask */*"]).rules))


def test_an_invalid_rule_is_reported_with_its_line():
    text = '[approvals]\nrules = [\n  "allow a/*",\n  "ask files/* path",\n]\n'
    (problem,) = read(text)
    assert problem.startswith("config.toml:4 approvals.rules[2]: `path` must be ARGUMENT=PATTERN")


def test_action_ids_can_be_written_with_dots_or_in_quotes():
    text = '[ui.keys]\nchat.new = "ctrl+k"\n"servers.log" = ["o", "f9"]\n'
    found = load_text(text, Path("c.toml"), {}).settings.ui.keys
    assert found == {"chat.new": ["ctrl+k"], "servers.log": ["o", "f9"]}


def test_a_missing_file_is_a_problem_only_if_it_was_named(tmp_path: Path):
    path = tmp_path / "config.toml"
    assert load(path, {}).problems == ()
    assert "file not found" in load(path, {}, required=True).problems[0].message


def fifo(path: Path) -> None:
    os.mkfifo(path)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "is a directory"),
        (fifo, "is not a regular file"),
        (huge, "is larger than 4096 KiB"),
        (lambda path: path.write_bytes(b"a = 1\n\xff"), "is not UTF-8 text: byte 0xff in line 2"),
        (lambda path: path.write_bytes(b"a = 1\n\n\0"), "is not text: null byte in line 3"),
        (lambda path: path.write_bytes("a = 1".encode("utf-16")), "is UTF-16 text, not UTF-8"),
        (lambda path: path.symlink_to(path), "cannot be opened"),
    ],
)
def test_anything_but_a_file_at_the_path_is_one_problem(tmp_path: Path, make, reason: str):
    path = tmp_path / "config.toml"
    make(path)
    found = load(path, {})
    assert not found.readable
    assert [reason in str(problem) for problem in found.problems] == [True]
    assert found.settings == Settings()


def test_a_byte_order_mark_windows_line_endings_and_a_symlink_are_accepted(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    (tmp_path / "config.toml").symlink_to(tmp_path / "real")
    (tmp_path / "real").chmod(0o600)
    assert load(tmp_path / "config.toml", {}).problems == ()


def test_a_file_with_a_secret_that_others_can_read_is_warned_about(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[models.a]\nmodel = "m"\napi_key = "sk-literal-1234567890"\n', encoding="utf-8")
    path.chmod(0o644)
    (problem,) = load(path, {}).problems
    assert problem.warning
    assert "is readable by other users" in str(problem)
    assert "sk-literal" not in str(problem)
    path.chmod(0o600)
    assert load(path, {}).problems == ()
    path.write_text('[servers.a]\nurl = "https://h"\nheaders = { Authorization = "Bearer ${T}" }\n')
    path.chmod(0o644)
    assert load(path, {"T": "x" * 20}).problems == ()


def test_a_key_path_is_shown_as_written_in_the_file_without_hidden_characters():
    assert dotted(("servers", "two words", "args", 0)) == 'servers."two words".args[1]'
    assert dotted(("servers", "we\u200bather")) == 'servers."we[U+200B]ather"'


toml_texts = st.one_of(
    st.text(max_size=60),
    st.text(alphabet='[]{}=."servmodlimt\n,1${} ', max_size=60),
    st.sampled_from([GOOD, BAD]).flatmap(
        lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut] + text[cut + 3 :])
    ),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(toml_texts)
def test_any_text_is_loaded_without_an_exception(text: str):
    for name in ("c.toml", "c.json"):
        found = load_text(text, Path(name), {"A": "x"})
        assert isinstance(found.settings, Settings)
        found.to_masked_toml()


plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
tables = st.dictionaries(
    st.sampled_from("command args env url headers timeout type disabled models a limits".split()),
    st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=20,
    ),
    max_size=4,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=6), tables, max_size=3))
def test_any_json_of_another_host_is_loaded_without_an_exception(servers: dict[str, object]):
    import json

    found = load_text(json.dumps({"mcpServers": servers}), Path("mcp.json"), {})
    found.to_masked_toml()
    assert found.names_servers


def test_pwd_is_the_working_directory_of_mcptui_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")

    def cwd(**env: str) -> str | None:
        loaded = load_text('[servers.a]\ncommand = "x"\ncwd = "${PWD}"\n', Path("/c.toml"), env)
        return loaded.settings.servers["a"].cwd

    assert cwd() == cwd(PWD="/") == cwd(PWD="/gone") == os.path.realpath(tmp_path / "here")
    assert cwd(PWD=str(tmp_path / "link")) == str(tmp_path / "link")


def test_the_content_of_a_file_is_used_and_is_a_secret(tmp_path: Path):
    (tmp_path / "token").write_text("tok-9f8e7d6c5b4a\n")
    text = '[servers.a]\nurl = "https://h"\nheaders = { Authorization = "Bearer ${file:token}" }\n'
    loaded = load_text(text, tmp_path / "config.toml", {})
    assert not loaded.problems
    assert loaded.settings.servers["a"].headers == {"Authorization": "Bearer tok-9f8e7d6c5b4a"}
    assert loaded.secrets["file:token"] == "tok-9f8e7d6c5b4a"
    assert "tok-9f8e" not in loaded.to_masked_toml()
    reference = loaded.references["servers", "a", "headers", "Authorization"]
    assert reference.in_words == "text with the value of file:token"


@pytest.mark.parametrize("name", ["missing", ".", "large", "binary"])
def test_a_file_without_usable_content_is_a_problem_of_its_server(name: str, tmp_path: Path):
    (tmp_path / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (tmp_path / "binary").write_bytes(b"\0")
    text = f'[servers.a]\nurl = "https://h"\nheaders = {{ X = "${{file:{name}}}" }}\n'
    (problem,) = load_text(text, tmp_path / "config.toml", {}).problems
    assert problem.path == "servers.a.headers.X"
    assert problem.message == f"the file {name} cannot be read"


@pytest.mark.parametrize(
    ("name", "step"),
    [("my file.toml", "`mcptui config init --config '{path}'`"), ("mcp.json", "check the path")],
)
def test_a_named_file_that_does_not_exist_is_created_under_its_own_name(tmp_path: Path, name: str, step: str):
    path = tmp_path / name
    (problem,) = load(path, {}, required=True).problems
    assert problem.suggestion.endswith(step.format(path=path))


def test_half_of_a_surrogate_pair_in_json_is_an_error(tmp_path: Path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"a": {"command": "x", "args": ["\\ud800"]}}}')
    [problem] = load(file, {}).errors
    assert problem.path == "servers.a.args[1]"
    assert problem.message == "must not contain half of a surrogate pair, which is not a character"
