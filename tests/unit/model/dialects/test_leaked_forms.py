"""Calls in tags, in every variant in which DeepSeek's DSML leaks."""

import itertools
import json

from tests.cases import each_case
from tests.texts import read

BARS = ("｜DSML｜", "|DSML|", "‖DSML‖", "｜｜DSML｜｜", " ｜ DSML ｜ ", "| DSML |", "｜DSML ", "DSML｜")
WRAPPERS = ("function_calls", "tool_calls", "")
ENDS = ("wrapper", "no wrapper", "no invoke")


@each_case("bars", BARS)
def test_a_call_is_found_in_every_variant_of_its_tags(bars: str) -> None:
    for wrapper, end, string, space in itertools.product(WRAPPERS, ENDS, ("true", ""), ("\n", "")):
        said = f' string="{string}"' if string else ""
        parts = [
            f"<{bars}{wrapper}>" if wrapper else "",
            f'<{bars}invoke name="search">',
            f'<{bars}parameter name="query"{said}>a < b & </parameter> "c"</{bars}parameter>',
            "" if end == "no invoke" else f"</{bars}invoke>",
            f"</{bars}{wrapper}>" if wrapper and end == "wrapper" else "",
        ]
        text = "Ok.\n\n" + space.join(filter(None, parts))
        found = read("native", [text[at : at + 3] for at in range(0, len(text), 3)])
        assert found.text == "Ok.", text
        assert [json.loads(call.arguments) for call in found.calls] == [
            {"query": 'a < b & </parameter> "c"'}
        ], text


def test_a_call_cut_off_by_the_endpoint_is_marked_as_truncated_in_every_variant() -> None:
    for bars in BARS:
        text = f'<{bars}invoke name="search"><{bars}parameter name="query">a</{bars}parameter>'
        assert [call.truncated for call in read("native", [text]).calls] == [False]
        assert [call.truncated for call in read("native", [text], "length").calls] == [True]
