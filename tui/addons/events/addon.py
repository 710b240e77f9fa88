"""What this add-on brings: `mcptui events`, and what delivers events in the app. Standard library only."""

import argparse

from tui.commands.shared_options import (
    add_one_server,
    add_wide,
    flag,
    option,
    seconds,
)

USAGE = """\
mcptui events SERVER [NAME [ARG=VALUE ...]] [OPTION ...]
       mcptui events [NAME [ARG=VALUE ...]] [OPTION ...] -- COMMAND [ARG ...]"""
_ABOUT = """\
List the event types of a server, or print its events as they happen.

  mcptui events github                       its event types
  mcptui events github push                  one of them, with its schemas
  mcptui events github push repo=a --follow  print its events until ctrl+c
  mcptui events github push --follow --json  one JSON object a line

What is followed here is not kept. In the app, subscriptions outlive a restart.
"""
_EPILOG = """\
exit codes:
  0    listed
  1    the subscription has ended, or the list is incomplete
  2    invalid usage or configuration
  5    the server did not start
  130  interrupted
"""


def _fill(events: argparse.ArgumentParser) -> None:
    option(events, "words", "WORD", argparse.SUPPRESS, nargs="*")
    flag(events, "--follow", "subscribe, and print the events as they happen")
    add_wide(events)
    flag(events, "--json", "print JSON: the list, or one object a line with --follow")
    option(events, "--seconds", "N", "timeout of a request in seconds (default: as configured)", type=seconds)
    text = "all arguments as one JSON object (@FILE reads a file, - reads stdin)"
    option(events, "--args", "JSON|@FILE|-", text)
    option(events, "--since", "CURSOR", "continue after this cursor (default: from now)")
    text = "how events are delivered (default: push if the server supports it)"
    option(events, "--mode", None, text, choices=("push", "poll"))
    add_one_server(events)


BRINGS = {
    "command": {"events": "tui.addons.events.command:events"},
    "parser": {
        "events": {
            "after": "list",
            "live": True,
            "fill": _fill,
            "help": "list the events of a server, or print them as they happen",
            "usage": USAGE,
            "description": _ABOUT,
            "epilog": _EPILOG,
        }
    },
    "setting": {"events": None},
    "removal": {"events": "tui.addons.events.store:forget_server"},
    "service": {
        "events": "tui.addons.events.events:Events",
        "events tab": "tui.addons.events.tab:EventsTab",
        "list of events": "tui.addons.events.screen:EventsScreen",
    },
}
