"""The report of checklists for an issue."""

from collections.abc import Iterator, Mapping, Sequence

from tui.addons.doctor.steps import Checklist, ending, heading, step_lines
from tui.core.secrets.redact import Redactor
from tui.runtime.crash_report import issue_report

_HEAD = """\
mcptui doctor

Please read this file before you send it. Known secrets are replaced by [redacted:NAME], but what servers
said is quoted.
"""


def checklist_report(
    found: Sequence[Checklist], *, during: str, env: Mapping[str, str], redactor: Redactor
) -> str:
    """Return the text to attach to an issue."""
    parts = [(heading(one), [*_lines(one)]) for one in found]
    return issue_report(_HEAD, parts, during=during, env=env, redactor=redactor)


def _lines(found: Checklist) -> Iterator[str]:
    for step in found.steps:
        yield from step_lines(step)
    yield from ending(found)
