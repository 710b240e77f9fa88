"""`mcptui traffic --export otlp`: a recording as lines of OTLP/JSON."""

import argparse
from collections.abc import Callable, Iterable, Iterator

from tui.addons.telemetry.otlp import batches, span_text, traces
from tui.addons.telemetry.spans import SpanBuilder
from tui.core.traffic import Entry


def otlp(
    columns: Iterable[Entry], whole: Callable[[int], Entry | None], args: argparse.Namespace
) -> Iterator[str]:
    """Yield the spans of entries, a line with an ExportTraceServiceRequest at a time.

    `columns` are the entries without bodies, `whole` returns one with its body.
    """
    builder = SpanBuilder(content=bool(args.with_content))

    def texts() -> Iterator[str]:
        for column in columns:
            if (entry := whole(column.seq)) is not None:
                yield from map(span_text, builder.take(entry))
        yield from map(span_text, builder.finish())

    for batch in batches(texts()):
        yield traces(batch) + "\n"
