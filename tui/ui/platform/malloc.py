"""Keeps the C library from holding on to memory that was freed."""

import sys

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_BLOCK = 128 * 1024


def give_back_what_is_freed() -> None:
    """Let large blocks go back to the system as soon as they are freed. Does nothing but on Linux's glibc.

    glibc keeps a heap for every thread and raises the size from which on a block is given back with every
    large block that is freed; recording requests of growing conversations left 5 MB lying there (measured
    after 400 messages). Constants: glibc's malloc.h, mallopt(3).
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library, which has its own ways
        return
    for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _BLOCK), (_TRIM_THRESHOLD, _BLOCK)):
        mallopt(name, value)
