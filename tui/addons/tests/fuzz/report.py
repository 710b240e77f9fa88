"""The output of `mcptui test --fuzz`: text for a person, or JSON lines.

With `--json`, each line is an object with a `type`:

- `finding`: `tool`, `fault` (crash, hang, no-answer, internal-error, exception, stray-output,
  invalid-result, protocol, large-answer or accepted), `rule` (of `accepted` the keyword of the schema:
  required, type, minimum, maximum, multiple, too-short, too-long, unique, choice, pattern, unknown or
  schema; of `protocol` the code of the linter; of crashes and exceptions the line of code, if it is known,
  after the name of an exception that a response has), `path` (of `accepted` the argument, such as `size`),
  `problem` (a sentence), `arguments`, `invalid` (why they are invalid, or ""), `repeats` (whether the call
  alone causes it in a new process) and `repeat` (a command).
- `tool`, after its findings: `tool`, `calls`, `valid` (calls with valid arguments), `findings`, `more` (how
  many findings are only counted), `seconds`, `unfinished` (why not all arguments were tried, or "").
- `fuzz`, last: `seed`, `tools`, `calls`, `findings`, `seconds`, `interrupted`, `kept` (the path of the file,
  or null).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tui.addons.tests.fuzz.findings import Fault
from tui.addons.tests.fuzz.tool_fuzz import Finding, ToolFuzz
from tui.addons.tests.run.terminal import Paint, wrapped, wrapped_command
from tui.commands.table import json_line
from tui.core.text import clean_line, compact
from tui.core.units import duration, plural

WORDS: Mapping[Fault, str] = {
    Fault.CRASH: "crash",
    Fault.HANG: "hang",
    Fault.NO_ANSWER: "no answer",
    Fault.INTERNAL_ERROR: "internal error (-32603)",
    Fault.EXCEPTION: "unhandled exception",
    Fault.STRAY_OUTPUT: "output on stdout",
    Fault.INVALID_RESULT: "result does not match outputSchema",
    Fault.PROTOCOL: "protocol violation",
    Fault.LARGE_ANSWER: "large answer",
    Fault.ACCEPTED: "invalid arguments accepted",
}
NOT_ALONE = "only after earlier calls: this call alone does not cause it in a new process"
MOST_CHARS = 400
LONG = 60
"""Characters of a text, and items of an array, that are shown as they are."""

INDENT = "    "


def shown_arguments(arguments: Mapping[str, Any]) -> str:
    """Return arguments in one line, with long texts and arrays as a person would describe them."""
    members = (f"{compact(name, LONG)}: {_shown(value)}" for name, value in arguments.items())
    return clean_line(f"{{{', '.join(members)}}}", MOST_CHARS)


def _shown(value: Any) -> str:
    if isinstance(value, str | list) and (size := len(value)) > LONG:
        if all(one == value[0] for one in value):
            part = compact(value[:1] if isinstance(value, list) else value[0], LONG)
            return f"{part} × {size:,}"
        return f"{compact(value, LONG)} ({plural(size, 'character' if isinstance(value, str) else 'item')})"
    depth, inner = 0, value
    while isinstance(inner, list) and len(inner) <= 1:
        depth, inner = depth + 1, inner[0] if inner else None
    if depth > LONG // 4:
        return f"array in {depth:,} levels"
    text = json.dumps(value, ensure_ascii=False)
    return (text if text.isprintable() else json.dumps(value))[:MOST_CHARS]


class TextReport:
    """Writes text. `width` breaks lines, if it is not None."""

    def __init__(self, write: Callable[[str], object], *, colored: bool, width: int | None) -> None:
        self._write = write
        self._paint = Paint(colored)
        self._width = width

    def finding(self, finding: Finding, command: str) -> None:
        found = finding.found
        self._line(f"{clean_line(finding.tool, 80)}: {WORDS[found.fault]}", "bad bold")
        self._line(f"{INDENT}{shown_arguments(finding.arguments)}")
        self._line(f"{INDENT}{clean_line(found.said, MOST_CHARS)}")
        if not finding.repeats:
            self._line(f"{INDENT}{NOT_ALONE}", "warn")
        line = f"{INDENT}{command}"
        lines = [line] if self._width is None else wrapped_command(line, self._width, INDENT * 2)
        self._write("".join(f"{self._paint(one, 'dim')}\n" for one in lines))

    def tool(self, fuzz: ToolFuzz, seconds: float) -> None:
        count = len(fuzz.findings)
        found = plural(count, "finding") if count else "no findings"
        found += f" and {len(fuzz.more)} more of these kinds" if fuzz.more else ""
        calls = f"{plural(fuzz.calls, 'call')} ({fuzz.valid} valid)"
        unfinished = f". Not all arguments were tried: {fuzz.unfinished}" if fuzz.unfinished else ""
        text = f"{clean_line(fuzz.tool.name, 80)}: {found}, {calls}, {duration(seconds * 1000)}{unfinished}"
        self._line(text, "" if count else "ok")

    def end(self, summary: Mapping[str, Any]) -> None:
        tools, calls = plural(summary["tools"], "tool"), plural(summary["calls"], "call")
        found = plural(summary["findings"], "finding") if summary["findings"] else "no findings"
        took = duration(summary["seconds"] * 1000)
        self._line(f"{found} in {tools}, {calls}, {took}. Same arguments again: --seed {summary['seed']}")

    def _line(self, text: str, style: str = "") -> None:
        lines = [text] if self._width is None else wrapped(text, self._width, INDENT)
        self._write("".join(f"{self._paint(line, style)}\n" for line in lines))


class JsonReport:
    """Writes JSON lines."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def finding(self, finding: Finding, command: str) -> None:
        found = finding.found
        self._line(
            "finding",
            tool=finding.tool,
            fault=str(found.fault),
            rule=found.rule,
            path=found.path,
            problem=found.said,
            arguments=finding.arguments,
            invalid=finding.problem,
            repeats=finding.repeats,
            repeat=command,
        )

    def tool(self, fuzz: ToolFuzz, seconds: float) -> None:
        self._line(
            "tool",
            tool=fuzz.tool.name,
            calls=fuzz.calls,
            valid=fuzz.valid,
            findings=len(fuzz.findings),
            more=len(fuzz.more),
            seconds=round(seconds, 3),
            unfinished=fuzz.unfinished,
        )

    def end(self, summary: Mapping[str, Any]) -> None:
        self._line("fuzz", **summary)

    def _line(self, kind: str, **members: Any) -> None:
        self._write(json_line({"type": kind, **members}) + "\n")
