"""Causes in the last words of a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
