"""What is known to a redactor of bytes is not built again for each value that is added."""

from tui.core.secrets import bytes_redactor
from tui.core.secrets.bytes_redactor import BytesRedactor
from tui.core.secrets.learned_values import LearnedValues


def test_adding_a_value_builds_only_its_own_forms(monkeypatch):
    built: list[str] = []

    class Counted(bytes_redactor.EncodedSecret):
        def __init__(self, name: str, text: str) -> None:
            built.append(name)
            super().__init__(name, text)

    monkeypatch.setattr(bytes_redactor, "EncodedSecret", Counted)
    redactor = BytesRedactor(LearnedValues())
    for number in range(50):
        redactor.add({f"value-number-{number}": f"N{number}"}, {})
    assert len(built) < 50 * 12
    raw = b"value-number-0 value-number-49"
    assert redactor.redact(raw)[0] == b"[redacted:N0] [redacted:N49]"


def test_the_longest_of_overlapping_values_wins_in_whatever_order_they_are_added():
    redactor = BytesRedactor(LearnedValues())
    for value in ("secret-value-long", "secret-value"):
        redactor.add({value: value[-4:]}, {})
    assert redactor.redact(b"secret-value-long")[0] == b"[redacted:long]"
