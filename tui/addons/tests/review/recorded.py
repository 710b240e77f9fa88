"""The outcomes of earlier runs, read back from their recordings. Blocks; call it in a thread.

A recording has no findings and no time limits. What a case failed by besides its result is only known as the
note at its request.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.recorded import exchange_at
from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.review.failures import Failure, failure_of, saved_by
from tui.addons.tests.review.last_runs import LastCase
from tui.addons.tests.run.failure_text import mismatch_line
from tui.addons.tests.run.judge import judge
from tui.addons.tests.run.outcome import Outcome
from tui.addons.tests.suite.case import Case, Suite
from tui.core.comparison.placeholders import same
from tui.core.errors import McptuiError
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.traffic import Direction, Kind
from tui.runtime.copies.origin import entries_between
from tui.storage.recordings.database import notes_of
from tui.storage.recordings.reader import RecordingReader

MOST_ENTRIES = 500_000
"""Maximum entries of a recording to look through."""

NOT_SENT, NO_RESPONSE = message("The call was not sent."), message("There was no response.")
OTHERWISE = message(
    "The result is as expected. It failed for another reason, such as a finding. Run it again to see."
)


def failures_in_recordings(suite: Suite, cases: Sequence[Listed]) -> list[Failure]:
    """Return the last runs of cases of a suite, in their order; those that are not recorded are left out.

    Of one that failed without a response, there is only why.
    """
    exchanges = _exchanges(cases)
    found: list[Failure] = []
    saved: dict[str, Any] = {}
    for one in cases:
        case, last = one.what, one.last
        if not isinstance(case, Case) or last is None:
            continue
        if last.call not in exchanges:
            if last.state.is_bad and (not last.call or Path(last.recording).is_file()):
                found.append(failure_of(suite, _unanswered(case, last, one.problem), dict(saved), last.at))
            continue
        exchange, note = exchanges[last.call]
        outcome = _outcome(case, exchange, one)
        why = note.removeprefix(f"{last.state}: ").removeprefix(f"{clean_line(case.name)}: ")
        found.append(_judged(failure_of(suite, outcome, dict(saved), last.at), why))
        saved |= saved_by(outcome)
    return found


def _exchanges(cases: Iterable[Listed]) -> dict[str, tuple[Exchange, str]]:
    """Return the exchange of each call, with the note at its request."""
    calls: dict[str, set[str]] = {}
    for one in cases:
        if one.last is not None and one.last.recording and one.last.call:
            calls.setdefault(one.last.recording, set()).add(one.last.call)
    found: dict[str, tuple[Exchange, str]] = {}
    for recording, wanted in calls.items():
        try:
            found |= _of_recording(Path(recording), wanted)
        except (McptuiError, OSError):  # it was deleted
            continue
    return found


def _of_recording(path: Path, calls: Collection[str]) -> dict[str, tuple[Exchange, str]]:
    found: dict[str, tuple[Exchange, str]] = {}
    if not path.is_file():
        return found
    notes = notes_of(path)
    with closing(RecordingReader(path)) as reader:
        for call, seq in _first_requests(reader, calls).items():
            try:
                note = notes[seq].text if seq in notes else ""
                found[call] = exchange_at(reader, seq, lint=False), note
            except McptuiError:  # it has no response
                continue
    return found


def _first_requests(reader: RecordingReader, calls: Collection[str]) -> Mapping[str, int]:
    """Return the seq of the first request to the server of each call."""
    found: dict[str, int] = {}
    for entry in entries_between(reader, 0, MOST_ENTRIES):
        call = entry.cause.call if entry.cause is not None else ""
        if call in calls and entry.kind is Kind.REQUEST and entry.direction is Direction.OUT:
            found.setdefault(call, entry.seq)
            if len(found) == len(calls):
                break
    return found


def _outcome(case: Case, exchange: Exchange, one: Listed) -> Outcome:
    assert one.last is not None
    got = exchange.result if exchange.result is not None else exchange.error
    steps = (case, *case.then)
    likely = [number for number, step in enumerate(steps) if _is_request_of(step, exchange)]
    number = likely[-1] if likely else 0
    return Outcome(
        case.name,
        case.line,
        one.last.state,
        ms=one.last.ms if one.last.ms is not None else exchange.ms,
        got=got if number == 0 else None,
        then_got=() if number == 0 else (*[None] * (number - 1), got),
        server=one.last.server,
        call=one.last.call,
        case=case,
    )


def _unanswered(case: Case, last: LastCase, problem: str) -> Outcome:
    """Return how a case ended that was not sent, or got no response."""
    why = problem or (NO_RESPONSE if last.call else NOT_SENT)
    return Outcome(case.name, case.line, last.state, why, server=last.server, call=last.call, case=case)


def _is_request_of(case: Case, exchange: Exchange) -> bool:
    """Return whether a request is that of a case; its arguments may have saved values."""
    ours, theirs = case.request, exchange.request
    if (ours.kind, ours.name) != (
        theirs.kind,
        theirs.name,
    ) or ours.arguments.keys() != theirs.arguments.keys():
        return False
    pairs = ((value, theirs.arguments[name]) for name, value in ours.arguments.items())
    return all("${" in str(value) or same(value, given) for value, given in pairs)


def _judged(failure: Failure, why: str) -> Failure:
    """Return a failure with the mismatches of its response, or `why` it failed if there are none."""
    if failure.response is None or failure.case is None or failure.is_new:
        return failure
    found = judge(failure.expected, failure.response).mismatches
    first = next(iter(found), None)
    problem = "" if first is None else mismatch_line(first)
    if first is None and failure.outcome.state.is_bad:
        problem = why or OTHERWISE
    return replace(failure, outcome=replace(failure.outcome, problem=problem, mismatches=found))
