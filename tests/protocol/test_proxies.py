"""A proxy that is dead or misspelled is named, with its variable: for servers, models and the registry."""

import json
from pathlib import Path

import pytest

from tests.protocol.command import mcptui

DEAD = {"HTTP_PROXY": "http://ada:s3cret@127.0.0.1:9"}
WRONG = {"HTTP_PROXY": "http://ada:s3cret@127.0.0.1:99999"}
SCHEME = {"ALL_PROXY": "gopher://ada:s3cret@127.0.0.1:1080"}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


SAID = pytest.mark.parametrize(
    ("env", "said", "step"),
    [
        (
            DEAD,
            "cannot connect to the proxy http://127.0.0.1:9 (HTTP_PROXY): Connection refused",
            "Check HTTP_PROXY",
        ),
        (
            WRONG,
            "HTTP_PROXY is not the URL of a proxy: http://127.0.0.1:99999",
            "Correct HTTP_PROXY, or unset it.",
        ),
        (
            SCHEME,
            "ALL_PROXY names a proxy with an unsupported scheme: gopher://127.0.0.1:1080",
            "Correct ALL_PROXY",
        ),
    ],
    ids=["dead", "wrong", "scheme"],
)


@SAID
async def test_for_a_server(tmp_path: Path, env: dict[str, str], said: str, step: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"far": {"url": "http://mcp.example.test/mcp"}}}))
    done = await mcptui("servers", "--config", str(path), **env)
    assert done.code == 5 and said in done.out and step in done.out
    assert "s3cret" not in done.out + done.err


@SAID
async def test_for_a_model(tmp_path: Path, env: dict[str, str], said: str, step: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[models.far]\nbase_url = "http://api.example.test/v1"\nmodel = "m"\n[servers]\n')
    done = await mcptui("run", "--config", str(path), "hi", **env)
    assert done.code == 4 and said in done.err and step in done.err
    assert "s3cret" not in done.out + done.err


@SAID
async def test_for_the_registry(env: dict[str, str], said: str, step: str) -> None:
    done = await mcptui("search", "--registry", "http://registry.example.test", "weather", **env)
    assert done.code != 0 and said in done.err and step in done.err
    assert "s3cret" not in done.out + done.err
