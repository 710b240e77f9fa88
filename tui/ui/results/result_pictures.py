"""The images of a result: a line about each, followed by the picture once it is decoded."""

from collections.abc import Sequence

from tui.core.tools import BinaryContent
from tui.ui.widgets import pictures
from tui.ui.widgets.page import Lines, Pictures, Sheet, WantedPicture, Work
from tui.ui.widgets.pictures import Picture
from tui.ui.widgets.rows import Row

FIRST = 3
"""Number of pictures in a result that are unfolded from the start."""


class ImageLines(Lines):
    """Lines about an image, and its picture, which can be folded."""

    def __init__(self, content: BinaryContent, lines: Sequence[Row]) -> None:
        super().__init__(lines)
        self._content = content
        self._width = 80
        self._found: Picture | str | None = None
        self._is_wanted = True
        self._shown: list[Row] = []
        self.is_open = False
        self.is_picture = ending_of(content) in pictures.PICTURES

    def count(self) -> int:
        return super().count() + len(self._shown)

    def row(self, index: int, width: int) -> Row:
        at = index - super().count()
        return super().row(index, width) if at < 0 else self._shown[at]

    def toggle(self, index: int, width: int) -> Work | None:
        self.is_open = self.is_picture and not self.is_open
        self._lay_out()
        return None

    def value(self, index: int) -> str:
        """Return a row as text; "" for rows of the picture."""
        return super().value(index) if index < super().count() else ""

    def fit(self, width: int) -> None:
        super().fit(width)
        self._width = width
        self._lay_out()

    def wanted(self) -> WantedPicture | None:
        """Return the picture if it is visible and not decoded yet."""
        if not self.is_open or not self._is_wanted:
            return None
        return WantedPicture(
            lambda: pictures.base64_of(self._content.data.encode("ascii", "replace")), 0, self._put
        )

    def again(self) -> None:
        """Decode the picture again if it could now be larger."""
        self._is_wanted = self._is_wanted or (isinstance(self._found, Picture) and self._found.is_reduced)

    def _put(self, found: Picture | str) -> None:
        self._found, self._is_wanted = found, False
        self._lay_out()

    def _lay_out(self) -> None:
        match self._found:
            case _ if not self.is_open:
                self._shown = []
            case Picture() as picture:
                fits = picture.within(max(1, self._width))
                self._shown = [*(fits.row(index) for index in range(fits.rows)), fits.caption]
            case str(why):
                self._shown = [((f"Cannot decode this image: {why}", "warn"),)]
            case None:
                self._shown = [(("decoding…", "dim"),)]


class StackPictures:
    """The images of a result, which is passed as its parts."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self._images = [sheet for sheet in sheets if isinstance(sheet, ImageLines) and sheet.is_picture]
        self._trees = [sheet.pictures for sheet in sheets if sheet.pictures is not None]
        self._has_begun = False

    def begin(self) -> None:
        """Start showing images as pictures, with the first ones unfolded."""
        if self._has_begun:
            return
        self._has_begun = True
        for image in self._images[:FIRST]:
            image.toggle(0, 80)
        for tree in self._trees:
            tree.begin()

    def wanted(self) -> WantedPicture | None:
        """Return the next picture that is visible and not decoded yet."""
        every: list[ImageLines | Pictures] = [*self._images, *self._trees]
        for one in every:
            if (wanted := one.wanted()) is not None:
                return wanted
        return None

    def again(self) -> None:
        """Decode pictures again that could be larger or must be smaller: the size of the pane has changed."""
        every: list[ImageLines | Pictures] = [*self._images, *self._trees]
        for one in every:
            one.again()


def ending_of(content: BinaryContent) -> str:
    """Return the file suffix for the bytes of a content, or ""."""
    return pictures.ending(content.data[: pictures.HEAD].encode("ascii", "replace"))
