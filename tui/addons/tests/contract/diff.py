"""`mcptui diff A B`: what changed between two locks, recordings or live servers, with verdicts."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.addons.tests.contract.listing import ServerListing
from tui.addons.tests.contract.live import live_listing
from tui.addons.tests.contract.lock import SHAPE, is_lock, read_lock
from tui.addons.tests.contract.recorded import recorded_listing
from tui.addons.tests.contract.report import change_lines, json_of, markdown_of, summary_line
from tui.addons.tests.contract.tokens import TokenTable, tokens_of
from tui.addons.tests.contract.verdicts import ListingComparison, compare_listings
from tui.addons.tests.reports.file_report import write_report
from tui.addons.tests.run.written_files import require_own_files
from tui.addons.tests.suite.case import ENDING
from tui.commands.call.request import unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import (
    Interrupt,
    headless,
    log_step,
    say_unsaved,
    started,
    step_in_shell,
    write_problem,
)
from tui.commands.recordings import is_export, recordings
from tui.commands.run_output import print_error
from tui.commands.table import json_line
from tui.core.errors import ConfigError, McptuiError, StorageError, UsageError, sentences
from tui.core.permission.change_effects import ChangeEffect
from tui.core.servers import ServerState
from tui.core.text import clean, clean_line, quoted_name
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.new_server import is_address
from tui.settings.problems import hinted

SAME, DIFFERENT, NOT_STARTED = 0, 1, 5
KINDS = ("md",)
"""Kinds of `--report`."""

_SUFFIX = ".mcptrace"
_FORMS = "a lock, a recording, a configured server, or a URL"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: how it is named, and what it lists; `has_texts` is False for a shape."""

    name: str
    listing: ServerListing
    has_texts: bool = True


class _Unavailable(Exception):
    """A live server could not be started, or listed. The reason is printed; `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def diff(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    words: list[str] = args.words
    if len(words) != (1 if args.live_command else 2):
        forms = "mcptui diff A B, or mcptui diff A -- COMMAND"
        raise UsageError("two sides are required.", next_step=f"Usage: {forms}. Each is {_FORMS}.")
    _check_reports(args)
    try:
        before, after = _side(words[0], args), _side(words[1] if len(words) > 1 else None, args)
    except _Unavailable as error:
        return error.code
    shape = args.shape or not (before.has_texts and after.has_texts)
    found = compare_listings(before.listing, after.listing, shape=shape)
    if shape and not args.shape:
        note = "descriptions are not compared, because a lock of one side has none"
        found = replace(found, notes=(note, *found.notes))
    tokens = None if shape else TokenTable(tokens_of(after.listing), tokens_of(before.listing))
    _write(args, before, after, found, tokens)
    for _, file in args.report:
        write_report(Path(os.path.expanduser(file)), markdown_of(found, before.name, after.name))
    return DIFFERENT if any(one.effect in _fatal(args.fail) for one in found.differences) else SAME


def _check_reports(args: argparse.Namespace) -> None:
    _fatal(args.fail)
    for kind, file in args.report:
        if kind not in KINDS:
            raise UsageError(
                f"unknown kind of report {quoted_name(kind)}.", where="--report", next_step="Kinds: md."
            )
        if why := write_problem(Path(os.path.expanduser(file))):
            raise UsageError(f"cannot write the report: {why}.", where=clean_line(file, 400))
    require_own_files([("--report", file) for _, file in args.report], ())


def _fatal(text: str) -> Sequence[ChangeEffect]:
    """Return the verdicts of `--fail`. Raises UsageError."""
    known = {str(effect): effect for effect in ChangeEffect}
    names = [name.strip() for name in text.split(",") if name.strip() not in ("", "none")]
    for name in names:
        if name not in known:
            raise UsageError(
                hinted(f"unknown verdict {quoted_name(name)}", name, known),
                where="--fail",
                next_step=f"Verdicts: {', '.join(known)}.",
            )
    return [known[name] for name in names]


def _write(
    args: argparse.Namespace, before: Side, after: Side, found: ListingComparison, tokens: TokenTable | None
) -> None:
    if args.json:
        sizes = {} if tokens is None else {"tokens": {"before": tokens.before, "after": tokens.now}}
        print(json_line({"before": before.name, "after": after.name, **json_of(found), **sizes}))
        return
    for line in change_lines(found):
        print(line)
    print(summary_line(found))
    if tokens is not None and tokens.change:
        print(f"tokens of the definitions: {tokens.total - tokens.change:,} → {tokens.total:,}")


# ---- sides -------------------------------------------------------------------------------------------


def _side(word: str | None, args: argparse.Namespace) -> Side:
    """Return a side; None is the command after `--`. Raises UsageError, ConfigError, StorageError."""
    if word is None or is_address(word):
        return _live(word, args)
    path = Path(os.path.expanduser(word))
    if path.is_file():
        return _of_file(path, word, args)
    if os.sep in word or path.suffix in (".json", _SUFFIX):
        raise UsageError("file not found.", where=clean_line(word, 400))
    return _live(word, args)


def _of_file(path: Path, word: str, args: argparse.Namespace) -> Side:
    if is_lock(path):
        lock = read_lock(path)
        assert lock is not None
        return Side(word, lock.listing, lock.strength != SHAPE)
    if word.endswith(ENDING):
        raise UsageError(
            "a test file cannot be compared.", where=clean_line(word, 400), next_step="Name its lock."
        )
    if path.suffix == ".json" and not is_export(path):
        raise UsageError(
            "not a lock of mcptui.",
            where=clean_line(word, 400),
            next_step="mcptui test --lock writes the one of a test file.",
        )
    return Side(word, recorded_listing(path, args.server))


def _live(word: str | None, args: argparse.Namespace) -> Side:
    """Return what a server lists, or a recording if no configured server has this name."""
    spec = unconfigured(args, word)
    options = replace(Options.from_args(args), save=False, accept_all=True)
    if spec is not None:
        options = options.with_server(*spec)
    found: list[Side] = []

    async def work(runtime: Runtime, _: Interrupt) -> int:
        await runtime.ready(start=False, model=False, taps=False, session=False)
        server = _server(runtime, word)
        if server is None:
            return SAME
        code, listing = await _listed(runtime, server, args)
        found.append(Side(server if word is None else word, listing))
        return code

    code = headless(options, work, questioner=FlagAnswers.of(args), ended=say_unsaved)
    if code != SAME:
        raise _Unavailable(code)
    if found:
        return found[0]
    assert word is not None
    return Side(word, recorded_listing(recordings().find(word), args.server))


def _server(runtime: Runtime, word: str | None) -> str | None:
    """Return the name of the server, None if the word names a recording. Raises ConfigError, UsageError."""
    names = [status.name for status in runtime.host.statuses()]
    if runtime.is_unconfigured or word is None:
        return names[0]
    if word in names:
        return word
    if problems := runtime.configuration.left_out.get(word):
        raise ConfigError(problems[0], where=clean_line(word, 80))
    try:
        recordings().find(word)
    except StorageError:
        known = [*names, *runtime.configuration.left_out]
        raise UsageError(
            hinted(f"{quoted_name(word, 80)} is no file, server or recording", word, known),
            next_step=f"Each side is {_FORMS}; a command goes after --.",
        ) from None
    return None


async def _listed(runtime: Runtime, server: str, args: argparse.Namespace) -> tuple[int, ServerListing]:
    """Start a server and list everything; return the exit code, after saying what failed."""
    runtime.consent.require([runtime.host.status(server).spec])
    status = await started(runtime, server)
    shown = clean_line(server, 80)
    if status.state is not ServerState.RUNNING:
        step = step_in_shell(status, "" if runtime.is_unconfigured else log_step(server, args))
        why = sentences(status.detail or "it failed to start", step)
        print_error(McptuiError(clean(why), where=shown), as_json=args.json)
        return NOT_STARTED, ServerListing()
    listing, problem = await live_listing(runtime, server)
    if problem:
        print_error(McptuiError(clean(problem), where=shown), as_json=args.json)
        return NOT_STARTED, ServerListing()
    return SAME, listing
