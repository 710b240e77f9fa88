"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "up.refuse": {
            "contexts": ("SERVERS",),
            "keys": "U",
            "label": "refuse commands",
            "help": "Refuse attached commands until you quit",
            "call": "tui.addons.up.screen:refuse",
        },
    },
}
