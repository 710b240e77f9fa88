"""Packages for `mcptui add`: which words name one, and the server of a bundle.

A bundle is shown, its settings are asked for, and it is unpacked once confirmed.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.packages.bundle import bundle_of, folder_name, open_bundle
from tui.addons.packages.registry_entry import is_registry_name
from tui.addons.packages.server_inputs import Values, found_server, values_of
from tui.commands.add import FoundServer
from tui.commands.progress import progress
from tui.core.errors import UsageError
from tui.core.programs import find_program, is_command
from tui.core.text import clean_line, quoted_name
from tui.core.units import plural, size
from tui.settings.locations import bundles_dir
from tui.settings.new_server import named_after, pairs


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


def is_bundle(word: str) -> bool:
    """Return whether a word names a bundle, by its suffix."""
    return word.lower().endswith((".mcpb", ".dxt"))


def _is_packed(word: str) -> bool:
    return is_bundle(word) or (is_registry_name(word) and not is_command(word))


def from_bundle(args: argparse.Namespace, word: str) -> FoundServer:
    """Return the server of a bundle as it would be configured. Raises UsageError if it cannot be used."""
    if "://" in word:
        raise UsageError(
            "a bundle must be a local file.", next_step="Download it first, and check its SHA-256."
        )
    if args.env or args.header or args.transport or args.kind or args.registry:
        raise UsageError(
            "--env, --header, --transport, --as and --registry do not apply to bundles.",
            next_step="Use --set NAME=VALUE for the values of a bundle.",
        )
    path = Path(os.path.expanduser(word)).absolute()
    with progress("reading the bundle"), open_bundle(path, args.sha256 or "") as file:
        bundle = bundle_of(file.manifest)
        if missing := bundle.missing(file.names):
            shown = quoted_name(missing, 120)
            raise UsageError(f"the bundle does not contain {shown}, the entry point in its manifest.json.")
        digest, held = file.digest, f"{plural(len(file.names), 'file')}, {size(file.unpacked)}"
    folder = bundles_dir() / folder_name(bundle, digest)
    author = f", by {clean_line(bundle.author, 80)} (unverified)" if bundle.author else ""
    print(f"{clean_line(bundle.title or bundle.name, 80)} {clean_line(bundle.version, 40)}{author}")
    print(f"  {clean_line(bundle.description, 200)}")
    print(f"  {held}, SHA-256 {digest}{' as expected' if args.sha256 else ''}")
    print(f"  will be unpacked into {clean_line(str(folder), 400)}\n", flush=True)
    given = pairs(args.set)
    values = values_of(bundle.inputs, given, every=True)
    for one in bundle.inputs:  # in a configuration, paths are absolute
        if one.kind in ("file", "directory") and not one.secret and one.name in values:
            values[one.name] = tuple(
                str(Path(os.path.expanduser(text)).absolute()) if text and "${" not in text else text
                for text in values[one.name]
            )

    def table_of(values: Values) -> dict[str, Any]:
        made = bundle.table(folder, values)
        if made["command"] == "python" and find_program("python") is None and find_program("python3"):
            made["command"] = "python3"
        return made

    unset = [one for one in bundle.inputs if one.name not in values]
    lines = [f"  --set {clean_line(one.name, 60)}=…  {one.about}" for one in unset]

    def install() -> None:
        with progress("unpacking the bundle"), open_bundle(path, digest) as again:
            again.unpack(folder, bundle.program() if bundle.is_binary else "")

    server = found_server(bundle.inputs, given, values, table_of, lines)
    return replace(
        server, name=named_after(bundle.name), source="bundle", folder=str(folder), install=install
    )
