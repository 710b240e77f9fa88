"""The files that a server is made of: patterns, and a guess from its command. Some read the disk."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tui.core.servers import ServerSpec

IGNORED = frozenset(
    "__pycache__ .git .hg .svn .tox .venv venv .idea node_modules .mypy_cache .pytest_cache .ruff_cache"
    " .hypothesis .next .turbo target".split()
)
"""Folders that `**` does not enter, unless a pattern names them."""

MAX_FOLDERS = 2_000
MAX_CHARS = 1_000

_PYTHON = "*.py"
_NODE = "*.{js,mjs,cjs,jsx,ts,mts,cts,tsx,json}"
_BY_ENDING = dict.fromkeys(("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"), _NODE) | {
    "py": _PYTHON,
    "rb": "*.rb",
    "php": "*.php",
    "go": "*.go",
}
_BY_PROGRAM = {
    "uv": _PYTHON,
    "uvx": _PYTHON,
    "poetry": _PYTHON,
    "npm": _NODE,
    "npx": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "bun": _NODE,
    "bunx": _NODE,
    "deno": _NODE,
    "go": "*.go",
    "cargo": "*.rs",
}
_PROJECTS = ("pyproject.toml", "setup.py", "package.json", "go.mod", "Cargo.toml", ".git")
_WILD = re.compile(r"[*?\[{]")


def folder_of(spec: ServerSpec) -> str:
    """Return the folder to which the patterns of a server are relative."""
    return os.path.abspath(spec.cwd or os.curdir)


def guessed(spec: ServerSpec) -> tuple[str, ...]:
    """Return patterns for the files that a command runs: those that it names, and those beside them."""
    if not spec.command:
        return ()
    here, found, words = folder_of(spec), dict[str, None](), (spec.command, *spec.args)
    for before, word in zip(("", *words), words, strict=False):
        path = os.path.join(here, word.partition(":")[0])
        ending = path.rpartition(".")[2]
        if before == "-m" and (package := _package(here, word)):
            found[package] = None
        elif ending in _BY_ENDING and os.path.isfile(path):
            found[_beside(path, _BY_ENDING[ending], here)] = None
    program = os.path.basename(spec.command).removesuffix(".exe").removesuffix(".cmd")
    if not found and program in _BY_PROGRAM and _is_project(here):
        found[f"**/{_BY_PROGRAM[program]}"] = None
    if not found and os.sep in spec.command and os.path.isfile(path := os.path.join(here, spec.command)):
        found[os.path.relpath(path, here)] = None
    return tuple(found)


def _package(here: str, module: str) -> str:
    """Return a pattern for the package or module that `python -m` runs, if it is below the folder; or ""."""
    for root in ("", "src"):
        path = os.path.join(root, module.partition(".")[0])
        if os.path.isdir(os.path.join(here, path)):
            return os.path.join(path, "**", _PYTHON)
        if os.path.isfile(os.path.join(here, f"{path}.py")):
            return os.path.join(root, _PYTHON)
    return ""


def _beside(path: str, files: str, here: str) -> str:
    """Return a pattern for the files beside a script; below its folder, too, if that is not a whole home."""
    folder = os.path.dirname(path)
    is_wide = folder in (os.path.expanduser("~"), os.path.abspath(os.sep), "/tmp")
    shown = os.path.relpath(folder, here)
    inner = files if is_wide and not _is_project(folder) else os.path.join("**", files)
    return inner if shown == os.curdir else os.path.join(shown, inner)


def _is_project(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in _PROJECTS)


def _whole(pattern: str, folder: str) -> str:
    """Return an absolute pattern, without symbolic links in the part without wildcards."""
    whole = os.path.normpath(os.path.join(folder, os.path.expanduser(pattern)))
    wild = _WILD.search(whole)
    fixed = whole[: wild.start()].rpartition(os.sep)[0] if wild else whole
    return os.path.realpath(fixed or os.sep).rstrip(os.sep) + whole[len(fixed) :]


def matcher(patterns: Iterable[str], folder: str) -> Callable[[str], bool]:
    """Return a function that tells whether an absolute path matches one of the patterns."""
    whole = [_whole(one, folder) for one in patterns]
    found = re.compile("|".join(f"(?:{_regex(one)})" for one in whole) or "(?!)", re.DOTALL)
    named = {part for one in whole for part in one.split(os.sep)} & IGNORED
    skipped = IGNORED - named

    def matches(path: str) -> bool:
        is_skipped = not skipped.isdisjoint(path.split(os.sep))
        return len(path) <= MAX_CHARS and found.fullmatch(path) is not None and not is_skipped

    return matches


def _regex(pattern: str) -> str:
    """Return a pattern as a regular expression. A folder stands for everything in it."""
    made, at, depth = "", 0, 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at):
            made, at = f"{made}(?:[^/]+/)*", at + 3
            continue
        if pattern.startswith("**", at):
            made, at = f"{made}.*", at + 2
            continue
        end = pattern.find("]", at + 2)
        if char == "[" and end > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            made += f"[^{inside[1:]}]" if inside[0] == "!" else f"[{inside}]"
            at = end + 1
            continue
        if char == "{" and "}" in pattern[at:]:
            made, depth = f"{made}(?:", depth + 1
        elif char == "}" and depth:
            made, depth = f"{made})", depth - 1
        elif char == "," and depth:
            made += "|"
        else:
            made += {"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char))
        at += 1
    return f"{made}(?:/.*)?" if not _WILD.search(pattern) else made


def folders(patterns: Iterable[str], folder: str) -> Sequence[str]:
    """Return the folders to watch for files that match. Blocks."""
    found = dict[str, None]()
    for pattern in patterns:
        whole = _whole(pattern, folder)
        parts = whole.split(os.sep)
        fixed = next((number for number, part in enumerate(parts) if _WILD.search(part)), len(parts))
        root = os.sep.join(parts[:fixed]) or os.sep
        is_file = fixed == len(parts) and not os.path.isdir(root)
        root = os.path.dirname(root) if is_file else root
        depth = 0 if is_file else None if "**" in whole or fixed == len(parts) else len(parts) - fixed - 1
        skipped = IGNORED - {*parts}
        for one in _below(root, depth, skipped):
            found[one] = None
            if len(found) >= MAX_FOLDERS:
                return list(found)
    return list(found)


def _below(root: str, depth: int | None, skipped: frozenset[str]) -> Iterator[str]:
    """Yield a folder, if it exists, and those below it, `depth` levels deep or all of them."""
    base = root.count(os.sep)
    for path, names, _ in os.walk(root):
        yield path
        deep = depth is not None and path.count(os.sep) - base >= depth
        names[:] = [] if deep else sorted(name for name in names if name not in skipped)
