"""Server-sent events: bytes in, data payloads out. Pure.

Follows the WHATWG HTML standard, section 9.2.6, as far as a client of chat completions needs it: only
`data` fields matter. More forgiving in two things: an event at the end without its empty line counts, and
so do whole JSON objects on lines that no empty line parts.
"""

MAX_EVENT = 16 * 1024 * 1024
"""Bytes of one event; more is no chunk of any reply."""


class TooLong(ValueError):
    """An event exceeds `MAX_EVENT`."""


class EventParser:
    """Cuts a byte stream into the data of its events, however the bytes are chunked.

    Attributes:
        head: the first bytes of the stream, for saying what it was if it was no event stream.
        events: how many events with data there were.
    """

    def __init__(self) -> None:
        self.head = b""
        self.events = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._data: list[str] = []
        self._after_cr = False

    def feed(self, block: bytes) -> list[str]:
        """Return the data of the events that end in `block`.

        Raises:
            TooLong: an event, or what should be one, exceeds `MAX_EVENT`.
        """
        if not block:
            return []
        if len(self.head) < 4096:
            self.head += block[: 4096 - len(self.head)]
        if self._after_cr and block.startswith(b"\n"):
            block = block[1:]
        self._after_cr = block.endswith(b"\r")
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = block.split(b"\n")
        found: list[str] = []
        for line in lines:
            self._pieces.append(line)
            self._line(b"".join(self._pieces), found)
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
        if self._size > MAX_EVENT:
            raise TooLong(f"an event of the stream exceeds {MAX_EVENT} bytes")
        return found

    def close(self) -> list[str]:
        """Return the data of an event that the end of the stream cut off from its empty line."""
        found: list[str] = []
        if self._pieces:
            self._line(b"".join(self._pieces), found)
            self._pieces.clear()
        self._line(b"", found)
        return found

    def _line(self, line: bytes, found: list[str]) -> None:
        if not line:
            if self._data:
                found.append("\n".join(self._data))
                self._data.clear()
                self.events += 1
            self._size = 0
            return
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        if text.startswith("data"):
            name, _, value = text.partition(":")
            if name == "data":
                value = value.removeprefix(" ")
                if self._data and self._data[-1].endswith("}") and value.startswith(("{", "[DONE]")):
                    self._line(b"", found)
                self._data.append(value)
                self._size += len(line)
