"""`benchsuite embed`: the vectors of a dataset's images and texts, for `features`."""

import shlex
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from benchsuite.cli.shared.options import Folders, Plugins, load_plugins, parse_folders, parse_names
from benchsuite.cli.shared.terminal import say

EVERY = 10
"""Seconds between lines of progress."""


def embed(
    dataset: Annotated[str, typer.Argument(help="A dataset of images with captions.", metavar="DATASET")],
    image: Annotated[
        str,
        typer.Option(
            help="Image encoder: timm:NAME, timm:FOLDER (config.json, model.safetensors), or for models like CLIP "
            "transformers:NAME or open_clip:NAME?pretrained=TAG. NAME?key=value sets its arguments, size=PIXELS "
            "its input, and of timm's weights=FILE a state dict."
        ),
    ],
    text: Annotated[
        str,
        typer.Option(
            help="Text encoder: a transformers name or folder. NAME?pool=first|mean|last (default: mean) and "
            "max_tokens=NUMBER; of CLIP-like models, open_clip:NAME?pretrained=TAG too, the projected text."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the vectors.", metavar="FOLDER")],
    data: Folders = None,
    splits: Annotated[str | None, typer.Option(help="Splits, with commas (default: all).")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first images of each split.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="Images or texts at a time.")] = 64,
    shard: Annotated[int, typer.Option(min=1, help="Images whose vectors share a file.")] = 8192,
    dtype: Annotated[Literal["float16", "float32"], typer.Option(help="How vectors are stored.")] = "float16",
    untrained: Annotated[bool, typer.Option("--untrained", help="Random weights in both encoders, for tests.")] = False,
    plugin: Plugins = None,
) -> None:
    """Embed a dataset with frozen encoders, once, so that methods train on the vectors.

    After an interruption the same command continues.
    """
    load_plugins(plugin)
    from benchsuite.encoders.embed import Wanted, embed
    from benchsuite.models.asked import asked

    asked(image, "timm", untrained, "--image")
    wanted = Wanted(
        dataset=dataset,
        folders=parse_folders(data),
        image=image,
        text=text,
        out=out,
        splits=parse_names([splits] if splits else []),
        untrained=untrained,
        dtype=dtype,
        limit=limit,
        batch=batch,
        shard=shard,
    )
    manifest = embed(wanted, Shown())
    sizes = ", ".join(f"{name} {part.images:,}" for name, part in manifest.splits.items())
    size = sum(path.stat().st_size for path in out.rglob("*.npy"))
    say(f"{out.resolve()}: {sizes} images; {size / 1e6:,.1f} MB")
    say(f"next: benchsuite repro temo/table1 --scale own-features --data {shlex.quote(f'features={out}')}")


class Shown:
    """Prints a line now and then, and at the end of each split."""

    def __init__(self) -> None:
        self._last = self._started = time.monotonic()

    def __call__(self, split: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._last > EVERY:
            self._last = now
            say(f"{split}: {done:,} of {total:,} images, {now - self._started:.0f} s", error=True)
