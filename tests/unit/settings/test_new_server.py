"""Turning typed words into a configured server."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.settings.new_server import as_toml, check_new, pairs, server_name, server_table, unconfigured_server


def known(word):
    return word in ("npx", "python3", "/bin/x y")


@each_case(
    ("words", "table"),
    [
        (["npx", "-y", "p"], {"command": "npx", "args": ["-y", "p"]}),
        (["npx -y 'a b'"], {"command": "npx", "args": ["-y", "a b"]}),
        (["/bin/x y"], {"command": "/bin/x y"}),
        (["https://h/mcp"], {"url": "https://h/mcp"}),
        (["wss://h/mcp"], {"url": "wss://h/mcp", "transport": "websocket"}),
    ],
)
def test_a_url_and_a_command_are_distinguished(words, table):
    assert server_table(words, known=known) == table


def test_the_table_contains_headers_environment_and_transport():
    table = server_table(["https://h/sse"], headers={"X": "1"}, transport="sse")
    assert table == {"url": "https://h/sse", "transport": "sse", "headers": {"X": "1"}}
    assert server_table(["npx"], env={"A": "${B}"}, transport="lines", known=lambda command: True) == {
        "command": "npx",
        "env": {"A": "${B}"},
        "transport": "lines",
    }


@each_case(
    ("words", "more", "problem"),
    [
        ([], {}, "a URL or a command is required."),
        (["ftp://h"], {}, "ftp:// is not a server URL"),
        (["https://h", "-x"], {}, "takes no arguments: -x"),
        (["https://h"], {"env": {"A": "1"}}, "Use --header"),
        (["npx"], {"headers": {"A": "1"}}, "Use --env"),
        (["nothing", "-x"], {}, "command “nothing” not found on PATH"),
        (["mcp.example.com/mcp"], {}, "“mcp.example.com/mcp” not found on PATH. If it is a URL"),
        (["npx 'open"], {}, "Close the quotes."),
    ],
)
def test_options_that_do_not_fit_are_refused_with_a_suggestion(words, more, problem):
    with pytest.raises(UsageError) as found:
        server_table(words, known=known, **more)
    assert problem in str(found.value)


@each_case(
    ("words", "name"),
    [
        ("https://mcp.linear.app/sse", "linear"),
        ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
        ("https://docs.mcp.cloudflare.com/mcp", "docs-cloudflare"),
        ("http://127.0.0.1:8000/mcp", "local-8000"),
        ("http://localhost/mcp", "local"),
        ("http://[::1]:3/mcp", "local-3"),
        ("https://mcp.com", "mcp"),
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx -y @org/thing-mcp@1.2.3", "thing"),
        ("npx --package x mcp-server-y", "y"),
        ("npx @playwright/mcp@latest", "playwright"),
        ("npx -y @stripe/mcp --tools=all", "stripe"),
        ("npx -y @sentry/mcp-server@latest", "sentry"),
        ("npx -y @azure/mcp@latest server start", "azure"),
        ("npx -y @upstash/context7-mcp", "context7"),
        ("npx -y @supabase/mcp-server-supabase@latest", "supabase"),
        ("npx -y @notionhq/notion-mcp-server", "notion"),
        ("npx chrome-devtools-mcp@latest", "chrome-devtools"),
        ("npx -y firecrawl-mcp", "firecrawl"),
        ("npx -y exa-mcp-server", "exa"),
        ("npx -y mcp-remote https://mcp.linear.app/sse", "linear"),
        ("uvx mcp-atlassian", "atlassian"),
        ("npx weather.js", "weather"),
        ("uvx awslabs.aws-documentation-mcp-server@latest", "aws-documentation"),
        ("uvx serena[all]", "serena"),
        ("python3 -m weather.server", "weather"),
        ("docker run -i --rm mcp/puppeteer", "puppeteer"),
        ("docker run -i --rm hashicorp/terraform-mcp-server:0.4", "terraform"),
        ("docker run -i --rm ghcr.io/acme/mcp", "acme"),
        ("docker run -i --rm localhost:5000/acme/weather", "weather"),
        ("https://mcp.example.com/mcp", "example"),
        ("https://mcp.shop.example.co.uk/mcp", "shop-example"),
        ("uvx mcp-server-time", "time"),
        ("uvx --from git+https://h/x mcp-server-git==1.0", "git"),
        ("docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:latest", "github"),
        ("python3 -m mcp_server_fetch", "fetch"),
        ("python3 /srv/weather/server.py", "weather"),
        ("node /srv/node_modules/@org/server-everything/dist/index.js stdio", "everything"),
        ("node /srv/weather/build/src/main.js", "weather"),
        ("/opt/bin/weather-mcp --flag", "weather"),
        ("uv run --with x server", "server"),
        ("npx tsx weather.ts", "weather"),
        ("npx -y tsx@4 watch /srv/weather/src/server.ts", "weather"),
        ("node --import tsx weather.ts", "weather"),
        ("uv --directory /srv/x run python weather.py", "weather"),
        ("npx tsx", "tsx"),
        ("docker run python", "python"),
        ("npx --token sk-hunter2hunter2 weather", "weather"),
    ],
)
def test_the_default_name_is_taken_from_the_host_or_the_package(words, name):
    assert server_name(server_table(words.split(), known=lambda command: True)) == name


def test_pairs_are_parsed_and_anything_else_is_refused():
    assert dict(pairs(["A=1", "B==", "C="])) == {"A": "1", "B": "=", "C": ""}
    assert dict(pairs(["Authorization: Bearer a=b", "X=y:z"], colon=True)) == {
        "Authorization": "Bearer a=b",
        "X": "y:z",
    }
    for wrong in ("A", "=1", "A B=1"):
        with pytest.raises(McptuiError, match="is not NAME=VALUE"):
            pairs([wrong])


@pytest.mark.parametrize("wrong", ["Bad Name: hunter2", "hunter2", ": hunter2"])
def test_an_invalid_header_is_reported_without_its_value(wrong: str):
    with pytest.raises(McptuiError, match="is not NAME: VALUE") as refused:
        pairs([wrong], colon=True)
    assert "hunter2" not in str(refused.value)


def test_an_invalid_header_without_a_mark_is_named_by_its_number():
    with pytest.raises(McptuiError, match="header 2 is not NAME: VALUE"):
        pairs(["A: b", "Foo"], colon=True)


def test_a_folder_is_no_command(tmp_path):
    with pytest.raises(McptuiError, match="is a folder, not a command"):
        server_table([str(tmp_path)], known=lambda command: False)


def test_a_new_server_is_shown_as_toml_with_references_and_without_secrets():
    table = {"url": "https://h", "headers": {"Authorization": "Bearer ${T}", "X-Key": "sk-12345678"}}
    text = as_toml("a b", table)
    assert text.startswith('[servers."a b"]\nurl = "https://h"\n')
    assert "Bearer ${T}" in text and "sk-12345678" not in text


def test_an_unset_variable_is_noted_and_a_mistake_is_refused():
    path = Path("c.toml")
    table = {"url": "https://h", "headers": {"A": "${NOT_SET}"}}
    assert check_new("a", table, path, {}) == ["the environment variable NOT_SET is not set"]
    assert check_new("a", table, path, {"NOT_SET": "x"}) == []
    for name, wrong in (
        ("a", {"url": "https://h:x/"}),
        ("a/b", {"command": "x"}),
        ("a", {"transport": "sse"}),
    ):
        with pytest.raises(ConfigError):
            check_new(name, wrong, path, {})


def test_a_typed_command_runs_in_the_current_directory():
    assert unconfigured_server([sys.executable, "-m", "p"])[0].starts_in is None


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ({"command": "no-such-x"}, "command no-such-x not found on PATH. Install it, or use its path"),
        ({"command": sys.executable, "cwd": "/no/such"}, "cwd: directory /no/such not found. Check the path"),
        (
            {"command": sys.executable, "args": ["~/x"]},
            'args: the ~ in ~/x is passed on as it is, because no shell is involved. Write "${HOME}/x"',
        ),
    ],
)
def test_a_note_names_its_key_once(table: dict[str, Any], note: str):
    assert check_new("a.b", table, Path("c.toml"), {}) == [note]
