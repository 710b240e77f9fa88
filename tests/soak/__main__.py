"""Keep mcptui busy and compare its resources at the beginning and at the end.

`python -m tests.soak --minutes 60` plays rounds: start servers, talk, flood, cancel, stop.
`--rounds 20` plays 20 rounds. `--cycles 2000` only starts and stops servers.
`--kills 50` kills the app at random moments.
Exits with 1 if anything is left over or has grown.
"""

import argparse
import asyncio
import random
import sys


def main() -> int:
    """Run the selected tests; return the worst exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, metavar="N", default=0.0)
    parser.add_argument("--rounds", type=int, metavar="N", default=0)
    parser.add_argument("--cycles", type=int, metavar="N", default=0)
    parser.add_argument("--kills", type=int, metavar="N", default=0)
    parser.add_argument("--seed", type=int, metavar="N", default=random.randrange(1 << 30))
    given = parser.parse_args()
    worst = 0
    if given.cycles:
        from tests.soak import start_stop

        worst |= asyncio.run(start_stop.soak(given.cycles))
    if given.kills:
        from tests.soak.kills import kill

        worst |= kill(given.kills, given.seed)
    if given.minutes or given.rounds:
        from tests.soak.everything import soak

        worst |= asyncio.run(soak(given.minutes * 60, given.rounds))
    if not (given.cycles or given.kills or given.minutes or given.rounds):
        parser.print_help()
    return worst


if __name__ == "__main__":
    sys.exit(main())
