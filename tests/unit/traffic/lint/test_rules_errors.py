"""Rules for the errors of responses: form, codes of a revision, HTTP status."""

import json

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Direction


@each_case(
    "error",
    [
        "text",
        None,
        {"code": "E", "message": "m"},
        {"message": "m"},
        {"code": 1},
        {"code": 1.5, "message": "m"},
    ],
)
def test_a_malformed_error_is_reported(error: object):
    script = Script().legacy()
    script.back({"jsonrpc": "2.0", "id": script.out("ping"), "error": error})
    assert script.codes() == ["bad-error"]


def test_codes_that_2026_removed_or_reserved_are_reported():
    def codes(code: int) -> list[str]:
        script = Script().modern()
        script.error(script.ask("resources/read", uri="x"), code)
        return [found for found in script.codes() if found != "not-negotiated"]

    assert codes(-32002) == codes(-32077) == ["error-code"]
    assert codes(-32602) == codes(-32022) == codes(-32000) == codes(7) == []


def test_codes_of_the_next_revision_are_reported_before_it():
    def codes(code: int, method: str = "resources/read") -> list[str]:
        script = Script().legacy(server={"resources": {}, "tools": {}})
        script.error(script.out(method, {"uri": "x"}), code)
        return script.codes()

    assert codes(-32022) == codes(-32602) == ["error-code"]
    assert codes(-32002) == codes(-32602, "tools/call") == []


@pytest.mark.parametrize(
    ("code", "status", "codes"), [(-32601, 200, ["error-code"]), (-32601, 404, []), (-32020, 400, [])]
)
def test_since_2026_a_code_has_its_http_status(code: int, status: int, codes: list[str]):
    script = Script().modern()
    answer = {"jsonrpc": "2.0", "id": script.ask("tools/list"), "error": {"code": code, "message": "no"}}
    script.raw(Direction.IN, json.dumps(answer).encode(), detail={"status": status})
    assert script.codes() == codes
