"""Which values of a configuration are secret, and the configuration without them."""

import json
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.settings.config_secrets import is_secret, secret_values
from tui.settings.load import load_text

CANARY = "canary-7f3a9c-secret"


def shown(text: str, env: dict[str, str] | None = None) -> str:
    return load_text(text, Path("c.toml"), env or {}).to_masked_toml()


@each_case(
    "text",
    [
        f'[models.a]\nmodel = "m"\napi_key = "{CANARY}"',
        f'[models.a]\nmodel = "m"\nheaders = {{ X-Custom = "{CANARY}" }}',
        f'[models.a]\nmodel = "m"\nbase_url = "https://u:{CANARY}@h/v1"',
        f'[models.a]\nmodel = "m"\nbase_url = "https://h/v1?api_key={CANARY}"',
        f'[servers.a]\nurl = "https://h"\nheaders = {{ Authorization = "Bearer {CANARY}" }}',
        f'[servers.a]\ncommand = "x"\nenv = {{ ANYTHING = "{CANARY}" }}',
        f'[servers.a]\ncommand = "x"\nargs = ["--token={CANARY}"]',
        f'[servers.a]\ncommand = "x"\nargs = ["--api-key", "{CANARY}"]',
        f'[servers.a]\ncommand = "x"\nargs = ["--pass", "{CANARY}"]',
        '[servers.a]\ncommand = "x"\nargs = ["sk-abcdefghijklmnop1234"]'.replace("sk-", "sk-canary-7f3a9c"),
        f'[servers.a]\ncommand = "x"\nenv = {{ T = "${{T:-{CANARY}}}" }}',
    ],
)
def test_a_secret_in_the_file_is_never_shown(text: str):
    result = shown(text)
    assert "canary-7f3a9c" not in result
    assert "***" in result or "[redacted" in result


@each_case(
    "text",
    [
        '[servers.a]\ncommand = "x"\nenv = { T = "${VALUE}" }',
        '[servers.a]\ncommand = "x"\nargs = ["${VALUE}"]',
        '[servers.a]\ncommand = "x"\nargs = ["--token=${VALUE}"]',
        '[servers.a]\ncommand = "x"\nargs = ["-H", "Authorization: Bearer ${VALUE}"]',
        '[servers.a]\nurl = "https://h/${VALUE}"',
        '[models.a]\nmodel = "m"\napi_key = "${VALUE}"',
    ],
)
def test_a_value_from_the_environment_is_shown_as_its_reference(text: str):
    result = shown(text, {"VALUE": CANARY})
    assert CANARY not in result
    assert "${VALUE}" in result


def test_a_harmless_value_is_shown():
    result = shown('[servers.a]\ncommand = "x"\nenv = { LOG = "debug", HOME = "/home/ada", N = "3" }')
    assert all(word in result for word in ('"debug"', '"/home/ada"', '"3"'))


@each_case("name", ["API_KEY", "TOKEN", "db_password", "AUTH", "COOKIE"])
def test_a_variable_named_like_a_secret_is_secret_whatever_its_value(name: str):
    assert is_secret(("servers", "a", "env", name), "word")


def test_secrets_have_names_that_can_be_shown_in_place_of_them():
    raw = {
        "models": {"m": {"api_key_env": "MY_KEY"}},
        "servers": {
            "s": {"headers": {"Authorization": "Bearer ${TOKEN}"}, "args": ["--password", "p4ssw0rd!"]}
        },
    }
    tree = {
        "models": raw["models"],
        "servers": {
            "s": {"headers": {"Authorization": "Bearer t0k3n-value"}, "args": ["--password", "p4ssw0rd!"]}
        },
    }
    assert secret_values(raw, tree, {"MY_KEY": "k3y-value", "TOKEN": "t0k3n-value"}) == {
        "MY_KEY": "k3y-value",
        "TOKEN": "t0k3n-value",
        "servers.s.headers.Authorization": "Bearer t0k3n-value",
        "servers.s.headers.Authorization.value": "t0k3n-value",
        "servers.s.args.1": "p4ssw0rd!",
    }


def test_the_value_of_an_ordinary_variable_is_not_a_secret():
    found = load_text(
        '[servers.a]\ncommand = "${HOME}/x"\nargs = ["${HOME}"]', Path("c"), {"HOME": "/home/ada"}
    )
    assert found.secrets == {}


def test_the_secrets_of_an_omitted_entry_are_known_too():
    found = load_text(f'[servers.a]\ncomand = "x"\nenv = {{ K = "{CANARY}" }}', Path("c"), {})
    assert CANARY in found.secrets.values() and CANARY not in repr(found)


def test_the_shown_configuration_includes_every_default():
    assert "max_steps = 20" in shown("")
    assert 'theme = "harbor"' in shown("")


@each_case(
    "text",
    [
        '[servers.a]\ncommand = "x"\nargs = ["--token=hunter2"]',
        '[servers.a]\ncommand = "x"\nargs = ["--password", "hunter2"]',
        '[servers.a]\ncommand = "x"\nargs = ["-e", "API_KEY=hunter2", "image"]',
        '[servers.a]\ncommand = "x"\nargs = ["postgres://ada:hunter2@db/notes"]',
        '[servers.a]\nurl = "https://ada:hunter2@h/mcp"',
        '[models.a]\nmodel = "m"\nbase_url = "https://h/v1?key=hunter2"',
    ],
)
def test_a_secret_too_short_to_search_for_is_masked_in_place(text: str):
    assert "hunter2" not in shown(text)


@pytest.mark.parametrize(
    "argument",
    [f"postgres://ada:{CANARY}@db/n", f"API_KEY={CANARY}", f"--env=API_KEY={CANARY}", f"--pw={CANARY}"],
)
def test_a_secret_inside_an_argument_is_known_to_the_redactor(argument: str):
    raw = {"servers": {"s": {"args": [argument]}}}
    assert secret_values(raw, raw, {}) == {"servers.s.args.0": CANARY}


@each_case(
    "arguments",
    [
        ["ghp_canary7f3a9c5e6f7a8b9c0d1e2f3a4b5c6d7e8"],
        ["--gh=ghp_canary7f3a9c5e6f7a8b9c0d1e2f3a4b5c6d7e8"],
        [f"--header=X-Api-Key: {CANARY}"],
        ["-u", f"joe:{CANARY}"],
        [f"https://h/x?a=1&sig={CANARY}"],
    ],
)
def test_a_secret_among_arguments_is_known_and_never_shown(arguments: list[str]):
    raw = {"servers": {"s": {"command": "x", "args": arguments}}}
    (found,) = secret_values(raw, raw, {}).values()
    assert "canary" in found and arguments[-1].endswith(found)
    assert "canary" not in shown(f'[servers.a]\ncommand = "x"\nargs = {json.dumps(arguments)}')


@pytest.mark.parametrize(
    "value",
    [
        "Server=db;User Id=sa;Password=connpwcanary2;",
        '{"user": "bob", "password": "connpwcanary2"}',
        "host=db user=sa password=connpwcanary2",
        "postgres://joe:connpwcanary2@db/x",
    ],
)
def test_a_password_in_a_connection_string_is_a_secret(value: str):
    tree = {"servers": {"a": {"command": "x", "env": {"CONN": value}}}}
    assert secret_values(tree, tree, {})["servers.a.env.CONN.0"] == "connpwcanary2"
