"""Cases, turn cases and servers as TOML."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.suite.case import Request, RequestKind, SuiteServer, TurnCase
from tui.addons.tests.suite.case_text import default_name, server_toml, turn_toml, value_text


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (Request(RequestKind.TOOL, "add", {"a": 1, "b": "x y"}), "add a=1 b=x y"),
        (Request(RequestKind.READ, "notes://today"), "read notes://today"),
        (Request(RequestKind.LIST, "tools"), "list tools"),
        (Request(RequestKind.TOOL, "add", {"a": "1\n2\x1b"}), "add a=1 2␛"),
    ],
)
def test_a_request_in_one_line_is_the_name_of_a_case(request_: Request, name: str):
    assert default_name(request_) == name


def test_a_default_name_is_bounded():
    assert len(default_name(Request(RequestKind.TOOL, "add", {"a": "x" * 10_000}))) == 200


def test_a_remote_server_has_its_url_and_headers():
    server = SuiteServer(url="https://a.example/", headers={"Authorization": "Bearer ${TOKEN}"}, era="modern")
    assert server_toml(server) == (
        "[server]\n"
        'url = "https://a.example/"\n'
        'headers = { Authorization = "Bearer ${TOKEN}" }\n'
        'era = "modern"\n'
    )


def test_a_turn_case_has_only_the_keys_that_are_set():
    assert turn_toml(TurnCase("Is it raining?", 1, calls=("get_weather",))) == (
        '[[turn]]\nquestion = "Is it raining?"\ncalls = ["get_weather"]\n'
    )


@each_case(
    ("key", "value", "text"),
    [
        ("args", {"a": [1, "x"]}, '{ a = [1, "x"] }'),
        ("args", {"a": None}, "'''{ \"a\": null }'''"),
        ("result", {"a": None}, "'''{ \"a\": null }'''"),
        ("text", "a\nb", "'''\na\nb'''"),
        ("tags", ["a", "b"], '["a", "b"]'),
        ("error", True, "true"),
    ],
)
def test_a_value_is_written_as_its_key_is_read(key: str, value: Any, text: str):
    assert value_text(key, value) == text


def test_arguments_that_are_too_wide_for_a_line_are_json_with_a_line_for_each():
    assert value_text("args", {"a": "x" * 60, "b": "y" * 60}).count("\n") == 5
    assert "\n" not in value_text("args", {"a": "x" * 60, "b": "y" * 60}, inside=True)
