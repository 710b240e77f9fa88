"""What this add-on brings: the hosts that mcptui can act as. Imports nothing."""

BRINGS = {
    "key": {"act_as": None},
    "service": {
        "acting host": "tui.addons.act_as.hosts:acting_host",
        "acting facts": "tui.addons.act_as.dropped:acting_facts",
        "dropped tools": "tui.addons.act_as.dropped:dropped_tools",
    },
}
