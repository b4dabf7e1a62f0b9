"""Pictures a second and thread of each way to decode and resize a JPEG, and whether it gives the defined pixels.

The definition is Pillow's: all of the picture decoded, the shorter side resized by its bicubic filter, the middle cut
out (`square`). A faster way counts only if all pixels are equal. Libraries that are not installed are left out.

    python benchmarks/decoders.py [--side 224] [--files FOLDER]
"""

import argparse
import importlib
import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchsuite.data.readers.images import square

SIZES = ((336, 256), (500, 375), (640, 480), (1024, 768))
"""Of img2dataset's usual output, Flickr30k, MSCOCO, and the web."""
SECONDS = 1.0
"""For each way and size."""
Way = Callable[[bytes, int], np.ndarray]


def ways() -> Iterator[tuple[str, Way]]:
    """Each way by name; the definition first."""
    yield "Pillow", lambda data, side: square(Image.open(io.BytesIO(data)), side)
    yield 'Pillow, fit = "draft"', lambda data, side: square(Image.open(io.BytesIO(data)), side, "draft")
    if simplejpeg := installed("simplejpeg"):
        yield (
            "simplejpeg, resized by Pillow",
            lambda data, side: square(Image.fromarray(simplejpeg.decode_jpeg(data)), side),
        )
    if cv2 := installed("cv2"):

        def decoded(data: bytes) -> np.ndarray:
            return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)

        def resized(data: bytes, side: int) -> np.ndarray:
            image = decoded(data)
            high, wide = (max(side, round(n * side / min(image.shape[:2]))) for n in image.shape[:2])
            top, left = (high - side) // 2, (wide - side) // 2
            return cv2.resize(image, (wide, high), interpolation=cv2.INTER_AREA)[top : top + side, left : left + side]

        yield "cv2, resized by Pillow", lambda data, side: square(Image.fromarray(decoded(data)), side)
        yield "cv2, resized by cv2", resized
    try:
        import torch
        from torchvision.io import decode_jpeg

        decode_jpeg(torch.frombuffer(bytearray(jpeg(16, 16)), dtype=torch.uint8))
    except (ImportError, RuntimeError):
        return
    yield (
        "torchvision, resized by Pillow",
        lambda data, side: square(
            Image.fromarray(decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8)).permute(1, 2, 0).numpy()),
            side,
        ),
    )


def installed(name: str) -> Any:
    """The module, or none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def jpeg(width: int, height: int, seed: int = 0) -> bytes:
    """A picture's file: smooth shapes with a little noise, quality 90."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (max(1, height // 8), max(1, width // 8), 3), np.uint8))
    smooth = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), np.int64)
    noisy = np.clip(smooth + rng.integers(-8, 9, (height, width, 3)), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noisy).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def main() -> None:
    """Measure all ways in turn, so that a busy machine slows all of them alike."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--files", type=Path, help="a folder of JPEGs to measure on too")
    given = parser.parse_args()
    sets = {f"{width}x{height}": [jpeg(width, height, seed) for seed in range(8)] for width, height in SIZES}
    if given.files:
        sets["files"] = [file.read_bytes() for file in sorted(given.files.rglob("*.jp*g"))[:500]]
    for name, files in sets.items():
        best: dict[str, float] = {}
        equal: dict[str, bool] = {}
        begin = time.perf_counter()
        while time.perf_counter() - begin < SECONDS * 5:
            for way, decode in ways():
                started = time.perf_counter()
                made = [decode(data, given.side) for data in files]
                best[way] = min(best.get(way, 1e9), (time.perf_counter() - started) / len(files))
                if way not in equal:
                    wanted = (square(Image.open(io.BytesIO(data)), given.side) for data in files)
                    equal[way] = all(map(np.array_equal, made, wanted))
        print(f"{name} to {given.side}x{given.side}")
        for way, seconds in best.items():
            factor = best["Pillow"] / seconds
            print(f"  {way:<32} {1 / seconds:8.0f} /s  x{factor:.2f}  {'equal' if equal[way] else 'other pixels'}")


if __name__ == "__main__":
    main()
