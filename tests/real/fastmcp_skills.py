"""A server of FastMCP that serves the skills of a folder: FOLDER [PORT]."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider

server = FastMCP("skilled")
server.add_provider(SkillsDirectoryProvider(Path(sys.argv[1]), reload=True))
if sys.argv[2:]:
    server.run(transport="http", port=int(sys.argv[2]), show_banner=False)
else:
    server.run(show_banner=False)
