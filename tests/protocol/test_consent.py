"""Commands with a configuration from elsewhere: nothing in it runs without consent."""

import json
import sys
from pathlib import Path

import pytest

from tests.endpoint import Endpoint
from tests.endpoint import says as model_says
from tests.http_server import http_server
from tests.protocol.command import doubtful
from tests.protocol.test_registry_commands import NAME, entry
from tests.registry_server import registry_server
from tui.settings.locations import sample_server

WORDS = {
    "run": ("run", "--demo", "hello"),
    "servers": ("servers",),
    "call": ("call", "planted", "tool"),
    "list": ("list", "planted"),
    "read": ("read", "planted", "memo://x"),
    "prompt": ("prompt", "planted", "x"),
}


def planted(folder: Path) -> str:
    """Return a configuration from elsewhere whose server creates a file when it is executed."""
    code = f"open({str(folder / 'EXECUTED')!r}, 'w')"
    path = folder / "mcp.json"
    path.write_text(
        json.dumps({"mcpServers": {"planted": {"command": sys.executable, "args": ["-c", code]}}})
    )
    return str(path)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
async def test_without_consent_nothing_runs_and_the_refusal_shows_command_and_flag(
    tmp_path: Path, words: tuple[str, ...]
):
    done = await doubtful(*words, "--config", planted(tmp_path))
    assert done.code == (5 if words == ("servers",) else 2)
    assert "EXECUTED" in done.err and "--trust-config" in done.err
    assert not (tmp_path / "EXECUTED").exists()


async def test_the_flag_gives_consent_for_one_run_only(tmp_path: Path):
    config = planted(tmp_path)
    await doubtful("servers", "--config", config, "--trust-config")
    assert (tmp_path / "EXECUTED").exists()
    (tmp_path / "EXECUTED").unlink()
    done = await doubtful("servers", "--config", config)
    assert done.code == 5 and not (tmp_path / "EXECUTED").exists()
    said = await doubtful("decisions")
    assert "--trust-config" in said.out


async def test_a_file_named_by_the_environment_variable_needs_consent(tmp_path: Path):
    done = await doubtful("servers", MCPTUI_CONFIG=planted(tmp_path))
    assert "needs your consent" in done.out and not (tmp_path / "EXECUTED").exists()


def write_own(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    weather = f'command = "{sys.executable}"\nargs = ["{sample_server("weather")}"]\n'
    path.write_text(f'[servers.mine]\n{weather}env = {{ A = "b" }}\n')


async def test_servers_of_the_users_own_file_need_no_consent(tmp_path: Path):
    named = (await doubtful("config", "path")).out.strip()
    write_own(Path(named))
    assert (await doubtful("servers")).code == 0
    assert (await doubtful("servers", "--config", named)).code == 0


async def test_the_shipped_samples_need_no_consent(tmp_path: Path):
    config = sample_server("weather").parents[1] / "mcp.json"
    done = await doubtful("servers", "--config", str(config))
    assert (done.code, "consent" in done.out + done.err) == (0, False)


async def test_without_consent_no_url_is_contacted(tmp_path: Path):
    async with http_server() as server:
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"far": {"url": server.url}}}))
        for words in (("servers",), ("call", "far", "x"), ("login", "far"), ("run", "--demo", "hi")):
            done = await doubtful(*words, "--config", str(path))
            assert done.code in (2, 5)
        assert server.methods() == []


async def test_json_output_says_why_a_server_was_not_started(tmp_path: Path):
    done = await doubtful("servers", "--json", "--config", planted(tmp_path))
    (found,) = json.loads(done.out)
    assert (found["status"], found["reason"]) == ("STOPPED", "needs consent")


async def test_an_imported_server_needs_consent(tmp_path: Path):
    imported = await doubtful("config", "import", planted(tmp_path))
    assert imported.code == 0 and "mcptui config trust" in imported.out
    done = await doubtful("servers")
    assert done.code == 5 and "needs your consent" in done.out
    assert "○ planted" in done.out and "✗" not in done.out
    assert not (tmp_path / "EXECUTED").exists()

    refused = await doubtful("config", "trust")
    assert refused.code == 2 and "--yes" in refused.err
    agreed = await doubtful("config", "trust", "--yes")
    assert agreed.code == 0 and "EXECUTED" in agreed.out and "planted: agreed" in agreed.out
    assert (await doubtful("config", "trust")).out == "no server or model needs consent\n"
    assert "option --yes" in (await doubtful("decisions")).out
    assert not (tmp_path / "EXECUTED").exists()
    await doubtful("servers")
    assert (tmp_path / "EXECUTED").exists()


async def test_confirming_a_registry_server_gives_consent_until_it_changes(tmp_path: Path):
    file = (await doubtful("config", "path")).out.strip()
    async with registry_server(entry(version="1.0.2")) as server:
        words = ("add", NAME, "--set", "units=metric", "--registry", server.url)
        done = await doubtful(*words, "--yes", API_KEY="k-83hdZq")
        assert done.code == 0, done.err
    assert 'source = "registry"' in read(file)
    done = await doubtful("config", "trust", "--yes", API_KEY="k-83hdZq")
    assert done.out == "no server or model needs consent\n"
    write(file, read(file).replace("weather@1.0.2", "weather@1.0.3"))
    done = await doubtful("config", "trust", "--yes", API_KEY="k-83hdZq")
    assert "was @example/weather@1.0.2, is now @example/weather@1.0.3" in done.out


async def test_consent_to_a_file_ends_when_it_changes(tmp_path: Path):
    config = planted(tmp_path)
    await doubtful("config", "trust", "--yes", "--config", config)
    found = json.loads(read(config))
    found["mcpServers"]["planted"]["env"] = {"PYTHONPATH": "/tmp/evil"}
    write(config, json.dumps(found))
    done = await doubtful("servers", "--config", config)
    assert "needs your consent" in done.out and not (tmp_path / "EXECUTED").exists()
    shown = await doubtful("config", "trust", "--yes", "--config", config)
    assert "The server “planted” has changed since you agreed to it" in shown.out
    assert "changed: variable PYTHONPATH: was not set, is now" in shown.out
    assert "PYTHONPATH can make any program load other code." in shown.out


async def test_a_typed_command_line_needs_no_consent(tmp_path: Path):
    weather = str(sample_server("weather"))
    named = str(tmp_path / "typed.toml")
    for given in ((), ("--config", named)):
        done = await doubtful("add", "--name", "typed", "--env", "A=b", *given, sys.executable, weather)
        assert done.code == 0, done.err
        done = await doubtful("servers", *given)
        assert (done.code, done.err) == (0, "")


def read(path: str) -> str:
    return Path(path).read_text()


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


def foreign_model(folder: Path, url: str, key: str = "${OPENAI_API_KEY}") -> str:
    path = folder / "f.toml"
    path.write_text(f'[servers]\n[models.x]\nmodel = "m"\nbase_url = "{url}"\napi_key = "{key}"\n')
    return str(path)


async def test_nothing_is_sent_to_a_model_from_elsewhere_before_consent(tmp_path: Path):
    key = "sk-canary-5512abc"
    async with Endpoint([model_says("Hello.")]) as endpoint:
        config = foreign_model(tmp_path, endpoint.base_url)
        run = ("run", "--config", config, "hi")
        refused = await doubtful(*run, OPENAI_API_KEY=key)
        assert refused.code == 2 and "needs your consent" in refused.err
        assert "--trust-config" in refused.err and "mcptui config trust" in refused.err
        assert (await doubtful("run", "--config", config, "--model", "x", "hi", OPENAI_API_KEY=key)).code == 2
        assert endpoint.connections == 0

        agreed = await doubtful("config", "trust", "--yes", "--config", config, OPENAI_API_KEY=key)
        assert "“models.x” comes from" in agreed.out and "value of OPENAI_API_KEY" in agreed.out
        assert key not in agreed.out and endpoint.connections == 0
        done = await doubtful(*run, OPENAI_API_KEY="another-value-77a")
        assert done.code == 0 and "Hello." in done.out
        assert endpoint.requests[0].headers["authorization"] == "Bearer another-value-77a"


async def test_a_model_from_elsewhere_is_used_with_the_flag(tmp_path: Path):
    async with Endpoint([model_says("Hello.")]) as endpoint:
        config = foreign_model(tmp_path, endpoint.base_url)
        done = await doubtful("run", "--trust-config", "--config", config, "hi", OPENAI_API_KEY="k-1")
        assert done.code == 0 and "Hello." in done.out


async def test_a_refusal_shows_variables_and_warnings_without_secrets(tmp_path: Path):
    path = tmp_path / "f.toml"
    path.write_text(
        '[servers.s]\ncommand = "npx"\nargs = ["tool", "${MY_API_KEY}"]\n'
        'env = { LD_PRELOAD = "/x.so", LOG = "${OPENAI_API_KEY}" }\n'
    )
    keys = {"OPENAI_API_KEY": "sk-canary-5512abc", "MY_API_KEY": "sk-canary-77"}
    for words in (("servers",), ("call", "s", "tool"), ("config", "trust", "--yes")):
        done = await doubtful(*words, "--config", str(path), **keys)
        said = done.out + done.err
        assert "LOG = value of OPENAI_API_KEY" in said and "npx tool '${MY_API_KEY}'" in said
        assert "LD_PRELOAD can make any program load other code." in said
        assert "env.LOG gets the value of OPENAI_API_KEY, which looks like one of your keys." in said
        assert "sk-canary" not in said
