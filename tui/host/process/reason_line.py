"""Finds the line of a server's log that says why it ended. Pure.

Package runners end their output with advice: npm with the path of a log, docker with "Run 'docker run
--help'", Node.js with its version. The line with the reason is above.
"""

import re
from collections.abc import Sequence

LOOKED_AT = 60
"""Number of last lines that are searched for the reason."""

_NPM = re.compile(r"npm (?:error|ERR!) ?(.*)")
_NPM_FACT = re.compile(
    r"(?:code|syscall|errno|path|dest|command|cwd|signal|A complete log|Log files|\d+\s*$)"
)
_ADVICE = re.compile(
    r"npm (?:notice|warn|WARN|http|info)\b|Run '.*--help'|See '.*--help'|For more information,? try|"
    r"Node\.js v\d|hint:|note:|\s*\}$|\s+at \S|Usage:"
)
_ERROR = re.compile(
    r"(?i:(?:[\w./-]+: )?(?:error|fatal|panic)\b(?:\[\w+\])?:|(?:[\w./-]+: )?error (?:response|during)\b)|"
    r"(?:Uncaught )?(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?(?::|$)|"
    r"\w+: (?:Cannot|Unable to|Unknown|invalid)\b"
)
_UV_CAUSE = "╰─▶"


def reason_line(lines: Sequence[str]) -> str:
    """Return the line that says why a process ended, else the last line, "" without lines."""
    recent = list(lines[-LOOKED_AT:])
    return _npm(recent) or _uv(recent) or _error(recent) or (recent[-1] if recent else "")


def _npm(lines: Sequence[str]) -> str:
    """Return npm's first line with text: "npm error 404 Not Found - GET …"; its code if there is none."""
    said = [(line, found[1]) for line in lines if (found := _NPM.match(line))]
    codes = [index for index, (_, words) in enumerate(said) if words.startswith("code ")]
    told = said[codes[-1] :] if codes else said
    for line, words in told:
        if words.strip() and not _NPM_FACT.match(words.strip()):
            return line
    return told[0][0] if codes else ""


def _uv(lines: Sequence[str]) -> str:
    """Return uv's cause, which it wraps over several lines."""
    starts = [index for index, line in enumerate(lines) if line.lstrip().startswith(_UV_CAUSE)]
    if not starts:
        return ""
    first = lines[starts[-1]]
    indent = len(first) - len(first.lstrip()) + len(_UV_CAUSE)
    words = [first.lstrip().removeprefix(_UV_CAUSE).strip()]
    for line in lines[starts[-1] + 1 :]:
        if len(line) - len(line.lstrip()) < indent:
            break
        words.append(line.strip())
    return " ".join(words)


def _error(lines: Sequence[str]) -> str:
    """Return the last line that names an error, unless more text follows it."""
    relevant = [line for line in lines if not _ADVICE.match(line)]
    if not relevant or _ERROR.match(relevant[-1]):
        return relevant[-1] if relevant else ""
    after = _after_traceback(lines)
    if after:
        return after
    # Node.js prints its error above the stack and the fields of the error object.
    for index in range(len(relevant) - 1, -1, -1):
        if _ERROR.match(relevant[index]) and all(
            line.startswith((" ", "}")) for line in relevant[index + 1 :]
        ):
            return relevant[index]
    return relevant[-1] if relevant[-1] != lines[-1] else ""


def _after_traceback(lines: Sequence[str]) -> str:
    """Return the line that ends the last traceback of Python, or ""."""
    starts = [index for index, line in enumerate(lines) if line.startswith("Traceback (most recent call")]
    for line in lines[starts[-1] + 1 :] if starts else ():
        if not line.startswith(" "):
            return line
    return ""
