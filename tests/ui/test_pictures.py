"""Images as pictures, in an entry of the traffic and in a result."""

import base64
import io

import pytest
from PIL import Image

from tests.conftest import until
from tests.ui.stage import press, shown
from tests.ui.test_traffic import opened
from tests.ui.traffic_stage import Recorded
from tui.core.traffic import Kind
from tui.ui.traffic.bars import EntryTab
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.widgets.rows import text_of

BLOCK = "▀" * 20


@pytest.fixture(autouse=True)
def true_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


def image(width: int = 20, height: int = 10, form: str = "PNG") -> str:
    out = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).convert("RGB").save(out, form)
    return base64.b64encode(out.getvalue()).decode()


def with_images(*data: str) -> Recorded:
    recorded = Recorded()
    content = [{"type": "image", "mimeType": "image/png", "data": one} for one in data]
    recorded.add(Kind.RESPONSE, {"result": {"content": content}})
    return recorded


def page(screen: TrafficScreen) -> list[str]:
    return shown(screen.entry.pages[0])


def blocks(screen: TrafficScreen) -> int:
    return sum("▀▀▀" in line for line in page(screen))


async def test_an_image_in_an_entry_is_shown_as_a_picture_with_its_size() -> None:
    async with opened(with_images(image()).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) == 5)
        assert any(BLOCK in line for line in page(screen))
        assert any("20 × 10" in line for line in page(screen))
        strip = next(
            screen.entry.pages[0].render_line(y) for y, line in enumerate(page(screen)) if "▀" in line
        )
        colours = {
            (segment.style.color, segment.style.bgcolor)
            for segment in strip
            if segment.style and "▀" in segment.text
        }
        assert len(colours) > 5


async def test_an_image_can_be_folded_and_unfolded() -> None:
    async with opened(with_images(image()).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) == 5)
        reading = screen.entry.pages[0]
        row = next(y for y, line in enumerate(page(screen)) if "PNG image" in line)
        reading.move_cursor(row)
        await press(pilot, "space")
        assert blocks(screen) == 0
        await press(pilot, "space")
        assert blocks(screen) == 5  # at once, since it was decoded before


async def test_the_first_images_are_unfolded_and_the_others_on_demand() -> None:
    async with opened(with_images(*[image(20, 2)] * 5).recording()) as (screen, pilot):
        await press(pilot, "enter")
        reading = screen.entry.pages[0]

        def rows() -> list[str]:
            return [text_of(reading.sheet.row(index, 80)) for index in range(reading.sheet.count())]

        await until(lambda: sum("▀" in row for row in rows()) == 3)
        reading.move_cursor(max(index for index, row in enumerate(rows()) if "PNG image" in row))
        await press(pilot, "space")
        await until(lambda: sum("▀" in row for row in rows()) == 4)


async def test_a_broken_image_shows_the_reason() -> None:
    broken = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 200).decode()
    async with opened(with_images(broken).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: "Cannot decode this image: damaged data" in "".join(page(screen)))


async def test_a_picture_fits_the_pane_even_after_it_becomes_narrower() -> None:
    async with opened(with_images(image(600, 100)).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) > 0)
        widths = {line.count("▀") for line in page(screen) if "▀▀▀" in line}
        assert widths == {80}
        await pilot.resize_terminal(50, 30)
        await until(lambda: {line.count("▀") for line in page(screen) if "▀▀▀" in line} <= {*range(30, 50)})
        assert blocks(screen) > 0


async def test_a_picture_grows_with_the_pane() -> None:
    async with opened(with_images(image(200, 200)).recording(), size=(120, 40)) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) > 0)
        before = len(screen.entry.pages[0].sheet.nodes)
        await press(pilot, "z")
        await until(lambda: len(screen.entry.pages[0].sheet.nodes) > before + 5)


async def test_the_row_of_a_picture_saves_and_copies_the_image() -> None:
    data = image()
    async with opened(with_images(data).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) == 5)
        reading = screen.entry.pages[0]
        reading.move_cursor(next(y for y, line in enumerate(page(screen)) if "▀▀▀" in line))
        assert reading.sheet.binary(reading.cursor) == (base64.b64decode(data), "png")
        await press(pilot, "y")
        assert pilot.app.clipboard == data


async def test_an_image_in_a_data_url_with_escaped_slashes_is_a_picture_too() -> None:
    url = b"data:image\\/jpeg;base64," + image(form="JPEG").replace("/", "\\/").encode()
    recorded = Recorded()
    recorded.add(Kind.MODEL_REQUEST, b'{"content": [{"image_url": {"url": "' + url + b'"}}]}')
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: blocks(screen) == 5)


async def test_closing_the_screen_during_decoding_leaves_no_process_behind() -> None:
    noise = io.BytesIO()
    Image.effect_noise((1600, 1600), 90).save(noise, "PNG")
    large = base64.b64encode(noise.getvalue()).decode()
    async with opened(with_images(large).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: any("decoding" in line for line in page(screen)))
        screen.entry.show_tab(EntryTab.RAW)
        await press(pilot, "escape")


@pytest.mark.parametrize(
    ("name", "value"), [("COLORTERM", ""), ("NO_COLOR", "1"), ("LC_ALL", "C.ISO-8859-1")]
)
async def test_a_terminal_without_pictures_shows_the_size_and_how_to_save(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(name, value)
    async with opened(with_images(image()).recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(
            lambda: any("PNG image, 20 × 10" in line and "w saves it" in line for line in page(screen))
        )
        assert blocks(screen) == 0
