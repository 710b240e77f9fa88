"""`mcptui config trust`: shows each server and model that needs consent, and stores the answers.

Only a typed yes or no is an answer. Anything else saves nothing, and the end of input ends the command.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from tui.commands.help_text import between_words
from tui.commands.terminal_approver import YES_OR_NO, is_terminal, typed_answer, yes_or_no
from tui.core.errors import UsageError, as_sentences
from tui.core.permission.consent import NO_ALL, YES_ALL, ConsentQuestion, consent_question
from tui.core.permission.launch import Launch
from tui.core.ports import BY_KEY, DecisionLog
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import local_time
from tui.runtime.permission.consent import (
    agree,
    damaged_answers,
    launch_of,
    missing_consents,
    refuse,
    refused_at,
)
from tui.runtime.permission.model_consent import agree_to_model, missing_model_consents
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.settings.locations import decisions_file
from tui.settings.specs import left_out
from tui.settings.state.permission.stored_decisions import StoredDecisions

YES_TO_ALL = "y yes to all, n no to all, o one by one, or just enter to decide later: "
ONE_BY_ONE = ("o", "one")
_FACT = r"  (?!! |changed: |You )"
"""Start of a line with a fact of a question: indented, but not a risk, a change or a sentence."""


def config_trust(path: Path, *, yes: bool) -> int:
    """Ask about each server and model, or with `yes` show them and consent to all; return the exit code.

    Raises UsageError if there is no terminal to ask on, ConfigError if the file is unusable or consent to a
    model cannot be stored.
    """
    found = missing_consents(path, os.environ)
    loaded = ConfigFile(str(path), os.environ).read()
    for skipped in _skipped(loaded):
        print(f"mcptui: {clean(skipped)}", file=sys.stderr)
    models = missing_model_consents(loaded, os.environ)
    if not (found or models):
        print("no server or model needs consent")
        return 0
    if not yes and not is_terminal():
        raise UsageError("no terminal to ask on.", next_step="Use --yes to consent to all of them.")
    if damage := damaged_answers():
        print(f"mcptui: {clean(damage)}", file=sys.stderr)
    launches = [launch_of(spec) for spec, _ in found]
    questions = [
        consent_question(spec, launch, changes, damage)
        for (spec, changes), launch in zip(found, launches, strict=True)
    ]
    together = len(found) > 1 and not yes
    if together:
        shown = zip(questions, launches, strict=True)
        _print("\n\n".join("\n".join((*one.lines(), *_earlier(launch))) for one, launch in shown))
        _print(f"\n{YES_ALL}\n{NO_ALL}")
    answer = _typed(YES_TO_ALL) if together else "o"
    with closing(StoredDecisions(decisions_file())) as decisions:
        for (spec, _), launch, question in zip(found, launches, questions, strict=True):
            if answer in ONE_BY_ONE:
                _show(question, launch)
            said = yes or yes_or_no(_typed(YES_OR_NO) if answer in ONE_BY_ONE else answer)
            if said:
                by = "option --yes" if yes else BY_KEY
                if problem := agree(path, spec.name, os.environ, by=by, expected=launch):
                    print(f"mcptui: {clean(problem)}", file=sys.stderr)
                    return 2
                print(f"{clean_line(spec.name, 64)}: agreed\n")
            else:
                _not_agreed(question, launch, decisions, is_no=said is False)
        for name, launch, question in models:
            _show(question, launch)
            said = yes or yes_or_no(_typed(YES_OR_NO))
            if said:
                agree_to_model(name, loaded, launch, decisions, by="option --yes" if yes else BY_KEY)
                print(f"{clean_line(question.server, 64)}: agreed\n")
            else:
                _not_agreed(question, launch, decisions, is_no=said is False)
    return 0


def _typed(question: str) -> str:
    """Return what the user typed. Raises UsageError at the end of input, which is not an answer."""
    if (answer := typed_answer(question)) is None:
        raise UsageError("no answer was given. The answers before it are kept.")
    return answer


def _skipped(loaded: Loaded) -> Iterator[str]:
    """Yield a sentence for each server and model that is skipped because its configuration is incomplete."""
    for kind, what in (("servers", "server"), ("models", "model")):
        for name, problems in left_out(loaded, kind).items():
            entry = loaded.raw[kind][name]
            if loaded.source or (isinstance(entry, Mapping) and "source" in entry):
                why = as_sentences(clean_line(one, 400) for one in problems)
                yield f"skipped the {what} {quoted_name(name)}: {why}."


def _show(question: ConsentQuestion, launch: Launch) -> None:
    _print("\n".join((*question.lines(), *_earlier(launch), *question.outcomes)))


def _print(text: str) -> None:
    """Print questions with their sentences wrapped, but commands and addresses unchanged."""
    print(between_words(clean(text), as_written=_FACT))


def _earlier(launch: Launch) -> Iterator[str]:
    """Yield when the user refused this, if so."""
    if at := refused_at(launch):
        yield f"  You declined this on {time.strftime('%Y-%m-%d', local_time(at))}."


def _not_agreed(question: ConsentQuestion, launch: Launch, decisions: DecisionLog, *, is_no: bool) -> None:
    if is_no:
        refuse(question.server, launch, decisions)
    print(f"{clean_line(question.server, 64)}: {'declined' if is_no else 'no answer, nothing saved'}\n")
