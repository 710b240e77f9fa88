"""The command that repeats a case: `mcptui call …`, or `mcptui test` for what a single call cannot repeat."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.addons.tests.suite.case import Case, Suite, as_sent
from tui.addons.tests.suite.references import has_references
from tui.core.servers import ServerSpec
from tui.settings.references import escaped
from tui.traffic.copies.request import CopiedRequest, CopiedServer, Template
from tui.traffic.copies.shell import mcptui, mcptui_words

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
        if not (case.lose or case.then or case.answers or uses_saved(case)):
            request = self.request(suite, spec, case, era)
            line = mcptui(request, Template(), self.file_of) if mcptui_words(request) is not None else ""
            if line and len(line) <= MOST_CHARS and redact(line) == line:
                return line
        return redact(self._test(suite.path, case, era))

    def request(self, suite: Suite, spec: ServerSpec, case: Case, era: str = "") -> CopiedRequest:
        """Return the request of a case, and how its server is reached. Its texts are as in the file."""
        server, method_params = suite.server, as_sent(case.request)
        if self.server or (server is not None and server.name and not self.live):
            reached = CopiedServer(self.server or spec.name, is_configured=True, options=tuple(self.options))
        elif self.live:
            reached = CopiedServer(spec.name, command=tuple(map(escaped, self.live)), era=_era(era))
        else:
            assert server is not None
            folder = os.path.normpath(suite.path.absolute().parent / server.cwd)
            is_here = os.path.realpath(folder) == os.path.realpath(os.curdir)
            reached = CopiedServer(
                spec.name,
                command=tuple(map(escaped, server.command)),
                env=server.env,
                cwd="" if is_here or server.url else folder,
                url=server.url,
                headers=server.headers,
                transport=server.transport or ("http" if server.url else "stdio"),
                era=_era(era or server.era),
            )
        return CopiedRequest(reached, *method_params, is_unchecked=bool(case.expected.error))

    def _test(self, path: Path, case: Case, era: str) -> str:
        words = ["mcptui", "test", str(path), "-k", case.name]
        words += ["--era", era] if era else []
        words += ["--server", self.server] if self.server else []
        words += self.options
        return shlex.join([*words, *(("--", *self.live) if self.live else ())])


def _era(era: str) -> str:
    return "" if era == "auto" else era


def uses_saved(case: Case) -> bool:
    """Return whether a case needs a value that another one saves."""
    expected, request = case.expected, case.request
    return has_references(request.name, request.arguments, expected.text, expected.result, expected.content)
