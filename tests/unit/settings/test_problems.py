"""The wording of a problem."""

from tests.cases import each_case
from tui.settings.problems import Problem, did_you_mean


@each_case(
    ("problem", "text"),
    [
        (Problem("is wrong"), "is wrong"),
        (Problem("is wrong", ("a", 'b" c', 0)), 'a."b\\" c"[1]: is wrong'),
        (Problem("is wrong", file="c.toml"), "c.toml: is wrong"),
        (
            Problem("is wrong", ("a", "b"), "mend it", line=3, file="c.toml"),
            "c.toml:3 a.b: is wrong. Mend it",
        ),
        (Problem("unknown key", ("a",), "did you mean “b”?"), "a: unknown key, did you mean “b”?"),
    ],
)
def test_a_problem_names_place_problem_and_fix(problem: Problem, text: str):
    assert str(problem) == text


def test_the_nearest_name_is_suggested_if_it_is_similar():
    assert did_you_mean("mcp_servers", ["servers"], {"mcp_servers": "servers"}) == "did you mean “servers”?"
    assert did_you_mean("perms", ["servers"], {"perms": "approvals"}) == ""
    assert did_you_mean("comand", ["command", "args"]) == "did you mean “command”?"
