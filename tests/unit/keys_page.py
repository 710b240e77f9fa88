"""Writes docs/keys.md from the table of actions; a test keeps both in sync."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tui.ui.keys.action_table import Action, Context, of_context
from tui.ui.keys.bindings import key_words
from tui.ui.keys.slash_commands import ELSEWHERE, OWN

PAGE = Path(__file__).parents[2] / "docs" / "keys.md"

_HEAD = """# Keys

<!-- Written by `python -m tests.unit.keys_page`. Edit tui/ui/keys/action_table.py instead. -->

`f1` shows the same keys in the app, those of the current screen first. To change keys, use the names in
the last column in the [configuration](configuration.md#theme-and-keys):

```toml
[ui.keys]
"servers.restart" = "ctrl+r"
"chat.new" = ["ctrl+n", "alt+n"]
```

An answer to a question (`question.*`, `ask.*`) cannot be bound to a key that scrolls, such as `enter`,
or to one that gives another answer by default.
"""

_COMMANDS = """
## Commands

A command is at the start of a message. A message that begins with `/` but is not in the form of a command
(`/etc/hosts`, `// a comment`) is sent unchanged. An unknown command (`/lookup`) is not sent. To send it as a
message, put a space before it.
"""

_PANES = """
## In every pane

| key | action |
| --- | --- |
| `up` `down` `k` `j` | Scroll by a line |
| `page up` `page down` | Scroll by a page |
| `home` `g` | Go to the start |
| `end` `G` | Go to the end and follow |
| `enter` `space` | Expand or collapse |
| `tab` | Focus the next pane |
"""


def keys_page() -> str:
    """Return the page: one table per context."""
    sections = (
        _table(
            f"\n## {context.value}\n",
            ("key", "action", "name"),
            ((_keys_of(found), found.help, f"`{found.id}`") for found in of_context(context)),
        )
        for context in Context
        if of_context(context)
    )
    written = [(f"/{spec.name} {spec.usage}".strip(), spec.help) for spec in OWN]
    commands = ((f"`{what.replace('|', chr(92) + '|')}`", words) for what, words in (*written, *ELSEWHERE))
    return "".join((_HEAD, *sections, _table(_COMMANDS, ("command", "action"), commands), _PANES))


def _table(head: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = (columns, ["---"] * len(columns), *lines)
    return "\n".join((head, *(f"| {' | '.join(row)} |" for row in rows))) + "\n"


def _keys_of(found: Action) -> str:
    return _code(found.keys) + (f", anywhere {_code(found.anywhere)}" if found.anywhere else "")


def _code(keys: str) -> str:
    return " ".join(f"`{key_words(key)}`" for key in keys.split(","))


if __name__ == "__main__":
    PAGE.write_text(keys_page(), encoding="utf-8")
