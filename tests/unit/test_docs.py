"""The documentation matches the program: fields, codes, keys, commands, links."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tui.commands.command_line import build_parser
from tui.commands.tap.tap import parse_tap
from tui.core.errors import UsageError
from tui.core.traffic import Kind
from tui.model.endpoints.providers import PROVIDERS
from tui.traffic.filter.fields import FIELDS
from tui.traffic.filter.query import parse
from tui.traffic.lint.rules_portable import PORTABLE
from tui.ui.keys.action_table import ACTIONS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))
TRAFFIC = (ROOT / "docs" / "traffic.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> list[list[str]]:
    """Return the cells of the first table after a heading, without its two header lines."""
    _, found, rest = TRAFFIC.partition(f"\n## {heading}\n")
    assert found, heading
    lines = rest[rest.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_table_of_filter_fields_matches_the_program():
    assert rows_of("The filter language") == [
        [f"`{field.name}`", field.meaning, f"`{field.example}`"] for field in FIELDS.values()
    ]


def test_the_table_of_providers_matches_the_program():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    for one in PROVIDERS:
        keys = " or ".join(f"`{key}`" for key in one.keys)
        assert f"| {one.title} | {keys} | `{one.base_url}` |" in page


def test_each_kind_of_entry_is_documented():
    assert [kind for kind in Kind if f"`{kind.name.lower()}`" not in TRAFFIC] == []


def test_each_status_is_documented():
    assert [word for word in FIELDS["status"].choices if f"`{word}`" not in TRAFFIC] == []


def filters_shown() -> Iterator[str]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for code in re.findall(r"`([^`\n]+)`", text):
            name = re.match(r"[!(-]?(?:not )?([a-z]+):\S", code)
            if name and name[1] in FIELDS:
                yield code


def test_each_filter_example_is_valid():
    shown = sorted(set(filters_shown()))
    assert shown
    assert [text for text in shown if not parse(text).is_sound] == []


def codes_of_the_linter() -> set[str]:
    """Return the codes that the rules report: `look.error(code, ...)` and the like."""
    found: set[str] = set()
    for file in (ROOT / "tui" / "traffic" / "lint").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in ("say", "error", "warn", "hint", "once"):
                    found |= _texts(node.args[0])
    composed = {"bad-params", "bad-result", "not-negotiated"}  # at run time
    return found | composed | set(PORTABLE.values())


def _texts(node: ast.expr) -> set[str]:
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def test_each_linter_code_is_documented():
    assert {row[0].strip("`") for row in rows_of("The linter")} == codes_of_the_linter()


def test_the_documented_keys_of_the_list_exist():
    known = {key for action in ACTIONS for key in action.keys.split(",")} | {"/", "esc", "?"}
    shown = {key for row in rows_of("The list") for key in re.findall(r"`([^`]+)`", row[0])}
    assert shown - known == set()


def command_lines() -> Iterator[str]:
    """Yield every mcptui command line in the pages: in shell blocks and between backquotes."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for code in [*re.findall(r"`(mcptui [^`\n]+)`", text), *"\n".join(blocks).splitlines()]:
            for command in re.findall(r"(?:^|[|(]\s*)\s*(mcptui .*)", code):
                line = command.partition("#")[0].partition(" | ")[0].rstrip(") ")
                if "..." not in line and "[" not in line and line != "mcptui mock":
                    yield line


def is_parsed(line: str) -> bool:
    given = shlex.split(line)[1:]
    try:
        if given[:1] == ["tap"]:
            return bool(parse_tap(given[1:]))
        return bool(build_parser().parse_args(given[: given.index("--")] if "--" in given else given))
    except (SystemExit, UsageError):
        return False


def test_each_documented_command_line_can_be_parsed():
    lines = sorted(set(command_lines()))
    assert lines
    assert [line for line in lines if not is_parsed(line)] == []


def test_each_link_leads_to_an_existing_file():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)|(?:src|srcset)=\"([^\"]+)\"", text)
        links = [first or second for first, second in targets if "://" not in (first or second)]
        assert [link for link in links if not (page.parent / link).exists()] == [], page.name


def test_each_documented_path_in_the_code_exists():
    roots = r"tui|tests|docs|themes|sample_config|\.ci"
    for page in PAGES:
        paths = re.findall(rf"`((?:{roots})/[\w./-]*)`", page.read_text(encoding="utf-8"))
        missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
        assert missing == [], page.name


def test_each_promise_of_the_security_page_names_existing_tests():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`(tests/[^`]+)`", row.rsplit(" | ", 1)[1])
        assert named, row
        assert [path for path in named if not (ROOT / path).is_file()] == [], row


def test_each_documented_key_with_a_modifier_or_a_number_has_an_action():
    known = {key for action in ACTIONS for key in f"{action.keys},{action.anywhere}".split(",")}
    shown = {
        key
        for page in PAGES
        for key in re.findall(r"`(f\d{1,2}|alt\+\w|ctrl\+\w)`", page.read_text(encoding="utf-8"))
    }
    assert shown - known == {"ctrl+c"}, "Textual's own key, which copies a selection"
