"""Suites as values: what a file says, with its lines."""

import os
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.tests.suite.case import UNSET, Lose, RequestKind, Suite
from tui.addons.tests.suite.read import MAX_BYTES, SuiteError, is_inside, read_suite, suite_of

FILE = Path("weather.mcp.toml")
ISSUE = """\
[server]                       # or server = "weather", a name of the configuration; or url = "…"
command = ["python", "server.py"]

[[call]]
name = "weather in Hangzhou"
tool = "get_weather"
args = { location = "Hangzhou" }
text = "Weather in Hangzhou: light rain, <number> °C."
within = "800ms"               # three times the kept latency

[[call]]
name = "an order is placed once, even if its answer is lost"
tool = "create_order"
args = { sku = "A1", key = "order-1" }
result = '''{ "id": "<id>", "state": "open" }'''
lose = "answer"                # or "connection"
save = { id = "$.id" }         # later: ${id}
then = [ { tool = "count_orders", result = '{ "count": 1 }' } ]
"""


def suite(text: str) -> Suite:
    return suite_of(text, FILE)


def test_the_example_of_the_manual_is_read():
    found = suite(ISSUE)
    assert found.server is not None and found.server.command == ("python", "server.py")
    weather, order = found.cases
    assert (weather.name, weather.line, weather.expected.within_ms) == ("weather in Hangzhou", 4, 800)
    assert weather.request.arguments == {"location": "Hangzhou"}
    assert (order.line, order.lose, order.save) == (11, Lose.ANSWER, {"id": "$.id"})
    assert order.expected.result == {"id": "<id>", "state": "open"}
    assert order.then[0].expected.result == {"count": 1}
    assert (order.then[0].line, order.then[0].name) == (11, "count_orders")


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("tool", RequestKind.TOOL),
        ("read", RequestKind.READ),
        ("prompt", RequestKind.PROMPT),
        ("list", RequestKind.LIST),
    ],
)
def test_a_case_may_request_each_kind(key: str, kind: RequestKind):
    (case,) = suite(f'[[call]]\n{key} = "tools"\ntext = "x"').cases
    assert (case.request.kind, case.request.name) == (kind, "tools")


def test_a_configured_server_is_named():
    found = suite('server = "weather"')
    assert found.server is not None and (found.server.name, found.server.line) == ("weather", 1)


def test_a_suite_without_a_server_leaves_it_to_the_command_line():
    assert suite('[[call]]\ntool = "a"').server is None


def test_a_remote_server_has_headers():
    found = suite(
        '[server]\nurl = "https://example.com/mcp"\nheaders = { Authorization = "Bearer ${TOKEN}" }'
    )
    assert found.server is not None and found.server.headers == {"Authorization": "Bearer ${TOKEN}"}


@each_case(
    ("written", "value"),
    [
        ("'null'", None),
        ("'\"a\"'", "a"),
        ("{ a = 1 }", {"a": 1}),
        ("[1, 2]", [1, 2]),
        ("3", 3),
        ("true", True),
    ],
)
def test_a_result_is_json_in_a_string_or_a_value(written: str, value: object):
    (case,) = suite(f'[[call]]\ntool = "a"\nresult = {written}').cases
    assert case.expected.result == value


def test_arguments_may_be_json_with_null():
    (case,) = suite('[[call]]\ntool = "a"\nargs = \'{ "a": null }\'').cases
    assert case.request.arguments == {"a": None}


def test_a_case_without_an_expectation_is_empty():
    (case,) = suite('[[call]]\ntool = "a"').cases
    assert case.expected.is_empty and case.expected.result is UNSET


def test_a_case_without_a_name_is_named_by_its_request():
    (case,) = suite('[[call]]\ntool = "a"\nargs = { b = "c", d = 1 }').cases
    assert case.name == "a b=c d=1"


def test_answers_are_as_written():
    answers = '{ form = [{ name = "Ada" }, "decline"], sampling = false, roots = ["d"] }'
    (case,) = suite(f'[[call]]\ntool = "a"\nanswers = {answers}').cases
    assert case.answers == {"form": [{"name": "Ada"}, "decline"], "sampling": False, "roots": ["d"]}


def test_one_tag_is_a_list_of_one():
    (case,) = suite('[[call]]\ntool = "a"\ntags = "slow"').cases
    assert case.tags == ("slow",)


def test_a_saved_value_may_be_used_in_then_and_in_later_cases():
    text = """
[[call]]
tool = "a"
save = { id = "$.id" }
then = [{ tool = "b", args = { id = "${id}" } }]
[[call]]
tool = "c"
text = "order ${id}"
"""
    assert len(suite(text).cases) == 2


def test_a_turn_case_has_defaults():
    (turn,) = suite('[[turn]]\nquestion = "Is it raining?"\ncalls = "get_weather location~Hangzhou"').turns
    assert (turn.title, turn.runs, turn.passing, turn.calls) == (
        "Is it raining?",
        1,
        1.0,
        ("get_weather location~Hangzhou",),
    )


def test_a_contract_has_defaults():
    contract = suite('[contract]\nlock = "locks/weather.lock.json"').contract
    assert contract is not None and contract.fail == ("breaking", "suspicious")
    assert (contract.tokens, contract.strength, contract.line) == (None, "full", 1)


def test_windows_line_ends_are_read():
    assert suite(ISSUE.replace("\n", "\r\n")).cases == suite(ISSUE).cases


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_bytes(b"\xef\xbb\xbf" + ISSUE.encode())
    assert len(read_suite(path).cases) == 2


def test_a_misspelled_placeholder_is_a_warning():
    found = suite('[[call]]\ntool = "a"\ntext = "<nubmer> files"')
    assert found.warnings == (
        "weather.mcp.toml:3 call[1].text: “<nubmer>” is literal text, did you mean <number>?",
    )


def test_a_pattern_without_an_end_is_a_warning():
    assert len(suite('[[call]]\ntool = "a"\ntext = "<re:abc"').warnings) == 1
    assert not suite('[[call]]\ntool = "a"\ntext = "<<re:abc <re:[a-z]+>"').warnings


def test_a_name_that_looks_like_a_reference_is_a_warning():
    assert len(suite('[[call]]\ntool = "a"\nname = "${zzz}"').warnings) == 1


def test_an_unknown_type_of_content_is_accepted_with_a_warning_if_it_is_like_a_known_one():
    found = suite('[[call]]\ntool = "a"\ncontent = [{ type = "img" }, { type = "x-video" }]')
    assert found.warnings == ("weather.mcp.toml:3 call[1].content[1].type: is “img”, did you mean “image”?",)


def test_a_code_that_no_finding_has_is_a_warning():
    codes = '"stray-outputs", "reused-id", "invalid-base64"'
    (warning,) = suite(f'[[call]]\ntool = "a"\nfindings = [{codes}]').warnings
    assert warning == (
        "weather.mcp.toml:3 call[1].findings[1]: no finding has the code “stray-outputs”, "
        "did you mean “stray-output”?"
    )


def test_a_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(SuiteError, match=r"a\.mcp\.toml: file not found"):
        read_suite(tmp_path / "a.mcp.toml")


def test_a_large_file_is_not_read(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(SuiteError, match="larger than 2048 KiB"):
        read_suite(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "a.mcp.toml")
    with pytest.raises(SuiteError, match="is not a regular file"):
        read_suite(tmp_path / "a.mcp.toml")


def test_a_link_to_a_device_is_not_read(tmp_path: Path):
    (tmp_path / "a.mcp.toml").symlink_to("/dev/zero")
    with pytest.raises(SuiteError, match="is not a regular file"):
        read_suite(tmp_path / "a.mcp.toml")


@pytest.mark.parametrize("name", ["a.json", "locks/a.json", "./a.json", "a..b.json"])
def test_a_path_may_stay_in_its_folder(name: str):
    assert is_inside(name)


@each_case("name", ["../a", "a/../../b", "/a", "C:\\a", "\\\\host\\a", "a\\..\\b", "a/", "", "a\0b"])
def test_a_path_may_not_leave_its_folder(name: str):
    assert not is_inside(name)
