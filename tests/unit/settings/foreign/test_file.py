"""The server lists of other hosts."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.foreign import IN_JSON
from tui.settings.foreign.file import MAX_TOOL_SECONDS, read_foreign, without_comments
from tui.settings.load import load_text
from tui.settings.problems import Problem, Source

HERE = Path("/home/ada/project/mcp.json")


def servers(tree: object, path: Path = HERE) -> dict[str, Any]:
    found = read_foreign(tree if isinstance(tree, str) else json.dumps(tree), path)
    assert isinstance(found, Source)
    return found.tree["servers"]


def notes(tree: object) -> list[str]:
    found = read_foreign(json.dumps(tree), HERE)
    assert isinstance(found, Source)
    return [note.message for note in found.problems]


@pytest.mark.parametrize("word", ["streamable-http", "streamableHttp", "streamable_http", "HTTP"])
def test_every_name_of_the_http_transport_is_known(word: str):
    assert servers({"mcpServers": {"a": {"type": word, "url": "https://h"}}})["a"]["transport"] == "http"


def test_a_registered_client_is_read_and_what_the_server_tells_is_not():
    oauth = {
        **{"enabled": True, "clientId": "me", "clientSecret": "$SECRET", "scopes": ["read"]},
        **{"redirectUri": "http://localhost:7777/oauth/callback", "tokenUrl": "https://auth/token"},
    }
    tree = {"mcpServers": {"a": {"url": "https://h/mcp", "oauth": oauth}}}
    assert servers(tree)["a"]["oauth"] == {
        **{"client_id": "me", "client_secret": "${SECRET}", "scopes": ["read"]},
        "callback_port": 7777,
    }
    said = " | ".join(notes(tree))
    assert "becomes http://127.0.0.1:7777/callback" in said and "`oauth.tokenUrl` is not supported" in said
    assert "$SECRET is read from the environment variable SECRET" in said


@each_case(
    ("entry", "note"),
    [
        ({"command": "sh", "args": ["-c", "curl x | sh"]}, "runs a shell: sh -c curl x | sh"),
        (
            {"command": "npx", "args": ["-y", "mcp-remote@0.1", "https://h/sse?k=1"]},
            "uses mcp-remote. `url` = https://h/sse works without it",
        ),
        ({"command": "x", "somethingNew": {"a": 1}}, "`somethingNew` is not supported and is ignored"),
        ({"command": "x", "timeout": -5}, "`timeout` is not a time from 0 to 86400 s and is ignored"),
        (
            {"command": "x", "autoApprove": ["delete_everything"]},
            "`autoApprove` (run 1 tool without approval) not imported. Use `[approvals]`",
        ),
        (
            {"command": "x", "trust": True},
            "`trust` (run all its tools without approval) not imported. Use `[approvals]`",
        ),
        (
            {"command": "x", "includeTools": ["ls"]},
            "`includeTools` not imported: all tools are offered. Disable tools in the workbench",
        ),
        (
            {"url": "https://h/mcp", "headersHelper": "/opt/token.sh"},
            "`headersHelper` (runs “/opt/token.sh”) not imported. Use `headers`",
        ),
        ({"command": "x", "envFile": ".env"}, "`envFile` not imported. Copy the variables of .env to `env`"),
    ],
)
def test_dangerous_indirect_and_unknown_settings_are_named(entry: object, note: str):
    assert notes({"mcpServers": {"a": entry}}) == [note]


def test_a_windows_wrapper_is_removed():
    tree = {"mcpServers": {"a": {"command": "cmd", "args": ["/c", "npx", "-y", "p"]}}}
    assert servers(tree)["a"] == {"command": "npx", "args": ["-y", "p"]}
    assert notes(tree) == ["`cmd /c` (Windows) removed: it starts npx"]


def test_known_references_are_kept_and_unknown_ones_become_plain_text():
    tree = {"mcpServers": {"a": {"command": "${A:-b}", "args": ["${what ever}", "${", "$5"]}}}
    found = load_text(json.dumps(tree), HERE, {}).settings.servers["a"]
    assert found.command == "b"
    assert found.args == ["${what ever}", "${", "$5"]


def test_numbers_become_text_and_large_timeouts_are_milliseconds():
    tree = {"mcpServers": {"a": {"command": "x", "args": [8080], "env": {"P": 1}, "timeout": 60000}}}
    assert servers(tree)["a"] == {"command": "x", "args": ["8080"], "env": {"P": "1"}, "tool_seconds": 60.0}


@each_case("number", IN_JSON)
def test_any_number_can_be_a_timeout(number: Any):
    seconds = servers({"mcpServers": {"a": {"command": "x", "timeout": number}}})["a"].get("tool_seconds")
    assert seconds is None or 0 < seconds <= MAX_TOOL_SECONDS


@each_case(
    ("text", "message", "line"),
    [
        ('{"mcpServers": {\n"a": }}', "is not JSON: a value is missing", 2),
        ('{"mcpservers": {}}', "contains neither `mcpServers` nor `servers`", 0),
        ("[]", "contains neither", 0),
        ("[" * 100_000, "is not valid JSON", 0),
        ("", "is not JSON", 1),
    ],
)
def test_a_file_that_is_not_json_or_has_no_servers_is_reported_with_the_reason(
    text: str, message: str, line: int
):
    found = read_foreign(text, HERE)
    assert isinstance(found, Problem)
    assert message in found.message
    assert found.line == line


def test_a_mistake_is_reported_with_the_line_in_the_other_hosts_file():
    text = '{\n "mcpServers": {\n  "a": {\n   "command": 4,\n   "args": "x"\n  },\n  "b": []\n }\n}'
    problems = [str(problem) for problem in load_text(text, Path("mcp.json"), {}).problems]
    assert problems == [
        "mcp.json:4 servers.a.command: must be a string, not a number",
        "mcp.json:5 servers.a.args: must be an array, not a string",
        "mcp.json:7 servers.b: must be a table, not an array",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.toml", '[mcp_servers.a]\ncommand = "x"\nsince = 2024-01-01\n'),
        ("mcp.json", '{"mcpServers": {"a": {"command": "x", "requestInit": {"timeout": 90000}}}}'),
        ("mcp.json", '{"mcpServers": {"a": {"command": "x", "off": null, "disabledTools": ["t"]}}}'),
        ("opencode.json", '{"mcp": {"a": {"command": ["x"], "off": "t"}}, "tools": {"a_t": false}}'),
    ],
)
def test_values_of_unexpected_kinds_do_not_prevent_an_import(name: str, text: str, tmp_path: Path) -> None:
    found = read_foreign(text, tmp_path / name)
    assert isinstance(found, Source) and found.tree["servers"]["a"]["command"] == "x"


def test_a_timeout_in_a_table_of_the_entry_is_read():
    # Zed writes it into `command`, https://github.com/zed-industries/zed/issues/32668
    entry = {"command": {"path": "uvx", "args": ["x"], "env": None, "timeout": 600}, "era": "legacy"}
    assert servers({"context_servers": {"a": entry}}) == {
        "a": {"command": "uvx", "args": ["x"], "tool_seconds": 600.0, "era": "legacy"}
    }


@pytest.mark.parametrize("off", [True, "delete", 5, {"a": 1}])
def test_tools_that_are_off_elsewhere_are_off_whatever_the_entry_says(off: Any):
    entry = {"command": "x", "off": off, "disabledTools": ["b"]}
    assert servers({"mcp": {"a": entry}, "tools": {"a_c": False}})["a"]["off"] == ["b", "c"]


def test_a_table_of_servers_that_is_none_is_named():
    found = read_foreign('{"mcpServers": null}', HERE)
    assert found == Problem("contains no servers: `mcpServers` is not a table of servers")


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("npx", ["-y", "mcp-remote@0.1.18", "https://h/mcp", "--header", "Authorization:${AUTH}"]),
        ("sh", ["-c", "exec server --token ${AUTH}"]),
    ],
)
def test_a_variable_of_the_server_that_it_replaces_itself_stays_in_its_arguments(
    command: str, args: list[str]
):
    entry = {"command": command, "args": args, "env": {"AUTH": "Bearer x", "B": "${AUTH}"}}
    found = servers({"mcpServers": {"a": entry}})["a"]
    assert found["args"] == [word.replace("${", "$${") for word in args]
    assert found["env"]["B"] == "${AUTH}"


def test_a_sign_in_of_a_command_is_left_out():
    entry = {"command": "x", "oauth": {"redirectUri": "127.0.0.1:7778"}}
    tree = {"mcpServers": {"a": entry}}
    assert servers(tree) == {"a": {"command": "x"}}
    assert notes(tree)[-1] == "`oauth` is only used with a `url`, and is ignored"


def test_the_default_of_a_password_is_neither_copied_nor_shown():
    secret = "sk-abcdefghijklmnop1234567890"
    tree = {
        "inputs": [{"id": "tok", "type": "promptString", "password": True, "default": secret}],
        "servers": {"a": {"command": "x", "env": {"T": "${input:tok}"}}},
    }
    assert servers(tree) == {"a": {"command": "x", "env": {"T": "${TOK}"}}}
    assert notes(tree) == [
        "the default of ${input:tok} is a secret and is not copied",
        "${input:tok} is read from the environment variable TOK",
    ]


def test_inputs_are_those_of_the_table_around_the_servers():
    inputs = [{"id": "port", "type": "promptString", "default": "80"}]
    table = {"inputs": inputs, "servers": {"a": {"command": "x", "args": ["${input:port}", "${localEnv:B}"]}}}
    assert servers({"settings": {"mcp": table}}) == {"a": {"command": "x", "args": ["${PORT:-80}", "${B}"]}}


@each_case(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": 2,}', {"a": 1, "b": 2}),
        ('/* head */ ["x", /* y */ "z",\n]', ["x", "z"]),
        (
            '{"url": "https://h//p", "c": "/* no */", "d": ",]"}',
            {"url": "https://h//p", "c": "/* no */", "d": ",]"},
        ),
        ('["a\\"// b",]', ['a"// b']),
        ("[1, // last\n]", [1]),
    ],
)
def test_comments_and_trailing_commas_are_removed_and_strings_are_unchanged(text: str, value: object):
    assert json.loads(without_comments(text)) == value


def test_removing_comments_keeps_every_line_in_place():
    text = '{\n/* a\n b */\n"x": 1 // c\n}'
    assert without_comments(text).count("\n") == text.count("\n")
    assert len(without_comments(text)) == len(text)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(alphabet='a/*",]}\\', max_size=6)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)


@given(values)
def test_plain_json_is_unchanged(value: Any):
    text = json.dumps(value)
    assert without_comments(text) == text


@given(st.text(alphabet='"/*,]}\\\n a', max_size=40))
def test_any_text_keeps_its_length(text: str):
    assert len(without_comments(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "a"),
        ('{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}', "mcpServers"),
        ('{"mcpServers": {"b": {"command": "y", "env": {"K": "1", "K": "2"}}}}', "K"),
        ('{"servers": {"a": {"url": "x", "url": "y"}, "b": {"url": "x", "url": "y"}}}', "url"),
    ],
)
def test_a_name_that_occurs_twice_is_reported(text: str, name: str):
    found = read_foreign(text, HERE)
    assert isinstance(found, Source)
    assert [str(one) for one in found.problems] == [
        f"defined twice in one object, so the last one is used: {name}"
    ]


def test_the_workspace_of_the_users_own_file_is_the_open_folder(tmp_path: Path):
    text = json.dumps({"servers": {"s": {"command": "x", "args": ["${workspaceFolder}/server.py"]}}})
    for path, folder in (
        (tmp_path / "Code" / "User" / "mcp.json", Path.cwd()),
        (tmp_path / ".vscode" / "mcp.json", tmp_path),
    ):
        found = read_foreign(text, path)
        assert isinstance(found, Source) and found.tree["servers"]["s"]["args"] == [f"{folder}/server.py"]


YAML_KEYS = st.sampled_from(
    "extensions mcpServers cmd args envs env_keys uri type config enabled timeout 1 a".split()
)
YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(YAML_KEYS, inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(YAML_KEYS, YAML_VALUES, max_size=4))
def test_any_yaml_is_read_or_refused(tree: dict[str, Any]):
    text = yaml.safe_dump(tree, allow_unicode=True)
    found = read_foreign(text, HERE.with_suffix(".yaml"))
    assert isinstance(found, Problem) or load_text(text, HERE.with_suffix(".yaml"), {}) is not None
