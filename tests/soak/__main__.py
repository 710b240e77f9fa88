"""Keep mcptui busy and compare its resources at the beginning and at the end.

`python -m tests.soak --minutes 60` plays rounds: start servers, talk, flood, cancel, stop.
`--rounds 20` plays 20 rounds. `--kills 50` kills the app at random moments.
Exits with 1 if anything is left over or has grown.
"""

import argparse
import asyncio
import sys

from tests.soak.kills import kill
from tests.soak.rounds import soak


def main() -> int:
    """Run the selected tests; return the worst exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, metavar="N", default=0.0)
    parser.add_argument("--rounds", type=int, metavar="N", default=0)
    parser.add_argument("--kills", type=int, metavar="N", default=0)
    given = parser.parse_args()
    worst = kill(given.kills) if given.kills else 0
    if given.minutes or given.rounds:
        worst |= asyncio.run(soak(given.minutes * 60, given.rounds))
    return worst


if __name__ == "__main__":
    sys.exit(main())
