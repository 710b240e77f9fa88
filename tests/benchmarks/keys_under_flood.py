"""How long a key takes to echo while three servers flood stderr, compared with three quiet servers.

Each key types a character that is nowhere else on the screen.
"""

import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, late, latest
from tests.benchmarks.program import FLOODING, STUB, echo, program, rest, with_servers


def delays(script: Path, keys: int) -> list[float]:
    """Return the delays of the keys in milliseconds, with three servers that run a script."""
    with tempfile.TemporaryDirectory() as home:
        config = with_servers(home, script, script, script)
        with program(home, "--demo", "--config", config) as app:
            app.until(lambda: b"3 of 3" in app.raw)
            rest(app, 1)
            found = []
            for number in range(keys):
                found.append(echo(app, number))
                rest(app, 0.05)
    return found


def measure(keys: int = 200) -> list[Figure]:
    quiet, flooded = delays(STUB, keys), delays(FLOODING, keys)
    return [latest("key while stderr floods", flooded, 50, f"quiet servers {late(quiet):.1f} ms")]
