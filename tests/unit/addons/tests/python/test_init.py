import argparse
from pathlib import Path

import pytest

from tui.addons.tests.python.init import MOST_COMMENTED, Omitted, first_suite, init, places_of, sketched
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, SuiteServer
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec


def arguments(*words: str, server: str = "", command: tuple[str, ...] = ()) -> argparse.Namespace:
    return argparse.Namespace(words=list(words), server=server, live_command=list(command))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (arguments("a.mcp.toml", "b.mcp.toml", server="x"), "one file"),
        (arguments(server="x", command=("y",)), "cannot be combined"),
        (arguments("a.mcp.toml"), "needs a server"),
    ],
)
def test_contradicting_arguments_are_refused_before_anything_starts(args: argparse.Namespace, said: str):
    with pytest.raises(UsageError, match=said):
        init(args)


def test_folders_that_the_command_names_are_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path) in places_of(ServerSpec("a", "python", ("server.py",)))
    assert str(tmp_path) not in places_of(ServerSpec("a", "server", (f"{tmp_path}/data",)))
    monkeypatch.setenv("SHELL", "/bin/zsh")
    assert {"/bin/zsh", "zsh"} <= {*places_of(ServerSpec("a", "python", ("server.py",)))}


SERVER = SuiteServer(command=("python", "server.py"))
CASE = Case("sunny", 0, Request(RequestKind.TOOL, "get_weather"), Expectation(text="sunny"))


def test_the_file_has_the_cases_and_the_rest_as_comments():
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "x": {}}, "required": ["id"]}
    text = first_suite(SERVER, [CASE], [Omitted(sketched("delete", schema), "not read-only")])
    suite = suite_of(text, Path("/x/shop.mcp.toml"))
    assert [case.name for case in suite.cases] == ["sunny"]
    assert text.endswith(
        '# delete: not read-only\n# [[call]]\n# name = "delete"\n# tool = "delete"\n# args = { id = "…" }\n'
    )


def test_a_commented_call_without_its_marks_is_a_case():
    text = first_suite(SERVER, [], [Omitted(sketched("delete", {}), "not read-only")])
    lines = [
        line.removeprefix("# ") if line.startswith(("# [[", "# name", "# tool")) else line
        for line in text.splitlines()
    ]
    assert suite_of("\n".join(lines), Path("/x/shop.mcp.toml")).cases[0].request.name == "delete"


def test_names_of_a_server_stay_in_their_comments():
    hostile = 'x\n[server]\ncommand = ["rm"]\n\u202e'
    text = first_suite(SERVER, [], [Omitted(Request(RequestKind.TOOL, hostile, {hostile: hostile}), hostile)])
    suite = suite_of(text, Path("/x/shop.mcp.toml"))
    assert suite.server is not None and suite.server.command == SERVER.command and "\u202e" not in text


def test_a_long_list_is_cut():
    omitted = [Omitted(sketched(f"tool{number}", {}), "why") for number in range(MOST_COMMENTED + 3)]
    assert first_suite(SERVER, [], omitted).endswith("# and 3 more requests\n")
