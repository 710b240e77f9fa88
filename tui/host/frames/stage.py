"""Where messages are held, changed or lost on purpose, on their way between a session and its server.

A transport or a tap with stages hands them each message, and passes on what they give back. What is recorded
as a message is what the server sent or was sent; a stage records by an event what it made of it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from tui.core.traffic import Direction

PassOn = Callable[[Direction, bytes], None]
"""Takes a message on its way: OUT to the server, IN to the session."""


class Stage(Protocol):
    """Something that messages pass. Its methods neither raise nor wait."""

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        """Take a message: a line without its end, the body of a request, or the data of an event.

        `pass_on` may be called at once, later, several times or never, also in the other direction.
        """

    def release(self) -> None:
        """Pass on everything that waits, because the connection or the program ends."""


def through(stages: Sequence[Stage], pass_on: PassOn) -> PassOn:
    """Return what hands a message to the stages in their order, the last of which gives it to `pass_on`.

    What comes in passes them in the other order.
    """
    after = before = pass_on
    for stage in reversed(stages):
        after = partial(_handed, stage, after)
    for stage in stages:
        before = partial(_handed, stage, before)

    def enter(direction: Direction, raw: bytes) -> None:
        (before if direction is Direction.IN else after)(direction, raw)

    return enter


def _handed(stage: Stage, pass_on: PassOn, direction: Direction, raw: bytes) -> None:
    stage.take(direction, raw, pass_on)
