"""What this add-on brings: `traffic --export otlp`, and `[telemetry]`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import flag


def _fill(traffic: argparse.ArgumentParser) -> None:
    text = "with --export otlp: include arguments, results, prompts and answers, with secrets redacted"
    flag(traffic, "--with-content", text)


def _check(args: argparse.Namespace) -> None:
    from tui.core.errors import UsageError

    if args.with_content and args.export != "otlp":
        raise UsageError("--with-content requires --export otlp")


BRINGS = {
    "export": {"otlp": "tui.addons.telemetry.export:otlp"},
    "flags": {"traffic": {"fill": _fill, "deeds": (), "check": _check}},
    "service": {"telemetry": "tui.addons.telemetry.live:Exporter"},
    "setting": {"telemetry": None},
}
