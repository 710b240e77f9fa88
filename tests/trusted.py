"""Trust for the servers of configuration files that tests have written."""

from collections.abc import Sequence

STARTS_NOTHING = frozenset(
    "add completion config decisions logout man mock remove search sessions tap trace traffic".split()
)
"""Commands that start no configured server, and therefore do not have `--trust-config`."""


def trusting(arguments: Sequence[str]) -> list[str]:
    """Return a command line with `--trust-config` added if it has a configuration and may start its servers.

    Tests of consent do not use it.
    """
    given = list(arguments)
    words = given[: given.index("--")] if "--" in given else given
    if "--config" not in words or "--trust-config" in words:
        return given
    at = words.index("--config")
    rest = [word for word in (*words[:at], *words[at + 2 :]) if not word.startswith("-")]
    if rest and rest[0] in STARTS_NOTHING:
        return given
    return [*given[: at + 2], "--trust-config", *given[at + 2 :]]
