"""Kills talking programs repeatedly: no session may lose a message that was acknowledged as saved.

Run it: python tests/soak/kill_sessions.py [ROUNDS] [SEED]
Half of the rounds resume the session of the previous round. Prints how many messages were acknowledged and
how many calls ended with an unknown outcome. Raises at the first missing message.
"""

import asyncio
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.protocol.killing import Acknowledged, check, kill_once  # noqa: E402
from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.storage.sessions.store import SessionStore  # noqa: E402


async def unknown_in(folder: Path) -> int:
    """Return how many calls in all sessions have an unknown outcome."""
    store = SessionStore(folder, lambda: Redactor())
    return sum([len((await store.read(info.id)).unknown) for info in await store.list(limit=10_000)])


def main() -> None:
    """Kill programs, check their sessions and print the result."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    dice = random.Random(seed)
    known: dict[str, Acknowledged] = {}
    session = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sessions"
        for number in range(1, rounds + 1):
            going_on = bool(session) and dice.random() < 0.5
            session = kill_once(folder, dice, known, session if going_on else "")
            if not known[session].messages:
                session = ""
            if number % max(1, rounds // 10) == 0:
                print(f"{number} killed, {asyncio.run(check(folder, known))} messages acknowledged")
        unknown = asyncio.run(unknown_in(folder))
    print(f"seed {seed}: {len(known)} sessions, nothing missing, {unknown} calls with an unknown outcome")


if __name__ == "__main__":
    main()
