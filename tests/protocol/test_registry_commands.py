"""`mcptui search` and `mcptui add NAME` in processes, with a registry on loopback."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import servers_in
from tests.http_server import http_server
from tests.protocol.command import mcptui
from tests.registry_server import registry_server

SECRET = "s3cret-71hQz9aaBB"
NAME = "io.github.example/mcp-server-weather"
PACKAGE = {
    "registryType": "npm",
    "identifier": "@example/weather",
    "version": "1.0.2",
    "transport": {"type": "stdio"},
    "environmentVariables": [
        {"name": "API_KEY", "description": "Your key", "isRequired": True, "isSecret": True}
    ],
    "packageArguments": [{"type": "named", "name": "--units", "description": "Units", "isRequired": True}],
}


def entry(**more: Any) -> dict[str, Any]:
    about = {"name": NAME, "version": "1.0.2", "description": "The weather \x1b[31mof the world"}
    return {**about, "packages": [PACKAGE], **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def configure(file: Path, registry: str) -> None:
    file.write_text(f'[registry]\nurl = "{registry}"\n')


async def test_search_prints_names_from_the_configured_registry(file: Path):
    async with registry_server(entry()) as server:
        configure(file, server.url)
        done = await mcptui("search", "weather", "--config", str(file))
        assert done.code == 0 and f"{NAME}  1.0.2  npm\n" in done.out and "\x1b" not in done.out
        done = await mcptui("search", "weather", "--json", "--config", str(file))
        assert json.loads(done.out)[0]["server"]["name"] == NAME
        done = await mcptui("search", "nothing", "--config", str(file))
        assert (done.code, done.out) == (1, "") and "nothing found" in done.err


@pytest.mark.parametrize("words", [("search", "weather"), ("add", NAME, "--yes")])
@pytest.mark.parametrize("url", ["{}/${{MY_TOKEN}}", "http://registry.invalid"])
async def test_a_registry_in_a_file_from_elsewhere_gets_nothing_from_the_environment(
    file: Path, words: tuple[str, ...], url: str
):
    async with registry_server(entry()) as server:
        configure(file, url.format(server.url))
        done = await mcptui(*words, "--config", str(file), MY_TOKEN="tk-71hQz9aaBB")
        assert not server.asked
    assert done.code == 2 and "--registry URL" in done.err
    assert "tk-71hQz9aaBB" not in done.out + done.err and url.format(server.url) in done.err


async def test_an_entry_is_shown_in_full_and_added_only_after_confirmation(file: Path):
    async with registry_server(entry()) as server:
        words = ("add", NAME, "--set", "units=metric", "--registry", server.url, "--config", str(file))
        done = await mcptui(*words)
        assert done.code == 2 and "Add --yes." in done.err and not servers_in(file)
        for shown in ("The weather", "npm: @example/weather 1.0.2", "API_KEY", "Your key", "not set"):
            assert shown in done.out
        assert "\x1b" not in done.out
        done = await mcptui(*words, "--yes")
    assert done.code == 0
    assert servers_in(file) == {
        "weather": {
            "command": "npx",
            "args": ["-y", "@example/weather@1.0.2", "--units", "metric"],
            "env": {"API_KEY": "${API_KEY}"},
            "source": "registry",
        }
    }


def kept_in(reference: str) -> str:
    """Return the content of the file in a reference, which must be private."""
    path = Path(reference.partition("${file:")[2].removesuffix("}"))
    assert path.stat().st_mode & 0o077 == 0
    return path.read_text()


async def test_a_secret_of_an_entry_is_never_written_to_the_file(file: Path, request: pytest.FixtureRequest):
    async with registry_server(entry()) as server:
        words = ("add", NAME, "--set", "units=metric", "--set", f"API_KEY={SECRET}", "--yes")
        words += ("--registry", server.url, "--config", str(file))
        done = await mcptui(*words)
        assert done.code == 0 and "note: weather.API_KEY is stored in " in done.err, done
        assert kept_in(servers_in(file)["weather"]["env"]["API_KEY"]) == SECRET
        assert SECRET not in done.out + done.err + str(servers_in(file))
        keychain = request.getfixturevalue("keychain")
        done = await mcptui(*words, "--name", "other")
    assert done.code == 0, done
    assert servers_in(file)["other"]["env"] == {"API_KEY": "keyring:mcptui/other.API_KEY"}
    assert keychain == {("mcptui", "other.API_KEY"): SECRET}
    assert SECRET not in done.out + done.err + str(servers_in(file))


async def test_secrets_in_headers_and_arguments_are_references_too(
    file: Path, keychain: dict[tuple[str, str], str]
):
    header = {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}}
    argument = {"type": "positional", "value": "--key={key}", "variables": {"key": {"isSecret": True}}}
    package = {**PACKAGE, "environmentVariables": [], "packageArguments": [argument]}
    remote = {"type": "streamable-http", "url": "https://h.example/mcp", "headers": [header]}
    async with registry_server(entry(packages=[package], remotes=[remote])) as server:
        words = ("add", NAME, "--yes", "--registry", server.url, "--config", str(file))
        await mcptui(*words, "--as", "remote", "--name", "far", "--set", f"token={SECRET}")
        await mcptui(*words, "--as", "npm", "--name", "near", "--set", f"key={SECRET}")
    assert servers_in(file)["far"]["headers"] == {"Authorization": "Bearer keyring:mcptui/far.token"}
    argument_written = servers_in(file)["near"]["args"][-1]
    assert argument_written.startswith("--key=${file:") and kept_in(argument_written) == SECRET
    done = await mcptui("remove", "far", "--config", str(file))
    assert "1 secret deleted from the keychain" in done.out, done
    assert keychain == {}


async def test_a_secret_in_a_url_is_encoded_for_it_and_as_it_is_in_a_header(file: Path, separate_home: Path):
    variables = {"token": {"isSecret": True}}
    header = {"name": "X-Token", "value": "{token}", "variables": variables}
    url = {"url": "https://h.example/mcp?key={token}", "variables": variables}
    remote = {"type": "streamable-http", **url, "headers": [header]}
    async with registry_server(entry(packages=[], remotes=[remote])) as server:
        words = ("add", NAME, "--name", "far", "--set", "token=a&b/c-71hQz9 ${x}", "--yes")
        done = await mcptui(*words, "--registry", server.url, "--config", str(file))
    far = servers_in(file)["far"]
    assert done.code == 0 and far["url"].startswith("https://h.example/mcp?key=${file:"), done
    assert kept_in(far["url"]) == "a%26b%2Fc-71hQz9%20%24%7Bx%7D"
    assert kept_in(far["headers"]["X-Token"]) == "a&b/c-71hQz9 ${x}"
    done = await mcptui("config", "check", "--config", str(file))
    assert done.code == 0 and ": OK: 1 server" in done.out, done
    done = await mcptui("remove", "far", "--config", str(file))
    assert "2 secrets deleted from " in done.out and not list((separate_home / "state").rglob("secrets/*"))


async def test_the_variables_of_arguments_are_listed_with_their_defaults(file: Path):
    variables = {"region": {"description": "The region", "default": "eu"}}
    argument = {"type": "named", "name": "--region", "value": "{region}", "variables": variables}
    package = {**PACKAGE, "environmentVariables": [], "packageArguments": [argument]}
    async with registry_server(entry(packages=[package])) as server:
        words = ("add", NAME, "--dry-run", "--registry", server.url, "--config", str(file))
        done = await mcptui(*words)
        assert "--set region=…  The region (required, default eu)" in done.out, done
        done = await mcptui(*words, "--set", "region=us")
    assert '"--region", "us"' in done.out and "--set region" not in done.out


async def test_risks_of_an_entry_are_marked_even_without_a_question(file: Path):
    loader = {"name": "NODE_OPTIONS", "value": "--require /tmp/a.js"}
    package = {**PACKAGE, "environmentVariables": [loader], "packageArguments": []}
    async with registry_server(entry(packages=[package])) as server:
        words = ("add", NAME, "--registry", server.url, "--config", str(file))
        for more in ("--dry-run", "--yes"):
            done = await mcptui(*words, "--name", more.strip("-"), more)
            assert "! NODE_OPTIONS can make any program load other code." in done.out, done


async def test_a_missing_value_is_reported_and_nothing_is_written(file: Path):
    async with registry_server(entry()) as server:
        done = await mcptui("add", NAME, "--yes", "--registry", server.url, "--config", str(file))
    assert done.code == 2 and "--set units=…  Units (required)" in done.err and not servers_in(file)


async def test_several_packages_or_remotes_need_a_choice_and_a_remote_works_at_once(file: Path):
    async with http_server() as remote, registry_server() as server:
        remotes = [{"type": "streamable-http", "url": remote.url}]
        server.entries[NAME] = entry(remotes=remotes)
        words = ("add", NAME, "--yes", "--registry", server.url, "--config", str(file))
        done = await mcptui(*words)
        assert done.code == 2 and "--as npm or --as remote" in done.err
        done = await mcptui(*words, "--as", "remote")
        assert done.code == 0 and f"mcptui will talk to {remote.url}" not in done.err
        done = await mcptui("call", "weather", "echo", "text=hi", "--config", str(file))
        assert (done.code, done.out) == (0, '{"text": "hi"}\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("io.github.example/nothing",), "server io.github.example/nothing not found in the registry"),
        ((NAME + "@9.9.9",), "io.github.example/mcp-server-weather 9.9.9 not found in the registry"),
        ((NAME, "--as", "oci"), "has no oci. It has: npm"),
        ((NAME, "--set", "unit=x"), "the server has no value “unit”, did you mean “units”?"),
        ((NAME, "--env", "A=1"), "--set NAME=VALUE"),
    ],
)
async def test_an_entry_that_cannot_be_added_is_refused_with_the_reason(
    file: Path, words: tuple[str, ...], said: str
):
    async with registry_server(entry()) as server:
        done = await mcptui("add", *words, "--yes", "--registry", server.url, "--config", str(file))
    assert done.code == 2 and said in done.err and not servers_in(file)


async def test_a_deleted_server_is_refused(file: Path):
    async with registry_server(entry(status="deleted")) as server:
        done = await mcptui("add", NAME, "--yes", "--registry", server.url, "--config", str(file))
    assert done.code == 2 and "was deleted from the registry" in done.err


async def test_no_registry_is_queried_for_a_url_or_a_command(file: Path):
    async with registry_server(entry()) as server:
        configure(file, server.url)
        await mcptui("add", "https://mcp.example.com/mcp", "--config", str(file))
        await mcptui("add", "--config", str(file), sys.executable, "-m", "some_server")
        await mcptui("add", "--config", str(file), "mcp.example.com:8443/mcp")
        assert server.asked == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("app.linear/linear-weather", ()),
        ("mcp.example/weather", ("--as", "npm")),
        ("systems.example/w", ("--registry",)),
    ],
)
async def test_each_name_printed_by_search_can_be_added(file: Path, name: str, options: tuple[str, ...]):
    async with registry_server(entry(name=name)) as server:
        configure(file, server.url)
        if options == ("--registry",):
            options = ("--registry", server.url)
        words = (name, *options, "--set", "units=metric", "--yes", "--name", "w", "--config", str(file))
        done = await mcptui("add", *words)
    assert done.code == 0, done.err
    assert list(servers_in(file)) == ["w"]


async def test_with_the_registry_option_any_word_is_a_registry_name(file: Path):
    async with registry_server(entry(name="weather")) as server:
        words = ("add", "weather", "--registry", server.url, "--set", "units=metric", "--yes")
        done = await mcptui(*words, "--config", str(file))
    assert done.code == 0, done.err
    assert list(servers_in(file)) == ["weather"]


async def test_for_a_host_without_a_scheme_the_full_url_is_suggested(file: Path):
    async with registry_server(entry()) as server:
        configure(file, server.url)
        done = await mcptui("add", "mcp.example.com/mcp", "--config", str(file))
        assert done.code == 2 and "If it is a URL, write https://mcp.example.com/mcp" in done.err
    done = await mcptui("add", "mcp.example.com/mcp", "--config", str(file))
    assert done.code == 2 and "cannot connect" in done.err
    assert "If it is a URL, write https://mcp.example.com/mcp" in done.err


async def test_a_secret_in_a_longer_text_or_of_a_short_name_is_not_printed(file: Path):
    environment = [{"name": "K", "isSecret": True, "isRequired": True}]
    variables = {"part": {"isSecret": True}}
    argument = {"type": "named", "name": "--url", "value": "https://h/x?k={part}", "variables": variables}
    package = {**PACKAGE, "environmentVariables": environment, "packageArguments": [argument]}
    async with registry_server(entry(packages=[package])) as server:
        words = ("--set", f"K={SECRET}", "--set", f"part={SECRET}2", "--registry", server.url)
        done = await mcptui("add", NAME, *words, "--yes", "--config", str(file))
    assert done.code == 0 and SECRET not in done.out + done.err + str(servers_in(file))
    assert '"https://h/x?k=***"' in done.out and 'env = { K = "***" }' in done.out
