"""The process that decodes an untrusted image: base64 in, pixels or an error out.

`tui.ui.widgets.pictures` runs it as a script, once per image; its argument is the folder that contains
Pillow. Input: a line of JSON, `{"columns": c, "rows": r, "ground": [r, g, b], "seconds": s, "pixels": p,
"memory": m}`, then the base64. Output: a line of JSON: `{"problem": "..."}`, or `{"width": w, "height": h,
"of": [w, h], "moves": bool, "cut": bool}` followed by three bytes per pixel, at most `columns` wide and twice
`rows` high. Decoders are a common target of hostile files. So this process limits its memory and CPU time,
writes no files, accepts four formats only, and checks the number of pixels before it decodes.
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
"""The process with the screen has priority, also on a single processor."""


def main() -> None:
    """Decode one image."""
    request = json.loads(sys.stdin.buffer.readline())
    bounded(request["seconds"], request["memory"])
    sys.path.append(sys.argv[1])
    try:
        head, pixels = decoded(sys.stdin.buffer.read(), request)
    except MemoryError:
        head, pixels = {"problem": "it needs too much memory"}, b""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + pixels)


def bounded(seconds: float, memory: int) -> None:
    """Limit the time and memory of this process."""
    faulthandler.dump_traceback_later(seconds, exit=True)  # also works on systems without the limits below
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
            except (ValueError, OSError):  # not every system has all of them
                continue


def decoded(encoded: bytes, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return the head of the answer and the pixels."""
    from PIL import Image, ImageFile

    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None  # checked below, with the size in the message
    data = base64.b64decode(encoded[: len(encoded) - len(encoded) % 4])
    cut = False
    while True:
        try:
            # Otherwise, a wrong checksum in a chunk without pixels, such as a color profile, rejects the
            # whole PNG.
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            ImageFile.LOAD_TRUNCATED_IMAGES = cut
            width, height = image.size
            if width * height > request["pixels"]:
                return {"problem": f"too many pixels ({width} × {height})"}, b""
            small = shrunk(image, request)
        except (OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError, KeyError) as error:
            # Pillow's decoders raise all of these for damaged files, UnidentifiedImageError among them.
            if cut:
                return {"problem": _problem(data, error)}, b""
            cut = True
            continue
        moves = getattr(image, "is_animated", False)
        head = {"width": small.width, "height": small.height, "of": [width, height], "moves": moves}
        return {**head, "cut": cut}, small.tobytes()


def _problem(data: bytes, error: Exception) -> str:
    from PIL import UnidentifiedImageError

    begins = data.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"))
    if begins or not isinstance(error, UnidentifiedImageError):
        return "damaged data"
    return f"not a {', '.join(FORMATS[:-1])} or {FORMATS[-1]} image"


def shrunk(image: Any, request: dict[str, Any]) -> Any:
    """Return an image upright, scaled to the requested size, on the background color."""
    from PIL import Image, ImageOps

    most = max(request["columns"], 2 * request["rows"])
    image.draft("RGB", (2 * most, 2 * most))  # decode a JPEG at a reduced size
    image.load()
    if image.mode.startswith("I"):  # 16 bits per pixel, of which only the upper ones are visible
        image = image.point(lambda value: value / 256).convert("L")
    if image.mode not in ("RGB", "L"):
        image = image.convert("RGBA")
    image.thumbnail((4 * most, 4 * most), Image.Resampling.BOX)  # before it is rotated, which requires a copy
    image = ImageOps.exif_transpose(image)
    scale = min(1.0, request["columns"] / image.width, 2 * request["rows"] / image.height)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    if image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, (*request["ground"], 255))
        image = Image.alpha_composite(ground, image)
    return image.convert("RGB")


if __name__ == "__main__":
    main()
