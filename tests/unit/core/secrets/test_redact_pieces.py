"""Secrets in text that arrives in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass

from tui.core.secrets.redact import PieceRedactor, Redactor

SECRET = "configured-value-1234567890"
REDACTOR = Redactor({"K": SECRET})


@dataclass(frozen=True)
class Piece:
    kind: str
    text: str


def taken(*pieces: str) -> Iterator[str]:
    redactor = PieceRedactor[Piece](
        REDACTOR, lambda one: one.kind, lambda one, text: Piece(one.kind, text), str
    )
    for piece in pieces:
        kind, _, text = piece.partition(":")
        yield from (f"{one.kind}:{one.text}" for one in redactor.take(Piece(kind, text)))
    yield from (f"{one.kind}:{one.text}" for one in redactor.rest())


def test_a_secret_split_across_two_kinds_of_text_is_redacted():
    assert list(taken(f"r:a {SECRET[:4]}", f"t:{SECRET[4:6]}", f"t:{SECRET[6:]} b")) == [
        "r:a ",
        "r:[redacted]",
        "t: b",
    ]


def test_text_that_turns_out_not_to_be_a_secret_is_emitted_in_order():
    assert list(taken("r:a con", "t:fi", "r:rm")) == ["r:a ", "r:con", "t:fi", "r:rm"]
