"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "keep.call": {
            "contexts": ("CONVERSATION", "TRACE", "TRAFFIC", "ENTRY", "BENCH_LIST"),
            "keys": "C",
            "label": "keep",
            "help": "Keep the call and its result as a test",
            "footer": 9,
            "call": "tui.addons.tests.screens.keep_places:keep",
        }
    },
}
