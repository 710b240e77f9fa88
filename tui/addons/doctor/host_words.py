"""Says a step in the words of another host: its file is JSON, and it knows no syntax of mcptui. Pure."""

import os
import re
from collections.abc import Callable, Set
from dataclasses import replace

from tui.addons.doctor.steps import Step
from tui.core.units import and_more

_UNSET = re.compile(r"environment variable (\w+) is not set")
_OUR_STEP = re.compile(r"\. (?:Set it, or write `\$\{[^`]*\}`|Use `\$\$\{` for a literal `\$\{`)")
_OUR_PLACE = re.compile(r"\bservers\.(?:\"[^\"]*\"|[\w-]+)\.")
_VARIABLE = re.compile(
    r"(?:servers do not inherit it: )?set `env = \{ (\w+) = \"[^\"]*\" \}`(?:, or --env .* for a command)?"
)
_HEADER = re.compile(r"set `headers = \{ Authorization = \"Bearer \$\{(\w+)\}\" \}`(?:, or --header)?")
_PLAIN = (
    (re.compile(r",? or set `cwd[^`]*`"), ""),
    (re.compile(r"`transport = (\"\w+\")`(?:, or --transport \w+)?"), r'`"type": \1`'),
    (re.compile(r"`(command|args|cwd) = ([^`]*)`"), r'`"\1": \2`'),
    (re.compile(r"Check (command|args|cwd) in \[servers\.[^\]]*\]"), r"Check `\1` of its entry"),
    (re.compile(r"sign in again \(`mcptui login`\)"), "sign in again there"),
    (re.compile(r"run `mcptui login [^`]*`"), "sign in there"),
    (re.compile(r" \(`off`\)"), ""),
    (re.compile(r"remove `disabled = true`"), "enable it there"),
)


def in_words_of(title: str, reference: Callable[[str], str], replaced: Set[str], step: Step) -> Step:
    """Return a step as a user of the host `title` can follow it.

    `reference` returns how the host writes a variable, or "" if it replaces none; `replaced` are those that
    the entry names in this way.
    """
    fix = step.fix.replace("${HOME}", os.path.expanduser("~"))
    if step.name == "configuration" and "config check" in fix:
        fix = _correction(title, reference, replaced, _UNSET.findall(step.seen))

    def variable(found: re.Match[str]) -> str:
        return f'add `"env": {{"{found[1]}": "{reference(found[1]) or "…"}"}}`'

    def header(found: re.Match[str]) -> str:
        return f'add `"headers": {{"Authorization": "Bearer {reference(found[1]) or "…"}"}}`'

    fix = _HEADER.sub(header, _VARIABLE.sub(variable, fix))
    for pattern, ours in _PLAIN:
        fix = pattern.sub(ours, fix)
    return replace(step, seen=_OUR_PLACE.sub("", _OUR_STEP.sub("", step.seen)), fix=fix)


def _correction(title: str, reference: Callable[[str], str], replaced: Set[str], unset: list[str]) -> str:
    names = list(dict.fromkeys(unset))
    passed_on = [reference(name) or f"the value of {name}" for name in names if name not in replaced]
    known = [name for name in names if name in replaced]
    steps = [f"write {and_more(passed_on, 4)}"] if passed_on else []
    host = title.replace("This host", "this host")
    steps += [f"set {and_more(known, 4)}, here and for {host}"] if known else []
    return ", and ".join(steps) or "correct it in that file"
