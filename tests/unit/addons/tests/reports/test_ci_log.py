"""The log of CI: nothing that a server says becomes a command."""

import io
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.reports.ci_log import command_stream, inert, protect_log


@each_case(
    ("text", "said"),
    [
        ("::error::x", ": :error::x"),
        ("a\n  ::set-output name=a::b", "a\n  : :set-output name=a::b"),
        ("text ##[add-mask]b", "text # #[add-mask]b"),
        ("##vso[task.setvariable]", "# #vso[task.setvariable]"),
        ("a::b: c", "a::b: c"),
        ("## heading", "## heading"),
    ],
)
def test_no_text_is_a_command_of_the_runner(text: str, said: str):
    assert inert(text) == said


@settings(max_examples=20)
@given(st.text(st.sampled_from(":# \t\n\r[vsox\u00a0\u2028")))
def test_nothing_is_a_command_after_it_is_made_inert(text: str):
    found = inert(text)
    assert not any(line.strip().startswith("::") for line in found.splitlines())
    assert "##[" not in found and "##vso[" not in found


def into_text(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    return out


def test_in_ci_everything_that_is_printed_is_inert(monkeypatch: pytest.MonkeyPatch):
    printed = into_text(monkeypatch)
    protect_log({"GITHUB_ACTIONS": "true"})
    print("::error::a")
    print("mcptui: b\n::error::b", file=sys.stderr)
    print("::notice::ours", file=command_stream())
    assert printed.getvalue().splitlines() == [": :error::a", "mcptui: b", ": :error::b", "::notice::ours"]
    assert not sys.stdout.isatty()


def test_elsewhere_nothing_that_is_printed_is_changed(monkeypatch: pytest.MonkeyPatch):
    printed = into_text(monkeypatch)
    protect_log({"CI": "true"})
    print("::error::a")
    assert sys.stdout is printed and command_stream() is printed
    assert printed.getvalue() == "::error::a\n"
