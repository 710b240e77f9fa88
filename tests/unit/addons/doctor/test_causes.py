"""Causes in the last words of a server."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.doctor.causes import cause_of, served_at

CRASH = [
    "Traceback (most recent call last):",
    '  File "/srv/server.py", line 3, in <module>',
    "    import httpx",
    "ModuleNotFoundError: No module named 'httpx'",
]


def test_a_missing_module_is_named_with_the_line_that_imports_it():
    cause, place, fix = cause_of(CRASH, {}, {})
    assert "no module httpx" in cause and place == "at /srv/server.py:3 in <module>" and "httpx" in fix


@each_case(
    "line",
    [
        "KeyError: 'API_KEY'",
        "Error: API_KEY environment variable is required",
        "Please set API_KEY before you start",
        "API_KEY not found",
        "Missing required variable: API_KEY",
    ],
)
def test_a_missing_variable_is_named(line: str):
    cause, _, fix = cause_of([line], {}, {})
    assert cause == "the variable API_KEY is not set" and "env = { API_KEY" in fix


def test_a_variable_of_the_shell_is_to_be_passed_on():
    _, _, fix = cause_of(["KeyError: 'API_KEY'"], {}, {"API_KEY": "x"})
    assert "do not inherit" in fix and "${API_KEY}" in fix


def test_a_variable_that_is_set_is_not_the_cause():
    assert cause_of(["API_KEY is not set"], {"API_KEY": "x"}, {})[0] == ""


REFUSED = "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>"


@each_case(
    ("line", "said", "advice"),
    [
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/c.json'",
            "the file data/c.json does not exist in the folder",
            "cwd",
        ),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/c.json'", "the file /c.json", "create"),
        ("Error: ENOENT: no such file or directory, open 'c.json'", "the file c.json", "cwd"),
        ("Error: spawn ffmpegq ENOENT", "the program ffmpegq", "PATH"),
        ("sh: 1: tsx: not found", "the program tsx", "PATH"),
        ("zsh: command not found: x", "", ""),
        ("socket.gaierror: [Errno -2] Name or service not known", "cannot resolve", "network"),
        ("<urlopen error [Errno -2] Name or service not known>", "cannot resolve", "network"),
        ("Error: getaddrinfo ENOTFOUND no-such-host", "cannot resolve", "network"),
        (REFUSED, "refuses the connection", "start that service"),
        ("NameError: name 'MY_KEY' is not defined", "uses MY_KEY, which is not defined", "that line"),
        ("TypeError [ERR_INVALID_ARG_TYPE]: missing argument", "", ""),
        ("the request was reset by ERR_SOCKET_CLOSED", "", ""),
        ("ssl: CERTIFICATE_VERIFY_FAILED, not found", "", ""),
        ("SyntaxError: '(' was never closed", "has a syntax error", "Correct"),
        ("TabError: inconsistent use of tabs", "has a syntax error", "Correct"),
        ("SyntaxError: invalid syntax", "another version of the interpreter", "check the interpreter"),
        ("SyntaxError: Unexpected token } in JSON at position 4", "not valid JSON", "file"),
        ("json.decoder.JSONDecodeError: Expecting value", "not valid JSON", "file"),
    ],
)
def test_a_cause_is_named_and_nothing_else_is_taken_for_it(line: str, said: str, advice: str):
    cause, _, fix = cause_of([line], {}, {})
    assert said in cause and bool(said) is bool(cause), cause
    assert advice.lower() in fix.lower()


def test_a_program_that_does_not_exist_is_no_missing_file():
    log = [
        "Traceback (most recent call last):",
        '  File "/srv/server.py", line 2, in <module>',
        '  File "/usr/lib/python3.11/subprocess.py", line 1955, in _execute_child',
        "FileNotFoundError: [Errno 2] No such file or directory: 'ffmpegq'",
    ]
    cause, place, fix = cause_of(log, {}, {})
    assert cause == "the program ffmpegq does not exist" and "install ffmpegq" in fix
    assert place == "at /srv/server.py:2 in <module>"


def test_a_folder_in_which_a_program_was_to_start_may_be_what_does_not_exist():
    log = [
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3.11/subprocess.py", line 1955, in _execute_child',
        "FileNotFoundError: [Errno 2] No such file or directory: '/srv/notthere'",
    ]
    cause, _, fix = cause_of(log, {}, {})
    assert cause == "the program or folder /srv/notthere does not exist" and "correct the path" in fix


def test_status_127_of_a_shell_is_a_command_that_it_does_not_find():
    said = "subprocess.CalledProcessError: Command 'rg --version' returned non-zero exit status 127."
    assert "does not find a command" in cause_of([CRASH[0], CRASH[1], said], {}, {})[0]


def test_what_was_logged_before_a_crash_is_not_its_cause():
    log = ["INFO API_KEY not set, using the default", *CRASH[:3], "ZeroDivisionError: division by zero"]
    assert cause_of(log, {}, {})[0] == ""
    chained = [*CRASH, "", "The above exception was the direct cause of the following exception:", ""]
    chained += [CRASH[0], CRASH[1], "RuntimeError: cannot start"]
    assert "no module httpx" in cause_of(chained, {}, {})[0]


def test_a_missing_part_of_an_installed_package_is_another_version():
    line = "ModuleNotFoundError: No module named 'mcp.server.fastmcp'"
    cause, _, fix = cause_of([line], {}, {})
    assert cause == "the installed mcp has no module mcp.server.fastmcp: it is another version"
    assert fix == "pin the version of mcp that has it, or change the import"


@each_case(
    ("line", "url"),
    [
        (
            "INFO:     Uvicorn running on http://127.0.0.1:8983 (Press CTRL+C to quit)",
            "http://127.0.0.1:8983",
        ),
        (
            "Starting MCP server 'p' with transport 'http' on http://0.0.0.0:8000/mcp",
            "http://127.0.0.1:8000/mcp",
        ),
        ("stdout: Server listening on port 3000", "http://127.0.0.1:3000"),
        ("MCP server is listening at http://localhost:3000/.", "http://localhost:3000"),
        ("see http://localhost:3000 for help", ""),
        ("weather server running on stdio", ""),
    ],
)
def test_a_server_that_serves_http_says_where(line: str, url: str):
    assert served_at([line, "ready"]) == url


@given(st.lists(st.text(max_size=80), max_size=8))
def test_any_log_is_read(lines: list[str]):
    assert all(isinstance(one, str) for one in cause_of(lines, {}, {}))
