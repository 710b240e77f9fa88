"""docs/keys.md, made from the table of actions. Pure."""

from tui.ui.keys.action_table import Action, Context, key_words, of_context
from tui.ui.keys.slash_commands import ELSEWHERE, OWN

_HEAD = """# Keys

Made from the table in `tui/ui/keys/action_table.py` by `python -m tui.ui.dialogs.keys_page`, not
written by hand. The keys of an action can be changed under `[ui.keys]` in the configuration, by its
name in the last column:

```toml
[ui.keys]
"servers.restart" = "R"
"chat.new" = ["ctrl+n", "alt+n"]
```
"""

_COMMANDS = """
## Commands

Written at the start of a message. What is none by its form (`/etc/hosts`, `// a comment`) is sent as it is;
a word that no command has (`/lookup`) is told and stays. A space before it makes any of them a message.
"""

_PANES = """
## In every pane

| key | what it does |
| --- | --- |
| `up` `down` `k` `j` | one line up or down |
| `page up` `page down` | one page up or down |
| `home` `g` | to the start |
| `end` `G` | to the end, and follow it |
| `enter` `space` | unfold or fold what the mark stands on |
| `tab` | to the next pane |

## In the log of a server

| key | what it does |
| --- | --- |
| `/` | search while typing; `n` and `N` go to the next find and the one before |
| `w` | break long lines, or cut them |
| `c` | copy the whole log |
| `s` `r` | start or stop the server, restart it |
| `esc` `q` | end the search, close the log |
"""


def keys_page() -> str:
    """Return the page: one table for each place where keys work."""
    sections = "".join(_section(context) for context in Context if of_context(context))
    return _HEAD + sections + _commands() + _PANES


def _commands() -> str:
    written = [(f"/{spec.name} {spec.usage}".strip(), spec.help) for spec in OWN]
    lines = [_COMMANDS, "| command | what it does |", "| --- | --- |"]
    lines += [f"| `{what.replace('|', chr(92) + '|')}` | {words} |" for what, words in (*written, *ELSEWHERE)]
    return "\n".join(lines) + "\n"


def _section(context: Context) -> str:
    lines = [f"\n## {context.value}\n", "| key | what it does | name |", "| --- | --- | --- |"]
    lines += [_line(found) for found in of_context(context)]
    return "\n".join(lines) + "\n"


def _line(found: Action) -> str:
    keys = _code(found.keys)
    if found.anywhere:
        keys += f", anywhere {_code(found.anywhere)}"
    return f"| {keys} | {found.help} | `{found.id}` |"


def _code(keys: str) -> str:
    return " ".join(f"`{key_words(key)}`" for key in keys.split(","))


if __name__ == "__main__":
    import sys
    from pathlib import Path

    page = Path(__file__).parents[3] / "docs" / "keys.md"
    page.write_text(keys_page(), encoding="utf-8")
    sys.stdout.write(f"{page}\n")
