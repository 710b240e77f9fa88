"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "bench.app": {
            "contexts": ("BENCH_LIST",),
            "keys": "U",
            "label": "app view",
            "help": "Show the source of the tool's app view",
            "call": "tui.addons.apps.view:show",
            "when": "tui.addons.apps.view:why_no_view",
        },
    },
}
