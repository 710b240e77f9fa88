"""The checklist as text and JSON."""

from tui.addons.doctor.steps import (
    HOST,
    Checklist,
    Step,
    cleaned,
    ending,
    short_columns,
    short_lines,
    step_lines,
)

BAD = Step.failed("start", "exited", "Fix it.")
SHAKY = Step.warning("close", "slow", "Exit.")
FINE = Step("lists", "2 tools")


def test_the_first_failure_counts():
    found = Checklist("s", "x", [FINE, BAD, Step.failed("lists", "none")], ("close",))
    assert found.failure is BAD and found.verdict == "Failed at start."
    assert found.as_object()["failed"] == "start" and found.as_object()["not_reached"] == ["close"]
    assert [*ending(found)] == ["  · not reached:  close", "Failed at start."]


def test_warnings_are_no_failure():
    found = Checklist("s", "x", [FINE, SHAKY])
    assert found.as_object()["ok"] and found.verdict == "Nothing failed, 1 warning."
    assert [*short_lines(found, short_columns(3))] == ["! s       2 tools", "    close: slow → Exit."]


def test_what_another_host_does_is_shown_beside_a_failure():
    found = Checklist("s", "x", [BAD, SHAKY, Step.failed(HOST, "ignored")])
    assert [*short_lines(found, short_columns(1))] == [
        "✗ s       start: exited",
        "    → Fix it.",
        "    host: ignored",
    ]


def test_texts_are_cleaned_and_advice_is_a_sentence():
    shown = cleaned(Step.failed("start", "it said \x1b[31mno.", "use node"))
    assert "\x1b" not in shown.seen and not shown.seen.endswith(".") and shown.fix == "Use node."
    assert [*step_lines(shown)][1].strip() == "→ Use node."
