"""Writes docs/configuration.md from the docstrings of the schema.

`python -m tui.settings.manual > docs/configuration.md`; a test keeps the two in sync.
"""

import ast
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal

import tomli_w
from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tui.settings import schema
from tui.settings.themes import ROLES

INTRODUCTION = """\
# Configuration

<!-- Written by `python -m tui.settings.manual`; change the docstrings in tui/settings/schema.py instead. -->

mcptui needs no configuration: without one it runs its demo model and three sample servers, offline.

- `mcptui config path` prints where the file is; `--config FILE` or `MCPTUI_CONFIG` name another one.
- `mcptui config init` writes a commented starter, `mcptui config check` says all that is wrong at once,
  `mcptui config show` prints what comes out of it, with every secret masked.
- `mcptui config learned` prints what models' endpoints were found to refuse, `--forget` forgets it.
- `mcptui config import FILE` takes over the servers of Claude, Cursor, VS Code, Zed, Gemini CLI, Cline
  or Windsurf. Such a file can also be used as it is: `mcptui --config mcp.json`.

The file is TOML. One mistake costs the entry that it is in, never the rest; a file that cannot be read at
all does not keep mcptui from opening. What mcptui writes itself (the theme you choose, tools you always
allow, imported servers) changes one place and leaves your comments alone; it never writes over a file that
it cannot read. The file is kept readable for you only.

In every text, `${VAR}` stands for a variable of your environment and `${VAR:-default}` for one that may be
missing or empty; `$${` is a plain `${`. `${MCPTUI_PYTHON}` is the Python that mcptui itself runs with. Keys
and passwords belong into the environment.
"""

THEMES = """\
## A theme of your own

A file `themes/NAME.toml` beside the configuration file that mcptui uses by itself. Every role needs a
colour, `#rgb` or `#rrggbb`, or all of them an ANSI name like `ansi_bright_blue` or `ansi_default`:

{roles}.

`dark = true` or `false` says what it is made for, `syntax` names a Pygments style for code, `about` is the
line that the picker shows.
"""

SNIPPETS = """\
## Snippets

`[snippets]`

Texts of your own that `/NAME` puts into your message, to be read before you send it. `{place}` is filled in
by what you write behind the name: `/review file=app.py`, or just `/review app.py`. `{{` and `}}` are plain
braces, and braces that hold no name stay as they are.

```toml
[snippets]
review = "Review {file}. Say what is wrong, with the line, and nothing else."
brief = "Answer in three sentences at most."
```
"""

ENVIRONMENT = """\
## Environment variables

Each of these switches, set to `1`, turns off one thing that makes mcptui faster. None is needed; one that
helps is a bug worth reporting.

| switch | what it turns off | when to try it |
|---|---|---|
| `MCPTUI_WHOLE_FRAMES` | Only what changed is painted. | Parts of the screen are old or wrong. |
| `MCPTUI_WHOLE_ESCAPES` | Escape sequences without effect are left out. | Colours are wrong. |
| `MCPTUI_NO_STANDING_BACK` | Other threads wait while you type. | A server stalls while you type. |
| `MCPTUI_CALLS_BY_SDK` | Tool calls over stdio go past the MCP SDK. | Such a tool call fails. |
| `MCPTUI_WHOLE_LIBRARIES` | Libraries are loaded in part. | A newer one fails to load. |

| other variable | what it is |
|---|---|
| `MCPTUI_CONFIG` | The configuration file to use; `--config` goes before it. |
| `MCPTUI_PYTHON` | What `${MCPTUI_PYTHON}` in the configuration stands for. |
| `MCPTUI_NOTES_FILE` | Where the sample server `notes` keeps its notes. |
| `MCPTUI_OWNER` | Set by mcptui in its servers, to find those that a killed mcptui left behind. |
"""

SECTIONS: tuple[tuple[str, str, type[schema.Section]], ...] = (
    ("At the top", "", schema.Settings),
    ("Models", "[models.NAME]", schema.ModelSettings),
    ("Servers", "[servers.NAME]", schema.ServerSettings),
    ("Signing in to one server", "[servers.NAME.oauth]", schema.ServerOAuthSettings),
    ("Limits", "[limits]", schema.LimitSettings),
    ("Approvals", "[approvals]", schema.ApprovalSettings),
    ("Traffic", "[traffic]", schema.TrafficSettings),
    ("Signing in", "[oauth]", schema.OAuthSettings),
    ("Finding servers", "[registry]", schema.RegistrySettings),
    ("The screen", "[ui]", schema.UiSettings),
)

_WORDS: dict[Any, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}
_TABLES = ("models", "servers", "limits", "approvals", "traffic", "ui", "snippets")


def configuration_manual() -> str:
    """Return the text of docs/configuration.md."""
    roles = ", ".join(f"`{role}`" for role in ROLES)
    themes = THEMES.format(roles=textwrap.fill(roles, 110))
    return "\n".join(
        [INTRODUCTION, *(_section(*section) for section in SECTIONS), SNIPPETS, themes, ENVIRONMENT]
    )


def field_docs() -> dict[str, dict[str, str]]:
    """Return the docstring of each field of each class of the schema."""
    docs: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(schema)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        fields = docs.setdefault(node.name, {})
        for before, after in zip(node.body, node.body[1:], strict=False):
            match before, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    fields[name] = inspect.cleandoc(text)
    return docs


def _section(title: str, header: str, model: type[schema.Section]) -> str:
    lines = [f"## {title}", ""]
    if header:
        lines += [f"`{header}`", "", inspect.cleandoc(model.__doc__ or ""), ""]
    lines += ["| key | what | default | meaning |", "|---|---|---|---|"]
    docs = field_docs()[model.__name__]
    for name, field in model.model_fields.items():
        if (model is schema.Settings and name in _TABLES) or _is_section(field.annotation):
            continue
        cells = (f"`{name}`", _kind(field), _default(field), docs[name])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, schema.Section)


def _kind(field: FieldInfo) -> str:
    return ", ".join([_type_words(field.annotation), *_bounds(field)])


def _type_words(annotation: Any) -> str:
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type_words(inside[0])
    if origin in (types.UnionType, typing.Union):
        return _type_words(next(part for part in inside if part is not type(None)))
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inside)
    if origin is list:
        return "list of texts"
    if origin is dict:
        return "table of lists" if typing.get_origin(inside[1]) is list else "table of texts"
    return _WORDS[annotation]


def _constraints(field: FieldInfo) -> Iterator[Any]:
    yield from field.metadata
    for part in typing.get_args(field.annotation):
        for detail in typing.get_args(part)[1:] if typing.get_origin(part) is typing.Annotated else ():
            yield from detail.metadata if isinstance(detail, FieldInfo) else [detail]


def _bounds(field: FieldInfo) -> Iterator[str]:
    for detail in _constraints(field):
        match detail:
            case Ge(ge=bound):
                yield f"at least {bound}"
            case Gt(gt=bound):
                yield f"more than {bound}"
            case Le(le=bound):
                yield f"at most {bound}"


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "must be set"
    if field.default is None:
        return "not set"
    if field.default in ([], {}):
        return "empty"
    return f"`{tomli_w.dumps({'k': field.default}).removeprefix('k = ').strip()}`"


if __name__ == "__main__":
    sys.stdout.write(configuration_manual())
