"""The checklist: steps with what was seen and what to do, and their texts and JSON. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tui.commands.table import TEXT_CELLS, Columns, lines_at
from tui.core.language.translate import message, n_message
from tui.core.text import capitalized, clean_line
from tui.core.units import duration

NAME_CELLS = 13
HOST = "host"
"""The name of steps about another host, which are always shown."""

_PART = "    "
SEEN, FIX = 600, 400
"""Maximum characters of what was seen, and of what to do."""


class State(StrEnum):
    """How a step ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


MARKS = {State.OK: "✓", State.WARNING: "!", State.FAILED: "✗"}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the checklist: what was `seen`, and what to do (`fix`) if that is not good.

    `said` are both as they were before they were redacted and cleaned, for a screen in another language.
    """

    name: str
    seen: str = ""
    fix: str = ""
    state: State = State.OK
    ms: float | None = None
    said: tuple[str, str] = ("", "")

    @classmethod
    def failed(cls, name: str, seen: str, fix: str = "") -> "Step":
        return cls(name, seen, fix, State.FAILED)

    @classmethod
    def warning(cls, name: str, seen: str, fix: str = "") -> "Step":
        return cls(name, seen, fix, State.WARNING)


@dataclass(slots=True)
class Checklist:
    """The steps of one server.

    `launch` is its command or address, `rest` are the steps that were not reached, `tools` its tools by name.
    """

    server: str
    launch: str = ""
    steps: list[Step] = field(default_factory=list)
    rest: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def failure(self) -> Step | None:
        """The first failed step."""
        return next((one for one in self.steps if one.state is State.FAILED), None)

    @property
    def warnings(self) -> Sequence[Step]:
        return [one for one in self.steps if one.state is State.WARNING]

    @property
    def verdict(self) -> str:
        return self.verdict_with(str)

    def verdict_with(self, named: Callable[[str], str]) -> str:
        """Return the verdict with the name of the failed step as `named` returns it."""
        if (failure := self.failure) is not None:
            return message("Failed at {step}.", step=named(failure.name))
        count = len(self.warnings)
        return (
            n_message("Nothing failed, {n} warning.", "Nothing failed, {n} warnings.", count)
            if count
            else message("Nothing wrong.")
        )

    def as_object(self) -> dict[str, Any]:
        failure = self.failure
        steps = [
            {
                "name": one.name,
                "state": one.state.value,
                "seen": one.seen,
                "fix": one.fix or None,
                "ms": None if one.ms is None else round(one.ms, 1),
            }
            for one in self.steps
        ]
        return {
            "server": self.server,
            "launch": self.launch,
            "ok": failure is None,
            "failed": failure and failure.name,
            "steps": steps,
            "not_reached": list(self.rest),
        }


def cleaned(step: Step) -> Step:
    """Return a step whose texts can be shown on one line each: a clause, and a sentence."""
    fix = clean_line(step.fix, FIX).rstrip(". ")
    fix = f"{capitalized(fix)}." if fix else ""
    return replace(step, seen=clean_line(step.seen, SEEN).rstrip(". "), fix=fix)


def step_lines(step: Step, cells: int = 0) -> Iterator[str]:
    """Yield the lines of a step, and of what to do, each of at most `cells` unless that is 0."""
    columns = Columns((2 + NAME_CELLS, TEXT_CELLS), (0, 1), cells, indent="  ")
    took = f" ({duration(step.ms)})" if step.ms is not None and step.ms >= 100 else ""
    yield from columns.lines((f"{MARKS[step.state]} {step.name}", f"{step.seen}{took}".lstrip()))
    if step.fix:
        yield from columns.lines(("", f"→ {step.fix}"))


def heading(found: Checklist) -> str:
    """Return the name and the command or address of a server."""
    return f"{clean_line(found.server, 64)}   {clean_line(found.launch, 200)}".rstrip()


def ending(found: Checklist, cells: int = 0) -> Iterator[str]:
    """Yield which steps were not reached, and the verdict. `cells` as for `step_lines`."""
    if found.rest:
        yield from lines_at(f"· not reached:  {', '.join(found.rest)}", cells, "  ")
    yield from lines_at(found.verdict, cells)


def short_columns(width: int, cells: int = 0) -> Columns:
    """Return the columns of a summary. `width` is that of the names, `cells` as for `step_lines`."""
    head = ("  server", "result")
    return Columns((max(2 + width, len(head[0])), TEXT_CELLS), (0, 1), cells, head=head)


def short_lines(found: Checklist, columns: Columns) -> Iterator[str]:
    """Yield the lines of a server, and those of what failed first, or of the warnings."""
    failure, name = found.failure, clean_line(found.server, 64)
    if failure is not None:
        yield from columns.lines((f"✗ {name}", f"{failure.name}: {failure.seen}"))
        yield from lines_at(f"→ {failure.fix}", columns.cells, _PART) if failure.fix else ()
    else:
        seen = {one.name: one.seen for one in found.steps}
        told = [seen.get("lists", ""), seen.get("tokens", "").partition(" for ")[0]]
        yield from columns.lines((f"{'!' if found.warnings else '✓'} {name}", ", ".join(filter(None, told))))
    for one in found.steps:
        of_host = one.name == HOST and one.state is not State.OK
        if one is not failure and (of_host or (failure is None and one.state is State.WARNING)):
            said = f"{one.name}: {one.seen}{f' → {one.fix}' if one.fix else ''}"
            yield from lines_at(said, columns.cells, _PART)
