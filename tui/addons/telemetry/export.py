"""`mcptui traffic --export otlp`: a recording as lines of OTLP/JSON."""

import argparse
from collections.abc import Callable, Iterable, Iterator

from tui.addons.telemetry.otlp import text_of, traces
from tui.addons.telemetry.span import Span
from tui.addons.telemetry.spans import SpanBuilder
from tui.core.traffic import Entry

BATCH = 200
"""Maximum spans of a line. Collectors read a line at a time."""


def otlp(
    columns: Iterable[Entry], whole: Callable[[int], Entry | None], args: argparse.Namespace
) -> Iterator[str]:
    """Yield the spans of entries, a line with an ExportTraceServiceRequest at a time.

    `columns` are the entries without bodies, `whole` returns one with its body.
    """
    builder, waiting = SpanBuilder(content=bool(args.with_content)), list[Span]()
    for column in columns:
        if (entry := whole(column.seq)) is not None:
            waiting += builder.take(entry)
        while len(waiting) >= BATCH:
            yield text_of(traces(waiting[:BATCH])) + "\n"
            del waiting[:BATCH]
    waiting += builder.finish()
    for start in range(0, len(waiting), BATCH):
        yield text_of(traces(waiting[start : start + BATCH])) + "\n"
