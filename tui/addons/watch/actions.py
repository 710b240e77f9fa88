"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "watch.toggle": ("BENCH_LIST", "W", "watch", "Restart when files change, or stop that", 9,
            "tui.addons.watch.line:toggle"),
        "watch.changes": ("BENCH_LIST", "D", "changes", "Show what the last restart changed", 0,
            "tui.addons.watch.line:show_changes"),
        "watch.auto": ("BENCH_LIST", "full_stop", "auto", "Repeat the last call on restart, or not", 0,
            "tui.addons.watch.line:toggle_auto"),
        "watch.accept": ("BENCH_LIST", "L", "accept", "Accept changed definitions, or ask", 0,
            "tui.addons.watch.line:toggle_accepting"),
    },
}
# fmt: on
