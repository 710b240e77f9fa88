"""Steps in the words of another host."""

import pytest

from tui.addons.doctor.causes import cause_of
from tui.addons.doctor.host_words import in_words_of
from tui.addons.doctor.other_host import HABITS
from tui.addons.doctor.steps import Step


def said(title: str, step: Step, *replaced: str) -> Step:
    return in_words_of(title, HABITS[title].reference, set(replaced), step)


@pytest.mark.parametrize(
    ("fix", "ours"),
    [
        ('set `command = "node"`', 'set `"command": "node"`'),
        ("write its absolute path, or set `cwd`", "write its absolute path"),
        ('write "/a/run.sh", or set `cwd = "/a"`', 'write "/a/run.sh"'),
        ('set `transport = "sse"`, or --transport sse', 'set `"type": "sse"`'),
        ("run `mcptui login s`", "sign in there"),
        ("shorten descriptions, or turn tools off (`off`)", "shorten descriptions, or turn tools off"),
    ],
)
def test_advice_has_no_syntax_of_mcptui(fix: str, ours: str):
    assert said("Cursor", Step.failed("start", "x", fix)).fix == ours


@pytest.mark.parametrize(("title", "value"), [("Cursor", "${env:API_KEY}"), ("Claude Desktop", "…")])
@pytest.mark.parametrize("ours", [{}, {"API_KEY": "x"}])
def test_a_variable_is_written_as_the_host_reads_it(title: str, value: str, ours: dict[str, str]):
    _, _, fix = cause_of(["KeyError: 'API_KEY'"], {}, ours)
    assert said(title, Step.failed("start", "x", fix)).fix == f'add `"env": {{"API_KEY": "{value}"}}`'


def test_a_variable_that_is_not_set_is_to_be_set_only_where_the_host_replaces_it():
    seen = "m.json:5 servers.s.env.A: the environment variable A is not set. Set it, or write `${A:-default}`"
    step = Step.failed("configuration", seen, "correct it (`mcptui config check`)")
    found = said("Cursor", step, "A")
    assert found.seen == "m.json:5 env.A: the environment variable A is not set"
    assert found.fix == "set A, here and for Cursor"
    assert said("Cursor", step).fix == "write ${env:A}"
    assert said("Claude Desktop", step).fix == "write the value of A"
