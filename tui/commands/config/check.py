"""`mcptui config check`: prints the problems of a configuration.

With `--against`, applies its rules to recorded calls and prints what would change.
"""

import argparse
import asyncio
import os
import sys
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from tui.commands.run_output import arguments_line
from tui.commands.traffic_selection import RecordingChoice, beginning
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.jsonrpc.reader import loads
from tui.core.permission.rules import PastCall, Rule, RuleCheck, Verdict
from tui.core.ports import DecisionKind, DecisionRecord, digest_of
from tui.core.secrets.oauth_values import unsupported
from tui.core.text import clean, clean_line
from tui.core.units import day_and_time, plural
from tui.host.sign_in.token_store import TokenStore
from tui.model.endpoints.providers import missing_key
from tui.runtime.permission.approvals import applicable_rules
from tui.runtime.profiles import Profiles
from tui.settings.key_positions import line_of
from tui.settings.keymap import ActionKeys
from tui.settings.load import Loaded
from tui.settings.locations import decisions_file, state_dir
from tui.settings.problems import Problem
from tui.settings.server_warnings import all_problems
from tui.settings.state.permission.stored_decisions import read_decisions

CALLS = "kind:request method:tools/call"
MAX_CHANGES = 50
"""Maximum number of calls to list."""

USAGE = 2
_TAP = "tap:"


def config_check(
    loaded: Loaded, actions: Mapping[str, ActionKeys], against: str | None, *, trust: bool
) -> int:
    """Print all problems and return the exit code. `actions` are those that can have keys."""
    keyed = Profiles(loaded, os.environ, trust=True).configured()
    missing = []
    for one in keyed:  # the variable of a key that the user has stored need not be set
        name = loaded.settings.models[one.name].api_key_env
        if name and not os.environ.get(name) and not one.key_place:
            said = f"the environment variable {name} is not set"
            missing.append(loaded.located(Problem(said, ("models", one.name, "api_key_env"), warning=True)))
    loaded = replace(loaded, problems=(*loaded.problems, *missing))
    problems = all_problems(loaded, actions, trust=trust)  # in the order of the file
    lines = [("warning: " if one.warning else "") + str(one) for one in problems]
    for profile in keyed:
        if wanted := missing_key(profile):
            step = f"Store a key: `mcptui config key {profile.name}`."
            lines.append(f"warning: models.{profile.name}: {wanted}. Requests will fail. {step}")
    for line in (*lines, *_sign_in_notes(loaded)):
        print(clean(line))
    shown = clean_line(str(loaded.path), 4096)
    is_usable = all(problem.warning for problem in problems)
    if is_usable and not loaded.exists:
        print(f"{shown}: not found, using defaults. `mcptui config init` writes a starter file")
    elif is_usable:
        settings = loaded.settings
        counts = [plural(len(settings.servers), "server"), plural(len(settings.models), "model")]
        counts += [plural(len(lines), "warning")] if lines else []
        print(f"{shown}: OK: {', '.join(counts)}")
        if cards := sum(bool(one.card) for one in settings.servers.values()):
            print(f"{plural(cards, 'server')} with a server card. Compare: `mcptui config check --cards`")
    code = 0 if is_usable else USAGE
    if against is None or not loaded.readable:
        return code
    return max(code, check_against(loaded, against, trust=trust))


def _sign_in_notes(loaded: Loaded) -> Iterator[str]:
    """Yield what authorization servers named at the last sign-in that is not supported yet."""
    for one in asyncio.run(TokenStore(state_dir() / "sign-in").listed()):
        server = loaded.settings.servers.get(one.server)
        if server is not None and server.url == one.url and (sentence := unsupported(one.metadata)):
            yield f"note: servers.{one.server}: signed in at {clean_line(one.issuer, 200)}. {sentence}"


def check_against(loaded: Loaded, against: str, *, trust: bool = False) -> int:
    """Print what the rules of a configuration would have decided, and return the exit code.

    `against` is a time or a recording. In a file that is not the user's own, rules that allow need `trust`.
    """
    if any(problem.path.startswith("approvals") for problem in loaded.errors):
        print("cannot check the rules against calls: a rule is invalid")
        return USAGE
    try:
        choice, span, begin = _choice(against)
        decisions = Decisions.read()
        check = RuleCheck(applicable_rules(loaded, trust=trust), decisions.denials(begin))
        for call in _calls(choice, decisions):
            check.add(call)
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return USAGE
    _report(check, loaded, f"{plural(len(choice.paths), 'recording')}{span}")
    return 0


def _choice(against: str) -> tuple[RecordingChoice, str, float]:
    """Return the recordings that `against` selects, a description, and the start time, 0 for a recording.

    Raises UsageError if it is neither a time nor a recording.
    """
    try:
        _, begin_ns = beginning(against, time.time_ns())
        since = against
        name = None
    except UsageError:
        begin_ns = 0
        since = None
        name = against
    words = (
        f" since {day_and_time(begin_ns / 1e9)}" if since is not None else f" ({clean_line(against, 200)})"
    )
    wanted = argparse.Namespace(
        filter=CALLS, failed=False, since=since, recording=name, all=False, follow=False
    )
    try:
        return RecordingChoice(wanted), words, begin_ns / 1e9
    except McptuiError as error:
        step = "Use a time such as 24h, 7d or 2026-11-20, or a recording from `mcptui traffic --list`."
        raise UsageError(error.message, where=f"--against {against}", next_step=step) from error


def _calls(choice: RecordingChoice, decisions: "Decisions") -> Iterator[PastCall]:
    with closing(choice.selections()) as selections:
        for selection in selections:
            for entry in selection.whole():
                if entry.root not in (0, entry.seq):  # a continuation of an earlier request
                    continue
                server = entry.source.removeprefix(_TAP)
                when = entry.wall_ns / 1e9
                by_model = (entry.cause is not None and entry.cause.turn > 0) or entry.source != server
                arguments = _arguments(entry.body)
                decided = None
                if by_model and arguments is not None:
                    decided = decisions.of(server, entry.tool, arguments, when)
                yield PastCall(server, entry.tool, arguments, when, by_model, decided)


def _arguments(body: bytes) -> Mapping[str, Any] | None:
    try:
        message = loads(body)
    except (ValueError, RecursionError):
        return None
    params = message.get("params") if isinstance(message, dict) else None
    arguments = params.get("arguments", {}) if isinstance(params, dict) else None
    return arguments if isinstance(arguments, dict) else None


class Decisions:
    """The record of decisions, indexed by call."""

    def __init__(self, records: Sequence[DecisionRecord]) -> None:
        self._records: dict[tuple[str, str, str], list[DecisionRecord]] = defaultdict(list)
        self._denied = [one for one in records if one.kind is DecisionKind.CALL and not one.allowed]
        for one in sorted(records, key=lambda record: record.when):
            if one.kind is DecisionKind.CALL and one.allowed:
                self._records[one.server, one.subject, one.digest].append(one)

    @classmethod
    def read(cls) -> "Decisions":
        """Return the decisions in the file, or none if it cannot be read. Then no reasons are known."""
        try:
            records, warning = read_decisions(decisions_file())
        except ConfigError as error:
            print(f"mcptui: {clean(str(error))}", file=sys.stderr)
            return cls(())
        if warning:
            print(f"mcptui: record of decisions: {warning}", file=sys.stderr)
        return cls(records)

    def denials(self, begin: float) -> Mapping[str, int]:
        """Return how many calls each rule or reason has denied since `begin`."""
        return Counter(one.by for one in self._denied if one.when >= begin)

    def of(self, server: str, tool: str, arguments: Mapping[str, Any], when: float) -> DecisionRecord | None:
        """Return the last decision before a call with these arguments."""
        found = self._records.get((server, tool, digest_of(arguments)), [])
        place = bisect_right(found, when, key=lambda record: record.when)
        return found[place - 1] if place else None


def _report(check: RuleCheck, loaded: Loaded, where: str) -> None:
    print(f"rules against {plural(check.calls, 'call')} in {where}:")
    names = (("allow", Verdict.ALLOW), ("ask", Verdict.ASK), ("deny", Verdict.DENY), ("no rule", None))
    print("  " + ", ".join(f"{name} {check.verdicts[verdict]}" for name, verdict in names))
    if check.unreadable:
        print(f"  {plural(check.unreadable, 'call')} not checked: the arguments are not recorded completely")
    if check.changes:
        print(f"{plural(len(check.changes), 'call')} would change:")
    for call, after in check.changes[:MAX_CHANGES]:
        name = f"{clean_line(call.server, 40)} › {clean_line(call.tool, 60)}"
        arguments = arguments_line(call.arguments or {}, 160)
        print(f"  {day_and_time(call.when)}  {name}  {arguments}".rstrip())
        print(f"      {clean_line(call.before, 200)} → {clean_line(after, 300)}")
    if len(check.changes) > MAX_CHANGES:
        print(f"  and {len(check.changes) - MAX_CHANGES} more")
    if check.denying:
        print("rules that denied calls (denied calls are never recorded):")
    for rule in check.denying:
        calls = plural(check.denied(rule), "call")
        print(f"  {clean_line(str(rule), 300)}   {calls}   {place_of(rule, loaded)}")
    _list("rules that match no recorded call", check.unmatched, loaded)
    _list("rules that are always overridden", check.overridden, loaded)


def _list(title: str, rules: Sequence[Rule], loaded: Loaded) -> None:
    if rules:
        print(f"{title}:")
    for rule in rules:
        print(f"  {clean_line(str(rule), 300)}   {place_of(rule, loaded)}")


def place_of(rule: Rule, loaded: Loaded) -> str:
    """Return the place of a rule in the file: its key and line."""
    line = line_of(loaded.places, ("approvals", rule.origin, rule.number - 1))
    return f"approvals.{rule.origin}[{rule.number}]" + (f", line {line}" if line else "")
