"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "up.refuse": ("SERVERS", "U", "refuse commands", "Refuse attached commands until you quit", 0,
            "tui.addons.up.screen:refuse"),
    },
}
# fmt: on
