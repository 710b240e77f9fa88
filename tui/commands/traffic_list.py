"""`mcptui trace --list`: which recordings are kept, from when, of whom."""

import argparse
import json
import sys
import time
from typing import Any

from tui.commands.recordings import recordings
from tui.commands.recordings_about import About, about
from tui.commands.traffic_choice import beginning
from tui.commands.traffic_lines import local, rfc3339, table
from tui.core.text import clean_line
from tui.core.units import count, duration, size

SHOWN_SERVERS = 40
"""Characters of the names of servers that stand in a line."""

SHOWN_OF = 40
"""Characters of whose it is, or of why it cannot be read; --json tells that whole."""

_HEAD = ("name", "began", "for", "entries", "size", "of", "servers")


def list_recordings(args: argparse.Namespace) -> int:
    """Print the recordings kept, newest first."""
    begin_ns = beginning(args.since, time.time_ns())[1] if args.since is not None else 0
    found = [about(one, with_servers=True) for one in recordings().list()]
    found = [one for one in found if one.live or one.ended_ns >= begin_ns]
    if args.json:
        for one in found:
            sys.stdout.write(json.dumps(_object(one), separators=(",", ":")) + "\n")
    elif found:
        sys.stdout.write("\n".join(table([_HEAD, *map(_row, found)], left={0, 1, 2, 5, 6})) + "\n")
    elif begin_ns:
        sys.stdout.write("nothing was recorded in that time\n")
    else:
        sys.stdout.write("nothing has been recorded yet\n")
    return 0


def _row(one: About) -> tuple[str, ...]:
    lasted = "live" if one.live else duration((one.ended_ns - one.began_ns) / 1e6) if one.entries else ""
    servers = clean_line(", ".join(one.servers), SHOWN_SERVERS)
    began = local(one.began_ns)
    of = clean_line(one.problem or (f"damaged, {one.of}" if one.damage else one.of), SHOWN_OF)
    return (one.name, began, lasted, count(one.entries), size(one.octets), of, servers)


def _object(one: About) -> dict[str, Any]:
    return {
        "name": one.name,
        "path": str(one.path),
        "began": rfc3339(one.began_ns),
        "ended": rfc3339(one.ended_ns),
        "live": one.live,
        "servers": [clean_line(name, 80) for name in one.servers],
        "entries": one.entries,
        "bytes": one.octets,
        "of": "" if one.problem else one.of,
        "problem": one.problem or one.damage,
    }
