"""Entries of a registry as servers of the configuration."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.packages.registry_entry import is_registry_name, launch_options
from tui.addons.packages.server_inputs import values_of
from tui.core.errors import UsageError
from tui.settings.load import load_text

NPM = {"registryType": "npm", "identifier": "@x/weather", "version": "1.0.2", "transport": {"type": "stdio"}}


def package(**more: Any) -> dict[str, Any]:
    return {"packages": [{**NPM, **more}]}


def table_of(entry: dict[str, Any], **given: str) -> dict[str, Any]:
    (way,) = launch_options(entry)
    assert way.problem == ""
    return way.table(values_of(way.inputs, list(given.items())))


@each_case(
    ("more", "words"),
    [
        ({}, "npx -y @x/weather@1.0.2"),
        ({"runtimeHint": "bunx"}, "bunx @x/weather@1.0.2"),
        ({"registryType": "pypi", "identifier": "mcp-server-time"}, "uvx mcp-server-time@1.0.2"),
        ({"registryType": "oci", "identifier": "mcp/time"}, "docker run -i --rm mcp/time:1.0.2"),
        (
            {"registryType": "oci", "identifier": "ghcr.io/x/y:2", "version": "", "runtimeHint": "podman"},
            "podman run -i --rm ghcr.io/x/y:2",
        ),
        (
            {"registryType": "oci", "identifier": "x/y", "registryBaseUrl": "https://ghcr.io"},
            "docker run -i --rm ghcr.io/x/y:1.0.2",
        ),
    ],
)
def test_a_package_is_run_by_its_launcher(more: dict[str, Any], words: str):
    table = table_of(package(**more))
    assert [table["command"], *table["args"]] == words.split()


def test_arguments_are_fixed_templates_or_user_values():
    arguments = [
        {"type": "positional", "value": "serve"},
        {"type": "named", "name": "--mode", "default": "local", "choices": ["local", "cached"]},
        {
            "type": "named",
            "name": "--mount",
            "value": "src={path}",
            "variables": {"path": {"isRequired": True}},
        },
        {"type": "positional", "valueHint": "folder", "isRequired": True, "isRepeated": True},
    ]
    table = table_of(package(packageArguments=arguments), path="/a", folder="/b")
    assert table["args"][2:] == ["serve", "--mode", "local", "--mount", "src=/a", "/b"]


def test_a_secret_is_configured_as_a_reference_to_an_environment_variable():
    variables = [
        {"name": "API_KEY", "isSecret": True, "isRequired": False},
        {"name": "LEVEL", "default": "info"},
        {"name": "OTHER"},
    ]
    table = table_of(package(registryType="oci", identifier="x/y", environmentVariables=variables))
    assert table["env"] == {"API_KEY": "${API_KEY}", "LEVEL": "info"}
    assert table["args"][:7] == ["run", "-i", "--rm", "-e", "API_KEY", "-e", "LEVEL"]


@each_case(
    ("header", "expected"),
    [
        ({"isSecret": True}, None),
        ({"isSecret": True, "isRequired": False}, None),
        ({"isSecret": True, "isRequired": True}, "${AUTHORIZATION}"),
        ({"value": "Bearer {token}", "isRequired": False}, None),
        ({"value": "Bearer {token}"}, "Bearer ${TOKEN}"),
        ({"value": "fixed", "isRequired": False}, "fixed"),
    ],
)
def test_an_optional_header_without_a_value_is_not_sent(header: dict[str, Any], expected: str | None):
    secret = {"variables": {"token": {"isSecret": True}}} if "{" in header.get("value", "") else {}
    remote = {"type": "sse", "url": "https://h", "headers": [{"name": "Authorization", **header, **secret}]}
    (way,) = launch_options({"remotes": [remote]})
    assert way.table({}).get("headers", {}).get("Authorization") == expected


def test_variables_and_headers_of_a_remote_are_filled_in():
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"isRequired": True}},
        "headers": [
            {
                "name": "Authorization",
                "value": "Bearer {api-token}",
                "variables": {"api-token": {"isSecret": True}},
            },
            {"name": "X-Region", "default": "eu"},
        ],
    }
    (way,) = launch_options({"remotes": [remote]})
    assert way.table({"tenant": ("acme",), "X-Region": ("eu",)}) == {
        "url": "https://acme.example.com/mcp",
        "headers": {"Authorization": "Bearer ${API_TOKEN}", "X-Region": "eu"},
    }
    assert table_of({"remotes": [{"type": "sse", "url": "https://h/sse"}]})["transport"] == "sse"


@each_case("value", ["evil/..@x", "a b", "evil.example#", "a..b", "ü/"])
def test_a_value_that_gives_an_invalid_host_is_refused(value: str):
    remote = {"type": "sse", "url": "https://{host}/sse", "variables": {"host": {"isRequired": True}}}
    with pytest.raises(UsageError, match="its url is invalid"):
        table_of({"remotes": [remote]}, host=value)


def test_a_value_in_the_path_of_a_url_is_quoted():
    remote = {"type": "sse", "url": "https://h/{team}/sse", "variables": {"team": {}}}
    assert table_of({"remotes": [remote]}, team="a/b?c")["url"] == "https://h/a%2Fb%3Fc/sse"


HOSTILE = "${OPENAI_API_KEY}"


def test_text_in_an_entry_never_becomes_a_reference_to_an_environment_variable():
    arguments = [
        {"type": "positional", "value": HOSTILE},
        {"type": "named", "name": "--x", "default": HOSTILE},
    ]
    variables = [{"name": "A", "value": HOSTILE}, {"name": "B", "default": HOSTILE, "isRequired": True}]
    made = [
        table_of(package(packageArguments=arguments, environmentVariables=variables)),
        table_of({"remotes": [{"type": "sse", "url": f"https://h/{HOSTILE}", "headers": variables}]}),
    ]
    for table in made:
        text = tomli_w.dumps({"servers": {"x": table}})
        loaded = load_text(text, Path("config.toml"), {"OPENAI_API_KEY": "s3cr3t"})
        assert "s3cr3t" not in repr(loaded.settings) and not loaded.secrets.get("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="before a value would turn it into a variable reference"):
        table_of(package(packageArguments=[{"value": "a${b}", "variables": {"b": {"default": "{HOME}"}}}]))
    chosen = table_of(package(packageArguments=[{"valueHint": "c", "choices": [HOSTILE]}]), c=HOSTILE)
    assert chosen["args"][-1] == f"${HOSTILE}"


@each_case(
    ("more", "said"),
    [
        ({"runtimeHint": "bash"}, "it requires “bash” instead of npx"),
        ({"registryType": "nuget"}, "unsupported package type “nuget”"),
        ({"registryType": "mcpb"}, "it is a bundle"),
        ({"identifier": "--registry=https://evil"}, "is not a package name"),
        ({"identifier": "file:/tmp/x"}, "is not a package name"),
        ({"version": "1 && x"}, "is not a version"),
        ({"registryBaseUrl": "https://npm.evil.example"}, "its package is at https://npm.evil.example"),
        ({"transport": {"type": "streamable-http"}}, "instead of stdio"),
        ({"environmentVariables": [{"name": "A=B"}]}, "is not a variable name"),
    ],
)
def test_a_package_that_cannot_be_run_safely_has_a_problem(more: dict[str, Any], said: str):
    (way,) = launch_options(package(**more))
    assert said in way.problem


@each_case(
    "remote",
    [
        {"type": "stdio", "url": "https://h"},
        {"type": "sse", "url": "file:///etc/passwd"},
        {"type": "sse", "url": "https://h/\x1b[2J"},
        {"type": "sse", "url": "https://[h"},
        {"type": "sse", "url": "https://h", "headers": [{"name": "Content-Length"}]},
        {"type": "sse", "url": "https://h", "headers": [{"name": "A\r\nB"}]},
    ],
)
def test_an_invalid_remote_has_a_problem(remote: dict[str, Any]):
    assert launch_options({"remotes": [remote]})[0].problem


def test_a_header_that_cannot_be_set_is_named():
    headers = [{"name": "X-Fine"}, {"name": "Content-Length"}]
    (way,) = launch_options({"remotes": [{"type": "sse", "url": "https://h", "headers": headers}]})
    assert way.problem == "its header “Content-Length” cannot be set"


def test_control_characters_in_an_argument_are_refused():
    with pytest.raises(UsageError, match="contains invalid characters"):
        table_of(package(packageArguments=[{"type": "positional", "value": "a\x1b[2Jb"}]))


@each_case(
    ("word", "whether"),
    [
        ("io.github.user/server", True),
        ("com.example/server@1.0.0", True),
        ("app.linear/linear-weather", True),
        ("mcp.example.com:8080/mcp", False),
        ("https://mcp.example.com/mcp", False),
        ("localhost/mcp", False),
        ("src/server.py", False),
        ("@scope/package", False),
        ("./io.x/y", False),
        ("io.github.user/server/more", False),
    ],
)
def test_a_registry_name_is_distinguished_from_a_url_and_a_path(word: str, whether: bool):
    assert is_registry_name(word) is whether


json_values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=6) | st.sampled_from(["npm", "{a}", "named", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "name", "value", "default", "variables", "choices", "isRequired", "valueHint"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["packageArguments", "environmentVariables", "headers"]), json_values))
def test_an_entry_of_any_shape_raises_nothing_but_a_usage_error(odd: dict[str, Any]):
    for way in launch_options(
        {"packages": [{**NPM, **odd}], "remotes": [{"type": "sse", "url": "https://h/{a}", **odd}]}
    ):
        if not way.problem:
            try:
                way.table(values_of(way.inputs, []))
            except UsageError as error:
                assert str(error)
