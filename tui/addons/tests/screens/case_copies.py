"""Copies a case of a test file: its request as a command or a script, the case itself, or how to run it."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App

from tui.addons.tests.run.repeat import RepeatCommand, uses_saved
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.addons.tests.suite.case_text import case_toml, turn_toml
from tui.core.language.translate import _
from tui.core.secrets.walk import redacted
from tui.core.servers import ServerSpec
from tui.core.text import quoted_name
from tui.runtime.copies.origin import Origin
from tui.runtime.copies.request import config_options, copied_server
from tui.traffic.copies.request import CopiedRequest
from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


def copy_case(app: App[None], runtime: "Runtime", suite: Suite, what: object, name: str) -> None:
    """Ask how to copy a case, a turn case or a contract of a suite, and copy it."""
    options = config_options(runtime)
    run = ["mcptui", "test", os.path.relpath(suite.path), "-k", name, *options]
    others: dict[str, Callable[[], str]] = {"mcptui test …": partial(shlex.join, run)}
    if isinstance(what, Case):
        others[_("test case")] = partial(case_toml, what)
    elif isinstance(what, TurnCase):
        others[_("test case")] = partial(turn_toml, what)
    request = request_of(runtime, suite, what, options) if isinstance(what, Case) else None
    ask_to_copy(app, ToCopy(quoted_name(name, 60), request, others=others))


def request_of(runtime: "Runtime", suite: Suite, case: Case, options: Sequence[str]) -> CopiedRequest | None:
    """Return the request of a case, None if its file names no server, or another case saves its values."""
    if suite.server is None or uses_saved(case):
        return None
    server, redact = suite.server, runtime.redactor.redact
    made = RepeatCommand(options=options).request(suite, ServerSpec(server.name or "server"), case)
    if server.name and (status := runtime.host.find(server.name)) is not None:
        origin = Origin.of_spec(status.spec, os.getcwd(), configured=True)
        made = replace(made, server=copied_server(origin, redact, runtime))
    return replace(made, params=redacted(dict(made.params), redact))
