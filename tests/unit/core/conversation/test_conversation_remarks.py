"""mcptui's own remarks survive JSON."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.conversation.conversation import Conversation, Remark, RemarkKind, remark_from, remark_object

TEXTS = st.text(max_size=20)


@given(
    st.builds(
        Remark,
        st.integers(0, 10**6),
        st.sampled_from(get_args(RemarkKind)),
        TEXTS,
        TEXTS,
        TEXTS,
        st.floats(0, 1e9),
    )
)
def test_a_remark_survives_a_round_trip(remark: Remark):
    found = remark_from(json.loads(json.dumps(remark_object(remark))), 7.0)
    assert found == remark and found.at == 7.0


@pytest.mark.parametrize(
    "change",
    [
        {"place": -1}, {"place": "1"}, {"place": True}, {"kind": "joke"}, {"kind": None}, {"kind": []},
        {"text": 5}, {"value": "x"}, {"where": None},
    ],
)  # fmt: skip
def test_invalid_remarks_are_ignored(change: dict[str, object]):
    assert remark_from(remark_object(Remark(1, "error", "gone")) | change) is None


def test_a_branch_keeps_the_remarks_before_it():
    talk = Conversation(remarks=[Remark(2, "end", "cancelled"), Remark(3, "error", "x")])
    assert talk.remarks_before(2) == [Remark(2, "end", "cancelled")]
