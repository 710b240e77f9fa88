"""The traffic of one run of the program: everything that taps see, recorded in a file of its own."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from tui.core.redact import Redactor
from tui.core.traffic import Captured, TrafficReader, TrafficWriter
from tui.trace.frames import Frames
from tui.trace.recorder import Recorder
from tui.trace.recording import Recording

CLOSE_SECONDS = 2.0


class Traffic:
    """`core.traffic.TrafficSink` that records.

    Attributes:
        count: how many lines went to servers or came from them.
        columns: what is recorded, as columns.
        path: the file.
    """

    def __init__(self, folder: Callable[[], Path], redactor: Callable[[], Redactor]) -> None:
        """Take what travels from now on; nothing is written before `start()`.

        Args:
            folder: says where recordings are kept; asked in the recorder's thread.
            redactor: says which secrets are kept out; asked for every body, since keys become known late.
        """
        self.count = 0
        self.columns = Frames()
        self.path = Path()
        self._folder = folder
        self._recorder = Recorder(self._open, self.columns, redact=lambda raw: redactor().redact_bytes(raw))

    def __call__(self, captured: Captured) -> None:
        """Take what a tap saw."""
        if captured.kind is None:
            self.count += 1
        self._recorder.capture(captured)

    def start(self) -> None:
        """Begin to record; what was taken before is recorded too."""
        self._recorder.start()

    def recording(self) -> Recording:
        """Return the traffic as a screen needs it."""
        return Recording(self.columns, self._reader, problem=lambda: self._recorder.problem)

    def close(self) -> None:
        """Record what was taken so far and let go of the file. Waits a moment at most."""
        self._recorder.close(CLOSE_SECONDS)

    def _open(self) -> TrafficWriter:
        from tui.storage.traffic_writer import RecordingWriter

        began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.path = self._folder() / f"{began}-{os.getpid()}.mcptrace"
        return RecordingWriter(self.path, meta={"pid": str(os.getpid()), "program": "mcptui"})

    def _reader(self) -> TrafficReader:
        from tui.storage.traffic_reader import RecordingReader

        self._recorder.flush()
        return RecordingReader(self.path)
