"""Who holds frames against the SDK's own models: made where it is first needed, for its import takes long."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.host.schemas.judge import ModelJudge


def model_judge() -> "ModelJudge":
    """Return the judge with the models of the SDK; for the thread that calls it, and closed there."""
    from tui.host.schemas.judge import ModelJudge

    return ModelJudge()
