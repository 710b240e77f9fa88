"""Finds programs by name, only in the absolute folders of PATH, and names the signals that end them.

Also tells what a command line starts, behind programs that only start others: `npx tsx server.ts`.

An entry such as `.`, `node_modules/.bin` or an empty one is relative to the current folder, which may belong
to someone else. A program with that name in it must not run.
"""

import os
import re
import shutil
import signal
from collections.abc import Mapping, Sequence

_LAUNCHERS = frozenset(
    "npx uvx bunx node nodejs deno bun npm pnpm yarn tsx ts-node nodemon uv poetry pipx sh bash".split()
)
_CONTAINERS = frozenset({"docker", "podman"})
_PYTHON = re.compile(r"python[\d.]*")
_VERBS = frozenset({"run", "dlx", "x", "exec", "tool", "watch"})
_VALUED = frozenset(
    "-p --package --from --with --python --directory --project --import --require -e --env -v --volume"
    " --name".split()
)
"""Options of launchers whose value is not what they start."""


def search_path(path: str) -> str:
    """Return a PATH without the entries that are relative or empty."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


def find_program(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """Return the absolute path of a program on the PATH of `env` (ours by default), None if there is none.

    A name with a folder ("./tool") was chosen by the user, and is searched only in that folder.
    """
    path = (os.environ if env is None else env).get("PATH", os.defpath)
    found = shutil.which(name, path=search_path(path))
    return None if found is None else os.path.abspath(found)


def signal_name(number: int) -> str:
    """Return "SIGKILL" for 9, and "signal 63" for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def is_command(word: str, folder: str = "") -> bool:
    """Return whether a word of a server's configuration is an executable command, or may be one (`${NAME}`).

    A relative path to a script is searched in `folder`, by default the current one.
    """
    if "${" in word:
        return True
    expanded = os.path.expanduser(word)
    if find_program(expanded) is not None:
        return True
    return os.sep in expanded and os.path.isfile(os.path.join(folder, expanded))


MAX_LINE = 16 * 1024
"""A longer command line is not split: shlex reads one character at a time."""


def command_line(text: str) -> list[str]:
    """Return the words of a command line, [] if its quotes are not closed or it is too long."""
    import shlex  # not needed for the first frame

    if len(text) > MAX_LINE:
        return []
    try:
        return shlex.split(text)
    except ValueError:
        return []


def is_command_line(command: str) -> bool:
    """Return whether the value of a `command` is a program with arguments, not the path of a program."""
    words = command_line(command)
    if len(words) < 2 or "\\" in command or "\0" in command or os.path.lexists(os.path.expanduser(command)):
        return False
    first = os.path.expanduser(words[0])
    # A path with a blank, like "/Applications/My App/run", only has arguments if its start is a program.
    return os.sep not in first or first.startswith("$") or os.path.isfile(first) or words[1].startswith("-")


def launched(command: Sequence[str]) -> str:
    """Return the package, file, module or image that a command line starts, or the name of its program."""
    words = command
    while True:
        program = _program_of(words[0])
        if program in _CONTAINERS:
            verb = next((index for index, word in enumerate(words) if word in _VERBS), 0)
            rest = _from_operand(words[verb + 1 :])
            return rest[0] if rest else program
        if program not in _LAUNCHERS and not _PYTHON.fullmatch(program):
            return program if words is command else words[0]
        if not (rest := _from_operand(words[1:], () if _PYTHON.fullmatch(program) else _VERBS)):
            return program
        words = rest


def _program_of(word: str) -> str:
    name = os.path.basename(word).removesuffix(".exe").removesuffix(".cmd")
    bare = name.partition("@")[0]
    return bare if bare in _LAUNCHERS else name


def _from_operand(words: Sequence[str], verbs: frozenset[str] | tuple[()] = ()) -> list[str]:
    """Return the words from the first one on that is neither an option, nor its value, nor a verb."""
    is_value = False
    for index, word in enumerate(words):
        if not is_value and not word.startswith("-") and word not in verbs:
            return list(words[index:])
        is_value = not is_value and word in _VALUED
    return []
