"""What to look at before a command runs: unpinned packages, variables that load code. Pure."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from tui.core.consent.launch import Launch
from tui.core.consent.visible import has_hidden, visible
from tui.core.web.web_address import web_address

LOADERS = frozenset(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP"
    " PYTHONUSERBASE PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT BASH_ENV ENV ZDOTDIR PROMPT_COMMAND"
    " GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS CLASSPATH"
    " JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS DOTNET_STARTUP_HOOKS LUA_INIT PHPRC PHP_INI_SCAN_DIR"
    " R_PROFILE GCONV_PATH PATH".split()
)
_LOADER_STARTS = ("DYLD_", "GIT_CONFIG", "CORECLR_", "COR_PROFILER")
_SOURCE_STARTS = ("NPM_CONFIG_", "PIP_", "UV_", "BUN_CONFIG_")
_PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"))

_SHELLS = frozenset("sh bash dash zsh fish ksh csh tcsh cmd powershell pwsh".split())
_CODE_FLAGS = {
    **dict.fromkeys(("node", "bun", "deno"), ("-e", "--eval", "-p", "--print", "eval", "-r", "--require")),
    **dict.fromkeys(("python", "python2", "python3", "pypy3"), ("-c",)),
    **dict.fromkeys(("perl", "ruby", "lua"), ("-e",)),
    "php": ("-r",),
}
_WRAPPERS = frozenset(("env", "nice", "nohup", "timeout", "stdbuf", "sudo", "doas", "exec", "command"))
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
_EXACT = re.compile(r"[v=]?\d+(?:\.\d+){2}[\w.+-]*")
_PYTHON_EXACT = re.compile(r"={2,3}\s*[\w.!+-]+\Z|@\s*\d[\w.!+-]*\Z")
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


def risks_of(launch: Launch) -> list[str]:
    """Return what is risky about a start, a sentence for each."""
    return list(_risks(launch))


def _risks(launch: Launch) -> Iterator[str]:
    texts = (launch.command, *launch.args, launch.cwd, *launch.env, launch.url, *launch.headers)
    if any(map(has_hidden, texts)):
        yield "Contains hidden characters, shown as ⟨U+…⟩."
    if launch.url:
        yield from _of_address(launch.url)
        return
    if not launch.command.isascii():
        yield "The name of the program has letters outside ASCII, which can look like others."
    if not launch.program:
        yield "The program was not found. mcptui asks again once there is one."
    words = _unwrapped([launch.command, *launch.args])
    if package := unpinned(words):
        yield f"{visible(package)} is not pinned to a version. What it downloads can change at any time."
    if _runs_code(words):
        yield "An argument is itself a program. Read all of it."
    yield from _of_variables(launch.env)


def _of_address(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    if parts.scheme in ("http", "ws") and (parts.hostname or "") not in _LOOPBACK:
        yield "The connection is not encrypted."
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme)
    yield from web_address(f"{scheme}{url[len(parts.scheme) :]}" if scheme else url).warnings


def _of_variables(env: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(env):
        upper = name.upper()
        if upper in LOADERS or upper.startswith(_LOADER_STARTS):
            yield f"{visible(name)} can make any program load other code."
        elif upper.startswith(_SOURCE_STARTS):
            yield f"{visible(name)} can change where packages are downloaded from."
        elif upper in _PROXIES:
            yield f"{visible(name)} sends its network traffic through another computer."


def _program(word: str) -> str:
    name = os.path.basename(word.replace("\\", "/")).lower()
    return re.sub(r"\.(?:exe|cmd|bat|ps1)\Z", "", name)


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Return a command without the `env`, `nice` or `cmd /c` that only starts another one."""
    rest = list(words)
    for _ in range(8):
        if not rest:
            break
        name = _program(rest[0])
        if name == "cmd" and len(rest) > 2 and rest[1].lower() in ("/c", "/k"):
            rest = rest[2:]
        elif name in _WRAPPERS:
            index = 1
            while index < len(rest) and _is_of_wrapper(rest[index]):
                index += 1
            rest = rest[index:]
        else:
            break
    return rest


def _is_of_wrapper(word: str) -> bool:
    """Whether a word is an option, a variable or a number before the command that is started."""
    return word.startswith("-") or "=" in word or re.fullmatch(r"[\d.]+[smhd]?", word) is not None


def _runs_code(words: Sequence[str]) -> bool:
    if not words:
        return False
    name, args = _program(words[0]), words[1:]
    if name in _SHELLS:
        return any(word.startswith("-") and "c" in word.lower() for word in args)
    if name == "npx" or name == "npm":
        return any(word in ("-c", "--call") or word.startswith("--call=") for word in args)
    flags = _CODE_FLAGS.get(re.sub(r"(?<=python3)\.\d+\Z", "", name), ())
    return any(word in flags for word in args)


def unpinned(words: Sequence[str]) -> str:
    """Return the package or image that a command downloads in whichever version there is, or ""."""
    if not words:
        return ""
    name, args = _program(words[0]), list(words[1:])
    match name:
        case "npx" | "bunx" | "pnpx":
            return _unpinned_npm(args)
        case "npm" | "pnpm" | "yarn" | "bun" if args and args[0] in ("exec", "x", "dlx"):
            return _unpinned_npm(args[1:])
        case "uvx":
            return _unpinned_python(args)
        case "uv" if args[:2] == ["tool", "run"]:
            return _unpinned_python(args[2:])
        case "pipx" if args[:1] == ["run"]:
            return _unpinned_python(args[1:])
        case "docker" | "podman" | "nerdctl" if "run" in args:
            return _unpinned_image(args[args.index("run") + 1 :])
        case "deno" if "run" in args:
            return next(
                (word for word in args if word.startswith(("npm:", "jsr:")) and not _npm_exact(word)), ""
            )
    return ""


def _packages(args: Sequence[str], named: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Return the packages that options name, or else the first word that is no option."""
    found: list[str] = []
    index = 0
    while index < len(args):
        word = args[index]
        option, equals, value = word.partition("=")
        if word == "--":
            found = found or list(args[index + 1 : index + 2])
            break
        if option in named and word.startswith("-"):
            found.append(value if equals else (args[index + 1 : index + 2] or [""])[0])
            index += 1 if equals else 2
        elif word in with_value:
            index += 2
        elif word.startswith("-"):
            index += 1
        else:
            return found or [word]
    return found


def _unpinned_npm(args: Sequence[str]) -> str:
    found = _packages(args, ("-p", "--package"), _NPM_WITH_VALUE)
    return next((one for one in found if not _npm_exact(one) and not _is_path(one)), "")


def _npm_exact(package: str) -> bool:
    _, at, version = package.removeprefix("npm:").removeprefix("jsr:")[1:].rpartition("@")
    if "#" in package:  # git: only a whole commit stays the same
        return re.search(r"#[0-9a-f]{40}\Z", package) is not None
    return bool(at) and _EXACT.fullmatch(version) is not None


def _unpinned_python(args: Sequence[str]) -> str:
    named = ("--from", "--spec", "--with")
    found = _packages(args, named, _UV_WITH_VALUE)
    return next((one for one in found if not _python_exact(one) and not _is_path(one)), "")


def _python_exact(package: str) -> bool:
    if "://" in package:
        return re.search(r"@[0-9a-f]{40}(?:#.*)?\Z", package) is not None or package.endswith(".whl")
    return _PYTHON_EXACT.search(package) is not None


def _is_path(word: str) -> bool:
    return word.startswith((".", "/", "~", "file:"))


def _unpinned_image(args: Sequence[str]) -> str:
    image = next(iter(_packages(args, (), _DOCKER_WITH_VALUE)), "")
    if not image or "@sha256:" in image:
        return ""
    tag = image.rpartition("/")[2].partition(":")[2]
    return image if tag in ("", "latest") else ""
