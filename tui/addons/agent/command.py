"""`mcptui agent`: runs the server until the client closes its stdin."""

import argparse
import asyncio
import os
import sys

from tui.commands.recordings import recordings


def agent(args: argparse.Namespace) -> int:
    """Run `mcptui agent`. Raises McptuiError, such as if the recording is not found."""
    if args.install is not None or args.uninstall is not None:
        from tui.addons.agent.install import install

        return install(args)
    if args.skill is not None:
        from tui.addons.agent.skill_file import skill

        return skill(args)
    if args.recording is not None:
        recordings().find(args.recording)
    from tui.addons.agent.context import AgentContext
    from tui.addons.agent.server import serve

    wire_in, wire_out = _wire()
    return asyncio.run(serve(AgentContext(vars(args).get("config"), args.recording), wire_in, wire_out))


def _wire() -> tuple[int, int]:
    """Return descriptors of the protocol. Whatever else prints, prints on stderr, and reads nothing."""
    sys.stdout.flush()
    wire = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return wire
