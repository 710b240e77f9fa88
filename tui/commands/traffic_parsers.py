"""The command lines of `tap`, `trace` and `mock`. Imports the standard library only."""

import argparse
from collections.abc import Sequence

TAP_USAGE = "mcptui tap [--name NAME] -- COMMAND [ARG ...]\n       mcptui tap --listen PORT --to URL"
TAP_ABOUT = """\
Stand between another host and its MCP server and record what travels. The host starts this in place of
the server; bytes, ends, signals and the exit code pass as they are, and recording never holds them up.
"""
RECORDING = "a .mcptrace or .jsonl file, or the beginning or end of a name that trace --list prints"
TRACE_ABOUT = """\
Read a recording: the one that is named, the one with the newest entry, or with --since or --all those of
a time, oldest first, and each line says which. On a terminal and without an option the traffic screen opens;
otherwise it is printed.

  mcptui trace --since 1h --slowest     the slowest calls of the last hour, whatever ran in it
  mcptui trace --since 1h --failed      the calls that failed in it
  mcptui trace --lint                   what breaks the protocol in the newest recording
"""
TRACE_EPILOG = """\
exit codes: 0 done; 1 --lint found errors, or --replay found differences; 2 usage, or no such recording;
5 --replay: the server could not be started; 130 interrupted
"""
MOCK_ABOUT = """\
Answer over stdio as the server of a recording did: the same request gets the recorded answer, and one that
was never recorded gets an error that says what was.
"""


def add_parsers(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the three commands."""
    tap = commands.add_parser(
        "tap",
        help="stand between another host and its server, and record what travels",
        usage=TAP_USAGE,
        description=TAP_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_tap(tap)
    _add_trace(commands)
    _add_mock(commands)


def _add_tap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="how the server is called in the recording")
    parser.add_argument("--listen", type=_port, metavar="PORT", help="serve HTTP on 127.0.0.1:PORT instead")
    parser.add_argument("--to", metavar="URL", help="the HTTP server that --listen stands in front of")
    parser.add_argument(
        "server_command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the server's command, behind --"
    )


def parse_tap(argv: Sequence[str]) -> argparse.Namespace:
    """Return what `mcptui tap` was given, without building the whole command line first.

    What stands behind the first `--` is the server's command and never read as an option of ours.
    """
    parser = argparse.ArgumentParser(
        prog="mcptui tap",
        usage=TAP_USAGE,
        description=TAP_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_tap(parser)
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:cut])
    args.server_command += given[cut + (0 if args.server_command else 1) :]
    return args


def _several(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("must be 0 to 65535; 0 takes any free one")
    return port


def _add_trace(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    trace = commands.add_parser(
        "trace",
        help="read a recording: list, filter, judge, measure, export, replay",
        description=TRACE_ABOUT,
        epilog=TRACE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    trace.add_argument("recording", nargs="?", metavar="FILE|SESSION", help=RECORDING)
    trace.add_argument("--list", action="store_true", help="print the recordings kept, newest first")
    trace.add_argument("--filter", metavar="EXPR", help='only these, e.g. "method:tools/* latency:>200ms"')
    trace.add_argument("--failed", action="store_true", help="only calls that failed, each once")
    trace.add_argument(
        "--since",
        metavar="TIME",
        help="only from then on, such as 1h, 14:05, 2026-11-20; of all recordings if none is named",
    )
    trace.add_argument("--all", action="store_true", help="read all recordings")
    trace.add_argument("--json", action="store_true", help="print one JSON object a line")
    trace.add_argument("--lint", action="store_true", help="print what is wrong; exit code 1 for errors")
    trace.add_argument("--stats", action="store_true", help="print calls, errors and times of each tool")
    trace.add_argument(
        "--slowest",
        nargs="?",
        const=10,
        type=_several,
        metavar="N",
        help="print the N calls that took longest (10), slowest first; no starts and lists unless asked for",
    )
    trace.add_argument(
        "--follow", action="store_true", help="go on printing what comes, as long as it is live"
    )
    trace.add_argument(
        "--export", choices=("jsonl", "md", "har", "html"), help="write the entries in this format"
    )
    trace.add_argument("-o", "--output", metavar="FILE", help="where --export writes, if not to stdout")
    trace.add_argument(
        "--replay",
        nargs="?",
        const="",
        metavar="SERVER",
        help="send the requests to a configured server (or to -- COMMAND ARG ...), print what differs",
    )
    trace.add_argument("--server", metavar="NAME", help="which server of the recording --replay takes")
    trace.add_argument(
        "--mask", action="append", metavar="PATH", help="--replay: a value that may differ, e.g. $.time"
    )
    trace.add_argument(
        "--config", metavar="FILE", default=argparse.SUPPRESS, help="configuration that names SERVER"
    )


def _add_mock(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    mock = commands.add_parser(
        "mock",
        help="answer over stdio from a recording, in place of the server",
        description=MOCK_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    mock.add_argument("recording", metavar="FILE|SESSION", help=RECORDING)
    mock.add_argument("--server", metavar="NAME", help="which server of the recording, if it has several")
    mock.add_argument("--timing", action="store_true", help="take as long for each answer as the server did")
