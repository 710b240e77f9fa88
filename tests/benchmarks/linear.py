"""Time to read foreign text of twice the size. Run: python tests/benchmarks/linear.py [NAME …]

Each function of `tests/worst_texts.py` reads the texts that are worst for it, at two sizes. The ratio should
be about 2. With names, only functions whose name contains one of them are run. Those that take less than
20 ms are not shown.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.worst_texts import ForeignReader, cpu_seconds, readers, worst_text

HALF, WHOLE = 128 * 1024, 256 * 1024
NOISE_S = 0.02


def seconds(reader: ForeignReader, piece: str, size: int) -> float:
    text = worst_text(piece, size)
    return cpu_seconds(lambda: reader.read(text))


def main(names: list[str]) -> None:
    found: list[tuple[float, str]] = []
    for reader in readers():
        if names and not any(name in reader.name for name in names):
            continue
        for piece in reader.pieces:
            half, whole = (seconds(reader, piece, size) for size in (HALF, WHOLE))
            ratio = whole / half if half > NOISE_S / 2 and whole > NOISE_S else 0.0
            if ratio:
                found.append((ratio, f"{reader.name} {piece!r}"))
                print(
                    f"{reader.name:<28} {piece[:30]!r:<34} {half:6.3f} s  {whole:6.3f} s  x {ratio:.2f}",
                    flush=True,
                )
    if found:
        print("\n256 KB / 128 KB at most {:.2f} ({})".format(*max(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
