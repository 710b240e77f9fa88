"""Servers that cannot work are reported before anything is started."""

from pathlib import Path

import pytest

from tui.settings.load import load, load_text
from tui.settings.server_warnings import rule_warnings, server_warnings


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and two programs on PATH."""
    monkeypatch.setattr("tui.settings.server_warnings.find_program", {"npx": "/npx", "python3": "/p"}.get)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def warnings(body: str, tmp_path: Path = Path("/nowhere"), **env: str) -> list[str]:
    loaded = load_text(f"[servers.a]\n{body}\n", tmp_path / "c.toml", env)
    assert not loaded.errors, loaded.errors
    found = server_warnings(loaded)
    assert all(problem.warning and problem.file for problem in found)
    return [f"{problem.path.removeprefix('servers.')}: {problem.message}" for problem in found]


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        ('command = "uvx"', "a.command: command uvx not found on PATH"),
        ('command = "/no/such"', "a.command: file /no/such not found"),
        (
            "command = 'C:\\Program Files\\nodejs\\npx.cmd'",
            "a.command: C:\\Program Files\\nodejs\\npx.cmd is a path of Windows",
        ),
        (
            "command = 'npx'\nargs = ['-y', 'p', '--db=C:\\x\\test.db']",
            "a.args: --db=C:\\x\\test.db is a path of Windows",
        ),
        ('command = "npx -y @scope/pkg"', "a.command: npx -y @scope/pkg is a command line, not a program"),
        ('command = "python3 server.py"', "a.command: python3 server.py is a command line, not a program"),
        ('command = "/no such/x"', "a.command: file /no such/x not found"),
        (
            'command = "npx"\nargs = ["-y", "p", "--d=~/d"]',
            "a.args: the ~ in --d=~/d is passed on as it is, because no shell is involved",
        ),
        (
            'command = "npx"\nargs = ["-y"]\nenv = { D = "~/d" }',
            "a.env.D: the ~ in ~/d is passed on as it is, because no shell is involved",
        ),
        ('command = "npx"\ncwd = "/no/such"\nargs = ["-y"]', "a.cwd: directory /no/such not found"),
        ('command = "npx"\nargs = ["p"]', "a.args: npx can ask before it downloads, and cannot be answered"),
        (
            'command = "npx"\ntransport = "lines"\nargs = ["-y", "@modelcontextprotocol/server-memory"]',
            "a.transport: looks like an MCP server, which does not speak the line dialect",
        ),
        (
            'command = "npx"\nargs = ["-y", "x@1"]\ntransport = "lines"\nera = "legacy"',
            "a.era: has no effect, because the line dialect has no protocol era",
        ),
        (
            'url = "https://h/sse"\ntransport = "http"',
            "a.transport: looks like an HTTP+SSE URL, which `http` does not try",
        ),
        (
            'url = "https://h/mcp/"\ntransport = "sse"',
            "a.transport: looks like a Streamable HTTP URL, which `sse` does not try",
        ),
        (
            'url = "http://h/mcp"\nheaders = { Authorization = "Bearer x" }',
            "a.url: credentials in headers are sent unencrypted",
        ),
        (
            'url = "https://h"\nheaders = { Accept = "text/plain" }',
            "a.headers: Accept is set by mcptui for each request, so this value is not sent",
        ),
        ('url = "ws://h/mcp"', "a.url: traffic to another machine is not encrypted"),
        ('url = "https://h"\nheaders = { X = "${X:-}" }', "a.headers: the value of X is empty"),
        (
            'url = "https://h"\nheaders = { Authorization = "Bearer ${X:-}" }',
            "a.headers: the value of Authorization is empty",
        ),
        (
            'url = "https://h"\nheaders = { Authorization = "Bearer x" }\noauth = { client_id = "c" }',
            "a.oauth: is not used, because an Authorization header is set",
        ),
        ('url = "https://h"\nargs = ["x"]', "a.args: is not used by a server with a `url`"),
        (
            'command = "npx"\nargs = ["-y", "p"]\nheaders = { A = "b" }',
            "a.headers: are not used by a server with a `command`",
        ),
        ('url = "https://h/mcp#part"', "a.url: has a fragment (#) that is never sent"),
        ('url = "https://u:hunter2@h/mcp"', "a.url: contains a password"),
    ],
)
def test_each_warning_names_its_key(body: str, warning: str):
    assert warnings(body) == [warning]


@pytest.mark.parametrize(
    "body",
    [
        'command = "npx"\nargs = ["-y", "p"]',
        'url = "https://h/sse"',
        'url = "https://h/mcp"\ntransport = "http"',
        'url = "http://127.0.0.1:1/mcp"\nheaders = { Authorization = "Bearer x" }',
        'url = "ws://127.0.0.1:1/mcp"',
        'url = "wss://h/mcp"',
        'command = "python3"\ntransport = "lines"\nargs = ["/srv/legacy_math.py"]',
        'command = "uvx"\ndisabled = true',
    ],
)
def test_a_server_that_may_work_gets_no_warning(body: str):
    assert warnings(body) == []


IN_AN_EMPTY_FOLDER = "and the server starts in an empty folder"


@pytest.mark.parametrize(
    ("body", "word", "instead"),
    [
        ('command = "npx"\nargs = ["-y", "files", "."]', "args: .", '"${PWD}"'),
        ('command = "npx"\nargs = ["-y", "files", "data"]', "args: data", '"${PWD}/data"'),
        ('command = "npx"\nargs = ["-y", "p", "--db=./x"]', "args: --db=./x", '"${PWD}/x"'),
        ('command = "npx"\nargs = ["-y", "p", "new.db"]', "args: new.db", '"${PWD}/new.db"'),
        ('command = "./run"', "command: ./run", '"${PWD}/run"'),
    ],
)
def test_a_path_relative_to_the_current_folder_is_reported_with_a_fix(
    body: str, word: str, instead: str, here: Path
):
    (here / "data").mkdir()
    loaded = load_text(f"[servers.a]\n{body}\n", Path("/nowhere/c.toml"), {})
    [found] = server_warnings(loaded)
    assert f"{found.path}: {found.message}" == f"servers.a.{word} is relative, {IN_AN_EMPTY_FOLDER}"
    assert found.suggestion == f'write {instead}, or set `cwd = "${{PWD}}"`'


def test_a_module_in_the_current_folder_is_reported_with_a_fix(here: Path):
    (here / "mine.py").write_text("")
    text = '[servers.a]\ncommand = "python3"\nargs = ["-m", "mine"]\n'
    [found] = server_warnings(load_text(text, Path("/c.toml"), {}))
    assert found.message == f"module mine of this folder is not found, {IN_AN_EMPTY_FOLDER}"
    assert found.suggestion == 'set `cwd = "${PWD}"`'


@pytest.mark.parametrize(
    "body",
    [
        'args = ["-y", "p", "."]\ncwd = "/"',
        'args = ["-y", "data"]',
        'args = ["-y", "@scope/data.js", "https://h/x.json", "~x.md", "--verbose", "/srv/x.db"]',
    ],
)
def test_other_arguments_are_not_mistaken_for_relative_paths(body: str, here: Path):
    (here / "data").mkdir()
    loaded = load_text(f'[servers.a]\ncommand = "npx"\n{body}\n', Path("/nowhere/c.toml"), {})
    assert server_warnings(loaded) == []


def test_a_file_that_is_not_executable_is_reported(tmp_path: Path):
    (tmp_path / "run.py").write_text("")
    assert warnings('command = "./run.py"', tmp_path) == [f"a.command: {tmp_path}/run.py is not executable"]


def test_a_misspelled_extension_is_reported_because_it_stays_on():
    text = '[servers.a]\nurl = "https://h"\nextensions = { "io.modelcontextprotocol/task" = false }\n'
    [found] = server_warnings(load_text(text, Path("c.toml"), {}))
    assert found.message == "has no effect, because mcptui knows no such extension"
    assert found.suggestion == "did you mean “io.modelcontextprotocol/tasks”?"


def test_a_server_that_is_also_used_as_another_host_is_no_second_name_of_it():
    text = '[servers.a]\nurl = "https://h"\n[servers.b]\nurl = "https://h"\nact_as = "cursor"\n'
    assert server_warnings(load_text(text, Path("c.toml"), {})) == []


def test_two_names_of_one_server_are_reported():
    text = '[servers.a]\nurl = "https://h"\n[servers.b]\nurl = "https://h"\n'
    [found] = server_warnings(load_text(text, Path("c.toml"), {}))
    assert (found.path, found.message, found.line) == ("servers.b", "is the same server as a", 3)


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ('"X-A" = "tok…en"', "c.toml:4 servers.a.headers.X-A: contains a non-ASCII character"),
        ('"X-A" = "a\\nb"', "c.toml:4 servers.a.headers.X-A: contains a line break"),
        ('"Bad Name" = "x"', 'c.toml:4 servers.a.headers."Bad Name": is not a valid HTTP header name'),
        ('Content-Length = "3"', "c.toml:4 servers.a.headers.Content-Length: is set by mcptui"),
    ],
)
def test_an_invalid_header_is_an_error_with_its_line_and_without_its_value(header: str, error: str):
    text = f'[servers.a]\nurl = "https://h"\n[servers.a.headers]\n{header}\n'
    loaded = load_text(text, Path("c.toml"), {})
    [problem] = loaded.errors
    assert str(problem).startswith(error)
    assert "…en" not in str(problem)
    assert not loaded.settings.servers


def test_a_header_from_a_variable_is_checked_with_its_value():
    text = '[servers.a]\nurl = "https://h"\nheaders = { X = "${TOKEN}" }\n'
    [problem] = load_text(text, Path("c.toml"), {"TOKEN": "ü"}).errors
    assert problem.path == "servers.a.headers.X"


def test_a_keychain_reference_in_a_header_is_not_checked_as_its_value():
    text = '[servers.a]\nurl = "https://h"\nheaders = { X = "keyring:Schlüssel/x" }\n'
    assert not load_text(text, Path("c.toml"), {}).errors


def test_a_command_line_in_command_is_written_as_command_and_args():
    loaded = load_text('[servers.a]\ncommand = "npx -y @scope/pkg"\n', Path("c.toml"), {})
    (problem,) = server_warnings(loaded)
    assert problem.suggestion == 'write `command = "npx"` and `args = ["-y", "@scope/pkg"]`'


def test_a_shell_may_replace_a_tilde_itself():
    assert warnings('command = "/bin/sh"\nargs = ["-c", "~/x"]') == []


SERVERS = '[servers.notes]\ncommand = "x"\n[servers."my server"]\ncommand = "y"\ndisabled = true\n'


def warned(tmp_path: Path, rules: str, servers: str = SERVERS) -> list[str]:
    file = tmp_path / "c.toml"
    file.write_text(f"[approvals]\n{rules}\n{servers}")
    file.chmod(0o600)
    found = rule_warnings(load(file, {}))
    assert all(one.warning for one in found)
    return [str(one).removeprefix(str(file)) for one in found]


def test_hidden_characters_in_the_name_of_a_rule_are_shown_by_their_code_point(tmp_path: Path) -> None:
    (found,) = warned(tmp_path, 'deny = ["no\u200btes/*"]')
    assert "no server is named no[U+200B]tes, did" in found


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('deny notes/b path=["/etc"]', "[/etc] matches one of the characters in the brackets"),
        ("deny notes/b hosts=*[::1]*", "[::1] matches one of the characters in the brackets"),
        ("ask notes/b subject=[draft]*", "[draft] matches one of the characters in the brackets"),
        ("allow notes/b url=https://h/a?q=1", "? matches any one character, also in a URL"),
        ("deny notes/b url=https://h/a?q=1", ""),
        ("allow notes/b url=https://h/a[?]q=1", ""),
        ("deny notes/[a-z]* x=[!ab]*", ""),
        ("deny notes/[ab]? x=[[]draft] y=[0-9a-f]*", ""),
    ],
)
def test_a_wildcard_that_looks_literal_is_explained(rule: str, words: str, tmp_path: Path):
    found = warned(tmp_path, f"rules = ['{rule}']")
    assert (words in " ".join(found)) if words else not found


def test_a_rule_for_an_unknown_server_is_reported_with_its_line(tmp_path: Path):
    rules = 'rules = [\n"deny note/*",\n"ask notes/*",\n]\nallow = ["weather/*"]'
    assert warned(tmp_path, rules) == [
        ":3 approvals.rules[1]: no server is named note, did you mean “notes”?",
        ":6 approvals.allow[1]: no server is named weather",
    ]


@pytest.mark.parametrize(
    "rule",
    ["deny */*", "allow n?tes/*", "ask no*x/y", 'deny \\"my server\\"/*', "ask [mn]*/x", "deny mcptui/*"],
)
def test_a_pattern_that_can_match_a_server_is_accepted_even_if_it_is_disabled(tmp_path: Path, rule: str):
    assert warned(tmp_path, f'rules = ["{rule}"]') == []


def test_without_servers_rules_are_checked_against_the_samples(tmp_path: Path):
    assert warned(tmp_path, 'ask = ["weather/*", "files/*"]', "") == [
        ":2 approvals.ask[2]: no server is named files"
    ]
