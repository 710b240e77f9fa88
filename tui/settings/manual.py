"""Describes the configuration from the docstrings of the schema: docs/configuration.md and a JSON Schema.

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

- `mcptui config path` prints the path of the file. `--config FILE` or `MCPTUI_CONFIG` select another one.
- `mcptui config init` writes a commented starter file and a JSON Schema that editors use to validate and
  complete the file (VS Code with Even Better TOML, Helix and Neovim with Taplo). After an update,
  `mcptui config schema` prints the current schema.
- `mcptui config check` prints all errors and warnings. `mcptui config show` prints the effective
  configuration with masked secrets.
- `mcptui config learned` prints what model endpoints have rejected. `--forget` clears it.
- `mcptui config import FILE` imports the servers of [another host](servers.md#from-another-host). mcptui can
  also use such a file directly: `mcptui --config mcp.json`.

The file is TOML. An error disables only the entry that contains it. mcptui starts even if the file cannot be
read. When mcptui writes to the file (a theme, tools that you always allow, imported servers), it changes one
place and keeps your comments. It never overwrites a file that it cannot read. Only you can read the file.

In every string, `${VAR}` is replaced by an environment variable, and `${VAR:-default}` by the default if the
variable is missing or empty. `${file:PATH}` is replaced by the content of a file, such as a token. A relative
path is relative to the folder of the configuration. `$${` is a literal `${`. `${MCPTUI_PYTHON}` is the Python
that runs mcptui. Keep keys and passwords in the environment or the keychain.
"""

THEMES = """\
## Custom themes

A theme is a file `themes/NAME.toml` in the folder of the default configuration file. Each role is required,
as `#rgb` or `#rrggbb`, or all of them as ANSI names such as `ansi_bright_blue` or `ansi_default`:

{roles}.

`dark` is `true` or `false`, `syntax` is a Pygments style for code, `about` is the description in the picker.
"""

SNIPPETS = """\
## Snippets

`[snippets]`

Texts that `/NAME` inserts into your message. You can edit the message before you send it. `{file}` is a
placeholder: `/review file=app.py`, or just `/review app.py`. `{{` and `}}` are literal braces. Braces that do
not contain a name are unchanged.

```toml
[snippets]
review = "Review {file}. List bugs only, with line numbers."
brief = "Answer in at most three sentences."
```
"""

ENVIRONMENT = """\
## Environment variables

Each of these switches, set to `1`, turns off one optimization. You should never need one. If one helps,
please report a bug.

| switch | optimization that it turns off | when to try it |
|---|---|---|
| `MCPTUI_WHOLE_ESCAPES` | Escape sequences without effect are omitted. | Colors are wrong. |
| `MCPTUI_CALLS_BY_SDK` | Tool calls bypass the MCP SDK. | A tool call fails. |
| `MCPTUI_WHOLE_LIBRARIES` | Libraries are loaded partially. | A newer version of a library fails to load. |

| other variable | description |
|---|---|
| `MCPTUI_CONFIG` | Configuration file. `--config` overrides it. |
| `MCPTUI_PYTHON` | Value of `${MCPTUI_PYTHON}` in the configuration. Default: the Python that runs mcptui. |
| `MCPTUI_TRACEBACK` | `1` prints the report of an internal error on stderr as well. |
| `MCPTUI_NOTES_FILE` | File of the sample server `notes`. |
| `MCPTUI_OWNER` | Set by mcptui in its servers, to find orphans of a killed mcptui. |
"""

SECTIONS: tuple[tuple[str, str, type[schema.Section]], ...] = (
    ("Top level", "", schema.Settings),
    ("Models", "[models.NAME]", schema.ModelSettings),
    ("Servers", "[servers.NAME]", schema.ServerSettings),
    ("Sign-in to one server", "[servers.NAME.oauth]", schema.ServerOAuthSettings),
    ("Limits", "[limits]", schema.LimitSettings),
    ("Approvals", "[approvals]", schema.ApprovalSettings),
    ("Traffic", "[traffic]", schema.TrafficSettings),
    ("Sign-in", "[oauth]", schema.OAuthSettings),
    ("Registry", "[registry]", schema.RegistrySettings),
    ("Theme and keys", "[ui]", schema.UiSettings),
)

_WORDS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
_TABLES = ("models", "servers", "limits", "approvals", "traffic", "ui", "snippets")


def configuration_manual() -> str:
    """Return the text of docs/configuration.md."""
    roles = ", ".join(f"`{role}`" for role in ROLES)
    themes = THEMES.format(roles=textwrap.fill(roles, 110))
    return "\n".join(
        [INTRODUCTION, *(_section(*section) for section in SECTIONS), SNIPPETS, themes, ENVIRONMENT]
    )


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of config.toml, for validation and completion in editors."""
    found = schema.Settings.model_json_schema()
    docs = field_docs()
    for title, section in [("Settings", found), *found["$defs"].items()]:
        section["properties"] = {
            name: _described(field, docs[title][name]) for name, field in section["properties"].items()
        }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "mcptui"}


def _described(field: dict[str, Any], doc: str) -> dict[str, Any]:
    """Return the schema of a field with its docstring, without null, which TOML does not have."""
    choices = [choice for choice in field.pop("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        field = choices[0] | field
    elif choices:
        field["anyOf"] = [_for_toml(choice) for choice in choices]
    if field.get("default", 0) is None or "$ref" in field:
        field.pop("default", None)
    field.pop("title", None)
    return {"description": doc, **_for_toml(field)}


def _for_toml(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value, with bounds by their JSON Schema names.

    A value that is not a string may be written as a string with an environment variable.
    """
    field = {_BOUNDS.get(name, name): value for name, value in field.items()}
    if field.get("type") in ("integer", "number", "boolean"):
        kept = {name: field.pop(name) for name in ("default",) if name in field}
        return {**kept, "anyOf": [field, {"type": "string", "pattern": r"\$\{"}]}
    return field


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
    lines += ["| key | type | default | description |", "|---|---|---|---|"]
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
        return ", ".join(f"`{value}`" for value in inside)
    if origin is list:
        return "list of strings"
    if origin is dict:
        if inside[1] is Any:
            return "table"
        return "table of lists" if typing.get_origin(inside[1]) is list else "table of strings"
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
        return "required"
    if field.default is None:
        return "not set"
    if field.default in ([], {}):
        return "empty"
    return f"`{tomli_w.dumps({'k': field.default}).removeprefix('k = ').strip()}`"


if __name__ == "__main__":
    sys.stdout.write(configuration_manual())
