"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "bench.app": ("BENCH_LIST", "U", "app view", "Show the source of the tool's app view", 0,
            "tui.addons.apps.view:show", "tui.addons.apps.view:why_no_view"),
    },
}
# fmt: on
