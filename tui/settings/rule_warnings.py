"""What is odd about the rules of a configuration: they name no server, or are not in force."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from tui.core.text import clean_line
from tui.core.turn.rules import Rule, Verdict
from tui.settings.load import Loaded, dotted
from tui.settings.places import line_of
from tui.settings.problems import Problem, did_you_mean
from tui.settings.specs import approval_rules, server_specs

BUILT_IN = "mcptui"
"""The server of mcptui's own tools."""

_FOREIGN = "this is not your own configuration file, so the rule applies only with --trust-config"


def rule_warnings(loaded: Loaded, *, foreign: bool) -> list[Problem]:
    """Return a warning for each rule about no configured server, and for what a `foreign` file allows."""
    names = {BUILT_IN, *(spec.name for spec in server_specs(loaded, disabled=True))}
    found = []
    for rule in approval_rules(loaded.settings.approvals).rules:
        if loaded.readable and not any(_may_name(rule, name) for name in names):
            message = f"no server is named {clean_line(rule.server, 60)}"
            found.append(_of(loaded, rule, message, did_you_mean(rule.server, names - {BUILT_IN})))
        if foreign and rule.action is Verdict.ALLOW:
            found.append(_of(loaded, rule, _FOREIGN))
    if foreign and loaded.settings.approvals.remembered:
        path = "approvals.remembered"
        found.append(loaded.located(Problem(_FOREIGN, path=path, warning=True)))
    return found


def _may_name(rule: Rule, name: str) -> bool:
    if fnmatchcase(name, rule.server):
        return True
    # `ask` and `deny` match server and tool as one text, so `no*/x` also means what is in `notes`.
    begin, star, _ = rule.server.partition("*")
    is_plain = not any(sign in begin for sign in "?[")
    return rule.action is not Verdict.ALLOW and bool(star) and (not is_plain or f"{name}/".startswith(begin))


def _of(loaded: Loaded, rule: Rule, message: str, step: str = "") -> Problem:
    key: Iterable[str | int] = ("approvals", rule.origin, rule.number - 1)
    return Problem(
        message,
        path=dotted(tuple(key)),
        line=line_of(loaded.places, tuple(key)),
        file=clean_line(str(loaded.path), 400),
        suggestion=step,
        warning=True,
    )
