"""Resources that are files of skills, of a server that does not serve skills: nothing can be compared."""

from tui.core.jsonrpc.extensions import SKILLS
from tui.core.language.translate import N_
from tui.core.workbench import ResourceInfo
from tui.host.workbench import HandWorkbench

UNVERIFIED = N_("skill, not verified")


def is_unverified(bench: HandWorkbench, resource: ResourceInfo) -> bool:
    """Return whether a resource is said to be of a skill, without a manifest to compare it with."""
    return resource.uri.startswith("skill://") and bench.extension(resource.server, SKILLS) is None
