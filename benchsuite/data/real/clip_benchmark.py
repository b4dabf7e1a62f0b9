"""The zero-shot datasets of clip-benchmark: its names, class names, templates and readers, over a local data root."""

import importlib
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import StringConstraints

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.files import files_digest, files_under, require_folder
from benchsuite.data.readers.images import Fit, LazyImages
from benchsuite.data.real.multilingual import SETS, Multilingual
from benchsuite.data.real.sugar_crepe import SugarCrepe
from benchsuite.data.real.webdataset import COUNT, FILES, Webdataset
from benchsuite.data.real.winoground import EXAMPLES, Winoground
from benchsuite.data.real.winoground import FILES as WINOGROUND_FILES
from benchsuite.errors import UsageError, require_known
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

Name = Literal[
    "cifar10", "cifar100", "country211", "dtd", "eurosat", "gtsrb", "fgvc_aircraft", "imagenet_sketch",
    "imagenet-a", "imagenet-r", "imagenet-o", "flowers", "pets", "pcam", "mnist", "food101", "imagenet1k",
]  # fmt: skip
"""TeMo's Table 7, in the order of its columns, by clip-benchmark's names."""
Crepe = Literal[
    "sugar_crepe/add_att", "sugar_crepe/add_obj", "sugar_crepe/replace_att", "sugar_crepe/replace_obj",
    "sugar_crepe/replace_rel", "sugar_crepe/swap_att", "sugar_crepe/swap_obj",
]  # fmt: skip
CREPE = "sugar_crepe/"
WINOGROUND = "winoground"
READ = {WINOGROUND: WINOGROUND_FILES}
"""Of a dataset on the hub, which files are read, if not all."""
Captions = Annotated[str, StringConstraints(pattern=rf"^({'|'.join(SETS)})/\w+$")]
"""A multilingual set and the language: xtd10/de."""
WDS = "wds/"
Wds = Annotated[str, StringConstraints(pattern=r"^wds/[\w.+/-]+$")]
"""One of its webdatasets, whose name on the hub is clip-benchmark/wds_NAME."""
LAYOUT = (
    "a folder for each dataset by clip-benchmark's name, in the layout of clip-benchmark and torchvision, or wds_NAME"
)
OWN = "clip-benchmark"
"""Name of the set of templates that clip-benchmark has for the dataset."""


@register_dataset("clip-benchmark", title="clip-benchmark's datasets", license="several", download=True)
class ClipBenchmark(PairDataset):
    """Test images of a dataset of clip-benchmark: TeMo's Table 7, SugarCrepe, Winoground, multilingual, webdatasets.

    The 17 of Table 7 are read by the library (the extra zeroshot), the others without it. Class names and the set of
    templates "clip-benchmark" are the library's for that dataset, or those in the folder of a webdataset; imagenet-7,
    cifar-18, number and names are available for all, imagenet-80 for the 17. Sets for retrieval have captions and no
    classes, SugarCrepe's images a right caption and a wrong one, Winoground's one that is wrong for the other of two
    images. Only a name on the hub is downloaded.
    """

    dataset: Name | Crepe | Literal["winoground"] | Captions | Wds
    """clip-benchmark's name of the dataset; of a multilingual one NAME/LANGUAGE, of a webdataset wds/NAME."""
    folder: str = ""
    """The data root: the data set is in a folder of its name, wds/vtab/dtd in wds_vtab-dtd, all parts of SugarCrepe in
    sugar_crepe; xtd10/de is the library's file xtd10-de.json. Or the folder of the one webdataset, or Winoground's.
    Not part of the identity; the digest is."""
    size: Count = 224
    """Side in pixels to which images are resized."""
    fit: Fit = "crop"
    """How they become squares."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        return self._listed.class_names if self._listed else {"class": tuple(self._library.classes)}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        if self._listed:
            return {**self._listed.templates, **SMALL} if self.class_names else {}
        return {OWN: templates_of(self.dataset), "imagenet-80": templates_of("imagenet1k"), **SMALL}

    @property
    def kind(self) -> str:
        """classification, matching, matching of pairs, or what a webdataset says it is."""
        name = self.dataset.removeprefix(WDS)
        if name == WINOGROUND or name.startswith(CREPE):
            return "matching of pairs" if name == WINOGROUND else "matching"
        return getattr(self._listed, "kind", "classification")

    def manifest(self) -> Manifest:
        if self._listed:
            found = self._listed.manifest()
            named = self.class_names.get("class", ()) if self.kind == "multilabel" else ()  # no caption says them
            digest = short_digest([found.digest, *self.templates.get(OWN, ()), *named])
            return replace(found, name=self.dataset, digest=digest)
        names = [*self.class_names["class"], *self.templates[OWN]]
        digest = short_digest([files_digest(files_under(self._root)), names])
        return Manifest(self.dataset, 1, {"test": len(self._library)}, digest)

    def read(self, split: str) -> Split:
        if self._listed:
            return self._listed.split(split)
        library, labels = self._library, self._labels
        where = f"{self._root}, sample {{}}".format
        images = LazyImages(len(library), self.size, lambda i: library[i][0], where, self.fit)
        names = [[name] for name in self.class_names["class"]]
        return Split(split, images.as_array(), [names[label] for label in labels], labels={"class": labels})

    @cached_property
    def _root(self) -> Path:
        is_wds = self.dataset.startswith(WDS)
        root = require_folder("clip-benchmark", self.folder, LAYOUT, FILES if is_wds else READ.get(self.dataset, ()))
        place = root if is_wds and (root / COUNT).is_file() else place_of(self.dataset, root)
        folder = place if is_wds or place.suffix != ".json" else place.parent
        if not is_wds and not folder.exists() and place_of(f"{WDS}{self.dataset}", root).is_dir():
            raise UsageError(f'{root}: {self.dataset} is there as a webdataset; write dataset = "{WDS}{self.dataset}".')
        return require_folder("clip-benchmark", str(folder), f"{self.dataset}. The root must hold {LAYOUT}")

    @property
    def _asked(self) -> dict[str, Any]:
        """Of what reads it, if the library does not."""
        return {"folder": str(self._root), "size": self.size, "fit": self.fit}

    @cached_property
    def _listed(self) -> Webdataset | SugarCrepe | Winoground | Multilingual | None:
        """What reads it, if the library does not."""
        if self.dataset == WINOGROUND:
            return Winoground(**self._asked)
        if self.dataset.startswith(CREPE):
            return SugarCrepe(**self._asked, part=self.dataset.removeprefix(CREPE))
        if self.dataset.startswith(WDS):
            return Webdataset(**self._asked)
        name, _, language = self.dataset.partition("/")
        return Multilingual(**self._asked, name=name, language=language) if language else None

    @cached_property
    def _library(self) -> Any:
        builder = _builder()
        try:
            with redirect_stdout(StringIO()):
                return builder.build_dataset(self.dataset, root=str(self._root), split="test", download=False)
        except (RuntimeError, OSError, AssertionError, ValueError, KeyError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UsageError(f"{self._root}: not {self.dataset} as clip-benchmark reads it ({reason}).") from error

    @cached_property
    def _labels(self) -> NDArray[np.int64]:
        labels = np.fromiter(_targets(self._library), np.int64)
        names = self.class_names["class"]
        if wrong := sorted(set(labels.tolist()) ^ set(range(len(names)))):
            which = f'"{names[wrong[0]]}" has no test image' if 0 <= wrong[0] < len(names) else "does not exist"
            raise UsageError(f"{self._root}: class {wrong[0]} of the {len(names)} of {self.dataset} {which}.")
        return labels


def place_of(dataset: str, root: Path) -> Path:
    """A dataset under a data root: a folder of its name or, of a webdataset, of that on the hub; or its one file.

    A root with Winoground's own files is its place, as on the hub.
    """
    if dataset == WINOGROUND and (root / EXAMPLES).is_file():
        return root
    if dataset.startswith(WDS):
        return root / f"wds_{dataset.removeprefix(WDS).replace('/', '-')}"
    name, _, language = dataset.partition("/")
    if name in SETS:
        return root / f"{SETS[name]}-{language}.json"
    return root / (f"{dataset}.json" if dataset.startswith(CREPE) else dataset)


def _is_own(name: str) -> bool:
    """Whether it can be read otherwise than as a webdataset."""
    return name in {*get_args(Name), *get_args(Crepe), WINOGROUND} or ("/" in name and name.partition("/")[0] in SETS)


def collection(name: str) -> Sequence[str]:
    """The datasets of one of the library's collections, a multilingual one in all languages, or that of this name."""
    if _is_own(name) or name.startswith(WDS):
        return [name.removeprefix(WDS)]
    known: Mapping[str, Sequence[str]] = _builder().dataset_collection
    if name in SETS:
        module = importlib.import_module(f"clip_benchmark.datasets.{SETS[name].removesuffix('_captions')}")
        return [f"{name}/{language}" for language in module.SUPPORTED_LANGUAGES]
    require_known("collection", name, known, "clip-benchmark: ")
    return known[name]


def found_under(folder: str, names: Sequence[str]) -> dict[str, str]:
    """Of each dataset of a collection the option `dataset`: as the library reads it, else as a webdataset, whichever is
    under the data root; "" if neither is.
    """
    root = require_folder("clip-benchmark", folder, LAYOUT, READ.get(names[0], ()) if len(names) == 1 else ())
    ways = {name: [*([name] if _is_own(name) else []), f"{WDS}{name}"] for name in names}
    return {name: next((way for way in own if place_of(way, root).exists()), "") for name, own in ways.items()}


def unread_under(folder: str, names: Sequence[str]) -> list[str]:
    """Webdatasets of the data root that are none of these."""
    root = require_folder("clip-benchmark", folder, LAYOUT)
    known = {place_of(f"{WDS}{name}", root) for name in names}
    return sorted(path.name for path in root.glob("wds_*") if path.is_dir() and path not in known)


def templates_of(dataset: str) -> tuple[str, ...]:
    """clip-benchmark's English templates for a dataset, with {} for the class name; where it has none, ImageNet's."""
    file = _folder() / "datasets" / "en_zeroshot_classification_templates.json"
    templates = json.loads(file.read_text("utf-8"))
    return tuple(text.replace("{c}", "{}") for text in templates.get(dataset, templates["imagenet1k"]))


def _targets(library: Any) -> Iterator[int]:
    """Class ids without decoding images, under whichever name torchvision has them."""
    for name in ("targets", "_labels", "labels"):
        if (labels := getattr(library, name, None)) is not None:
            return (int(label) for label in labels)
    if (samples := getattr(library, "samples", getattr(library, "_samples", None))) is not None:
        return (int(label) for _, label in samples)
    return (int(library[i][1]) for i in range(len(library)))


def _folder() -> Path:
    spec = importlib.util.find_spec("clip_benchmark")
    if spec is None or spec.origin is None:
        raise UsageError('clip-benchmark is not installed; install "benchsuite[zeroshot]".')
    return Path(spec.origin).parent


def _builder() -> Any:
    _folder()  # says what to install where it is missing
    from benchsuite.torchvision_ops import make_importable

    make_importable()
    try:
        from clip_benchmark.datasets import builder
    except ImportError as error:
        raise UsageError(f'clip-benchmark does not import ({error}); install "benchsuite[zeroshot]".') from error
    return builder
