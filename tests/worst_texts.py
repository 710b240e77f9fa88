"""PLACEHOLDER"""

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of this thread that `work` takes."""
    began = time.thread_time()
    work()
    return time.thread_time() - began
