"""The process that decodes an image of which nothing is known: base64 in, some pixels or a reason out.

Run as a script by `tui.ui.widgets.decoding`, once for each image, with the folder that Pillow is in as its
argument. In comes a line of JSON, `{"columns": c, "rows": r, "ground": [r, g, b], "seconds": s,
"pixels": p, "memory": m}`, then the base64. Out comes a line of JSON: `{"problem": "..."}`, or `{"width": w,
"height": h, "of": [w, h], "moves": bool, "cut": bool}` and after it three bytes a pixel, no more than
`columns` wide and twice `rows` high.

Decoders are where hostile files do harm. So this process gets no more memory and no more processor time than
it is told, writes no files, is asked for four formats only, and looks at no image of more pixels than it is
told, before it decodes the first of them.
"""

import base64
import faulthandler
import io
import json
import os
import sys
import warnings
from typing import Any

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
NICENESS = 5
"""Whoever draws and takes keys comes first, also where there is one processor."""


def main() -> None:
    """Decode one image."""
    asked = json.loads(sys.stdin.buffer.readline())
    bounded(asked["seconds"], asked["memory"])
    sys.path.append(sys.argv[1])
    try:
        head, pixels = decoded(sys.stdin.buffer.read(), asked)
    except MemoryError:
        head, pixels = {"problem": "it needs too much memory"}, b""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + pixels)


def bounded(seconds: float, memory: int) -> None:
    """Let this process end by itself when it takes more than it may."""
    faulthandler.dump_traceback_later(seconds, exit=True)  # where nothing below is known, too
    if sys.platform != "win32":
        import resource

        os.nice(NICENESS)
        for limit, value in (
            (resource.RLIMIT_CPU, int(seconds) + 1),
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            try:
                resource.setrlimit(limit, (value, value))
            except (ValueError, OSError):  # not every system has each of them: the others remain
                continue


def decoded(encoded: bytes, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return the answer to what is asked, and the pixels."""
    from PIL import Image, ImageFile, UnidentifiedImageError

    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None  # what is too large is told here, with its size
    data = base64.b64decode(encoded[: len(encoded) - len(encoded) % 4])
    cut = False
    while True:
        try:
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            width, height = image.size
            if width * height > asked["pixels"]:
                return {"problem": f"{width} × {height} pixels are too many"}, b""
            small = shrunk(image, asked)
        except UnidentifiedImageError:
            return {"problem": "it is no image, whatever it begins like"}, b""
        except (OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError, KeyError) as error:
            # All of these come from Pillow's decoders for broken files.
            if cut:
                return {"problem": f"it is broken: {error}"}, b""
            cut = ImageFile.LOAD_TRUNCATED_IMAGES = True
            continue
        moves = getattr(image, "is_animated", False)
        head = {"width": small.width, "height": small.height, "of": [width, height], "moves": moves}
        return {**head, "cut": cut}, small.tobytes()


def shrunk(image: Any, asked: dict[str, Any]) -> Any:
    """Return an image upright, as large as asked for at most, in front of the ground."""
    from PIL import Image, ImageOps

    most = max(asked["columns"], 2 * asked["rows"])
    image.draft("RGB", (2 * most, 2 * most))  # a JPEG is decoded smaller than it is
    image.load()
    if image.mode.startswith("I"):  # 16 bits a pixel, of which the upper ones are seen
        image = image.point(lambda value: value / 256).convert("L")
    if image.mode not in ("RGB", "L"):
        image = image.convert("RGBA")
    image.thumbnail((4 * most, 4 * most), Image.Resampling.BOX)  # before it is turned: that costs a copy
    image = ImageOps.exif_transpose(image)
    scale = min(1.0, asked["columns"] / image.width, 2 * asked["rows"] / image.height)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    if image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, (*asked["ground"], 255))
        image = Image.alpha_composite(ground, image)
    return image.convert("RGB")


if __name__ == "__main__":
    main()
