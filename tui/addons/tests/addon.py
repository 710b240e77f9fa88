"""What this add-on brings: kept calls. Loads the standard library only.

The table of actions reads this before the first frame: import argparse and what imports it in functions.
"""

_PLACES = ("CONVERSATION", "TRACE", "TRAFFIC", "ENTRY", "BENCH_LIST")

BRINGS = {
    "action": {
        "keep.call": {
            "contexts": _PLACES,
            "keys": "C",
            "label": "keep",
            "help": "Keep the call and its result as a test",
            "footer": 9,
            "call": "tui.addons.tests.screens.keep_places:keep",
        }
    },
}
