"""Plain mode without a process: what it writes is a text, and what the user types is a list."""

import io
from collections import deque

from tui.addons.plain.asking import Asking
from tui.addons.plain.transcript import Transcript


class TypedLines:
    """Stands for `Inputs`: each question takes the next line; None at the end."""

    def __init__(self, *lines: str) -> None:
        self._lines = deque(lines)

    async def answer(self) -> str | None:
        return self._lines.popleft() if self._lines else None


class Stage:
    """A transcript, and questions that the typed lines answer."""

    def __init__(self, *typed: str) -> None:
        self.out = io.StringIO()
        self.transcript = Transcript(self.out)
        self.asking = Asking(self.transcript, TypedLines(*typed))  # type: ignore[arg-type]

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()
