"""What the tests of screens share."""

from tests.ui.headless import painted_when_looked_at, parsed_once

__all__ = ["painted_when_looked_at", "parsed_once"]
