"""`mcptui add` and `mcptui remove`: servers of the configuration, without an editor."""

import argparse
import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.addons import every, load, missing, service
from tui.core.errors import UsageError
from tui.core.permission.risks import risks_of
from tui.core.ports import BY_KEY
from tui.core.programs import is_command
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.stored_sign_in import SignedOut
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line, quoted_name
from tui.host.sign_in.token_store import TokenStore
from tui.runtime.options import Options
from tui.runtime.permission.consent import agree
from tui.runtime.permission.subjects import launch_of
from tui.settings import new_server
from tui.settings.locations import config_path, state_dir
from tui.settings.save import add_tables, change_config, refuse_foreign, remove_server
from tui.settings.specs import resolved


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server to be added. One that a third party described is added only after confirmation.

    `table` is as under `[servers.NAME]`, `shown` the same with `***` for each secret that the user gave, if
    that differs. `name` is proposed, or "". `source` is who described it: "registry", "bundle" or "card", ""
    for the user. `lines` say what it is and where it comes from, cleaned. After confirmation, `install`
    installs its files in the new `folder`, and `store` stores secrets: it takes the table, its name and the
    configuration file, and returns the table.
    """

    table: dict[str, Any]
    name: str = ""
    source: str = ""
    shown: dict[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    folder: str = ""
    install: Callable[[], None] | None = None
    store: Callable[[dict[str, Any], str, Path], dict[str, Any]] | None = field(default=None, repr=False)


def remove(args: argparse.Namespace) -> int:
    """Run `mcptui remove` and return its exit code."""
    path, _ = config_path(vars(args).get("config"), os.environ)
    present = new_server.present_servers(path)
    if args.server not in present:
        known = ", ".join(clean_line(name, 64) for name in present) or "none"
        why = f"{quoted_name(args.server)} is not configured in {clean_line(str(path), 4096)}."
        raise UsageError(why, next_step=f"Configured servers: {known}.")
    signed_out = asyncio.run(_removed(args, path))
    print(f"removed {clean_line(args.server, 64)} from {clean_line(str(path), 4096)}")
    if len(present) == 1:
        print("no servers are left: for the sample servers, delete the line [servers] there")
    if signed_out.count:
        told = clean(signed_out.told)
        print(f"its tokens were also deleted{f'.{told}' if told else ''}")
    if (delete_leftovers := service("leftovers")) is not None:
        for line in asyncio.run(delete_leftovers(args.server, present)):
            print(line)
    for _, forget in every("removal"):
        load(forget)(args.server, None)
    return 0


async def _removed(args: argparse.Namespace, path: Path) -> SignedOut:
    """Remove a server, then delete and revoke its tokens, as the client that was configured."""
    change = partial(remove_server, name=args.server)
    stored = await TokenStore(state_dir() / "sign-in").listed()
    if not any(one.server == args.server for one in stored):
        change_config(path, change)
        return SignedOut(0)
    from tui.runtime.runtime import Runtime

    runtime = Runtime(Options.from_args(args), os.environ)
    try:
        await runtime.ready(start=False, model=False, session=False)
        change_config(path, change)
        return await runtime.host.sign_out(args.server)
    finally:
        await runtime.shutdown()


def add(args: argparse.Namespace) -> int:
    """Run `mcptui add` and return its exit code."""
    from tui.commands.command_line import fill_add
    from tui.commands.shared_options import parse_trailing

    words = args.target
    is_package = service("is package")
    if len(words) > 1 and ("://" in words[0] or (is_package is not None and is_package(args))):
        parse_trailing(args, "target", fill_add, prog="mcptui add")
    elif words[:1] == ["--"]:  # options after a command belong to the command
        args.target = words[1:]
    path, _ = config_path(vars(args).get("config"), os.environ)
    refuse_foreign(path)
    found = _found(args)
    more = ({"source": found.source} if found.source else {}) | ({"era": args.era} if args.era else {})
    table, shown_table = found.table | more, (found.shown or found.table) | more
    present = new_server.present_servers(path)
    proposed = args.name or found.name or new_server.server_name(table)
    new_server.refuse_duplicate("", table, present)
    name = args.name or _asked_name(proposed)
    renaming = f"Choose another one with --name, or remove it first: mcptui remove {shlex.quote(name)}"
    new_server.refuse_duplicate(name, table, present, renaming)
    notes = new_server.check_new(name, table, path, os.environ, created=found.folder)
    notes += _notes(words, table)
    if found.source:
        print("\n".join((*found.lines, "")) if found.lines else "")
    print(clean(new_server.as_toml(name, shown_table)))
    for risk in _risks(table, found.folder) if found.source else ():
        print(f"! {clean(risk)}")
    for note in notes:
        print(f"note: {clean(note)}")
    shown = clean_line(str(path), 4096)
    if args.dry_run:
        print(f"dry run, nothing written. Without --dry-run, this is added to {shown}")
        return 0
    if found.source:
        from tui.commands.permission.terminal_approver import confirm

        if not confirm(f"{_what_happens(shown_table)}\nAdd it to {shown}?", yes=args.yes):
            print("nothing written")
            return 0
        if found.install is not None:
            found.install()
        table = table if found.store is None else found.store(table, name, path)
    change_config(path, lambda document: add_tables(document, "servers", {name: table}))
    print(f"wrote {shown}")
    _agree(path, name, by="option --yes" if found.source and args.yes else BY_KEY)
    if not present:
        print("the sample servers no longer start, because a server is now configured")
    print("check that it starts: mcptui servers")
    if "url" in table and not any(header.lower() == "authorization" for header in table.get("headers", ())):
        print(f"if it requires signing in: mcptui login {shlex.quote(name)}")
    return 0


def _notes(words: list[str], table: Mapping[str, Any]) -> list[str]:
    is_meant = words[:1] == ["--"] or "--help" not in table.get("args", ())
    return [] if is_meant else ["--help belongs to the command. For help with mcptui: mcptui add --help"]


def _found(args: argparse.Namespace) -> FoundServer:
    for name in ("domain", "package"):
        if (find := service(name)) is not None and (found := find(args)) is not None:
            server: FoundServer = found
            return server
    word = args.target[0] if len(args.target) == 1 else ""
    lacks = missing("service", "package")
    if lacks and "://" not in word and ("/" in word or word.endswith(".mcpb")) and not is_command(word):
        raise UsageError(lacks)  # the name of a registry entry or a bundle
    return _typed(args)


def _agree(path: Path, name: str, *, by: str) -> None:
    """Store consent for a server that was typed or just confirmed, so that mcptui does not ask again."""
    if problem := agree(path, name, os.environ, by=by):
        print(f"note: mcptui will ask before it starts the server: {clean(problem)}")


def _what_happens(table: Mapping[str, Any]) -> str:
    if "url" in table:
        return f"mcptui will connect to {clean_line(masked(table['url']), 400)}."
    words = masked_arguments([table["command"], *table.get("args", ())])
    return f"mcptui will run: {clean_line(shlex.join(words), 20_000)}"


def _risks(table: Mapping[str, Any], created: str) -> list[str]:
    """Return the risks of a start. A program in the folder `created` will exist."""
    args, env = tuple(map(str, table.get("args", ()))), table.get("env", {})
    command, url = table.get("command", ""), table.get("url")
    launch = launch_of(ServerSpec("", command, args, env, table.get("cwd"), url=url))
    if created and command.startswith(f"{created}{os.sep}"):
        launch = replace(launch, program=command)
    return list(risks_of(launch))


def _typed(args: argparse.Namespace) -> FoundServer:
    table = new_server.server_table(
        args.target,
        env=dict(new_server.pairs(args.env)),
        headers=dict(new_server.pairs(args.header, colon=True)),
        transport=args.transport or "",
    )
    if "command" in table:  # the path must work from any folder
        table["command"], *arguments = resolved([table["command"], *table.get("args", ())], Path.cwd())
        table |= {"args": arguments} if arguments else {}
    return FoundServer(table)


def _asked_name(proposed: str) -> str:
    """Ask for a name and return it. Without a terminal or an answer, return the proposed one."""
    from tui.commands.permission.terminal_approver import is_terminal, typed_answer

    return (is_terminal() and typed_answer(f"Name [{proposed}]: ")) or proposed
