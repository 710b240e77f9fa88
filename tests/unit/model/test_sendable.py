"""What is sent can be encoded, whatever an endpoint gave."""

import json
import math

from tui.model.sendable import plain_json


def test_numbers_that_json_does_not_have_become_null() -> None:
    value = plain_json({"a": [math.inf, -math.inf, math.nan, 1.5, 2], "b": True})
    assert value == {"a": [None, None, None, 1.5, 2], "b": True}
    json.dumps(value, allow_nan=False)
