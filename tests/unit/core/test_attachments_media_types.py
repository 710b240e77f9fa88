"""Media types are detected from the bytes, however hostile."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.media import png, wav
from tui.core.attachments import decoded_size, dimensions, head_of, is_whole, media_type
from tui.core.secrets.encodings import plain_base64

JPEG = b"\xff\xd8" + b"\xff\xe0\x00\x04ab" + b"\xff\xff\xc2\x00\x0b\x08\x00\x10\x00\x20\x01\x00\x00\x00"
GIF = b"GIF89a\x05\x00\x07\x00"
LOSSY = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + b"\x40\x01\xf0\x00"
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L" + b"\0\0\0\0\x2f" + (319 | 239 << 14).to_bytes(4, "little") + b"\0" * 8
EXTENDED = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x3f\x01\x00\xef\x00\x00"


@each_case(
    ("octets", "size"),
    [
        (png(640, 480), (640, 480)),
        (JPEG, (32, 16)),
        (GIF, (5, 7)),
        (LOSSY, (320, 240)),
        (LOSSLESS, (320, 240)),
        (EXTENDED, (320, 240)),
    ],
)
def test_the_size_of_an_image_is_read_from_its_header(octets: bytes, size: tuple[int, int]) -> None:
    assert dimensions(octets) == size


@each_case("octets", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", GIF[:8], LOSSY[:29], wav(), png(0, 5)])
def test_truncated_and_other_data_have_no_size(octets: bytes) -> None:
    assert dimensions(octets) is None


@each_case(
    ("octets", "mime"),
    [
        (png(), "image/png"),
        (JPEG, "image/jpeg"),
        (wav(), "audio/wav"),
        (b"%PDF-1.7", "application/pdf"),
        (b"RIFF\0\0\0\0AVI LIST", ""),
        (b"hello", ""),
    ],
)
def test_the_type_is_detected_from_the_bytes(octets: bytes, mime: str) -> None:
    assert media_type(octets) == mime


@each_case("octets", [png(), JPEG + b"\xff\xd9", GIF + b";\0", b"RIFF\x0a\0\0\0WEBPVP8 \0\0", wav()])
def test_truncated_media_are_recognized(octets: bytes) -> None:
    assert is_whole(octets)
    assert octets == wav() or not is_whole(octets[: len(octets) * 2 // 3])


def test_a_jpeg_of_only_empty_segments_is_abandoned_early() -> None:
    assert dimensions(b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100_000) is None


@pytest.mark.parametrize(
    "written", ["aGVsbG8_ISE-", "aGVs\nbG8/\r\nISE+", "DATA:image/png;base64,aGVsbG8/ISE+", " aGVsbG8/ISE+ "]
)
def test_base64_from_servers_is_normalized_for_endpoints(written: str) -> None:
    assert plain_base64(written) == "aGVsbG8/ISE+"
    assert head_of(written, 6) == b"hello?"
    assert plain_base64("aGVsbA") == "aGVsbA=="


@each_case("written", ["not base64!", "a", "é", "\ud800", "aGVs=bG8"])
def test_invalid_base64_is_rejected(written: str) -> None:
    assert plain_base64(written) is None


@given(st.binary(max_size=200))
def test_the_size_of_base64_data_is_known_without_decoding(octets: bytes) -> None:
    written = base64.b64encode(octets).decode()
    assert plain_base64(written) == written
    assert decoded_size(written) == len(octets)
    assert head_of(written, 50) == octets[: len(head_of(written, 50))]


@given(st.binary(max_size=300), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a"]))
def test_any_bytes_can_be_inspected(octets: bytes, start: bytes) -> None:
    size = dimensions(start + octets)
    assert size is None or min(size) > 0


@given(st.text(st.characters(codec=None), max_size=100))
def test_any_text_can_be_inspected(written: str) -> None:
    plain = plain_base64(written)
    assert plain is None or base64.b64decode(plain, validate=True) is not None
    head_of(written)
