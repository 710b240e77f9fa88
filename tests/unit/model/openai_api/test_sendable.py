"""Requests can always be encoded, whatever an endpoint sent."""

import json
import math

from tui.model.openai_api.sendable import plain_json, sendable


def test_adjacent_surrogate_halves_are_joined_and_lone_ones_replaced() -> None:
    assert sendable("a\ud83d\ude00b\ud83d") == "a😀b\ufffd"


def test_numbers_that_json_lacks_become_null() -> None:
    value = plain_json({"a": [math.inf, -math.inf, math.nan, 1.5, 2], "b": True})
    assert value == {"a": [None, None, None, 1.5, 2], "b": True}
    json.dumps(value, allow_nan=False)
