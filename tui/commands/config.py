"""`mcptui config`: find, show, check, create and import the configuration.

Importing this loads only the standard library; each action imports what it needs.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.errors import ConfigError, StorageError, UsageError
from tui.core.text import clean, clean_line
from tui.core.units import plural

if TYPE_CHECKING:
    from tui.settings.keymap import ActionKeys
    from tui.settings.load import Loaded
    from tui.settings.problems import Problem

    Actions = Callable[[], Mapping[str, ActionKeys]]

USAGE = 2
"""Exit code for an unusable configuration or an invalid request."""


def config(args: argparse.Namespace, actions: "Actions") -> int:
    """Run the action `args.action` and return the exit code.

    `actions` returns the actions that can have keys. Only the screens know them.
    """
    from tui.settings.locations import config_path

    path, named = config_path(getattr(args, "config", None), os.environ)
    try:
        match args.action:
            case "path":
                print(clean_line(str(path), 4096))
                return 0
            case "show":
                return _show(path, named)
            case "check":
                trust = bool(vars(args).get("trust_config"))
                return _check(path, named, actions, args.against, trust=trust)
            case "init":
                return _init(path, only_print=args.print)
            case "schema":
                print(_schema(), end="")
                return 0
            case "learned":
                return _learned(forget=args.forget)
            case "key":
                from tui.commands.config_key import config_key

                return config_key(_load(path, named), args.name or "", forget=args.forget)
            case "trust":
                from tui.commands.permission.config_trust import config_trust

                return config_trust(path, yes=args.yes)
            case _:
                return _import(path, Path(os.path.expanduser(args.file)), dry_run=args.dry_run)
    except (ConfigError, StorageError, UsageError) as error:
        _complain(str(error))
        return USAGE


def _complain(text: str) -> None:
    print(f"mcptui: {clean(text)}", file=sys.stderr)


def _load(path: Path, named: bool) -> "Loaded":
    from tui.settings.load import load

    return load(path, os.environ, required=named)


def _show(path: Path, named: bool) -> int:
    loaded = _load(path, named)
    for problem in loaded.problems:
        print(clean(str(problem)), file=sys.stderr)
    if not loaded.readable or (named and not loaded.exists):
        return USAGE
    print(f"# {clean_line(str(path), 4096)}" + ("" if loaded.exists else " (not found, showing defaults)"))
    if not loaded.names_servers:
        print("# no servers configured: using the samples weather, notes and slow")
    print(clean(loaded.to_masked_toml()), end="")
    return 0


def _problems(loaded: "Loaded", actions: "Actions", *, trust: bool) -> "list[Problem]":
    """Return all problems of the file, of its keys and theme, and of other themes."""
    from tui.settings.config_file import ConfigFile
    from tui.settings.foreign_settings import unused_settings
    from tui.settings.keymap import check_keys
    from tui.settings.locations import themes_dir
    from tui.settings.server_warnings import rule_warnings, server_warnings
    from tui.settings.themes import all_themes, load_theme

    ui = loaded.settings.ui
    _, keys = check_keys(ui.keys, actions()) if ui.keys else ({}, ())
    _, chosen = load_theme(ui.theme, themes_dir())
    found = [*loaded.problems, *map(loaded.located, keys), *([loaded.located(chosen)] if chosen else [])]
    found += server_warnings(loaded)
    found += rule_warnings(loaded)
    if ConfigFile(str(loaded.path), os.environ).source and not trust:
        found += unused_settings(loaded)
    found.sort(key=lambda problem: problem.line)
    # A damaged theme that is not in use is only a warning.
    _, damaged = all_themes(themes_dir())
    return [*found, *(replace(problem, warning=True) for problem in damaged if problem != chosen)]


def _check(path: Path, named: bool, actions: "Actions", against: str | None, *, trust: bool) -> int:
    loaded = _load(path, named)
    found = _problems(loaded, actions, trust=trust)
    unneeded = _unneeded_variables(loaded) if any(one.is_missing_key for one in found) else ()
    problems = [one for one in found if not (one.is_missing_key and one.path in unneeded)]
    for problem in problems:
        print(("warning: " if problem.warning else "") + clean(str(problem)))
    missing = tuple(_missing_keys(loaded))
    for line in missing:
        print(f"warning: {clean(line)}")
    shown = clean_line(str(path), 4096)
    is_usable = all(problem.warning for problem in problems)
    if is_usable and not loaded.exists:
        print(f"{shown}: not found, using defaults. `mcptui config init` writes a starter file")
    elif is_usable:
        settings, warnings = loaded.settings, len(problems) + len(missing)
        counts = [plural(len(settings.servers), "server"), plural(len(settings.models), "model")]
        counts += [plural(warnings, "warning")] if warnings else []
        print(f"{shown}: OK: {', '.join(counts)}")
    code = 0 if is_usable else USAGE
    if against is None or not loaded.readable:
        return code
    from tui.commands.permission.rules_check import check_against

    return max(code, check_against(loaded, against, trust=trust))


def _unneeded_variables(loaded: "Loaded") -> set[str]:
    """Return the paths of the variables that need not be set, because the user has stored the key."""
    from tui.runtime.model_keys import ModelKeys
    from tui.runtime.profiles import profile_of
    from tui.settings.load import dotted

    keys = ModelKeys()
    profiles = (profile_of(name, one, os.environ) for name, one in loaded.settings.models.items())
    return {dotted(("models", one.name, "api_key_env")) for one in profiles if keys.applied(one).key_place}


def _missing_keys(loaded: "Loaded") -> Iterator[str]:
    """Yield a warning for each model without a key that its provider requires."""
    from tui.model.endpoints.providers import missing_key
    from tui.runtime.model_keys import ModelKeys
    from tui.runtime.profiles import profile_of

    keys = ModelKeys()
    for name, settings in loaded.settings.models.items():
        if wanted := missing_key(keys.applied(profile_of(name, settings, os.environ))):
            yield f"models.{name}: {wanted}. Requests will fail. Store a key: `mcptui config key {name}`."


def _init(path: Path, *, only_print: bool) -> int:
    from tui.settings.save import starter, write_private

    schema = path.with_suffix(".schema.json")
    if only_print:
        print(starter(), end="")
        return 0
    if os.path.lexists(path):
        raise ConfigError(
            "already exists. Nothing was written.",
            where=str(path),
            next_step="Use `mcptui config init --print` to print the starter file, or `mcptui config check` "
            "to check your file.",
        )
    if path.suffix.lower() != ".toml":
        raise ConfigError("the starter file is TOML. Use a name that ends in .toml.", where=str(path))
    write_private(path, f"#:schema ./{schema.name}\n{starter()}")
    write_private(schema, _schema())
    print(f"wrote {clean_line(str(path), 4096)}")
    return 0


def _schema() -> str:
    from tui.settings.manual import configuration_schema

    return json.dumps(configuration_schema(), indent=2, ensure_ascii=False) + "\n"


def _import(path: Path, source: Path, *, dry_run: bool) -> int:
    from tui.settings.save import add_servers
    from tui.settings.server_import import plan_import

    plan = plan_import(source, path)
    for line in (*plan.done(), *plan.notes):
        print(clean(line))
    code = USAGE if plan.unusable else 0
    if not plan.new:
        print("nothing to add")
        return code
    shown = clean_line(str(path), 4096)
    if dry_run:
        print(f"dry run, nothing written. Without --dry-run, these are added to {shown}")
        return code
    add_servers(path, plan.new)
    print(f"wrote {shown}")
    print("mcptui shows you each of these servers and asks before it starts one for the first time")
    print("review them all now: mcptui config trust")
    _say_leftovers(path, plan.new)
    return code


def _say_leftovers(path: Path, new: Mapping[str, Any]) -> None:
    from tui.settings.server_warnings import server_warnings

    loaded = _load(path, named=True)
    for problem in (*loaded.problems, *server_warnings(loaded)):
        if any(problem.path.startswith(f"servers.{name}") for name in new):
            print(clean(str(problem)))


def _learned(*, forget: bool) -> int:
    from tui.model.endpoints.learned_quirks import Learned
    from tui.settings.learned_file import LearnedFile
    from tui.settings.locations import learned_file

    file = LearnedFile(learned_file())
    if forget:
        print(f"forgot what was learned from {plural(file.forget(), 'model')}")
        return 0
    entries = file.entries()
    for entry in entries:
        facts = ", ".join(Learned.from_json(entry.learned).facts) or "nothing that this version understands"
        print(clean_line(f"{entry.model} at {entry.endpoint}: {facts}", 4096))
    if not entries:
        print("nothing learned yet")
    return 0
