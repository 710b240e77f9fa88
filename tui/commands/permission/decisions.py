"""`mcptui decisions`: who allowed or denied what, and when."""

import argparse
import sys
import time
from typing import Any

from tui.commands.streams import width
from tui.commands.table import json_line, table
from tui.commands.traffic_selection import beginning
from tui.core.ports import DecisionRecord
from tui.core.text import clean_line
from tui.core.units import day_and_time, local_rfc3339
from tui.settings.locations import decisions_file
from tui.settings.state.permission.stored_decisions import read_decisions

_HEAD = ("time", "decision", "kind", "server", "subject", "decided by", "asked by", "digest")
MOST_SUBJECT = 1000
"""Maximum characters of a subject."""

SHOWN_DIGEST = 8
"""Digits of the digest of arguments in a line. With `--json`, it is whole."""


def decisions(args: argparse.Namespace) -> int:
    """Run `mcptui decisions` and return the exit code."""
    records, warning = read_decisions(decisions_file())
    since_ns = 0 if args.since is None else beginning(args.since, time.time_ns())[1]
    found = [
        record
        for record in records
        if record.when * 1e9 >= since_ns
        and args.server in (None, record.server)
        and not (args.denied and record.allowed)
    ]
    if warning:
        print(f"mcptui: {warning}", file=sys.stderr)
    if args.json:
        for record in found:
            print(json_line(_object(record)))
    elif found:
        print(table([*map(_row, found)], range(len(_HEAD)), width(), head=_HEAD))
    else:
        print("no decisions")
    return 0


def _row(record: DecisionRecord) -> tuple[str, ...]:
    word = "allowed" if record.allowed else "denied"
    return (
        day_and_time(record.when),
        f"asked, {word}" if record.asked else word,
        record.kind.value,
        clean_line(record.server, 30),
        clean_line(record.subject, MOST_SUBJECT),
        clean_line(record.by, 60),
        clean_line(record.asked_by, 30),
        clean_line(record.digest, 16)[:SHOWN_DIGEST],
    )


def _object(record: DecisionRecord) -> dict[str, Any]:
    return {
        "time": local_rfc3339(record.when),
        "decision": "allowed" if record.allowed else "denied",
        "asked": record.asked,
        "kind": record.kind.value,
        "server": record.server,
        "subject": record.subject,
        "decided_by": record.by,
        "requested_by": record.asked_by,
        "arguments_digest": record.digest,
    }
