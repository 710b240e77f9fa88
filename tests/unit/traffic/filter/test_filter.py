"""The entries that a filter over columns matches."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.small_traffic import CAUSE, MS, Bodies, Traffic
from tui.core.traffic import Direction, Kind, Outcome, Severity
from tui.traffic.filter.filter import Filter
from tui.traffic.filter.query import parse
from tui.traffic.record.entry_columns import column_row


def sample() -> Traffic:
    """Return twenty entries of all kinds."""
    traffic = Traffic()
    traffic.call(
        "get_weather", took_ms=250, ident="7", cause=CAUSE, body=b'{"city":"Oslo"}', size=12_000
    )  # 1 2
    traffic.call("search_notes", source="notes", took_ms=3, ident='"7"', outcome=Outcome.TOOL_ERROR)  # 3 4
    traffic.call("", method="tools/list", took_ms=40, outcome=Outcome.ERROR, body=b"Milk and bread")  # 5 6
    traffic.add(Kind.STDERR, source="notes", body=b"warning: no milk", direction=Direction.NONE)  # 7
    first = traffic.ask("wait")  # 8
    traffic.answer(first, Outcome.INPUT_REQUIRED, after_ms=5)  # 9
    again = traffic.ask("wait", root=first)  # 10
    traffic.add(Kind.NOTIFICATION, method="notifications/progress", pair=again, root=first)  # 11
    traffic.answer(again, after_ms=900, root=first)  # 12
    traffic.ask("slow", source="slow")  # 13, pending for ever
    lost = traffic.ask("gone")  # 14
    traffic.end()  # 15
    traffic.add(Kind.NOT_JSON, body=b"DEBUG get_weather")  # 16
    traffic.add(Kind.MODEL_REQUEST, source="model:demo", method="demo", direction=Direction.OUT)  # 17
    traffic.add(Kind.MODEL_REPLY, source="model:demo", method="demo", pair=17, outcome=Outcome.OK)  # 18
    assert lost == 14
    traffic.columns.set_severities([(Severity.ERROR, [16])])
    traffic.columns.set_severities([(Severity.WARNING, [4])])
    traffic.columns.mark(2, True)
    return traffic


NOTES = {2: "Ask them about Oslo", 16: "why?"}


def passing(traffic: Traffic, text: str, **options: object) -> list[int]:
    """Return the seqs of the matching entries."""
    query = parse(text)
    assert query.is_sound, query.problems
    made = Filter(query, traffic.columns, **{"notes": NOTES, **options})  # type: ignore[arg-type]
    count, first = len(traffic.columns), traffic.columns.first
    found = Bodies(traffic).search(made.terms, first, first + count)
    return [first + index for index, passes in enumerate(made.mask(0, count, found)) if passes]


@each_case(
    ("text", "seqs"),
    [
        ("", list(range(1, 19))),
        ("server:notes", [3, 4, 7]),
        ("server:NOTES,slow", [3, 4, 7, 13]),
        ("server:model:*", [17, 18]),
        ("method:tools/list", [5, 6]),
        ("tool:get_*", [1, 2]),
        ("tool:w?it", [8, 9, 10, 12]),
        ('tool:"w?it"', []),
        ("kind:error", [6]),
        ("kind:not_*", [16]),
        ("status:error", [3, 4, 5, 6]),
        ("status:rpc_error", [5, 6]),
        ("status:tool_error", [3, 4]),
        ("status:failed", [3, 4, 5, 6, 14]),
        ("status:pending", [13]),
        ("status:input_required", [8, 9]),
        ("kind:response status:error", [4]),
        ("dir:none", [7, 15]),
        ("size:>10k", [1]),
        ("size:12000", [1]),
        ("size:1..100 -kind:error", [2, 7, 16]),
        ("latency:>200ms", [1, 2, 10, 12]),
        ("latency:<=3ms", [3, 4, 17, 18]),
        ("latency:<10ms,>500ms", [3, 4, 8, 9, 10, 12, 17, 18]),
        ("not latency:<1h", [7, 11, 13, 14, 15, 16]),
        ("server:notes latency:>1ms", [3, 4]),
        ("id:7", [1, 2, 3, 4]),
        ("call:call_1", [1, 2]),
        ("turn:3 step:2", [1, 2]),
        ("turn:>2", [1, 2]),
        ("seq:4..6,17..", [4, 5, 6, 17, 18]),
        ("seq:<3", [1, 2]),
        ("pair:10", [10, 11, 12]),
        ("pair:12", [10, 12]),
        ("pair:9999", []),
        ("root:12", [8, 9, 10, 11, 12]),
        ("lint:warning", [4, 16]),
        ("lint:error", [16]),
        ("lint:none seq:15..", [15, 17, 18]),
        ("marked:yes", [3]),
        ("marked:no kind:stderr", [7]),
        ("note:oslo", [2]),
        ("note:*?", [2, 16]),
        ("milk", [6, 7]),
        ("body:milk server:notes", [7]),
        ("get_weather", [1, 2, 16]),
        ("body:get_weather", [16]),
        ("-milk kind:error,stderr", []),
        ("not (milk or kind:request,response)", [11, 15, 16, 17, 18]),
        ("milk or tool:slow", [6, 7, 13]),
        ("milk bread", [6]),
    ],
)
def test_each_field_filters_by_its_column(text: str, seqs: list[int]):
    assert passing(sample(), text) == seqs


@each_case(
    ("text", "seqs"),
    [
        ("tool:*", [1, 2]),
        ("tool:**", [1, 2]),
        ("tool:?*", [1, 2]),
        ("not tool:*", [3, 4]),
        ('tool:""', [3, 4]),
        ("tool:get,*", [1, 2]),
        ("server:*", [1, 2, 3]),
        ("method:*", [1, 2, 3]),
        ("note:*", [2]),
        ("status:*", [1, 2]),
        ("status:none", [3, 4]),
        ("status:n*", [3, 4]),
        ("status:*,none", [1, 2, 3, 4]),
        ("dir:*", [1, 2, 3]),
        ("lint:*", [3]),
        ("kind:*", [1, 2, 3, 4]),
        ("marked:*", [2]),
        ("not marked:*", [1, 3, 4]),
        ("marked:*,no", [1, 2, 3, 4]),
    ],
)
def test_a_star_matches_any_value_but_not_an_empty_one(text: str, seqs: list[int]):
    traffic = Traffic()
    traffic.call("get")  # 1 2
    traffic.add(Kind.NOTIFICATION, method="notifications/message")  # 3
    traffic.add(Kind.EVENT, source="", direction=Direction.NONE)  # 4
    traffic.columns.set_severities([(Severity.HINT, [3])])
    traffic.columns.mark(traffic.columns.index(2), True)
    assert passing(traffic, text, notes={1: "", 2: "why?"}) == seqs


@each_case(
    "text",
    ["tool:CAFÉ", "tool:cafe\u0301", "tool:*É", "cafÉ", "server:STRASSE", "note:CAFE\u0301"],
)
def test_names_and_notes_are_compared_case_insensitively(text: str):
    traffic = Traffic()
    traffic.ask("café", source="straße")
    traffic.ask("cafe", source="strase")
    assert passing(traffic, text, notes={1: "Café", 2: "cafe"}) == [1]


@each_case(
    ("text", "seqs"),
    [
        ("status:failed", [5]),
        ("status:failed kind:request -method:tools/*", []),
        ("status:lost", [1, 5]),
        ("status:failed,lost", [1, 5]),
        ("status:error", []),
        ("status:probe", [3, 4]),
        ("not status:failed", [1, 2, 3, 4, 6]),
    ],
)
def test_ended_streams_and_refused_discovery_are_not_failures(text: str, seqs: list[int]):
    traffic = Traffic()
    traffic.ask("", method="subscriptions/listen")  # 1
    traffic.add(Kind.NOTIFICATION, method="notifications/subscriptions/acknowledged", pair=1)  # 2
    traffic.call("", method="server/discover", outcome=Outcome.ERROR)  # 3 4
    traffic.ask("crash")  # 5
    traffic.end()  # 6
    assert passing(traffic, text) == seqs


def test_an_unreadable_answer_has_a_latency():
    traffic = Traffic()
    request = traffic.ask()
    traffic.add(Kind.NOT_JSON, pair=request, outcome=Outcome.ERROR, after_ms=50)
    assert passing(traffic, "latency:>=50ms") == [1, 2]
    assert traffic.columns.latency_ns(1) == 50 * MS


def test_adjustments_of_the_clock_are_followed():
    traffic = Traffic()
    traffic.add(Kind.STDERR)
    hour = 3_600_000 * MS
    entry = traffic.entries[0]
    for seq, shift in ((2, hour), (3, 0)):
        moved = type(entry)(
            seq, entry.mono_ns + seq, entry.wall_ns + shift, "weather", entry.direction, entry.kind
        )
        traffic.columns.extend([column_row(moved)])
    assert passing(traffic, "since:1m", now_ns=entry.wall_ns + hour) == [2]


def test_names_added_later_are_matched():
    traffic = Traffic()
    traffic.call("one")
    made = Filter(parse("tool:two"), traffic.columns)
    assert made.mask(0, 2) == b"\0\0"
    traffic.call("two")
    assert made.mask(0, 4) == b"\0\0\1\1"


def test_more_names_than_fit_in_a_byte_are_distinguished():
    traffic = Traffic()
    for number in range(600):
        traffic.add(Kind.REQUEST, tool=f"t{number}")
    assert passing(traffic, "tool:t1,t257,t513") == [2, 258, 514]


def test_bodies_that_cannot_change_the_result_are_not_read():
    traffic = sample()
    made = Filter(parse("server:notes milk"), traffic.columns)
    assert [index + 1 for index, could in enumerate(made.mask(0, 18)) if could] == [3, 4, 7]


def test_a_filter_says_whether_its_result_can_change_later():
    columns = Traffic().columns
    assert not Filter(parse("server:a milk kind:request"), columns).changes
    for text in ("status:ok", "-latency:>1s", "a or lint:error", "marked:yes", "note:x", "pair:1"):
        assert Filter(parse(text), columns).changes


TERMS = [
    "server:weather",
    "tool:*e*",
    "kind:request,response",
    "status:ok",
    "size:>10",
    "latency:>4ms",
    "latency:..3ms",
    "milk",
    "body:get",
    "id:7",
    "dir:in",
]
ALL = frozenset(range(1, 19))
MATCHES = {term: frozenset(passing(sample(), term)) for term in TERMS}
QUERIES = st.recursive(
    st.sampled_from(TERMS).map(lambda term: (term, MATCHES[term])),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]} {two[1][0]})", two[0][1] & two[1][1])),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]} or {two[1][0]})", two[0][1] | two[1][1])),
        inner.map(lambda one: (f"not {one[0]}", ALL - one[1])),
    ),
    max_leaves=8,
)
"""Filters, and the entries of the sample that match."""


@settings(max_examples=40, deadline=None)
@given(QUERIES)
def test_terms_are_combined_as_sets_of_entries(query: tuple[str, frozenset[int]]):
    text, expected = query
    traffic = sample()
    assert passing(traffic, text) == sorted(expected)
    could = Filter(parse(text), traffic.columns).mask(0, len(traffic.columns))
    assert all(could[seq - 1] for seq in expected)


def test_hostile_names_do_not_slow_a_glob_down():
    traffic = Traffic()
    traffic.add(Kind.REQUEST, tool="a" * 50_000)
    began = time.thread_time()
    assert passing(traffic, "tool:*a*a*a*a*a*a*b") == []
    assert time.thread_time() - began < 1
