"""The command that repeats a case: `mcptui call …`, or `mcptui test` for what a single call cannot repeat."""

import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.addons.tests.suite.case import Case, RequestKind, Suite
from tui.addons.tests.suite.references import has_references
from tui.core.servers import ServerSpec

VERBS = {
    RequestKind.TOOL: "call",
    RequestKind.READ: "read",
    RequestKind.PROMPT: "prompt",
    RequestKind.LIST: "list",
}


MOST_CHARS = 4_000
"""Maximum characters of a command with the arguments of its call."""


@dataclass(frozen=True, slots=True)
class RepeatCommand:
    """What the commands of a run have in common.

    Attributes:
        live: the command after `--`, or ().
        server: the NAME of `--server`, or "".
        options: further words, such as `--config FILE`, for commands that use the configuration.
        file_of: returns the value of `--args` for a JSON text, which may name a file with it.
    """

    live: Sequence[str] = ()
    server: str = ""
    options: Sequence[str] = ()
    file_of: Callable[[str], str] = str

    def of(
        self, suite: Suite, spec: ServerSpec, case: Case, redact: Callable[[str], str], era: str = ""
    ) -> str:
        """Return the command, quoted for a shell, for the server of a suite as it runs.

        If `redact` finds a secret in it, it runs the case of the file, where the secret is.
        """
        if not (case.lose or case.then or case.answers or _uses_saved(case)):
            line = self._call(suite, spec, case, era)
            if len(line) <= MOST_CHARS and redact(line) == line:
                return line
        return redact(self._test(suite.path, case, era))

    def _call(self, suite: Suite, spec: ServerSpec, case: Case, era: str) -> str:
        verb = VERBS[case.request.kind]
        server = suite.server
        head = list[str]()
        if self.server or (server is not None and server.name and not self.live):
            return _joined(verb, [self.server or spec.name, *self._request(case), *self.options])
        if self.live:
            return _joined(verb, [*self._request(case), *_era(era), "--", *self.live])
        assert server is not None
        if server.transport and server.transport not in ("stdio", "http"):
            head += ["--transport", server.transport]
        head += _era(era or server.era)
        if server.url:
            for name, value in server.headers.items():
                head += ["--header", f"{name}: {value}"]
            words = [*self._request(case), *head]
            return f"mcptui {verb} {_expanded(server.url)} {shlex.join(words)}"
        for name, value in server.env.items():
            head += ["--env", f"{name}={value}"]
        line = _joined(verb, [*self._request(case), *head, "--", *server.command])
        folder = os.path.normpath(suite.path.absolute().parent / server.cwd)
        is_here = os.path.realpath(folder) == os.path.realpath(os.curdir)
        return line if is_here else f"cd {shlex.quote(folder)} && {line}"

    def _request(self, case: Case) -> Iterator[str]:
        request = case.request
        if request.kind is RequestKind.LIST:
            yield "resources" if request.name == "templates" else request.name
            return
        yield request.name
        if request.kind is RequestKind.PROMPT:
            yield from (f"{name}={value}" for name, value in request.arguments.items())
        elif request.arguments or case.expected.error:
            if request.kind is RequestKind.TOOL:
                yield from ("--args", self.file_of(json.dumps(request.arguments)))
                yield from ("--unchecked",) if case.expected.error else ()

    def _test(self, path: Path, case: Case, era: str) -> str:
        words = ["mcptui", "test", str(path), "-k", case.name]
        words += ["--era", era] if era else []
        words += ["--server", self.server] if self.server else []
        words += self.options
        return shlex.join([*words, *(("--", *self.live) if self.live else ())])


def _joined(verb: str, words: Sequence[str]) -> str:
    return shlex.join(["mcptui", verb, *words])


def _era(era: str) -> list[str]:
    return ["--era", era] if era and era != "auto" else []


def _uses_saved(case: Case) -> bool:
    """Return whether a case needs a value that another one saves."""
    expected, request = case.expected, case.request
    return has_references(request.name, request.arguments, expected.text, expected.result, expected.content)


def _expanded(url: str) -> str:
    """Return a URL quoted for a shell, which fills in its variables."""
    if "${" not in url:
        return shlex.quote(url)
    pieces = (f"\\{char}" if char in '"\\`' else char for char in url)
    return f'"{"".join(pieces)}"'
