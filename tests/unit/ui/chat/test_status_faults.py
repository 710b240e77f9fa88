"""Reports of a fault and its recovery: once, with the reason, never in a flood."""

from tui.ui.chat.status import FaultNotes

FULL, LOCKED = "the disk is full", "locked"


def told(*seen: tuple[float, str]) -> list[tuple[float, str]]:
    """Return the reports with their times."""
    notes = FaultNotes("Not saved", "Saved again.")
    return [(now, text) for now, why in seen for text, _ in notes.seen(why, now)]


def test_a_fault_is_reported_once_with_its_reason():
    assert told((0, ""), (1, FULL), (2, FULL), (9, FULL)) == [(1, f"Not saved: {FULL}.")]


def test_a_recovery_is_reported_at_once_and_another_reason_after_a_while():
    assert told((0, FULL), (1, LOCKED), (2, ""), (3, LOCKED), (12, LOCKED))[1:] == [
        (2, "Saved again."),
        (12, f"Not saved: {LOCKED}."),
    ]


def test_an_intermittent_fault_is_reported_again_only_after_a_while():
    seen = [(float(at), FULL if at % 4 < 2 else "") for at in range(40)]
    assert 1 < len(told(*seen)) <= 8


def test_a_new_conversation_starts_without_a_fault():
    notes = FaultNotes("Not saved", "Saved again.")
    assert list(notes.seen(FULL, 0)) != []
    notes.forget()
    assert list(notes.seen("", 5)) == []
    assert list(notes.seen(FULL, 6)) != []
