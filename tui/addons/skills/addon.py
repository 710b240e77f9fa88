"""What this add-on brings: `mcptui skill`, and the skills of servers. Loads the standard library only."""

import argparse

from tui.commands.shared_options import (
    add_one_server,
    add_wide,
    fill_addon_flags,
    flag,
    option,
    seconds,
)

USAGE = """\
mcptui skill SERVER [NAME|URI] [OPTION ...]
       mcptui skill [NAME|URI] [OPTION ...] -- COMMAND [ARG ...]"""
_ABOUT = """\
List the skills of a server, show one, compare its files with the server's manifest, or unpack it. Nothing is
run.

  mcptui skill docs                          its skills
  mcptui skill docs pdf-forms                its manifest and its SKILL.md
  mcptui skill docs pdf-forms --verify       read and compare every file
  mcptui skill docs pdf-forms -o unpacked    unpack it to unpacked/pdf-forms
  mcptui skill docs skill://acme/pdf-forms/SKILL.md

NAME is a name or a path from the list. A URI also finds a skill that the server does not list.

"Matches the server's manifest" means that a file is what the server says it is, not that it can be trusted.
"""
_EPILOG = """\
exit codes:
  0    success
  1    an error of the server, or a file that does not match the manifest
  2    invalid usage or configuration, or the files cannot be written
  3    timeout
  5    the server could not be started
  130  interrupted
"""


def _fill(skill: argparse.ArgumentParser) -> None:
    option(skill, "words", "WORD", argparse.SUPPRESS, nargs="*")
    flag(skill, "--verify", "read every file and compare it with the manifest (without NAME: of all skills)")
    option(skill, "-o --output", "DIR", "unpack all files to DIR/NAME, if they match the manifest")
    flag(skill, "--force", "with -o: replace DIR/NAME if it exists")
    add_wide(skill)
    flag(skill, "--json", "print one JSON object")
    text = "timeout of each request in seconds (progress restarts it, up to ten times N)"
    option(skill, "--seconds", "N", text, type=seconds)
    fill_addon_flags(skill, "skill")
    add_one_server(skill)


BRINGS = {
    "command": {"skill": "tui.addons.skills.command:skill"},
    "parser": {
        "skill": {
            "after": "list",
            "live": True,
            "fill": _fill,
            "help": "list, show, compare or unpack the skills of a server",
            "usage": USAGE,
            "description": _ABOUT,
            "epilog": _EPILOG,
        }
    },
    "listing": {"skills": "tui.addons.skills.output:listed"},
    "removal": {"skills": "tui.addons.skills.service:forget"},
    "service": {
        "skills": "tui.addons.skills.service:skills",
        "skill loader": "tui.addons.skills.loader:SkillLoader",
        "skill request": "tui.addons.skills.command:request",
        "skills tab": "tui.addons.skills.tab:SkillsTab",
    },
}
