"""What is wrong with a suite: the line, the key, and what to write."""

from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.tests.suite.check import MAX_PROBLEMS
from tui.addons.tests.suite.keys import SECTIONS
from tui.addons.tests.suite.read import SuiteError, suite_of

FILE = Path("a.mcp.toml")
KEYS = ", ".join(SECTIONS["then"])
CALL = '[[call]]\ntool = "a"\n'


def problems(text: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        suite_of(text, FILE)
    return [str(one).removeprefix("a.mcp.toml:") for one in caught.value.problems if not one.warning]


@each_case(
    ("text", "problem"),
    [
        ("[[call]\n", "1: is not TOML: ]] is missing after the name of a table at column 7"),
        ('[[call]]\ntol = "a"', "2 call[1].tol: unknown key, did you mean “tool”?"),
        ('[[calls]]\ntool = "a"', "1 calls: unknown key, did you mean “call”?"),
        (
            CALL + 'zzz = "a"',
            f"3 call[1].zzz: unknown key. Known keys: {KEYS}, then, fresh, tags, skip",
        ),
        (
            CALL + "then = [{ tool = 'b', then = [] }]",
            "3 call[1].then[1].then: a step of `then` has no steps."
            " Write each step as an item of the same list",
        ),
        (
            CALL + 'timeout = "999999999m"',
            "3 call[1].timeout: must be more than 0 and at most a day: “999999999m”. "
            "Write a number with ms, s or m, such as `800ms`, `2s` or `1m`",
        ),
        (
            CALL + f"args = {{ a = 1{'0' * 5000} }}",
            "3: is not TOML: a number has too many digits. Write the number in quotes",
        ),
        (
            "server.command = ['x']\n\ncall.x = 1",
            "3 call: must be an array of tables, not a table. Write `[[call]]`, in two brackets",
        ),
        (CALL + "tags = [\n'a'\n\n", "3: is not TOML: a list is not closed at the end of the file"),
        (
            "[[call]]\ntool = '${HOME}'",
            "2 call[1].tool: contains `${NAME}`, which is not replaced here. Write the value itself",
        ),
        (CALL + 'arguments = "a"', "3 call[1].arguments: unknown key, did you mean “args”?"),
        (CALL + 'read = "b"', "3 call[1].read: has `tool` and `read`. A case has one request: remove one"),
        (
            '[[call]]\nname = "x"',
            '1 call[1]: has no request. Add `tool = "NAME"`, `read`, `prompt` or `list`',
        ),
        (CALL + 'lose = "anser"', "3 call[1].lose: is “anser”, did you mean “answer”?"),
        (CALL + 'lose = "all"', '3 call[1].lose: is “all”. Write one of "answer", "connection"'),
        (
            CALL + 'within = "soon"',
            "3 call[1].within: is not a duration: “soon”. "
            "Write a number with ms, s or m, such as `800ms`, `2s` or `1m`",
        ),
        (
            CALL + "within = 800",
            '3 call[1].within: must be a duration, such as "800ms", not the number 800. '
            'Write `within = "800ms"`, with its unit',
        ),
        (
            CALL + "error = 1",
            "3 call[1].error: must be true or false, not the number 1. Write `error = true`",
        ),
        (
            CALL + "skip = true",
            '3 call[1].skip: must be a string, not true. Write why: `skip = "needs a database"`',
        ),
        (
            CALL + "args = { day = 2026-01-01 }",
            '3 call[1].args.day: is a date, which JSON does not have. Write it in quotes: "2026-01-01"',
        ),
        (CALL + "args = { x = nan }", "3 call[1].args.x: is nan, which JSON does not have"),
        (
            CALL + "args = '[1]'",
            '3 call[1].args: is not a JSON object. Write `args = { location = "Hangzhou" }`',
        ),
        (
            CALL + 'result = "sunny"',
            "3 call[1].result: is not JSON: a value is missing at line 1, column 1. "
            "To expect a plain text, use `text`",
        ),
        (
            CALL + "result = '''\n{ \"a\": 1,\n  b }'''",
            "5 call[1].result: is not JSON: a name in double quotes is missing at column 3",
        ),
        (
            CALL + 'text = "<re:(>"',
            "3 call[1].text: the pattern “<re:(>” is invalid: a parenthesis is not closed",
        ),
        (
            CALL + 'save = { id = "id" }',
            "3 call[1].save.id: “id” is not a JSON path. Write the path of one value, "
            "such as `$.id` or `$.items[0].name`",
        ),
        (
            CALL + 'save = { "a b" = "$.id" }',
            '3 call[1].save."a b": is not a name: use letters, digits and _',
        ),
        (
            CALL + 'text = "${HOME}"',
            "3 call[1].text: no case before it saves a value as “HOME”. "
            "Variables of the environment are replaced only in env, headers and url. "
            "For a literal `${`, write `$${`",
        ),
        (
            CALL + 'save = { order = "$.id" }\n' + '[[call]]\ntool = "b"\ntext = "${ordr}"',
            "6 call[2].text: no case before it saves a value as “ordr”, did you mean “order”?",
        ),
        (
            CALL + 'text = "${1}"',
            "3 call[1].text: contains `${` without `NAME}`. For a literal `${`, write `$${`",
        ),
        (
            CALL + "content = [{ type = 1 }]",
            '3 call[1].content[1].type: must be a string, not the number 1. Write `type = "image"`',
        ),
        (
            CALL + "content = [{ size = 1 }]",
            '3 call[1].content[1]: has no `type`. Add a line such as `type = "image"`',
        ),
        (
            CALL + 'answers = { form = "no" }',
            '3 call[1].answers.form: must be a table, "decline", "cancel", or a list of those, '
            'not the string “no”. Write `form = { name = "Ada" }`',
        ),
        (
            CALL + 'then = [{ tool = "b", fresh = true }]',
            f"3 call[1].then[1].fresh: unknown key. Known keys: {KEYS}",
        ),
        (
            '[[call]]\nprompt = "p"\nargs = { n = 1 }',
            "3 call[1].args.n: must be a string, as all arguments of prompts",
        ),
        ('[[call]]\nlist = "tools"\nargs = { n = 1 }', "3 call[1].args: has no use with `list`. Remove it"),
        (
            '[call]\ntool = "a"',
            "1 call: must be an array of tables, not a table. Write `[[call]]`, in two brackets",
        ),
        (
            '[server]\ncommand = "python server.py"',
            "2 server.command: must be a list of strings, not the string “python server.py”. "
            'Write `command = ["python", "server.py"]`',
        ),
        ("[server]\ncommand = []", '2 server.command: is empty. Write `command = ["python", "server.py"]`'),
        (
            '[server]\ncwd = "a"',
            '1 server: has no `command`. Add `command = ["python", "server.py"]`, or `url`',
        ),
        (
            '[server]\ncommand = ["a"]\nurl = "http://localhost/"',
            "3 server.url: has a `command` and a `url`. Remove one of them",
        ),
        (
            '[server]\ncommand = ["a", "${HOME}"]',
            "2 server.command: contains `${NAME}`, which is replaced only in env, headers and url. "
            "Write the value itself",
        ),
        (
            '[server]\ncommand = ["a"]\nenv = { A = "${file:/etc/passwd}" }',
            "3 server.env.A: refers to a file, which a suite must not. Use a variable: `${NAME}`",
        ),
        ('[server]\nurl = "ftp://x"', "2 server.url: must be a URL like https://host/path"),
        ('[server]\ncommand = ["a"]\nheaders = { A = "b" }', "3 server.headers: requires `url`. Remove it"),
        (
            '[server]\ncommand = ["a"]\ntransport = "http"',
            "3 server.transport: is http, which requires `url`. Remove it",
        ),
        (
            '[contract]\nlock = "../a.json"',
            "2 contract.lock: must be in the folder of this file or below, without `..`. "
            'Write the name of a file there, such as `lock = "weather.lock.json"`',
        ),
        (
            '[contract]\nlock = "a"\nfail = ["braking"]',
            "3 contract.fail[1]: is “braking”, did you mean “breaking”?",
        ),
        ('[contract]\nlock = "a"\ntokens = 0', "3 contract.tokens: must be at least 1"),
        (
            '[[turn]]\nname = "a"',
            '1 turn[1]: has no `question`. Add a line such as `question = "Is it raining?"`',
        ),
        ('[[turn]]\nquestion = "a"\npass = 2', "3 turn[1].pass: must be at most 1"),
        ('[[turn]]\nquestion = "a"\npass = 0', "3 turn[1].pass: must be more than 0. Write `pass = 0.8`"),
        (
            '[[turn]]\nquestion = "a"\nanswer = ["b", ""]',
            '3 turn[1].answer: is empty. Write `answer = "rain"`',
        ),
        (
            '[[turn]]\nquestion = "a"\nruns = 1.5',
            "3 turn[1].runs: must be an integer, not the number 1.5. Write `runs = 5`",
        ),
    ],
)
def test_a_problem_names_line_key_and_what_to_write(text: str, problem: str):
    assert problems(text) == [problem]


def test_two_cases_of_the_same_name_are_an_error_that_names_the_other_line():
    text = '[[call]]\nname = "x"\ntool = "a"\n[[call]]\nname = "x"\ntool = "b"\n'
    assert problems(text) == [
        "5 call[2].name: “x” is also the name of the case in line 1. Give each case its own `name`"
    ]


def test_two_cases_without_names_and_the_same_request_are_an_error():
    assert problems(CALL + CALL)[0].startswith("3 call[2].name: “a” is also the name of the case in line 1.")


def test_all_problems_of_a_file_are_told_in_the_order_of_lines():
    text = '[server]\ncommand = 1\n[[call]]\ntol = "a"\n[[call]]\ntool = "b"\nlose = "x"\n'
    assert [one.partition(" ")[0] for one in problems(text)] == ["2", "4", "7"]


def test_the_error_says_how_many_more_problems_there_are():
    with pytest.raises(SuiteError, match=r"and 10 more problems$"):
        suite_of(CALL + "".join(f"x{number} = 1\n" for number in range(30)), FILE)


def test_hidden_characters_of_a_file_are_shown_as_code_points():
    assert "[U+200B]" in problems(CALL + '"a\u200bb" = 1')[0]


def test_a_value_that_is_nested_too_deeply_is_an_error():
    deep = "[" * 100 + "]" * 100
    assert problems(CALL + f"args = {{ a = {deep} }}") == [
        "3 call[1].args: is nested too deeply. Write at most 60 levels"
    ]


def test_each_number_that_json_does_not_have_is_named():
    assert [one.split(":")[0] for one in problems(CALL + "args = { t = nan, u = [1, inf] }")] == [
        "3 call[1].args.t",
        "3 call[1].args.u[2]",
    ]


def test_a_variable_whose_name_is_a_reference_is_an_error():
    text = '[server]\ncommand = ["a"]\nenv = { "${AWS_SECRET}" = "x" }'
    assert problems(text)[0].endswith("is not a name of a variable")


def test_a_file_that_is_nested_too_deeply_is_an_error():
    assert problems("\na = " + "[" * 100_000) == ["2: is nested too deeply. Write at most 60 levels"]


def test_reading_ends_after_many_problems():
    assert len(problems("[[call]]\nx = 1\n" * 1000)) == MAX_PROBLEMS
