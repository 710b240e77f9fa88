"""Images decoded in a process, which refuses hostile ones, and drawn as half blocks."""

import asyncio
import base64
import gc
import io
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile
from rich.style import Style

from tests.cases import each_case
from tests.conftest import until
from tui.ui.widgets import decoder
from tui.ui.widgets.pictures import MOST_BYTES, MOST_PIXELS, Picture, PictureError, can_show_pictures, decoded
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.theme_colors import Palette

PNG = b"\x89PNG\r\n\x1a\n"
RED, BLUE = (200, 30, 30), (30, 30, 200)


def two_halves(width: int = 64, height: int = 32) -> Image.Image:
    """Return an image that is red to the left and blue to the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image


def file_of(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    return base64.b64encode(file_of(image, form, **options))


def pixel(pixels: bytes, width: int, x: int, y: int) -> tuple[int, ...]:
    return tuple(pixels[3 * (y * width + x) :][:3])


def is_like(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(one - other) < 12 for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_every_format_that_servers_send_is_decoded(form: str) -> None:
    picture = await decoded(encoded(two_halves(), form), 80, 30)
    assert (picture.width, picture.height, picture.of) == (64, 32, (64, 32))
    assert is_like(pixel(picture.pixels, 64, 5, 5), RED)
    assert is_like(pixel(picture.pixels, 64, 60, 30), BLUE)


def head_of(encoded: bytes) -> dict[str, Any]:
    """Decode an image in this process, and return what the decoder says of it."""
    request = {"columns": 80, "rows": 30, "ground": (0, 0, 0), "pixels": MOST_PIXELS}
    with pytest.MonkeyPatch.context() as patch:  # undoes what the decoder sets
        patch.setattr(Image, "MAX_IMAGE_PIXELS", None)
        patch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", False)
        return decoder.decoded(encoded, request)[0]


@each_case("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_every_pixel_mode_is_decoded(mode: str) -> None:
    form = "JPEG" if mode == "CMYK" else "PNG"
    source = two_halves().convert("L").convert(mode) if mode == "I;16" else two_halves().convert(mode)
    assert head_of(encoded(source, form))["width"] == 64


async def test_a_large_image_is_scaled_down_to_the_pane() -> None:
    picture = await decoded(encoded(two_halves(1600, 400)), 40, 30)
    assert (picture.width, picture.height, picture.of) == (40, 10, (1600, 400))
    picture = await decoded(encoded(two_halves(400, 1600)), 40, 10)
    assert (picture.width, picture.height) == (5, 20)


async def test_transparent_pixels_show_the_background_and_a_rotated_photograph_is_upright() -> None:
    picture = await decoded(encoded(Image.new("RGBA", (4, 4), (255, 0, 0, 0))), 80, 30, (1, 2, 3))
    assert picture.pixels == bytes((1, 2, 3)) * 16
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = await decoded(encoded(two_halves(40, 20), "JPEG", exif=exif), 80, 30)
    assert (picture.width, picture.height) == (20, 40)


async def test_an_animation_shows_its_first_frame() -> None:
    frames = [two_halves(), Image.new("RGB", (64, 32), (0, 255, 0))]
    picture = await decoded(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]), 80, 30)
    assert picture.moves
    assert is_like(pixel(picture.pixels, 64, 5, 5), RED)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
async def test_the_available_part_of_a_truncated_image_is_shown(form: str) -> None:
    source = Image.effect_noise((200, 200), 60).convert("RGB")
    source.paste(RED, (0, 0, 200, 60))
    text = encoded(source, form)
    picture = await decoded(text[: len(text) // 2 + 1], 80, 50)
    assert picture.is_cut
    assert is_like(pixel(picture.pixels, picture.width, 5, 2), RED)


@each_case(
    "data",
    [
        b"",
        b"x" * 100,
        b"\x89PNG\r\n\x1a\n" + b"x" * 100,
        b"GIF89a",
        b"\xff\xd8\xff\xe0" + bytes(50),
        b"RIFFxxxxWEBP",
    ],
)
def test_data_with_only_the_first_bytes_of_an_image_is_refused(data: bytes) -> None:
    problem = head_of(base64.b64encode(data))["problem"]
    assert problem.startswith(("damaged", "not a PNG, JPEG, GIF or WEBP image"))


@each_case("form", ["TIFF", "BMP", "PPM", "ICO", "EPS", ""])
def test_other_formats_and_invalid_base64_are_refused(form: str) -> None:
    data = encoded(two_halves(), form) if form else b"%%%%\xff\n"
    assert head_of(data)["problem"] == "not a PNG, JPEG, GIF or WEBP image"


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of some kilobytes with the given dimensions."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = zlib.compress(bytes(1 + width // 8) * min(height, 1000), 9)
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return PNG + chunk(b"IHDR", head) + chunk(b"IDAT", row) + chunk(b"IEND", b"")


async def test_a_decompression_bomb_is_refused_because_of_its_dimensions() -> None:
    with pytest.raises(PictureError, match=r"too many pixels .50000 × 50000."):
        await decoded(base64.b64encode(bomb(50_000, 50_000)), 80, 30)


async def test_too_much_base64_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/does/not/exist")
    with pytest.raises(PictureError, match=r"too large .34 MB in base64."):
        await decoded(b"A" * (MOST_BYTES + 1), 80, 30)


async def test_decoding_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.ui.widgets.pictures.SECONDS", 0.01)
    slow = encoded(Image.effect_noise((1200, 1200), 80))
    with pytest.raises(PictureError, match="too much time or memory"):
        await decoded(slow, 80, 30)


async def test_the_memory_of_the_process_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.ui.widgets.pictures.MEMORY_BYTES", 80 * 1024 * 1024)
    with pytest.raises(PictureError, match="memory"):
        await decoded(base64.b64encode(bomb(6000, 6000)), 80, 30)


@pytest.mark.parametrize(
    ("python", "reason"),
    [("/does/not/exist", "cannot start the decoder"), ("/bin/false", "too much time or memory")],
)
async def test_a_decoder_that_cannot_start_or_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, python: str, reason: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(PictureError, match=reason):
        await decoded(encoded(two_halves()), 80, 30)


@pytest.fixture
def impostor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Runs scripts in place of Python, as a compromised decoder could."""

    def run(script: str) -> None:
        path = tmp_path / "python"
        path.write_text(script)
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return run


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "[]",
        '{"width": 99999, "height": 1, "of": [1, 1], "moves": 0, "cut": 0}',
        '{"width": 1, "height": 1, "of": [], "moves": 0, "cut": 0}\\nabc',
        '{"width": "1", "height": 1, "of": [1, 1], "moves": 0, "cut": 0}\\nabc',
    ],
)
async def test_an_invalid_answer_is_refused_and_the_end_during_the_write_reported_once(
    impostor: Callable[[str], None], answer: str
) -> None:
    ignored: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: ignored.append(context))
    impostor(f"#!/bin/sh\nhead -c 1 >/dev/null\nprintf '%b' '{answer}'\n")
    with pytest.raises(PictureError, match="too much time or memory"):
        await decoded(b"A" * 1_000_000, 80, 30)
    gc.collect()
    assert not ignored


async def test_an_endless_answer_is_cut_off_and_an_error_is_cleaned(impostor: Callable[[str], None]) -> None:
    impostor("#!/bin/sh\nexec yes\n")
    with pytest.raises(PictureError, match="returned too much"):
        await decoded(b"", 80, 30)
    impostor("""#!/bin/sh\nprintf '%s' '{"problem": "a\\u001b[31mb"}'\n""")
    with pytest.raises(PictureError) as told:
        await decoded(b"", 80, 30)
    assert "\x1b" not in str(told.value)


async def test_cancelling_leaves_no_process_behind(impostor: Callable[[str], None], tmp_path: Path) -> None:
    began = tmp_path / "began"
    impostor(f"#!{sys.executable}\nimport time\nopen({str(began)!r}, 'w')\ntime.sleep(60)\n")
    task = asyncio.create_task(decoded(b"", 80, 30))
    await until(began.exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # and a fixture of all tests checks that no process is left


async def test_a_wrong_checksum_in_a_chunk_without_pixels_does_not_refuse_a_png() -> None:
    whole = file_of(two_halves(), icc_profile=b"x" * 64)
    at = whole.index(b"iCCP")
    damaged = whole[:at] + b"iCCP" + whole[at + 4 : at + 8] + b"!" + whole[at + 9 :]
    picture = await decoded(base64.b64encode(damaged), 80, 30)
    assert (picture.width, picture.is_cut) == (64, False)
    assert is_like(pixel(picture.pixels, 64, 5, 5), RED)


def picture(width: int, *colours: str) -> Picture:
    pixels = bytes.fromhex("".join(colours))
    return Picture(width, len(colours) // width, pixels, (width, len(colours) // width))


def test_a_cell_shows_two_pixels_one_above_the_other_in_spans_of_the_same_colors() -> None:
    shown = picture(2, "ff0000", "00ff00", "0000ff", "ffffff")
    assert shown.rows == 1
    assert shown.row(0) == (("▀", "#ff0000 on #0000ff"), ("▀", "#00ff00 on #ffffff"))
    assert picture(3, *["ff0000"] * 6).row(0) == (("▀▀▀", "#ff0000 on #ff0000"),)
    assert picture(1, "ff0000", "00ff00", "0000ff").row(1) == (("▀", "#0000ff"),)  # on the background
    palette = Palette.of({})
    assert palette.style("#ff8000 on #0010ff") == Style(color="#ff8000", bgcolor="#0010ff")
    assert palette.style("#ff8000") == Style(color="#ff8000")


def test_the_caption_shows_the_size_and_damage() -> None:
    assert text_of(Picture(1, 1, b"abc", (640, 480)).caption) == "640 × 480"
    whole = text_of(Picture(1, 1, b"abc", (640, 480), moves=True, is_cut=True).caption)
    assert whole == "640 × 480, first frame, incomplete"


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 50))
def test_a_scaled_picture_fits_its_columns_and_has_all_its_rows(
    width: int, height: int, columns: int
) -> None:
    shown = Picture(width, height, bytes(range(256)) * (3 * width * height // 256 + 1), (width, height))
    fits = Picture(width, height, shown.pixels[: 3 * width * height], (width, height)).within(columns)
    assert fits.width <= max(columns, 1)
    assert len(fits.pixels) == 3 * fits.width * fits.height
    assert [width_of(fits.row(index)) for index in range(fits.rows)] == [fits.width] * fits.rows


@pytest.mark.parametrize(
    ("terminal", "colours", "no_color", "can"),
    [
        ("xterm", "truecolor", False, True),
        ("xterm", "truecolor", True, False),
        ("xterm", "256", False, False),
        ("xterm", None, False, False),
        ("linux", "truecolor", False, False),
    ],
)
def test_pictures_need_true_color_and_the_half_block(
    monkeypatch: pytest.MonkeyPatch, terminal, colours, no_color, can
) -> None:
    monkeypatch.setenv("TERM", terminal)
    assert can_show_pictures(colours, no_color) is can
