import pytest

from tests.cases import each_case
from tui.addons.events.wire import MAX_DATA, MAX_ID, NO_WEBHOOK, EventType, error_of, event_types, occurrence

GOOD = {"eventId": "e1", "name": "push", "timestamp": "2026-11-29T12:00:00Z", "data": {"a": 1}}


def test_event_types_without_a_valid_name_are_left_out_and_counted():
    listed = [{"name": "push", "delivery": ["push", 7]}, {"name": ""}, {"name": "x" * 300}, None, 7]
    found, problem = event_types({"events": listed})
    assert [(one.name, one.delivery) for one in found] == [("push", ("push",))]
    assert problem == "4 event types omitted: without a valid name, or too large."


def test_huge_schemas_and_descriptions_are_not_kept():
    huge = {"name": "a", "inputSchema": {"description": "x" * 300_000}}
    found, problem = event_types({"events": [huge, {"name": "b", "description": "x" * 300_000}]})
    assert [(one.name, len(one.description)) for one in found] == [("b", 4_000)]
    assert problem.startswith("1 event type omitted")


@pytest.mark.parametrize(
    ("delivery", "modes", "why"),
    [
        (("webhook", "poll", "push"), ("push", "poll"), ""),
        (("webhook",), (), NO_WEBHOOK),
        (("pigeon",), (), "Cannot subscribe: it lists no delivery mode that mcptui supports."),
        ((), (), "Cannot subscribe: it lists no delivery mode that mcptui supports."),
    ],
)
def test_push_comes_before_poll_and_a_webhook_is_named(delivery, modes, why):
    kind = EventType("push", delivery=delivery)
    assert (kind.modes, kind.why_not) == (modes, why)


@each_case(
    ("more", "said"),
    [
        ({}, ""),
        ({"eventId": 7}, "It has no eventId, so duplicates are not detected."),
        ({"name": "other"}, "Its name is other."),
        ({"name": None}, "Its name is missing."),
        ({"timestamp": None}, "It has no timestamp."),
        ({"data": None}, "It has no data."),
        ({"data": []}, "Its data is not an object."),
        ({"data": {"a": "x" * MAX_DATA}}, "Its data is too large to keep (66 kB). See the traffic."),
    ],
)
def test_an_occurrence_says_what_is_wrong_with_it(more, said):
    assert occurrence(GOOD | more, "push").problem == said


def test_a_long_id_is_replaced_by_its_hash():
    one, other = (occurrence(GOOD | {"eventId": "x" * 5_000 + end}, "push").id for end in "ab")
    assert one != other and len(one) <= MAX_ID


def test_text_in_an_occurrence_cannot_move_the_cursor():
    found = occurrence(GOOD | {"timestamp": "\x1b[2J\u202e", "name": "\x1b[31m"}, "push")
    assert "\x1b" not in found.timestamp + found.problem


@each_case("code", [None, True, "x", 10**400, 1.5, -32023])
def test_any_error_is_a_sentence(code):
    assert str(error_of({"code": code, "message": "\x1b[31mno\nway", "data": 7})).endswith(".")
