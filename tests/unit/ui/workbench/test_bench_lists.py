"""The columns of the list of items."""

import pytest

from tests.ui.stage import Stage
from tui.core.tools import Tool
from tui.core.workbench import ResourceInfo
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.bench_lists import ItemList
from tui.ui.workbench.items import Item, of_resources, of_tools
from tui.ui.workbench.kept_calls import Badge


class OneList(Stage):
    def __init__(self, items: list[Item]) -> None:
        super().__init__()
        self.items = items
        self.list = ItemList({})

    def compose(self):
        yield self.list


async def lines(items: list[Item], width: int) -> list[str]:
    app = OneList(items)
    async with app.run_test(size=(width, 10)) as pilot:
        app.list.show(items)
        await pilot.pause()
        return [text_of(app.list.row(index)) for index in range(len(items))]


TOOLS = of_tools(
    [
        Tool("s", "look", read_only=True, trusted=True),
        Tool("s", "drop_the_whole_table", destructive=True),
        Tool("s", "a_name_that_is_longer_than_its_column", read_only=True, trusted=True),
    ]
)


@pytest.mark.parametrize(("width", "marks"), [(44, ("read-only", "destructive")), (26, ("R", "!"))])
async def test_marks_are_aligned_in_a_column_for_names_of_any_length(width, marks):
    found = await lines(TOOLS, width)
    read_only, destructive = marks
    ends = {
        line.rstrip().rfind(word) + len(word)
        for line, word in zip(found, (read_only, destructive, read_only), strict=True)
    }
    assert len(ends) == 1
    assert "…" in found[2]


async def test_mime_type_and_size_are_columns_where_there_is_room():
    items = of_resources(
        [
            ResourceInfo("s", "a://1", "stations", mime="text/csv", size=481),
            ResourceInfo("s", "a://2", "map", mime="image/png", size=1_200_000),
            ResourceInfo("s", "a://3", "plain"),
        ]
    )
    wide = await lines(items, 50)
    assert [line.split()[-3:] for line in wide[:2]] == [["text/csv", "481", "B"], ["image/png", "1.2", "MB"]]
    assert wide[0].index("text/csv") + 8 == wide[1].index("image/png") + 9
    narrow = await lines(items, 22)
    assert [line.split()[-1] for line in narrow] == ["csv", "png", "plain"]


def test_names_and_notes_are_shown_in_full_where_there_is_room():
    found = ItemList({})
    found._all = TOOLS
    assert [found.columns_of(width) for width in (50, 80, 120, 200)] == [20, 32, 48, 55]


@pytest.mark.parametrize(("width", "last"), [(44, None), (30, "  R read-only  ! destructive")])
async def test_symbols_have_a_legend(width, last):
    app = OneList(TOOLS)
    async with app.run_test(size=(width, 10)) as pilot:
        app.list.show(TOOLS)
        await pilot.pause()
        below = [text_of(app.list.row(index)) for index in range(len(TOOLS), app.list.row_count())]
        assert below == ([] if last is None else ["", last])
        assert not app.list.row_selectable(len(TOOLS))


async def test_the_legend_explains_the_symbol_of_tools_marked_read_only_by_an_untrusted_server():
    tools = of_tools([Tool("s", "look_at_the_map", read_only=True)])
    app = OneList(tools)
    async with app.run_test(size=(26, 10)) as pilot:
        app.list.show(tools)
        await pilot.pause()
        shown = [text_of(app.list.row(index)) for index in range(app.list.row_count())]
        assert shown[0].endswith(" r ") and shown[-1] == "  r marked read-only"


async def test_names_are_shown_in_full_before_marks_and_notes_become_words():
    tools = of_tools(
        [Tool("s", "toggle-simulated-logging"), Tool("s", "look", read_only=True)],
        {("s", "look"): "loaded", ("s", "toggle-simulated-logging"): "loaded"},
    )
    for width in (34, 40, 48, 60):
        assert "toggle-simulated-logging" in (await lines(tools, width))[0], width


BADGES = {
    "tool look": Badge(3, True),
    "tool drop_the_whole_table": Badge(6, False, 1),
    "prompt look": Badge(1, False, 1),
}


@pytest.mark.parametrize(
    ("width", "words", "legend"),
    [(54, ("3 kept ✓", "6 kept, 1 ✗"), ""), (32, ("3 ✓", "1 of 6 ✗"), "✓ kept, passed ✗ kept, failed")],
)
async def test_badges_are_words_or_signs_with_a_legend(width, words, legend):
    app = OneList(TOOLS[:2])
    async with app.run_test(size=(width, 12)) as pilot:
        app.list.show(app.items)
        app.list.show_badges(BADGES)
        await pilot.pause()
        found = [" ".join(text_of(app.list.row(at)).split()) for at in range(app.list.row_count())]
    assert words[0] in found[0] and words[1] in found[1]
    assert legend in " ".join(found[2:])


async def test_the_legend_has_only_the_signs_of_its_own_items():
    app = OneList(TOOLS[:1])
    async with app.run_test(size=(24, 12)) as pilot:
        app.list.show(app.items)
        app.list.show_badges({**BADGES, "tool look": Badge(1)})
        await pilot.pause()
        text = " ".join(text_of(app.list.row(at)) for at in range(app.list.row_count()))
    assert "1 kept " in text and "✓" not in text and "✗" not in text


async def test_a_badge_and_a_note_are_apart():
    app = OneList(of_resources([ResourceInfo("s", "a://1", "stations", mime="text/csv")]))
    async with app.run_test(size=(40, 5)) as pilot:
        app.list.show(app.items)
        app.list.show_badges({app.items[0].key: Badge(1)})
        await pilot.pause()
        assert "1 kept  text/csv" in text_of(app.list.row(0))
