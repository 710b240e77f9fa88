"""Calls are reassembled however an endpoint writes indexes, ids, names and arguments.

Calls are made up, written in every style that endpoints were seen to use, cut into fragments anywhere, and
must come out as they were. Truncated anywhere, no part of a call may look complete.
"""

import itertools
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endpoint import chunk
from tests.streams import output_of
from tui.core.conversation.conversation import CallRequest
from tui.model.openai_api.accumulator import Accumulator

NAMES = ("search", "search_more", "now", "fs__read")
INDEXES = ("own", "zero", "none", "holes", "text")
IDS = ("first", "each", "empty", "fresh", "number", "same", "none")
NAMING = ("first", "each", "empty")
WRITING = ("whole", "pieces", "object", "null first", "empty first", "encoded")

LEAVES = st.sampled_from([1, -2.5, True, None, "", "é😀", 'q"}{\\', "{", "}", "\n", "null"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abq"), inner, min_size=1, max_size=2)
    ),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.sampled_from("abq"), VALUES, min_size=1, max_size=2)
CALLS = st.lists(st.tuples(st.sampled_from(NAMES), ARGUMENTS), min_size=1, max_size=3, unique_by=repr)
CUTS = st.lists(st.integers(0, 60), max_size=5)


def pieces(text: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def written(arguments: Any, how: str, cuts: list[int]) -> list[Any]:
    text = json.dumps(arguments, ensure_ascii=False)
    match how:
        case "whole":
            return [text]
        case "object":
            return [arguments]
        case "encoded":
            return pieces(json.dumps(text), cuts)
    begin = {"null first": [None], "empty first": [""]}.get(how, [])
    return [*begin, *pieces(text, cuts)]


def fragments(made: list[tuple[str, Any]], style: tuple[str, str, str, str], cuts: list[int]) -> list[Any]:
    """Return calls as fragments of one stream in a given style: index, id, name, arguments."""
    index, identity, naming, writing = style
    result: list[Any] = []
    for number, (name, arguments) in enumerate(made):
        for at, piece in enumerate(written(arguments, writing, cuts)):
            called = name if at == 0 or naming == "each" else "" if naming == "empty" else None
            entry: dict[str, Any] = {"function": {"name": called, "arguments": piece}}
            ids = {"each": f"c{number}", "fresh": f"f{len(result)}"}
            if at == 0:
                ids |= {"first": f"c{number}", "empty": f"c{number}", "number": number, "same": "x"}
            entry["id"] = ids.get(identity, "" if identity == "empty" else None)
            entry["index"] = {"own": number, "zero": 0, "holes": 2 * number + 1, "text": str(number)}.get(
                index
            )
            result.append(
                chunk(tool_calls=[{key: value for key, value in entry.items() if value is not None}])
            )
    return result


# Two ids without names, or one id under several names, look like one call and are left out here.
def is_telling(style: tuple[str, str, str, str]) -> bool:
    index, identity, naming, _ = style
    told_by_index = index in ("own", "holes", "text")
    if identity == "fresh":
        return naming != "each"
    return told_by_index or identity in ("first", "each", "empty", "number")


STYLES = [style for style in itertools.product(INDEXES, IDS, NAMING, WRITING) if is_telling(style)]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STYLES), CALLS, CUTS)
def test_calls_in_any_style_are_reassembled_exactly(
    style: tuple[str, str, str, str], made: list[tuple[str, Any]], cuts: list[int]
) -> None:
    heard = output_of(Accumulator(NAMES), [*fragments(made, style, cuts), chunk("tool_calls")])
    assert heard.reply is not None
    assert [(call.name, json.loads(call.arguments)) for call in heard.reply.calls] == made
    assert len({call.id for call in heard.reply.calls}) == len(made)
    assert not any(call.truncated for call in heard.reply.calls)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STYLES), CALLS, CUTS, st.data())
def test_no_part_of_a_truncated_call_looks_complete(
    style: tuple[str, str, str, str], made: list[tuple[str, Any]], cuts: list[int], data: st.DataObject
) -> None:
    stream = fragments(made, style, cuts)
    kept = stream[: data.draw(st.integers(1, len(stream)))]
    heard = output_of(Accumulator(NAMES), [*kept, chunk("length")])
    assert heard.reply is not None
    for call in heard.reply.calls:
        assert (
            call.truncated or not is_object(call.arguments) or (call.name, json.loads(call.arguments)) in made
        )
    assert output_of(Accumulator(NAMES), kept).reply is None


def calls_in(entries: list[dict[str, Any]], finish: str = "stop") -> list[CallRequest]:
    """Return the calls of a reply in which each entry arrives in a chunk of its own."""
    heard = output_of(Accumulator(NAMES), [*(chunk(tool_calls=[one]) for one in entries), chunk(finish)])
    assert heard.reply is not None
    return list(heard.reply.calls)


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@pytest.mark.parametrize(
    "name_pieces", [("sea", "rch"), ("s", "earch", "_more"), ("search", "_more"), ("fs", "__", "read")]
)
@pytest.mark.parametrize("index", [None, 0])
def test_a_name_may_arrive_in_pieces_around_its_arguments(
    name_pieces: tuple[str, ...], index: int | None
) -> None:
    place = {} if index is None else {"index": index}
    parts = ['{"q"', ":1}", *[""] * len(name_pieces)][: max(2, len(name_pieces))]
    entries = [
        {**place, "function": {"name": name, "arguments": part}}
        for name, part in itertools.zip_longest(name_pieces, parts, fillvalue="")
    ]
    assert [(call.name, call.arguments) for call in calls_in(entries)] == [("".join(name_pieces), '{"q":1}')]


def test_a_nested_object_that_repeats_its_parent_is_not_a_snapshot() -> None:
    entries = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"a":', '{"a":', "1}", "}")]
    entries[0]["function"]["name"] = "search"
    assert [call.arguments for call in calls_in(entries)] == ['{"a":{"a":1}}']
    assert [call.truncated for call in calls_in(entries[:3])] == [True]


def test_another_tool_name_in_pieces_does_not_give_its_arguments_to_the_previous_call() -> None:
    entries = [
        {"index": 0, "function": {"name": "search", "arguments": '{"q":1}'}},
        {"index": 0, "function": {"name": "fs", "arguments": None}},
        {"index": 0, "function": {"name": "__read", "arguments": '{"q":2}'}},
    ]
    assert [(call.name, call.arguments) for call in calls_in(entries)] == [
        ("search", '{"q":1}'),
        ("fs__read", '{"q":2}'),
    ]


def test_an_empty_last_fragment_with_a_new_id_is_not_a_call() -> None:
    entries = [
        {"index": 0, "id": f"f{number}", "function": {"name": "search", "arguments": piece}}
        for number, piece in enumerate(('{"q"', ":1}", ""))
    ]
    assert [call.arguments for call in calls_in(entries)] == ['{"q":1}']


def test_arguments_that_are_not_an_object_do_not_absorb_the_next_call() -> None:
    entries = [
        {"index": number, "id": f"c{number}", "function": {"name": "search", "arguments": text}}
        for number, text in enumerate((" [1]", "Oslo", '"{}"'))
    ]
    assert [call.arguments for call in calls_in(entries)] == ["[1]", "Oslo", "{}"]


@pytest.mark.parametrize(("first", "piece"), [('{"a":"', "{}"), ("{}", " "), ('{"a":', '{"a":'), ("{", "}")])
def test_a_flood_of_fragments_that_look_complete_is_read_quickly(first: str, piece: str) -> None:
    began = time.thread_time()
    stream = (
        {"index": 0, "id": f"f{at}", "function": {"arguments": piece if at else first}}
        for at in range(20_000)
    )
    heard = output_of(Accumulator(NAMES), [chunk("length", tool_calls=list(stream))])
    assert heard.reply is not None or heard.error is not None
    assert time.thread_time() - began < 1.25


OSLO, ROME = '{"city": "Oslo"}', '{"city": "Rome"}'


@pytest.mark.parametrize(
    "written",
    [
        f"{OSLO}{ROME}```",
        f"{OSLO}\n```\n{ROME}\n```",
        f"```json\n{OSLO}\n```\n```json\n{ROME}\n```",
        f"{OSLO}, {ROME}",
    ],
)
def test_several_objects_stay_several_calls_next_to_a_fence(written: str) -> None:
    assert [made.arguments for made in calls_in([entry(written)], "tool_calls")] == [OSLO, ROME]


@pytest.mark.parametrize("index", [True, False])
def test_a_call_that_ends_with_a_fence_is_complete(index: bool) -> None:
    made = calls_in([entry(f"{OSLO}\n```", "a", index), entry(ROME, "b", index)], "tool_calls")
    assert [(one.id, one.arguments) for one in made] == [("a", OSLO), ("b", ROME)]


def entry(arguments: str, identity: str = "a", index: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = {"id": identity, "function": {"name": "search", "arguments": arguments}}
    return made | ({"index": 0} if index else {})
