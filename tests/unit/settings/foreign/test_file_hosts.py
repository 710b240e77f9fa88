"""Configuration files of other hosts: what each becomes, and what an import of it writes."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tui.core.errors import ConfigError
from tui.settings.files import read_bounded
from tui.settings.foreign.file import read_foreign
from tui.settings.load import load
from tui.settings.problems import Problem, Source
from tui.settings.save import add_tables, edited
from tui.settings.server_import import plan_import

HOSTS = Path(__file__).parents[3] / "corpus" / "hosts"
PROJECT = Path("/home/ada/project/.vscode")

NPX = {"command": "npx", "args": ["-y", "x"]}
BECOMES: dict[str, dict[str, dict[str, Any]]] = {
    "amazon_q.json": {
        "local": {
            **{"command": "uvx", "args": ["x"], "env": {"A": "${A_KEY}"}},
            **{"tool_seconds": 120.0, "disabled": False},
        },
        "remote": {
            **{"transport": "http", "url": "https://h.example/mcp", "headers": {}},
            "oauth": {"scopes": ["openid"]},
        },
    },
    "amp.json": {
        "playwright": {"command": "npx", "args": ["-y", "@playwright/mcp@latest", "--headless"]},
        "remote": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    },
    "anythingllm.json": {
        "face": {"command": "npx", "args": ["face"], "env": {"A": "1"}, "autostart": False},
        "http": {"transport": "http", "url": "http://localhost:3003/mcp", "headers": {"X": "y"}},
    },
    "cherry_studio.json": {
        "k1": {
            **{"transport": "stdio", "command": "uvx", "args": ["mcp-server-fetch"], "env": {}},
            **{"disabled": False, "off": ["x"]},
        },
        "k2": {
            **{"transport": "http", "url": "https://h.example/mcp", "headers": {"A": "b"}},
            "disabled": True,
        },
    },
    "claude_code.json": {
        "github": {
            **{"transport": "http", "url": "https://api.githubcopilot.com/mcp/"},
            "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"},
        },
        "db": {"transport": "stdio", "command": "npx", "args": ["-y", "db-server"], "env": {}},
        "db-api": {
            **{"transport": "stdio", "command": "npx"},
            "args": ["-y", "db-server", "--dsn", "${DSN:-postgres://localhost}"],
            "cwd": "/home/ada/api",
        },
        "local": {"transport": "sse", "url": "http://localhost:3000/sse", "disabled": True},
    },
    "claude_desktop.json": {
        "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"]},
        "db": {
            **{"command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "/home/ada/test.db"]},
            "env": {"PGPORT": "5432", "DEBUG": "true"},
        },
    },
    "cline_mcp_settings.json": {
        "local": {
            **{"command": "node", "args": ["/srv/server.js"], "env": {"KEY": "v"}},
            **{"disabled": False, "tool_seconds": 3600.0},
        },
        "remote": {
            **{"transport": "http", "url": "https://h.example/mcp", "headers": {"X": "1"}},
            **{"tool_seconds": 60.0, "disabled": True},
        },
    },
    "codex.toml": {
        "docs": {
            **{"command": "npx", "args": ["-y", "docs-mcp"], "cwd": "/srv"},
            **{"start_seconds": 20.0, "tool_seconds": 45.5, "off": ["delete"]},
            "env": {"DOCS_TOKEN": "${DOCS_TOKEN:-}", "LEVEL": "debug"},
        },
        "figma": {
            "url": "https://mcp.figma.com/mcp",
            "headers": {
                **{"X-Org": "${FIGMA_ORG}", "X-Region": "us"},
                "Authorization": "Bearer ${FIGMA_TOKEN}",
            },
            **{"disabled": True, "oauth": {"scopes": ["file:read"]}},
        },
    },
    "continue.json": {
        "server-1": {
            **{"transport": "stdio", "command": "uvx"},
            "args": ["mcp-server-sqlite", "--db-path", "/srv/x.db"],
            "env": {"K": "${K_TOKEN}"},
        }
    },
    "copilot_cli.json": {
        "local": {
            **{"transport": "stdio", **NPX},
            "env": {"A": "${COPILOT_MCP_A}", "B": "${COPILOT_MCP_B}"},
        },
        "none": {"transport": "stdio", "command": "y", "args": [], "off": ["*"]},
        "remote": {
            **{"transport": "http", "url": "https://h.example/mcp"},
            **{"headers": {"K": "${COPILOT_MCP_K}"}, "tool_seconds": 30.0},
        },
    },
    "crush.json": {
        "filesystem": {
            **{"transport": "stdio", "command": "node", "args": ["/srv/server.js", "${DATA_DIR}"]},
            **{"tool_seconds": 120.0, "disabled": False, "env": {"NODE_ENV": "production"}},
            "off": ["delete"],
        },
        "github": {
            **{"transport": "http", "url": "https://api.example.com/mcp/"},
            "headers": {"Authorization": "Bearer ${GH_PAT}"},
        },
        "stream": {
            **{"transport": "sse", "url": "https://example.com/mcp/sse"},
            "headers": {"API-Key": "${STREAM_API_KEY}"},
        },
    },
    "cursor.json": {
        "local": {
            **{"transport": "stdio", "command": "python", "args": ["/home/ada/project/tools/server.py"]},
            "env": {"API_KEY": "${API_KEY}"},
        },
        "line": {"command": "npx", "args": ["-y", "chrome-devtools-mcp@latest"]},
        "oauth": {
            "url": "https://api.example.com/mcp",
            "oauth": {
                **{"client_id": "${CLIENT_ID}", "client_secret": "${CLIENT_SECRET}"},
                "scopes": ["read", "write"],
            },
        },
    },
    "gemini.json": {
        "server": {
            **{"command": "${HOME_BIN}/server", "args": ["--key", "${API_KEY}", "${DIR:-/tmp}"]},
            **{"env": {"API_KEY": "${MY_API_TOKEN}"}, "cwd": "/srv", "tool_seconds": 5.0, "off": ["b"]},
        },
        "remote": {
            **{"transport": "http", "url": "https://h.example/mcp", "disabled": True},
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        },
        "google": {"transport": "sse", "url": "https://g.example/sse", "oauth": {"scopes": ["a"]}},
        "other": {"command": "x", "disabled": True},
    },
    "jetbrains_copilot.json": {
        "local": {"transport": "stdio", **NPX, "env": {"A": "1"}},
        "remote": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    },
    "junie.json": {
        "db": {**NPX, "env": {"A": "1"}, "disabled": True},
        "ide": {"transport": "http", "url": "http://localhost:64342/mcp", "headers": {}},
    },
    "kiro.json": {
        "local": {
            **{"command": "uvx", "args": ["awslabs.aws-documentation-mcp-server@latest"]},
            "env": {"FASTMCP_LOG_LEVEL": "ERROR", "KEY": "${API_KEY}"},
            **{"disabled": False, "tool_seconds": 60.0, "off": ["x"]},
        },
        "remote": {
            **{"url": "https://h.example/mcp", "headers": {"X": "${TOKEN}"}},
            "oauth": {"scopes": ["a"], "callback_port": 7778},
        },
    },
    "lm_studio.json": {
        "hf": {
            "url": "https://huggingface.co/mcp",
            "headers": {"Authorization": "Bearer <YOUR_HF_TOKEN>"},
        },
        "local": {**NPX, "tool_seconds": 60.0},
    },
    "opencode.jsonc": {
        "local": {
            **{"transport": "stdio", "command": "npx", "args": ["-y", "pkg", "${PKG_ARG}"]},
            **{"tool_seconds": 10.0, "env": {"KEY": "${MY_KEY}", "SECRET": "${file:~/.secrets/key}"}},
            **{"disabled": False, "off": ["delete*"]},
        },
        "remote": {
            **{"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${MCP_KEY}"}},
            "disabled": True,
            "oauth": {"client_id": "${ID}", "client_secret": "${CLIENT_SECRET}", "scopes": ["a", "b"]},
        },
        "plain": {"url": "https://p.example/mcp", "off": ["*"]},
    },
    "opencode_v2.jsonc": {
        "everything": {
            **{"transport": "stdio", "command": "npx", "args": ["-y", "everything"], "cwd": "."},
            **{"disabled": True, "start_seconds": 20.0, "tool_seconds": 60.0},
            "env": {"LOG_LEVEL": "${LOG_LEVEL}"},
        }
    },
    "profiles.json": {
        "db": {"command": "db"},
        "db-work": {"command": "db", "args": ["--work"]},
        "mail": {"url": "https://m.example/mcp"},
        "db-home": {"command": "db", "args": ["--home"]},
    },
    "roo.json": {
        "local": {
            **{**NPX, "cwd": "/home/ada/project", "env": {"KEY": "${KEY}"}},
            **{"tool_seconds": 1800.0, "off": ["c"]},
        },
        "remote": {"transport": "http", "url": "https://h.example/mcp"},
    },
    "vscode_mcp.jsonc": {
        "files": {
            **{"transport": "stdio", "command": "npx"},
            "args": [
                *("-y", "files", "${INPUT_PATH:-/srv/data}"),
                *("/home/ada/project/src", "--region=${REGION:-eu}"),
            ],
            "env": {"KEY": "${API_KEY}", "BRANCH": "${BRANCH}", "LEVEL": "${APP_LEVEL}"},
        },
        "remote": {
            **{"transport": "http", "url": "https://h.example/mcp"},
            "headers": {"X-Home": "/home/ada"},
        },
    },
    "warp.json": {
        "puppeteer": {
            **{"command": "npx", "args": ["-y", "puppeteer-server"], "env": {"A": "1"}},
            **{"cwd": "/srv", "autostart": False},
        },
        "remote": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    },
    "windsurf.json": {
        "remote": {
            "url": "https://api.example.com/mcp",
            "headers": {"Authorization": "Bearer ${AUTH_TOKEN}", "X-Key": "${file:~/.secrets/key.txt}"},
            "off": ["delete"],
        },
        "off": {**NPX, "disabled": True},
    },
    "witsy.json": {
        "off": {**NPX, "env": {}, "disabled": True},
        "everything": {
            **{"transport": "stdio", "command": "npx", "disabled": False},
            "args": ["-y", "@modelcontextprotocol/server-everything"],
        },
        "2": {
            **{"transport": "http", "url": "https://h.example/mcp", "headers": {"A": "b"}},
            "disabled": True,
        },
    },
    "zed.jsonc": {
        "custom": {
            **{"command": "node", "args": ["/srv/server.js"], "env": {"A": "1"}},
            "disabled": False,
        },
        "older": {"command": "uvx", "args": ["pkg"], "env": {"B": "2"}},
        "remote": {
            "url": "https://h.example/mcp",
            "headers": {"Authorization": "Bearer x-1234567890abcdef"},
        },
    },
}
NAMED = {"goose.yaml": "the YAML of goose", "continue.yaml": "the YAML of Continue"}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")


def read(name: str) -> Source:
    found = read_foreign(read_bounded(HOSTS / name), PROJECT / name)
    assert isinstance(found, Source)
    return found


def test_every_file_of_a_host_has_an_expectation():
    names = {path.name for path in HOSTS.iterdir()} - {"README.md"}
    assert names == BECOMES.keys() | NAMED.keys()


@pytest.mark.parametrize("name", BECOMES)
def test_the_file_of_a_host_is_converted(name: str):
    assert read(name).tree["servers"] == BECOMES[name]


@pytest.mark.parametrize("form", ["bom", "crlf", "comments"])
@pytest.mark.parametrize("name", ["claude_code.json", "vscode_mcp.jsonc", "codex.toml", "opencode.jsonc"])
def test_a_byte_order_mark_crlf_and_comments_change_nothing(name: str, form: str, tmp_path: Path):
    raw = (HOSTS / name).read_bytes()
    mark = b"# a comment\n" if name.endswith(".toml") else b"// a comment\n/* another */\n"
    made = {"bom": b"\xef\xbb\xbf" + raw, "crlf": raw.replace(b"\n", b"\r\n"), "comments": mark + raw}[form]
    (tmp_path / name).write_bytes(made)
    found = read_foreign(read_bounded(tmp_path / name), PROJECT / name)
    assert isinstance(found, Source)
    assert found.tree["servers"] == BECOMES[name]


@pytest.mark.parametrize("name", BECOMES)
def test_an_import_writes_servers_that_the_check_accepts(name: str, tmp_path: Path):
    """Only variables that are not set may be missing; nothing is left as the other host writes it."""
    target = tmp_path / "config.toml"
    plan = plan_import(HOSTS / name, target)
    assert not plan.unusable
    target.write_text(edited("", lambda document: add_tables(document, "servers", plan.new)))
    errors = [problem.message for problem in load(target, {"HOME": "/home/ada"}).errors]
    assert all(message.endswith(("is not set", "cannot be read")) for message in errors)
    assert not re.search(r"(?<!\$)\{(?:env|file):|\$\{(?:input|env|config)|\$\(|\$\{\{", target.read_text())
    assert tomllib.loads(target.read_text())["servers"].keys() == plan.new.keys()


@pytest.mark.parametrize("name", NAMED)
def test_yaml_is_named_for_what_it_is(name: str, tmp_path: Path):
    for suffix in ("", ".json"):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes((HOSTS / name).read_bytes())
        found = read_foreign(read_bounded(path), path)
        assert isinstance(found, Problem)
        assert NAMED[name] in found.message
        with pytest.raises(ConfigError, match="mcptui add"):
            plan_import(path, tmp_path / "config.toml")
        assert NAMED[name] in str(load(path, {}).problems[0])


def test_the_configuration_of_codex_can_be_used_directly():
    loaded = load(HOSTS / "codex.toml", {"FIGMA_TOKEN": "t", "FIGMA_ORG": "o"})
    assert not loaded.errors
    assert loaded.settings.servers["docs"].start_seconds == 20.0
    assert loaded.settings.servers["figma"].headers["Authorization"] == "Bearer t"


NOTES = [
    ("claude_code.json", "db-api", "is a server of the project /home/ada/api"),
    ("claude_code.json", "local", "is disabled: `disabledMcpServers` lists it"),
    ("claude_desktop.json", "db", "“~/test.db” becomes “/home/ada/test.db”: no shell replaces the ~"),
    ("codex.toml", "docs", "`env_vars`: DOCS_TOKEN read from your environment, empty if not set"),
    ("codex.toml", "docs", "`enabled_tools` not imported: all tools are offered"),
    (
        "crush.json",
        "stream",
        "(the output of a command) is read from the environment variable STREAM",
    ),
    ("cursor.json", "line", "`command` is a command line: it starts “npx” with the rest as arguments"),
    ("gemini.json", "remote", "is disabled: `mcp.excluded` lists it"),
    ("gemini.json", "other", "is disabled: `mcp.allowed` does not list it"),
    ("opencode.jsonc", "local", "{file:~/.secrets/key}: uses the content of ~/.secrets/key"),
    ("vscode_mcp.jsonc", "files", "${input:path} is read from the environment variable INPUT_PATH, default"),
    ("vscode_mcp.jsonc", "files", "`env.OFF` is null and is ignored"),
    ("witsy.json", "off", "is disabled: `mcp.disabledMcpServers` lists it"),
    ("zed.jsonc", "extension", "is provided by its host, so it is not imported"),
]


@pytest.mark.parametrize(("name", "server", "text"), NOTES)
def test_what_is_converted_or_left_out_is_noted(name: str, server: str, text: str):
    assert any(note.keys[1:] == (server,) and text in note.message for note in read(name).problems)
