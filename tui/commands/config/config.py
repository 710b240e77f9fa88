"""`mcptui config`: find, show, check, create and import the configuration.

Importing this loads nothing heavy; each action imports what it needs.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui.commands.progress import progress
from tui.core.addons import brought
from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean, clean_line
from tui.core.units import plural
from tui.settings.config_file import ConfigFile
from tui.settings.learned_file import LearnedFile
from tui.settings.locations import config_path
from tui.settings.save import add_tables, save_file, starter

if TYPE_CHECKING:
    from tui.model.endpoints.profile import ModelProfile
    from tui.settings.keymap import ActionKeys
    from tui.settings.load import Loaded
    from tui.settings.server_import import Plan

    Actions = Callable[[], Mapping[str, ActionKeys]]

USAGE = 2
"""Exit code for an unusable configuration or an invalid request."""


def config(args: argparse.Namespace, actions: "Actions") -> int:
    """Run the action `args.action` and return the exit code.

    `actions` returns the actions that can have keys. Only the screens know them.
    """
    path, named = config_path(getattr(args, "config", None), os.environ)
    file = ConfigFile(str(path) if named else None, os.environ, trust=True)
    match args.action:
        case "path":
            print(clean_line(str(path), 4096))
            return 0
        case "show":
            return _show(file.read(), named)
        case "check":
            from tui.commands.config.check import config_check

            trust = bool(vars(args).get("trust_config"))
            with progress("checking"):
                code = config_check(file.read(), actions(), args.against, trust=trust)
            if code == 0 and vars(args).get("cards"):
                checked: int = brought("service", "card check")(args)
                return checked
            return code
        case "init":
            return _init(path, only_print=args.print)
        case "schema":
            print(_schema(), end="")
            return 0
        case "learned":
            return _learned(forget=args.forget)
        case "key":
            return _key(file.read(), args.name or "", forget=args.forget)
        case "trust":
            from tui.commands.permission.config_trust import config_trust

            return config_trust(path, yes=args.yes)
        case "hosts":
            from tui.commands.config.hosts import config_hosts

            with progress("reading the files of other hosts", quiet=args.json):
                return config_hosts(path, args.host, as_json=args.json)
        case _:
            return _import(file, _plan(args, path), dry_run=args.dry_run)


def _show(loaded: "Loaded", named: bool) -> int:
    for problem in loaded.problems:
        print(clean(str(problem)), file=sys.stderr)
    if not loaded.readable or (named and not loaded.exists):
        return USAGE
    print(
        f"# {clean_line(str(loaded.path), 4096)}"
        + ("" if loaded.exists else " (not found, showing defaults)")
    )
    if not loaded.names_servers:
        print("# no servers configured: using the samples weather, notes and slow")
    print(clean(loaded.to_masked_toml()), end="")
    return 0


def _init(path: Path, *, only_print: bool) -> int:
    schema = path.with_suffix(".schema.json")
    if only_print:
        print(starter(), end="")
        return 0
    if os.path.lexists(path):
        step = "Use `mcptui config init --print` to print the starter file, or `mcptui config check` to check"
        raise ConfigError(
            "already exists. Nothing was written.", where=str(path), next_step=f"{step} your file."
        )
    if path.suffix.lower() != ".toml":
        raise ConfigError("the starter file is TOML. Use a name that ends in .toml.", where=str(path))
    save_file(path, f"#:schema ./{schema.name}\n{starter()}")
    save_file(schema, _schema())
    print(f"wrote {clean_line(str(path), 4096)}")
    return 0


def _schema() -> str:
    from tui.settings.manual import configuration_schema

    return json.dumps(configuration_schema(), indent=2, ensure_ascii=False) + "\n"


def _plan(args: argparse.Namespace, target: Path) -> "Plan":
    """Return the plan of an import from a file, or with `--from` from the files of a host."""
    from tui.settings.server_import import plan_import

    words: list[str] = args.words
    if args.host is None:
        if len(words) != 1:
            step = "Usage: mcptui config import FILE, or --from HOST [NAME ...]"
            raise UsageError("one file is required.", where="config import", next_step=step)
        return plan_import(Path(os.path.expanduser(words[0])), target)
    from tui.settings.foreign.hosts import host_of, unknown_host
    from tui.settings.host_files import host_files, plan_host_import

    if (host := host_of(args.host)) is None:
        raise unknown_host(args.host)
    files = host_files(args.host.lower(), Path.cwd(), os.environ)
    return plan_host_import(host.title, words, files, target)


def _import(file: ConfigFile, plan: "Plan", *, dry_run: bool) -> int:
    from tui.settings.server_warnings import server_warnings

    for line in (*plan.done(), *plan.notes):
        print(clean(line))
    code = USAGE if plan.unusable else 0
    if not plan.new:
        print("nothing to add")
        return code
    shown = clean_line(str(file.path), 4096)
    if dry_run:
        print(f"dry run, nothing written. Without --dry-run, these are added to {shown}")
        return code
    file.change(lambda document: add_tables(document, "servers", plan.new))
    print(f"wrote {shown}")
    print("mcptui shows you each of these servers and asks before it starts one for the first time")
    print("review them all now: mcptui config trust")
    loaded = file.read()
    for problem in (*loaded.problems, *server_warnings(loaded)):
        if any(problem.keys[:2] == ("servers", name) for name in plan.new):
            print(clean(str(problem)))
    return code


def _learned(*, forget: bool) -> int:
    from tui.model.endpoints.learned_quirks import Learned

    file = LearnedFile()
    if forget:
        print(f"forgot what was learned from {plural(file.forget(), 'model')}")
        return 0
    for entry in (entries := file.entries()):
        facts = ", ".join(Learned.from_json(entry.learned).facts) or "nothing that this version understands"
        print(clean_line(f"{entry.model} at {entry.endpoint}: {facts}", 4096))
    if not entries:
        print("nothing learned yet")
    return 0


def _key(loaded: "Loaded", name: str, *, forget: bool) -> int:
    """Store the key of a profile, or forget it; without a name, print where the keys are. Return 0.

    Raises UsageError, ConfigError or StorageError.
    """
    from tui.model.endpoints.providers import bare_url, from_environment, usable_url
    from tui.runtime.model_keys import ModelKeys
    from tui.runtime.profiles import Profiles

    keys = ModelKeys()
    if forget and not name:
        raise UsageError("--forget needs a profile", next_step="Name it: mcptui config key NAME --forget")
    if forget:
        places = [f"deleted the key that was stored {place}" for place in asyncio.run(keys.forget(name))]
        print(clean("\n".join(places or ["no key of this profile is stored"])))
        return 0
    found = Profiles(loaded, os.environ, keys, trust=True).configured()
    taken = {one.name for one in found}
    found += [keys.applied(one) for one in from_environment(os.environ) if one.name not in taken]
    if not name:
        lines = [f"{one.name}: {_key_place(one)}" for one in found]
        print(clean("\n".join(lines or ["no model profiles. Add one in mcptui: press f10, then ctrl+n."])))
        return 0
    profile = next((one for one in found if one.name == name), None)
    if profile is None:
        # The name is not repeated: it may be a key.
        names = ", ".join(clean_line(one.name, 64) for one in found)
        known = f"Profiles: {names}." if names else "Add one in mcptui: press f10, then ctrl+n."
        raise UsageError("there is no model profile of this name", where="config key", next_step=known)
    url = clean_line(bare_url(usable_url(profile)), 200)
    place = asyncio.run(keys.store(profile, _read_key(f"API key of {clean_line(name, 64)} ({url}): ")))
    print(clean(f"stored {place}"))
    print(f"it is used for {url} until `mcptui config key {clean_line(name, 64)} --forget`")
    return 0


def _read_key(prompt: str) -> str:
    """Return the key from the terminal, without echo, or from a pipe: one line."""
    if sys.stdin.isatty():
        from tui.commands.permission.terminal_approver import typed_answer

        return typed_answer(prompt, hidden=True) or ""
    from tui.runtime.model_keys import MAX_KEY

    text = sys.stdin.read(MAX_KEY + 2).strip()
    if "\n" in text:
        raise UsageError("stdin has more than one line", where="config key", next_step="Pipe only the key.")
    return text


def _key_place(profile: "ModelProfile") -> str:
    from tui.model.endpoints.providers import missing_key

    if profile.blocked:
        return profile.blocked
    if profile.key_place:
        return profile.key_place
    if profile.keychain:
        return f"in the keychain at {profile.keychain}"
    if profile.api_key_env:
        return f"environment variable {profile.api_key_env} ({'set' if profile.api_key else 'not set'})"
    return "in the configuration" if profile.api_key else missing_key(profile) or "no key"
