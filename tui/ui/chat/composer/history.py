"""What was written before: going through it with up and down, and searching in it. Pure."""

from collections.abc import Iterable

from tui.core.text import fold

MOST = 1_000
"""Messages that are remembered."""


class InputHistory:
    """Messages in the order in which they were written, and the place between them."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._place = 0
        self._draft = ""

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def at_end(self) -> bool:
        """Whether what stands in the composer is new."""
        return self._place == len(self._texts)

    def add(self, text: str) -> bool:
        """Remember a message and go to the end; return whether it is another one than the last."""
        is_new = not self._texts or self._texts[-1] != text
        if is_new:
            self._texts.append(text)
            del self._texts[:-MOST]
        self._place = len(self._texts)
        self._draft = ""
        return is_new

    def begin_with(self, texts: Iterable[str]) -> None:
        """Put what was written in earlier runs before everything else."""
        from_end = len(self._texts) - self._place
        self._texts = [*texts, *self._texts][-MOST:]
        self._place = max(0, len(self._texts) - from_end)

    def older(self, draft: str) -> str | None:
        """Return the message before; `draft` is what stands in the composer. None: there is none."""
        if self._place == 0:
            return None
        if self.at_end:
            self._draft = draft
        self._place -= 1
        return self._texts[self._place]

    def newer(self) -> str | None:
        """Return the message after, at last the draft. None: there is none."""
        if self.at_end:
            return None
        self._place += 1
        return self._draft if self.at_end else self._texts[self._place]

    def find(self, query: str, most: int = 100) -> list[str]:
        """Return the messages that have `query` in them, whatever its case, the newest first, each once."""
        query = fold(query)
        found = dict.fromkeys(text for text in reversed(self._texts) if query in fold(text))
        return list(found)[:most]
