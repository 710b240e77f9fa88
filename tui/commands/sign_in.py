"""`mcptui login` and `mcptui logout`: sign in to a remote server on the terminal, and delete its tokens."""

import argparse
import asyncio
import os
import shlex

from tui.commands.headless import Interrupt, headless
from tui.commands.permission.terminal_approver import YES_OR_NO, asked_line, yes_or_no
from tui.commands.run_output import print_error
from tui.core.addons import brought, missing
from tui.core.errors import ConfigError, McptuiError, ServerError, UsageError
from tui.core.permission.consent import ConsentQuestion
from tui.core.questions import Action, AddressQuestion, Question, QuestionAnswer, Questioner
from tui.core.secrets.identity_provider import account_of
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import plural
from tui.core.web import has_browser, web_address
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.host_server import host_server
from tui.settings.new_server import is_address, unconfigured_server

FAILED = 5


def sign_in(args: argparse.Namespace) -> int:
    """Run `mcptui login` or `mcptui logout` and return its exit code."""
    options, server = Options.from_args(args), args.server
    given = unconfigured_server([server]) if is_address(server) else host_server(options.config, server)
    if given is not None:
        options, server = options.with_server(*given), given[0].name

    async def prepared(runtime: Runtime, _: Interrupt) -> int:
        await runtime.ready(start=False, model=False, session=False)
        runtime.require_usable()
        return await (_login if args.command == "login" else _logout)(runtime, server)

    try:
        return headless(options, prepared, questioner=TerminalQuestioner())
    except (UsageError, ConfigError):
        raise
    except McptuiError as error:
        print_error(error)
        return FAILED


async def _login(runtime: Runtime, server: str) -> int:
    for status in runtime.host.statuses():
        provider = status.spec.oauth.identity_provider
        if provider is not None and provider.account == server:
            raise UsageError(
                f"{quoted_name(provider.name, 64)} is an identity provider.",
                next_step=f"Sign in to one of its servers: mcptui login {shlex.quote(status.name)}",
            )
    try:
        place = await runtime.host.sign_in(server)
    except ServerError as error:
        error.where = error.where or clean_line(server, 64)
        raise
    state = runtime.host.status(server).sign_in
    print(f"{clean_line(server, 64)}: {state}. Tokens are stored {place}.")
    return 0


async def _logout(runtime: Runtime, server: str) -> int:
    found = await runtime.host.sign_out(server)
    if not missing("removal", "events"):  # they belonged to the account
        await asyncio.to_thread(brought("removal", "events"), server)
    name, deleted = clean_line(server, 64), plural(found.count, "sign-in")
    print(f"{name}: signed out, {deleted} deleted.{found.told}" if found.count else f"{name}: not signed in.")
    if found.still_at:
        account = shlex.quote(account_of(found.still_at))
        print(f"You are still signed in at {clean_line(found.still_at, 64)}: mcptui logout {account}")
    return 0


class TerminalQuestioner(Questioner):
    """Asks on the controlling terminal whether to open a URL, and declines everything else."""

    async def ask(self, question: Question) -> QuestionAnswer:
        """Accept y, or the URL of the final page; decline n. Raises UsageError without a terminal."""
        match question:
            case AddressQuestion():
                can_open = question.opens and has_browser(os.environ)
                line = await self._asked(question_text(question, can_open=can_open))
                return answer_of(line, can_open=can_open)
            case ConsentQuestion():
                damage = [f"  ! {question.damage}"] if question.damage else []
                lines = clean("\n".join((*question.lines(), *damage)))
                text = f"{lines}\n  {question.outcomes[0]}\n  {question.outcomes[1]}\n{YES_OR_NO}"
                line = await self._asked(text, "To connect to it without being asked, add --trust-config.")
                actions = {True: Action.ACCEPT, False: Action.DECLINE, None: Action.CANCEL}
                return QuestionAnswer(actions[yes_or_no(line)])
        return await super().ask(question)

    async def _asked(self, text: str, without: str = "Run this command in a terminal.") -> str:
        line = await asked_line(text)
        if line is None:
            raise UsageError("no terminal to ask on.", next_step=without)
        return line


def question_text(question: AddressQuestion, *, can_open: bool) -> str:
    """Return the question: the server, the host, the full URL, warnings about it, and the choices."""
    found = web_address(question.url)
    host = clean_line(found.host, 200)
    lines = [f"The server {quoted_name(question.server)} requires signing in at {host}:", ""]
    lines += [f"  {clean_line(question.url, 8192)}", ""]
    lines += [f"  ! {clean(warning)}" for warning in found.warnings]
    if question.message:
        lines.append(f"  {clean_line(question.message, 600)}")
    asked = "Open it in a browser and sign in. Then paste the URL from its address bar (empty: cancel): "
    if can_open:
        asked = "Open it in your browser? y yes, n no, or sign in and paste the URL from its address bar: "
    return "\n".join([*lines, asked])


def answer_of(line: str, *, can_open: bool) -> QuestionAnswer:
    """Return the answer that a typed line gives."""
    word = line.strip()
    if "=" in word:
        return QuestionAnswer(Action.ACCEPT, pasted=word)
    if can_open and word.lower() in ("", "y", "yes"):
        return QuestionAnswer(Action.ACCEPT)
    return QuestionAnswer(Action.DECLINE)
