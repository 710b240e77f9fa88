"""Which row belongs to which block, however blocks change."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.chat.transcript.flow import HELD_BLOCKS, Block, Flow
from tui.ui.widgets.rows import Row


class Lines(Block):
    def __init__(self, name: str, size: int, gap: int = 1) -> None:
        super().__init__(gap)
        self.name = name
        self.size = size

    def wrap(self, width: int) -> Sequence[Row]:
        return [((f"{self.name}{number}", "text"),) for number in range(self.size)]


def texts(flow: Flow) -> list[str]:
    return ["".join(text for text, _ in flow.row(index)) for index in range(flow.height)]


def test_a_block_is_stale_at_another_width():
    flow = Flow(80)
    flow.append(Lines("a", 1))
    flow.settle([0])
    assert not flow.stale(0)

    flow.width = 40

    assert flow.stale(0)


def test_settling_returns_the_first_row_that_changed():
    flow = Flow()
    for name in "abc":
        flow.append(Lines(name, 2, gap=0))
    flow.settle(range(3))
    flow.blocks[1].size = 5
    flow.blocks[1].width = 0

    assert flow.settle(range(3)) == 2
    assert flow.height == 9


def test_rows_below_a_removed_block_are_reported_as_changed_once():
    flow = Flow()
    for name in "abc":
        flow.append(Lines(name, 2, gap=0))
    flow.settle(range(3))
    flow.replace(1, ())

    assert flow.settle([1]) == 2
    assert texts(flow) == ["a0", "a1", "c0", "c1"]
    assert flow.settle([1]) == flow.height


def test_a_block_of_another_flow_is_not_found():
    with pytest.raises(ValueError, match="not part"):
        Flow().index_of(Lines("a", 1))


def test_rows_out_of_range_are_empty():
    assert Flow().row(0) == ()
    assert Flow().row(-1) == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["append", "replace", "truncate", "resize"]), st.integers(0, 9), st.integers(0, 4)
        ),
        max_size=40,
    )
)
def test_after_any_changes_rows_are_those_of_the_blocks_in_order(steps: list[tuple[str, int, int]]):
    flow = Flow()
    for number, (step, place, size) in enumerate(steps):
        index = place % len(flow.blocks) if flow.blocks else 0
        match step:
            case "replace" if flow.blocks:
                flow.replace(index, [Lines(f"r{number}.", size), Lines(f"s{number}.", 1)])
            case "truncate":
                flow.truncate(index)
            case "resize" if flow.blocks:
                flow.blocks[index].size = size
                flow.blocks[index].width = 0
            case _:
                flow.append(Lines(f"a{number}.", size))
    flow.settle(range(len(flow.blocks)))

    expected = []
    for block in flow.blocks:
        rows = [f"{block.name}{number}" for number in range(block.size)]
        expected += [""] * block.gap + rows if rows else []
    assert texts(flow) == expected


def test_rows_are_cached_for_recent_blocks_and_are_equal_when_wrapped_again():
    flow = Flow()
    for number in range(HELD_BLOCKS * 2):
        flow.append(Lines(f"{number}.", 2, gap=0))
    flow.settle(range(len(flow.blocks)))

    assert sum(block.rows is not None for block in flow.blocks) == HELD_BLOCKS
    assert texts(flow)[:3] == ["0.0", "0.1", "1.0"]
    assert flow.height == HELD_BLOCKS * 4
