"""CPU time to parse replies full of broken markers. Run: python tests/benchmarks/hostile_text.py

Each reply repeats one marker. It is parsed in every dialect, whole and in pieces of 16 characters. Twice the
text should take twice the time. Plain text of the same size is shown for comparison.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.texts import TOOLS
from tui.core.ports import TextPart
from tui.model.dialects.call_maker import CallMaker, OfferedTools
from tui.model.dialects.dialect import DIALECTS
from tui.model.dialects.text_tools import ReplyReader

HALF, WHOLE = 300_000, 600_000
PIECE = 16
PLAIN = "Plain words, as answers have them.\n"
MARKS = (
    *("<use_mcp_tool>", "<use_mcp_tool><arguments>{}</arguments>", "a<thinking>", "</think>", "<tool_result"),
    *('<<tool-start>>{"tool": "x"}', '\n{"tool": ', "\n[", "```\n{", "``a`", "\n    <use_mcp_tool>"),
    *("\nAction: now(", "\nAction: now\n", "Action: x\nAction Input: {\n"),
    *("<tool_call>", "<tool_call>{", "<function=now>", "<function=now><parameter=query>", "[TOOL_CALLS]"),
    *(
        "<|channel|>analysis<|message|>",
        "<|channel|>",
        "<|python_tag|>now(",
        "<｜DSML｜",
        "assistantanalysis",
    ),
    *("\u3000", " \n", "<final_answer></answer>"),
)


def seconds(dialect: str, mark: str, size: int, piece: int) -> float:
    text = (mark * (size // len(mark) + 1))[:size]
    pieces = [text[at : at + piece] for at in range(0, size, piece)]
    found = DIALECTS.get(dialect)
    reading = ReplyReader(found.maker(TOOLS, ()) if found else CallMaker(OfferedTools(TOOLS)), found)
    began = time.process_time()
    for given in pieces:
        reading.part(TextPart(given))
    reading.end(cut=False)
    return time.process_time() - began


def main() -> None:
    worst: list[tuple[float, str]] = []
    for dialect in (*DIALECTS, "native"):
        for piece in (WHOLE, PIECE):
            how = "whole" if piece == WHOLE else f"in pieces of {piece}"
            plain = seconds(dialect, PLAIN, HALF, piece)
            slowest = ratio = 0.0
            at, grown = "", ""
            for mark in MARKS:
                half = seconds(dialect, mark, HALF, piece)
                if half > slowest:
                    slowest, at = half, mark
                if half > 0.1 and (found := seconds(dialect, mark, WHOLE, piece) / half) > ratio:
                    ratio, grown = found, mark
            worst.append((ratio, f"{dialect} {how} {grown!r}"))
            print(
                f"{dialect:<8} {how:<16} 300 KB: plain {plain:5.2f} s, slowest {slowest:5.2f} s = "
                f"{slowest / plain:5.1f} x plain {at!r}; 600 KB / 300 KB at most {ratio:.2f} {grown!r}"
            )
    print("600 KB / 300 KB at most {:.2f} ({})".format(*max(worst)))


if __name__ == "__main__":
    main()
