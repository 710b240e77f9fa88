"""Values that a server or a file may have where a number belongs."""

import math
from typing import Any

from hypothesis import strategies as st

NUMBERS: list[Any] = [
    *(2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -1, -(2**63), -(10**400), 0),
    *(0.5, -0.5, 1e308, -1e308, math.nan, math.inf, -math.inf),
]
"""Numbers at which clocks, sizes, floats or SQLite fail."""

IN_JSON = [number for number in NUMBERS if isinstance(number, int) or math.isfinite(number)]
"""Those that JSON can have: a file with another one is damaged as a whole."""

OTHERS: list[Any] = ["3600", "soon", "", "9" * 5000, "1e999", "nan", True, None, {}, [], [1]]
"""What is no number."""

FOREIGN = st.sampled_from(NUMBERS + OTHERS) | st.integers() | st.floats() | st.text(max_size=8)
