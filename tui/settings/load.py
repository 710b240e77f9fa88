"""Reads the configuration: returns the usable part and all problems.

Never raises because of a file's content. A server or model with an error is omitted, the others stay. A file
that cannot be read is a single problem, which the app shows.
"""

import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.errors import dotted, reason_of
from tui.core.language.translate import altered, message
from tui.core.servers import Reference
from tui.core.text import clean_line
from tui.settings.config_secrets import MAX_DEPTH, leaves, masked, secret_values, shows_a_secret
from tui.settings.files import Unreadable, read_bounded, toml_of
from tui.settings.key_positions import KeyPath, Place, bracket_lines, line_of, toml_places
from tui.settings.locations import is_codex, is_foreign
from tui.settings.problems import Problem, Source
from tui.settings.references import FILE, HERE, expand, files_in
from tui.settings.schema import Settings
from tui.settings.validate import Checker

MAX_FILES = 100
MAX_FILE_BYTES = 64 * 1024
"""Limits of the files whose content a configuration uses, usually a token each."""

PYTHON_VARIABLE = "MCPTUI_PYTHON"
"""In a configuration, `${MCPTUI_PYTHON}` is the Python that runs mcptui, unless the variable is set."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration as it was read.

    `settings` is the usable part; with defaults only, unless the file is `readable`. `names_servers`: it
    lists its servers, even if the list is empty. `secrets` are values that must not be shown, by a
    displayable name. `references` are those to the environment, by key. `raw` are the values as written.
    `source` describes its origin if it is not the user's own, and is otherwise ""; `ConfigFile` sets it.
    """

    settings: Settings
    problems: tuple[Problem, ...]
    path: Path
    exists: bool = False
    readable: bool = True
    names_servers: bool = False
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    references: Mapping[KeyPath, Reference] = field(default_factory=dict, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    places: Mapping[KeyPath, Place] = field(default_factory=dict, repr=False)
    source: str = ""

    def problem_texts(self, others: Sequence[str] = ()) -> tuple[list[str], frozenset[str]]:
        """Return the problems as sentences, and which are warnings; `others` are added as warnings."""
        warnings = [*others, *(str(one) for one in self.problems if one.warning)]
        return [*map(str, self.problems), *others], frozenset(warnings)

    def located(self, problem: Problem) -> Problem:
        """Return another module's problem with a key of this file, with its file and line.

        A key that contains a dot may be written in quotes or as a nested table.
        """
        keys = problem.keys
        if problem.file or not keys:
            return problem
        joined = (*keys[:2], ".".join(map(str, keys[2:])))
        line = max(line_of(self.places, keys), line_of(self.places, joined))
        return replace(problem, file=clean_line(str(self.path), 400), line=line)

    def references_of(self, *table: str) -> dict[str, Reference]:
        """Return the references of a table to the environment, by their key: `env.NAME`, `args.0`."""
        size = len(table)
        return {
            ".".join(map(str, path[size:])): one
            for path, one in self.references.items()
            if path[:size] == table
        }

    @property
    def first_model(self) -> str:
        """The name of the default model profile, or ""."""
        return self.settings.default_model or next(iter(self.settings.models), "")

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems without the warnings."""
        return tuple(problem for problem in self.problems if not problem.warning)

    def to_masked_toml(self) -> str:
        """Return the configuration, defaults included, as TOML without secrets."""
        import tomli_w

        return tomli_w.dumps(masked(self.settings.model_dump(), self.raw, self.secrets))


def load(path: Path, env: Mapping[str, str], *, required: bool = False) -> Loaded:
    """Read our TOML, or another host's file: JSON by its suffix, Codex's TOML by its content.

    `env` replaces references; if `required`, a missing file is a problem.
    """
    name = clean_line(str(path), 400)
    try:
        text = read_bounded(path)
    except FileNotFoundError:
        step = message("check the path")
        if path.suffix.lower() == ".toml":
            step = message(
                "check the path, or create it with `mcptui config init --config {file}`",
                file=shlex.quote(name),
            )
        problem = Problem(message("file not found"), file=name, suggestion=step)
        return Loaded(Settings(), (problem,) if required else (), path)
    except Unreadable as error:
        return Loaded(Settings(), (Problem(str(error), file=name),), path, exists=True, readable=False)
    loaded = load_text(text, path, env)
    if warning := _readable_by_others(path, loaded.raw, name):
        return replace(loaded, problems=(*loaded.problems, warning))
    return loaded


def load_text(text: str, path: Path, env: Mapping[str, str]) -> Loaded:
    """Check `text` as the content of the file `path`. Reads only files that `${file:PATH}` names."""
    name = clean_line(str(path), 400)
    source = _foreign(text, path) if is_foreign(path) else _parsed_toml(text, path)
    if isinstance(source, Problem):
        return Loaded(Settings(), (replace(source, file=name),), path, exists=True, readable=False)
    return load_source(source, path, env)


def load_source(source: Source, path: Path, env: Mapping[str, str]) -> Loaded:
    """Check parsed tables as the content of the file `path`, which may have more of them."""
    known = {PYTHON_VARIABLE: sys.executable, **env, **_here(env), **_contents(source.tree, path)}
    return _checked(source, known, path, clean_line(str(path), 400))


def _contents(tree: Mapping[str, Any], path: Path) -> dict[str, str]:
    """Return the content of each file that `tree` refers to, by the name of the reference.

    Relative paths are relative to the folder of `path`. What cannot be read is missing, like a variable.
    """
    texts = (value for _, value in leaves(tree) if isinstance(value, str))
    names = dict.fromkeys(name for text in texts for name in files_in(text))
    found = {}
    for name in list(names)[:MAX_FILES]:
        with suppress(OSError, Unreadable):
            place = path.absolute().parent / os.path.expanduser(name)
            found[f"{FILE}{name}"] = read_bounded(place, MAX_FILE_BYTES).strip()
    return found


def _here(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return a mapping that sets `PWD` to mcptui's current folder if the variable is missing or wrong."""
    named = env.get("PWD", "")
    with suppress(OSError):
        if os.path.isabs(named) and os.path.samefile(named, "."):
            return {}
    with suppress(OSError):  # the folder was deleted
        return {"PWD": os.getcwd()}
    return {}


MEND = message("nothing in the file is used until it is corrected")


def _parsed_toml(text: str, path: Path) -> Source | Problem:
    try:
        tree = toml_of(text)
        if "mcp_servers" in tree and is_codex(tree, path):
            return _foreign(text, path)
        return Source(tree, toml_places(text))
    except RecursionError:
        return Problem(message("is nested too deeply"))
    except ValueError as error:
        return toml_problem(error, text)


_MANY_DIGITS = re.compile(rf"[0-9_]{{{sys.int_info.default_max_str_digits},}}", re.ASCII)


def toml_problem(error: ValueError, text: str) -> Problem:
    """Return the problem with a text that `tomllib` rejects."""
    # Only the message contains the place: "Invalid value (at line 3, column 5)".
    found = re.search(r"\(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
    if found is None:
        digits = _MANY_DIGITS.search(text)  # of which `int` says no place
        line = 0 if digits is None else text.count("\n", 0, digits.start()) + 1
    else:
        opened = bracket_lines(text)[0] if "Unclosed" in str(error) else 0
        line = int(found[1] or 0) or opened or text.count("\n") + 1
    reason = altered(reason_of(error), partial(_without_line, line))  # the line is named too
    return Problem(message("is not TOML: {reason}", reason=reason), suggestion=MEND, line=line)


def _foreign(text: str, path: Path) -> Source | Problem:
    from tui.settings.foreign.file import read_foreign  # rarely needed

    return read_foreign(text, path)


def _checked(source: Source, env: Mapping[str, str], path: Path, name: str) -> Loaded:
    faults = list(source.problems)
    unresolved: set[KeyPath] = set()
    tree = _expanded(source.tree, (), env, faults, unresolved)
    checker = Checker(tree, unresolved, faults)
    settings = checker.settings()
    problems = [replace(fault, file=name, line=line_of(source.places, fault.keys)) for fault in faults]
    problems.sort(key=lambda problem: problem.line)
    return Loaded(
        settings,
        tuple(problems),
        path,
        exists=True,
        names_servers="servers" in source.tree,
        secrets=secret_values(source.tree, tree, env),
        references=_references(source.tree, env),
        raw=source.tree,
        places=source.places,
    )


_REFERRING = frozenset({"servers", "models", "registry", "identity_providers"})


def _references(tree: Mapping[str, Any], env: Mapping[str, str]) -> Mapping[KeyPath, Reference]:
    """Return what comes from the environment. Defaults that apply, and the values of `HERE`, are its text."""
    found = {}
    for path, value in leaves(tree):
        if path[0] in _REFERRING and isinstance(value, str) and "${" in value:
            text = value.replace("$${", "$$${")  # stays escaped
            one = expand(text, env, lambda name, value: value if name in HERE else f"${{{name}}}")
            if names := tuple(name for name in one.variables if name not in HERE):
                found[path] = Reference(str(one.text), names)
    return found


def _without_line(line: int, said: str) -> str:
    return said.replace(f" at line {line}, column", " at column").replace(f"第 {line} 行，", "")


def _expanded(
    value: Any, path: KeyPath, env: Mapping[str, str], faults: list[Problem], unresolved: set[KeyPath]
) -> Any:
    if len(path) > MAX_DEPTH:
        faults.append(Problem(message("is nested too deeply"), path[:3]))
        unresolved.add(path)
        return None
    match value:
        case dict() | list():
            items = value.items() if isinstance(value, dict) else enumerate(value)
            made = {key: _expanded(inner, (*path, key), env, faults, unresolved) for key, inner in items}
            return made if isinstance(value, dict) else list(made.values())
        case str():
            found = expand(value, env)
            for name in dict.fromkeys(found.missing):
                why = message("the environment variable {name} is not set", name=name)
                step = message("set it, or write `${{{name}:-default}}`", name=name)
                if name.startswith(FILE):
                    why = message(
                        "the file {file} cannot be read", file=clean_line(name.removeprefix(FILE), 200)
                    )
                    step = message("check the path")
                faults.append(Problem(why, path, step))
            if found.broken:
                faults.append(
                    Problem(
                        message("contains `{start}` without `{end}`", start="${", end="NAME}"),
                        path,
                        message("use `$${` for a literal `${`"),
                    )
                )
            if found.missing or found.broken:
                unresolved.add(path)
            return found.text
        case _:
            return value


def _readable_by_others(path: Path, raw: Mapping[str, Any], name: str) -> Problem | None:
    if os.name != "posix":
        return None
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if not mode & (stat.S_IRGRP | stat.S_IROTH):
        return None
    for key, value in leaves(raw):
        if isinstance(value, str) and shows_a_secret(key, value):
            why = message("contains a secret ({key}) and is readable by other users", key=dotted(key))
            return Problem(
                why, file=name, suggestion=message("run `chmod 600 {name}`", name=name), warning=True
            )
    return None
