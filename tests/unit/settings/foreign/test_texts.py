"""References of other hosts in a text."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.settings.foreign.texts import Texts
from tui.settings.references import expand

FOLDER = Path("/home/ada/project")


def texts(*, expands: bool = False, **inputs: Any) -> tuple[Texts, list[str]]:
    notes: list[str] = []
    return Texts("git hub", FOLDER, FOLDER / ".host", notes.append, inputs, expands), notes


@each_case(
    ("text", "made"),
    [
        ("Bearer {env:KEY}", "Bearer ${KEY}"),
        ("{env:a-key}", "${A_KEY}"),
        ("${env:KEY:-x}", "${KEY:-x}"),
        ("${env://KEY:-x}", "${KEY:-x}"),
        ("${{ secrets.MY_KEY }}", "${MY_KEY}"),
        ("${secrets.KEY2}", "${KEY2}"),
        ("{file:./key.txt}", "${file:/home/ada/project/.host/key.txt}"),
        ("${file:/run/key.txt}", "${file:/run/key.txt}"),
        ("Bearer $(cat $(which x)) y", "Bearer ${GIT_HUB_X_KEY} y"),
        ("$KEY", "${KEY}"),
        ("${config:a.b}${command:c}", "${A_B}${C}"),
        ("{json: 1} {env} $5 a$b", "{json: 1} {env} $5 a$b"),
        ("COPILOT_MCP_KEY", "${COPILOT_MCP_KEY}"),
    ],
)
def test_a_header_is_never_sent_as_the_other_host_writes_it(text: str, made: str):
    assert texts()[0].value("headers.X-Key", text) == made


def test_the_content_of_a_file_is_used_from_where_it_is():
    converter, notes = texts()
    assert converter.value("env.GITHUB_TOKEN", "{file:~/.token}") == "${file:~/.token}"
    assert notes == ["{file:~/.token}: uses the content of ~/.token"]


@each_case("name", ["path", "home", "user", "shell", "lang", "lc_all", "PATH", "http_proxy"])
def test_an_input_is_never_read_from_a_variable_with_a_meaning_of_its_own(name: str):
    converter, _ = texts()
    assert converter.word("args", f"${{input:{name}}}") == f"${{INPUT_{name.upper()}}}"


@each_case(
    ("default", "made"),
    [("a b", "${X_Y:-a b}"), ("", "${X_Y:-}"), (True, "${X_Y:-true}"), (5, "${X_Y:-5}"), ("a}b", "${X_Y}")],
)
def test_the_default_of_an_input_is_kept(default: object, made: str):
    converter, notes = texts(**{"x-y": {"id": "x-y", "default": default}})
    assert converter.word("args", "${input:x-y}") == made
    assert len(notes) == 1


def test_another_folder_of_a_workspace_is_next_to_the_first():
    converter, _ = texts()
    text = "${workspaceFolder:project} ${workspaceFolder:api}"
    assert converter.word("args", text) == "/home/ada/project /home/ada/api"


def test_a_word_of_a_command_line_keeps_what_a_shell_would_replace_and_says_so():
    converter, notes = texts()
    assert converter.word("args", "$KEY") == "$KEY"
    assert notes == ["$KEY is not replaced, because no shell is involved. Write `${KEY}`"]
    assert texts(expands=True)[0].word("args", "$KEY") == "${KEY}"
    converter, notes = texts()
    assert (converter.word("", "echo $KEY"), notes) == ("echo $KEY", [])


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("~", "/home/ada"),
        ("~/d", "/home/ada/d"),
        ("--cfg=~/e", "--cfg=/home/ada/e"),
        ("~user/d", "~user/d"),
        ("a~/d", "a~/d"),
        ("A=~/d", "A=~/d"),
    ],
)
def test_the_home_directory_replaces_a_tilde(text: str, made: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/ada")
    converter, notes = texts()
    assert converter.word("args", text) == made
    assert bool(notes) is (text != made)


def test_what_is_kept_as_text_stays_that_text_when_it_is_expanded():
    text = "${what ever} ${ ${{ $5"
    assert expand(texts()[0].word("args", text), {}).text == text


def test_a_template_that_the_host_fills_in_is_named_and_stays():
    said: list[str] = []
    texts = Texts("a", Path("/p"), Path("/p"), said.append)
    assert texts.value("headers.X-User", "{{LIBRECHAT_USER_ID}}") == "{{LIBRECHAT_USER_ID}}"
    assert said == ["{{LIBRECHAT_USER_ID}} is not supported and not replaced"]
