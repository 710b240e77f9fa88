"""Registry entries and bundles for `mcptui add`: which words name one, and its server."""

import argparse

from tui.addons.packages.add_bundle import from_bundle, is_bundle
from tui.addons.packages.registry_entry import is_registry_name
from tui.commands.add import FoundServer
from tui.core.errors import UsageError
from tui.core.files.programs import is_command


def is_package(args: argparse.Namespace) -> bool:
    """Return whether the first word names a package: options of mcptui may follow it."""
    word, *others = args.target
    if args.registry or _is_packed(word):
        return True
    named = any(one == "--registry" or one.startswith("--registry=") for one in others)
    return named and not is_command(word)


def package(args: argparse.Namespace) -> FoundServer | None:
    """Return the server of a bundle or a registry entry, or None for a URL or a command."""
    word = args.target[0] if len(args.target) == 1 else ""
    if is_bundle(word) and not args.registry:
        return from_bundle(args, word)
    if word and (args.registry or _is_packed(word)):
        from tui.addons.packages.registry import from_registry

        return from_registry(args, word)
    if args.set or args.kind or args.sha256:
        raise UsageError("--set, --as and --sha256 require a registry entry or a bundle.")
    return None


def _is_packed(word: str) -> bool:
    return is_bundle(word) or (is_registry_name(word) and not is_command(word))
