"""The log of a job of CI, in which some lines are commands: no text of a server or a file may be one.

GitHub Actions reads a line that begins with `::`, and `##[` anywhere in a line. Azure Pipelines reads
`##vso[`. Loads the standard library only.
"""

import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO, cast

_ENDS = r"\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
"""Characters that may end a line."""

_COMMAND = re.compile(rf"(?:\A|(?<=[{_ENDS}]))([^\S{_ENDS}]*):(?=:)|(#)(?=#(?:vso)?\[)")


def is_github(env: Mapping[str, str]) -> bool:
    """Return whether this is a step of GitHub Actions, or of a program that acts like it."""
    return env.get("GITHUB_ACTIONS") == "true"


def inert(text: str) -> str:
    """Return a text, from the start of a line, without commands: `::` becomes `: :`, `##[` becomes `# #[`."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}{found[2] or ':'} ", text)


class InertStream:
    """A stream for which each text that is written is made inert. `stream` is the one behind it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text that starts at the start of a line, or does not begin with a colon."""
        return self.stream.write(inert(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _reads_log(env: Mapping[str, str]) -> bool:
    return is_github(env) or bool(env.get("TF_BUILD"))


def inert_in_ci(text: str, env: Mapping[str, str]) -> str:
    """Return a text for a program that prints it itself, as pytest does: inert in CI."""
    return inert(text) if _reads_log(env) else text


def protect_log(env: Mapping[str, str]) -> None:
    """In CI, make everything inert that this process prints from now on."""
    if _reads_log(env):
        sys.stdout = cast("TextIO", InertStream(sys.stdout))
        sys.stderr = cast("TextIO", InertStream(sys.stderr))


def command_stream() -> TextIO:
    """Return the stream to give commands on: stderr, since stdout may be a pipe."""
    return sys.stderr.stream if isinstance(sys.stderr, InertStream) else sys.stderr
