"""The conversation, drawn as one virtual widget."""

from tui.ui.widgets.transcript.transcript import Transcript

__all__ = ["Transcript"]
