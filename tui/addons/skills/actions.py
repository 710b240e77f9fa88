"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

BRINGS = {
    "action": {
        "ask.read": {
            "contexts": ("SERVER_QUESTION",),
            "keys": "ctrl+r",
            "label": "read SKILL.md",
            "help": "Read the SKILL.md of the skill before you answer",
            "footer": 4,
            "call": "",
        },
        "bench.skills": {
            "contexts": ("BENCH_LIST",),
            "keys": "8",
            "label": "skills",
            "help": "Show the skills of the server",
            "call": "tui.addons.skills.tab:show_tab",
            "when": "tui.addons.skills.actions:why_no_skills",
        },
        "skills.read": {
            "contexts": ("SKILLS",),
            "keys": "enter",
            "label": "read",
            "help": "Read the SKILL.md of the selected skill",
            "footer": 1,
            "call": "read()",
        },
        "skills.load": {
            "contexts": ("SKILLS",),
            "keys": "a",
            "label": "load",
            "help": "Load the skill, and attach it to the next message",
            "footer": 2,
            "call": "load()",
        },
        "skills.revoke": {
            "contexts": ("SKILLS",),
            "keys": "ctrl+d",
            "label": "revoke",
            "help": "Revoke the approval of the skill",
            "footer": 3,
            "call": "revoke()",
        },
        "skills.reload": {
            "contexts": ("SKILLS",),
            "keys": "R",
            "label": "list again",
            "help": "List the skills of the server again",
            "footer": 4,
            "call": "reload()",
        },
        "skills.back": {
            "contexts": ("SKILLS",),
            "keys": "escape,q",
            "label": "back",
            "help": "Close the workbench",
            "footer": 5,
            "call": "back()",
        },
    }
}


def why_no_skills(owner: object) -> str:
    """Return why a workbench has no tab for skills, or "". Imports nothing of a server without skills."""
    from tui.core.language.translate import _

    tabs = getattr(getattr(owner, "tabs", None), "names", ())
    return "" if "skills" in tabs else _("This server serves no skills: it does not declare the extension.")
