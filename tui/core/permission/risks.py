"""Finds risks of a command: unpinned packages, variables that load code. Pure."""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from tui.core.language.translate import message
from tui.core.permission.launch import ENGINES, PROXIES, SOURCE_STARTS, Launch, has_hidden, is_loader, spelled
from tui.core.secrets.commands_and_urls import masked_arguments
from tui.core.secrets.secret_names import keychain_entry, names_a_key
from tui.core.web import is_loopback, web_address

_SHELLS = frozenset("sh bash dash zsh fish ksh csh tcsh cmd powershell pwsh".split())
_CODE_FLAGS = {
    **dict.fromkeys(("node", "bun", "deno"), ("-e", "--eval", "-p", "--print", "eval", "-r", "--require")),
    **dict.fromkeys(("python", "python2", "python3", "pypy3"), ("-c",)),
    **dict.fromkeys(("perl", "ruby", "lua"), ("-e",)),
    "php": ("-r",),
}
_WRAPPERS: Mapping[str, str] = {
    **dict.fromkeys(
        "nohup stdbuf doas exec command setsid chrt time caffeinate unbuffer dbus-run-session firejail"
        " unshare setpriv corepack".split(),
        "",
    ),
    "env": "-u --unset -C --chdir",
    "sudo": "-u -g",
    "timeout": "-s -k",
    "strace": "-o -e -s -u -E -P -I -a -O -S -X -b",
    "ltrace": "-o -e -s -u -a -n -l -F -x",
    "nice": "-n",
    "ionice": "-c -n",
    "taskset": "-c",
    "systemd-run": "-p -u -E -M -H",
    "xvfb-run": "-n -s -e -f -p -w",
}
"""Programs that only start another one, and their options that take a value."""

_MODULES = frozenset(("pip", "pipx", "uv"))
"""Launchers that `python -m` can start."""

_SPLIT_STRING = re.compile(r"--split-string(?:=(.*))?|-[a-zA-Z]*?S(.+)?", re.DOTALL)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_NPM_WITH_VALUE = frozenset(("-c", "--call", "-w", "--workspace", "--registry", "--prefix", "--cache"))
_UV_WITH_VALUE = frozenset(
    "-p --python --index --index-url --default-index --extra-index-url -f --find-links --directory --project"
    " --config-file --cache-dir --env-file -c --constraints --overrides --pip-args --suffix".split()
)
_DOCKER_WITH_VALUE = frozenset(
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user"
    " --entrypoint -l --label --platform --cpus -m --memory --add-host --hostname -h --ip --link --pull"
    " --restart --runtime --shm-size --tmpfs --ulimit --device --dns --cap-add --cap-drop --security-opt"
    " --gpus --log-driver --log-opt --pid --ipc --userns --cidfile --expose --group-add --stop-signal".split()
)
_GO_WITH_VALUE = frozenset(("-mod", "-modfile", "-exec", "-tags", "-ldflags", "-C", "-p"))
_GO_EXACT = re.compile(r"@(?:v\d++\.\d++\.\d++[\w.+-]*+|[0-9a-f]{12,40})\Z")
_LAUNCHERS = frozenset("npx npm pnpm pnpx yarn bunx bun uvx uv pip pip3 pipx".split())
_SOURCES = frozenset(
    "--registry --index --index-url -i --default-index --extra-index-url -f --find-links --userconfig"
    " --config-file --pip-args".split()
)
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
_COMPOSERS = frozenset(("docker-compose", "podman-compose"))
_MOUNTS = frozenset(("-v", "--volume", "--mount", "--volumes-from"))
_POWERS = frozenset(("--privileged", "--cap-add", "--device", "--security-opt", "-H", "--host", "--context"))
_NAMESPACES = frozenset(("--network", "--net", "--pid", "--ipc", "--userns", "--uts"))
_EXACT = re.compile(r"[v=]?\d+(?:\.\d+){2}[\w.+-]*")
_PYTHON_EXACT = re.compile(r"={2,3}\s*[\w.!+-]+\Z|@\s*\d[\w.!+-]*\Z")


def risks_of(launch: Launch) -> Iterator[str]:
    """Yield the risks of a start, one sentence each."""
    texts = (launch.command, *launch.args, launch.cwd, *launch.env, launch.url, *launch.headers)
    if any(map(has_hidden, texts)):
        yield message("Contains hidden characters, shown as [U+…].")
    yield from _of_keys(launch)
    if launch.url:
        yield from _of_address(launch.url, is_referred="url" in launch.references)
        return
    if not launch.command.isascii():
        yield message("The name of the program contains non-ASCII letters, which can look like others.")
    if not launch.program:
        yield message("The program was not found. mcptui asks again when it exists.")
    words, assigned = _unwrapped([launch.command, *launch.args])
    if unpinned(words):
        # It may be or contain a secret, or a value from the environment.
        shown = unpinned(_unwrapped(masked_arguments(launch.shown_words))[0])
        name = spelled(shown) if shown else message("A package")
        yield message(
            "{package} is not pinned to a version. The code it downloads can change at any time.",
            package=name,
        )
    if _runs_code(words) or _runs_code([launch.command, *launch.args]):
        yield message("One of the arguments is program code. Read all of it.")
    yield from _of_options(words)
    yield from _of_variables([*launch.env, *assigned])


def _of_keys(launch: Launch) -> Iterator[str]:
    for place, reference in sorted(launch.references.items()):
        for name in dict.fromkeys(reference.names):
            if names_a_key(name):
                yield message(
                    "{place} gets the value of {name}, which looks like one of your keys.",
                    place=spelled(place),
                    name=name,
                )
    values = {**launch.env, **launch.headers, "api_key": str(launch.identity[0]) if launch.is_model else ""}
    for name in sorted(name for name, value in values.items() if keychain_entry(value)):
        yield message("{name} gets a key from your keychain.", name=spelled(name))


def _of_options(words: Sequence[str]) -> Iterator[str]:
    if not words:
        return
    name, args = _program(words[0]), list(words[1:])
    if name in _CONTAINERS and "run" in args:  # words after the image are not options of the launcher
        image = next(iter(_packages(args[args.index("run") + 1 :], _IMAGE)), "")
        args = args[: args.index(image)] if image in args else args
    options = [word.partition("=")[0] for word in args]
    if name in _COMPOSERS or (name in _CONTAINERS and "compose" in args and "run" not in words[1:2]):
        yield message(
            "It starts containers that are defined in a file. Read that file: it is not shown here."
        )
    if name in _LAUNCHERS and not _SOURCES.isdisjoint(options):
        yield message("An option changes where packages are downloaded from.")
    if name in _CONTAINERS:
        if not _MOUNTS.isdisjoint(options) or any(re.match(r"-v.", word) for word in args):
            yield message("The container can reach folders of this computer.")
        on_host = any(option in _NAMESPACES and value == "host" for option, value in pairwise(args))
        if on_host or not _POWERS.isdisjoint(options) or "=host" in " ".join(args):
            yield message("The container is not isolated from this computer.")


def _of_address(url: str, *, is_referred: bool) -> Iterator[str]:
    parts = urlsplit(url)
    if parts.scheme in ("http", "ws") and not is_loopback(parts.hostname or ""):
        yield message("The connection is not encrypted.")
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme)
    if is_referred:
        return  # the host may come from the environment, so it is not shown
    yield from web_address(f"{scheme}{url[len(parts.scheme) :]}" if scheme else url).warnings


def _of_variables(names: Sequence[str]) -> Iterator[str]:
    for name in sorted(set(names)):
        upper = name.upper()
        shown = spelled(name)
        if is_loader(name):
            yield message("{name} can make any program load other code.", name=shown)
        elif upper.startswith(SOURCE_STARTS):
            yield message("{name} can change where packages are downloaded from.", name=shown)
        elif upper in ENGINES:
            yield message(
                "{name} can make containers run on another computer, or with more permissions.", name=shown
            )
        elif upper in PROXIES:
            yield message("{name} sends its network traffic through another computer.", name=shown)


def _program(word: str) -> str:
    name = os.path.basename(word.replace("\\", "/")).lower()
    return re.sub(r"\.(?:exe|cmd|bat|ps1)\Z", "", name)


def _unwrapped(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a command without wrappers that only start another one, such as `env`, `nice` or `cmd /c`.

    The second list contains the names of the variables that `env` sets.
    """
    rest, assigned = list(words), list[str]()
    for _ in range(8):
        if not rest:
            break
        name = _program(rest[0])
        if name == "cmd" and len(rest) > 2 and rest[1].lower() in ("/c", "/k"):
            rest = rest[2:]
        elif name in _WRAPPERS:
            index = 1
            if name == "env":
                rest = _split_string(rest)
            while index < len(rest) and _is_of_wrapper(rest[index]):
                before, equals, _ = rest[index].partition("=")
                assigned += [before] if equals and not before.startswith("-") else []
                takes_value = rest[index] in _WRAPPERS[name].split()
                index += 2 if takes_value else 1
            rest = rest[index:]
        elif _PYTHON.fullmatch(name) and (module := _module(rest)):
            rest = module
        else:
            break
    return rest, assigned


def _module(words: Sequence[str]) -> list[str]:
    """Return the command line that `python -m` starts if it is that of a launcher, else nothing."""
    for index, word in enumerate(words[1:], 1):
        if word == "-m" and words[index + 1 : index + 2] and words[index + 1] in _MODULES:
            return list(words[index + 1 :])
        if word.startswith("-m") and word[2:] in _MODULES:
            return [word[2:], *words[index + 1 :]]
        if not word.startswith("-"):
            break
    return []


def _split_string(words: list[str]) -> list[str]:
    """Return the words of an `env` command with the value of `-S "command line"` split into words."""
    for index, word in enumerate(words[1:], 1):
        if not _is_of_wrapper(word):
            break
        if (found := _SPLIT_STRING.fullmatch(word)) is None:
            continue
        line, after = found[1] if found[1] is not None else found[2], words[index + 1 :]
        if line is None:
            line, after = "".join(after[:1]), after[1:]
        try:
            split = shlex.split(line)
        except ValueError:
            split = line.split()
        return [*words[:index], *split, *after]
    return words


def _is_of_wrapper(word: str) -> bool:
    """Whether a word is an option, an assignment or a number before the wrapped command."""
    return word.startswith("-") or "=" in word or re.fullmatch(r"[\d.]+[smhd]?", word) is not None


def _runs_code(words: Sequence[str]) -> bool:
    if not words:
        return False
    name, args = _program(words[0]), words[1:]
    if name in _SHELLS:
        lowered = [word.lower() for word in args]
        is_cmd = name == "cmd" and any(word.startswith(("/c", "/k")) for word in lowered)
        return is_cmd or any(word.startswith("-") and "c" in word for word in lowered)
    if name in ("npx", "npm"):
        return any(word in ("-c", "--call") or word.startswith("--call=") for word in args)
    flags = _CODE_FLAGS.get(re.sub(r"(?<=python3)\.\d+\Z", "", name), ())
    if "-c" in flags:
        return _runs_python_code(args)
    return any(word.partition("=")[0] in flags or _joined_in(word, flags) for word in args)


def _runs_python_code(args: Sequence[str]) -> bool:
    """Return whether an option before the first positional argument is `-c`, also joined: `-Ic…`."""
    skips = False
    for word in args:
        if skips:
            skips = False
        elif not word.startswith("-") or word in ("-", "--"):
            return False
        elif not word.startswith("--") and (found := re.search("[cmWX]", word)):
            if found[0] in "cm":
                return found[0] == "c"
            skips = found.end() == len(word)
    return False


def _joined_in(word: str, flags: Sequence[str]) -> bool:
    """Return whether a word joins a flag with code or another flag: `-e'code'`, `-pe`."""
    letters = [flag[1] for flag in flags if len(flag) == 2 and flag[0] == "-"]
    is_short = len(word) > 2 and word[0] == "-" and word[1] != "-"
    return is_short and (word[1] in letters or any(word.endswith(letter) for letter in letters))


@dataclass(frozen=True, slots=True)
class Packages:
    """How a launcher names what it downloads.

    Attributes:
        named: options that name a package; without one, the first word that is no option does.
        with_value: other options that take a value.
        is_pinned: whether a package always means the same code.
        every: any word may be a package, not only the first.
        only_named: the first word is a file.
    """

    is_pinned: Callable[[str], bool]
    named: Sequence[str] = ()
    with_value: frozenset[str] = frozenset()
    every: bool = False
    only_named: bool = False


def _npm_pinned(package: str) -> bool:
    _, at, version = package.removeprefix("npm:").removeprefix("jsr:")[1:].rpartition("@")
    if "#" in package:  # git: only a full commit hash is pinned
        return re.search(r"#[0-9a-f]{40}\Z", package) is not None
    return _is_path(package) or (bool(at) and _EXACT.fullmatch(version) is not None)


def _python_pinned(package: str) -> bool:
    if "://" in package:
        return re.search(r"(?s)@[0-9a-f]{40}(?:#.*)?\Z", package) is not None or "#sha256=" in package
    return _is_path(package) or _PYTHON_EXACT.search(package) is not None


def _image_pinned(image: str) -> bool:
    return "@sha256:" in image or image.rpartition("/")[2].partition(":")[2] not in ("", "latest")


def _deno_pinned(word: str) -> bool:
    if word.startswith(("npm:", "jsr:")):
        return _npm_pinned(word)
    return not word.startswith(("https:", "http:"))


def _is_path(word: str) -> bool:
    return word.startswith((".", "/", "~", "file:"))


_NPM = Packages(_npm_pinned, ("-p", "--package"), _NPM_WITH_VALUE)
_PYPI = Packages(_python_pinned, ("--from", "--spec", "--with"), _UV_WITH_VALUE)
_IMAGE = Packages(_image_pinned, with_value=_DOCKER_WITH_VALUE)
_GO = Packages(lambda one: "@" not in one or _GO_EXACT.search(one) is not None, with_value=_GO_WITH_VALUE)
_DOWNLOADS: Mapping[str, Mapping[str, Packages]] = {
    **{name: {"": _NPM} for name in ("npx", "bunx", "pnpx")},
    **{name: {"exec": _NPM, "x": _NPM, "dlx": _NPM} for name in ("npm", "pnpm", "yarn", "bun")},
    "uvx": {"": _PYPI},
    "uv": {
        "tool run": _PYPI,
        "pip install": _PYPI,
        "run": Packages(_python_pinned, ("--with", "-w"), _UV_WITH_VALUE, only_named=True),
    },
    **{name: {"install": _PYPI} for name in ("pip", "pip3")},
    "pipx": {"run": _PYPI},
    "go": {"run": _GO},
    **{name: {"… run": _IMAGE} for name in _CONTAINERS},
    "deno": {"… run": Packages(_deno_pinned, every=True)},
}
"""What each launcher downloads, by the words that begin its arguments. `…` stands for any words."""


def unpinned(words: Sequence[str]) -> str:
    """Return the package or image that a command downloads without a pinned version, or ""."""
    if not words:
        return ""
    name = _program(words[0]).partition("@")[0]  # corepack takes `pnpm@9`
    for begins, packages in _DOWNLOADS.get(name, {}).items():
        args, wanted = list(words[1:]), begins.split()
        if wanted[:1] == ["…"]:
            wanted = wanted[1:]
            args = args[args.index(wanted[0]) :] if wanted[0] in args else []
        if args[: len(wanted)] == wanted:
            found = words[1:] if packages.every else _packages(args[len(wanted) :], packages)
            return next((one for one in found if not packages.is_pinned(one)), "")
    return ""


def _packages(args: Sequence[str], how: Packages) -> list[str]:
    """Return the packages that options name, or else the first word that is not an option."""
    found: list[str] = []
    index = 0
    while index < len(args):
        word = args[index]
        option, equals, value = word.partition("=")
        following = list(args[index + 1 : index + 2])
        if word == "--":
            return found or ([] if how.only_named else following)
        if option in how.named and word.startswith("-"):
            found.append(value if equals else "".join(following))
            index += 1 if equals else 2
        elif word in how.with_value:
            index += 2
        elif word.startswith("-"):
            index += 1
        else:
            return found or ([] if how.only_named else [word])
    return found
