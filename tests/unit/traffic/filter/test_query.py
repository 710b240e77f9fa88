"""The filter language: parsing, and reporting mistakes."""

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.traffic import BodyTerm
from tui.traffic.filter.fields import Ago, And, Between, ClockTime, Name, Not, Or, Term, Text
from tui.traffic.filter.query import MAX_DEPTH, MAX_TEXT, Query, parse

SECOND = 1_000_000_000


def names(field: str, *texts: str) -> Term:
    return Term(field, tuple(Name(text) for text in texts))


def sentence(text: str) -> str:
    """Return the only problem."""
    (problem,) = parse(text).problems
    return problem.sentence


def underlined(text: str) -> list[str]:
    return [text[problem.start : problem.end] for problem in parse(text).problems]


# ---- parsing ----------------------------------------------------------------------------------------------


def test_an_empty_text_matches_everything():
    assert parse("  ") == Query("  ")


@each_case(
    ("text", "term"),
    [
        ("server:weather", names("server", "weather")),
        ("server:weather,notes", names("server", "weather", "notes")),
        ("method:tools/*", Term("method", (Name("tools/*", True),))),
        ('tool:"a b"', names("tool", "a b")),
        ('tool:"a*"', names("tool", "a*")),
        ('tool:"say \\"no\\""', names("tool", 'say "no"')),
        ("server:model:gpt", names("server", "model:gpt")),
        ('tool:""', names("tool", "")),
        ("kind:response", names("kind", "response")),
        ("kind:not-json", names("kind", "not_json")),
        ("KIND:Response", names("kind", "response")),
        ("direction:out", names("dir", "out")),
        ("status:*error", Term("status", (Name("*error", True),))),
        ("size:>10k", Term("size", (Between(10_001),))),
        ("size:<=1.5MB", Term("size", (Between(0, 1_500_000),))),
        ("size:4KiB", Term("size", (Between(4096, 4096),))),
        ("latency:>200ms", Term("latency", (Between(SECOND // 5 + 1),))),
        ("latency:1s..1m30s", Term("latency", (Between(SECOND, 90 * SECOND),))),
        ("since:5m", Term("since", (Ago(300 * SECOND),))),
        ("since:14:05", Term("since", (ClockTime("", (14 * 60 + 5) * 60 * SECOND),))),
        ("since:2026-11-20T14:05", Term("since", (ClockTime("2026-11-20", (14 * 60 + 5) * 60 * SECOND),))),
        ("since:2026-11-20", Term("since", (ClockTime("2026-11-20", 0),))),
        ("until:2026-11-20", Term("until", (ClockTime("2026-11-20", 86_400 * SECOND - 1),))),
        ("id:7", names("id", "7")),
        ("call:call_1", names("call", "call_1")),
        ("turn:3", Term("turn", (Between(3, 3),))),
        ("seq:100..200", Term("seq", (Between(100, 200),))),
        ("seq:100..", Term("seq", (Between(100, None),))),
        ("pair:7", Term("pair", (Between(7, 7),))),
        ("lint:error", names("lint", "error")),
        ("marked:yes", names("marked", "yes")),
        ('note:"ask them"', names("note", "ask them")),
        ("body:milk", names("body", "milk")),
        ("milk", Text("milk")),
        ('"free text"', Text("free text")),
        ('"and"', Text("and")),
        ("12:30", Text("12:30")),
        ("-", Text("-")),
        ("/a b+/", BodyTerm("a b+", True, False)),
        ("/a\\/b/i", BodyTerm("a\\/b", True)),
        ("/(a\\+)+(b{2})+/", BodyTerm("(a\\+)+(b{2})+", True, False)),
    ],
)
def test_a_term_is_a_field_with_values_or_words_or_a_regular_expression(text: str, term: object):
    assert parse(text) == Query(text, term)


A, B, C = Text("a"), Text("b"), Text("c")


@each_case(
    ("text", "root"),
    [
        ("a b", And((A, B))),
        ("a and b c", And((A, B, C))),
        ("a AND b", And((A, B))),
        ("a & b", And((A, B))),
        ("a or b", Or((A, B))),
        ("a || b", Or((A, B))),
        ("a b or c", Or((And((A, B)), C))),
        ("a (b or c)", And((A, Or((B, C))))),
        ("(a b) c", And((A, B, C))),
        ("not a", Not(A)),
        ("!a", Not(A)),
        ("-a", Not(A)),
        ("not a b", And((Not(A), B))),
        ("not (a b)", Not(And((A, B)))),
        ("not !a", A),
        ("(((a)))", A),
        ("a&b", Text("a&b")),
    ],
)
def test_terms_are_joined_by_and_or_not_and_parentheses(text: str, root: object):
    assert parse(text) == Query(text, root)


def test_the_documented_example_is_parsed():
    assert parse(
        "server:weather method:tools/* kind:response status:error size:>10k latency:>200ms dir:out since:5m "
        "id:7 tool:get_weather turn:3 step:2 call:ID lint:error seq:100..200 marked:yes note:x pair:7 "
        '"free text" /regex/i'
    ).is_sound


def test_a_search_within_a_filter_requires_both():
    assert parse("b or c").within(parse("a")).root == And((A, Or((B, C))))
    assert parse("a").within(Query()).root == A
    assert Query().within(Query()).root is None


# ---- problems ---------------------------------------------------------------------------------------------


@each_case(
    ("text", "wrong", "says"),
    [
        ("sever:weather", "sever:", "Unknown field “sever”. Did you mean server:?"),
        ("zzz:1", "zzz:", "Unknown field “zzz”. Quote words that contain a colon."),
        ("kind:respons", "respons", "Unknown kind “respons”. Did you mean response?"),
        ("dir:up", "up", "Unknown dir “up”. It is one of none, out, in."),
        ("kind:x*", "x*", "No kind is like x*: request, response, error, notification, batch, not_rpc, "),
        ("size:>10q", ">10q", "“10q” is not a size. Examples: 132, 10k, 1.5M, 4KiB."),
        ("latency:>200", ">200", "“200” has no unit. Add us, ms, s, m or h."),
        ("latency:200ms", "200ms", "Use latency:>200ms or latency:<200ms."),
        ("since:14:5", "14:5", "“14:5” is not a time."),
        ("since:2026-13-01", "2026-13-01", "“2026-13-01” is not a valid date."),
        ("turn:three", "three", "“three” is not an integer."),
        ("seq:9..3", "9..3", "The start of the range is after its end."),
        ("seq:..", "..", "A range requires a number at one end: seq:100..200."),
        ("pair:>7", ">7", "“>7” is not an integer."),
        ("id:7*", "7*", "An id must match completely: id:7."),
        ("server:", ":", "The value is missing. Example: server:weather."),
        ("server:a,", ",", "The value is missing. Example: server:weather."),
        ('note:""', '""', "The quotes are empty."),
        ('a "b', '"b', "This quote is not closed."),
        ('""', '""', "The quotes are empty."),
        (
            "/a",
            "/a",
            'The closing "/" of this regular expression is missing. Quote words that contain slashes.',
        ),
        ("/tmp/file", "/tmp/file", "Unknown flag “file”. The only flag is i."),
        ("/(/", "/(/", "Invalid regular expression: a parenthesis is not closed."),
        ("/a(?=b)/", "/a(?=b)/", "Invalid regular expression: look-around is not supported."),
        (r"/(a)\1/", r"/(a)\1/", "Invalid regular expression: a backreference is not supported."),
        ("(a", "(", "This “(” is not closed."),
        ("a)", ")", "Unexpected “)”."),
        ("a ()", "()", "These parentheses are empty."),
        ("a and", "and", "“and” needs a term on both sides"),
        ("or a", "or", "“or” needs a term on both sides"),
        ("(a or) b", "or", "“or” needs a term on both sides"),
        ("a not", "not", "“not” needs a term after it"),
    ],
)
def test_problems_are_located_and_explained(text: str, wrong: str, says: str):
    assert underlined(text) == [wrong]
    assert sentence(text).startswith(says)


def test_all_problems_are_reported_at_once():
    assert underlined("sever:x latency:5 (kind:foo or") == ["sever:", "5", "(", "foo", "or"]


@each_case(
    ("text", "better"),
    [
        ("sever:weather", "server:weather"),
        ("kind:respons", "kind:response"),
        ("latency:>200", "latency:>200ms"),
        ("latency:200ms", "latency:>200ms"),
        ("/tmp/file", '"/tmp/file"'),
        ("seq:9..3", "seq:3..9"),
    ],
)
def test_replacements_fix_the_problem(text: str, better: str):
    (problem,) = parse(text).problems
    mended = text[: problem.start] + problem.instead + text[problem.end :]
    assert mended == better
    assert parse(mended).is_sound


def test_the_valid_part_of_a_text_with_a_mistake_is_kept():
    assert parse("a sever:x b").root == And((A, B))


def test_nesting_of_parentheses_is_limited():
    deep = MAX_DEPTH + 1
    assert (
        sentence("(" * deep + "a" + ")" * deep)
        == f"Parentheses are nested more than {MAX_DEPTH} levels deep."
    )
    assert parse("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH).root == A
    assert parse("!" * 2000 + "a").root == A


def test_a_very_long_paste_is_refused_without_parsing():
    assert sentence("a " * MAX_TEXT) == f"A filter can have at most {MAX_TEXT} characters."


WORDS = [
    *"and server: size:> 10k .. kind: \\ /i \x1b[31m since: 14:05 latency: 5ms seq: ä milk tool:a,".split(),
    *("or ", "not ", "\ud800", "9" * 30, '"b c"', *'()!-"/,:*? '),
]
PIECES = st.sampled_from(WORDS)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)


@given(TEXTS | st.text())
@example("(" * 3999)
@example("since:\x1b[31m")
@example("/[[a]/ /(?i/ /a{99999999999}/")
def test_any_text_is_parsed_without_an_exception_and_its_problems_are_located(text: str):
    for problem in parse(text).problems:
        assert 0 <= problem.start < problem.end <= max(len(text), 1)
        assert problem.sentence.endswith((".", "?"))
        assert "\x1b" not in problem.sentence
