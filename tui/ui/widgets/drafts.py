"""What was typed in a prompt and given up with esc: the same prompt shows it again."""

from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App

from tui.core.language.translate import _

_DRAFTS: WeakKeyDictionary[App[Any], dict[Hashable, str]] = WeakKeyDictionary()


class Draft:
    """The text of a prompt, from one time that it is open to the next, until it is accepted or emptied.

    `prompt` is what two prompts have in common that are the same one; `value` is what it begins with.
    """

    def __init__(self, app: App[Any] | None = None, prompt: Hashable = "", value: str = "") -> None:
        self._drafts = _DRAFTS.setdefault(app, {}) if app is not None else {}
        self._prompt, self._value = prompt, value

    @property
    def text(self) -> str:
        """What the prompt shows when it is opened."""
        return self._drafts.get(self._prompt, self._value)

    def label(self, words: str) -> str:
        """Return the label of the prompt, with a mark if it shows a draft."""
        return f"{_('{prompt} (draft)', prompt=words) if self._prompt in self._drafts else words} ›"

    def keep(self, typed: str) -> None:
        """Keep what was typed, as the prompt closes without accepting it."""
        self.drop()
        if typed.strip() and typed != self._value:
            self._drafts[self._prompt] = typed

    def drop(self) -> None:
        """Forget what was typed, as the prompt closes with it."""
        self._drafts.pop(self._prompt, None)
