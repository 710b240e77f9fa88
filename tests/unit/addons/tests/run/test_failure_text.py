"""A failed case in words."""

from tests.cases import each_case
from tui.addons.tests.run.failure_text import Kind, failure_lines, indented, mismatch_line
from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, State
from tui.addons.tests.suite.case import Case, Request, RequestKind

CASE = Case("rain", 4, Request(RequestKind.TOOL, "rain"))


@each_case(
    ("mismatch", "said"),
    [
        (Mismatch("result.id", 3, 4), "result.id: expected 3, got 4"),
        (Mismatch("result.id", 3), "result.id: expected 3, got nothing"),
        (Mismatch("content[1]", ABSENT, "x"), 'content[1]: expected nothing, got "x"'),
        (Mismatch("text", "a", "b", "an added line"), 'text: expected "a", got "b" (an added line)'),
        (Mismatch("error", why="the call succeeded"), "error: the call succeeded"),
        (Mismatch("then[0].error", False, "no", "the call failed"), "then[0]: the call failed: no"),
        (Mismatch("findings", ABSENT, "bad-uri", "It is no URI."), "finding bad-uri: It is no URI."),
        (Mismatch("text", "<number>\nb\nc", "1\nb\nd"), 'text: expected "c", got "d" (line 3)'),
        (Mismatch("text", "a", "a\nb"), 'text: expected nothing, got "b" (line 2)'),
        (
            Mismatch("text", f"{'x' * 300}a", f"{'x' * 300}b"),
            f'text: expected "…{"x" * 40}a", got "…{"x" * 40}b"',
        ),
        (Mismatch("text", "a b", "a\u00a0b"), 'text: expected "a b", got "a\\u00a0b"'),
        (Mismatch("text", "\u00e9", "e\u0301"), 'text: expected "\\u00e9", got "e\\u0301"'),
        (Mismatch("text", "caf\u00e9", "caf\u00e8"), 'text: expected "caf\u00e9", got "caf\u00e8"'),
    ],
)
def test_a_mismatch_is_one_line(mismatch: Mismatch, said: str):
    assert mismatch_line(mismatch) == said


def test_a_problem_without_values_is_said_once():
    why = "not sent: invalid arguments for add"
    one = Outcome("rain", 4, State.FAILED, why, [Mismatch("args", why=why)], case=CASE)
    assert [text for text, _ in failure_lines(one)] == [why]


def test_a_contract_has_its_sentence_and_each_change():
    changes = [Mismatch(f"tool add: {at}", 1, 2) for at in range(9)]
    lines = list(failure_lines(Outcome("contract", 4, State.FAILED, "9 changes", changes)))
    assert lines[0].text == "9 changes" and sum(kind is Kind.GOT for _, kind in lines) == 9


def test_further_differences_are_a_line_each_and_the_rest_is_counted():
    found = [Mismatch(f"result[{at}]", 1, 2) for at in range(9)]
    one = Outcome("rain", 4, State.FAILED, mismatches=found, case=CASE)
    assert [text for text, _ in failure_lines(one, 5)][-3:] == [
        "result[3]: expected 1, got 2",
        "result[4]: expected 1, got 2",
        "and 4 more differences",
    ]


def test_all_problems_of_a_file_begin_at_the_margin():
    assert indented("a.mcp.toml:2 call: x\na.mcp.toml:4 url: y\nb") == (
        "a.mcp.toml:2 call: x\na.mcp.toml:4 url: y\n  b"
    )


def differing(expected: str, got: str) -> list[str]:
    one = Outcome("rain", 4, State.FAILED, mismatches=[Mismatch("text", expected, got)], case=CASE)
    return [text.strip() for text, kind in failure_lines(one) if kind is not Kind.SENTENCE][1:]


def test_a_line_that_fits_its_placeholder_does_not_hide_the_one_that_differs():
    times = [f"at {second}" for second in range(20)]
    expected = ["at <number>"] * 20
    found = differing("\n".join([*expected, "end", "<text>"]), "\n".join([*times, "END", "more"]))
    assert found[1:] == ["at 19", "- end", "+ END", "more"]


def test_a_long_text_is_compared_from_its_first_difference_on():
    lines = list(map(str, range(40_000)))
    found = differing("\n".join(lines), "\n".join([*lines[:30_000], "new", *lines[30_000:]]))
    assert found == ["@@ -30000,2 +30000,3 @@", "29999", "+ new", "30000"]


def test_of_a_long_difference_lines_of_both_texts_are_shown():
    found = differing("\n".join(map(str, range(30))), "\n".join(map(str, range(30, 60))))
    assert {"- 0", "+ 30", "and 52 more lines"} <= {*found}


def test_a_line_break_or_a_space_at_the_end_of_a_line_is_visible():
    assert differing("a\nb", "a\r\nb ")[1:] == ["- a", "- b", "+ a\u240d", "+ b\u2420"]
