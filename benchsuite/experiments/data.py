"""Where a setup's data lies, and what its manifests say: the half of a plan that reads datasets.

A folder is given beside the setup, never in its identity: `Data.folder` travels with a run to its worker and is left
out of everything that is written or digested. What was in the folder is in the identity, by the manifest's digest.
"""

from collections.abc import Iterable, Iterator, Mapping

from benchsuite.data import PairDataset, create_dataset
from benchsuite.errors import unknown
from benchsuite.experiments.recipe import Recipe
from benchsuite.registry import datasets
from benchsuite.setup import Data

FOLDER = "folder"
"""The option by which a dataset that reads files is told where they are."""


def open_dataset(data: Data) -> PairDataset:
    """The dataset under its options, at its folder if it has one."""
    place = {} if data.folder is None else {FOLDER: data.folder}
    return create_dataset(data.name, **data.options, **place)


def resolve_data(data: Data, folders: Mapping[str, str]) -> Data:
    """With all options, version and digest filled in, and the folder kept apart from them."""
    given = dict(data.options)
    own = given.pop(FOLDER, data.folder)
    folder = next((folders[source] for source in sources(data.name) if source in folders), own)
    dataset = open_dataset(data.model_copy(update={"options": given, "folder": folder}))
    manifest, options = dataset.manifest(), dataset.options()
    folder = options.pop(FOLDER, None)
    return data.model_copy(
        update={"options": options, "version": manifest.version, "digest": manifest.digest, "folder": folder}
    )


def require_used(recipe: Recipe, folders: Mapping[str, str]) -> None:
    """Every folder must be for a dataset that the recipe reads from files."""
    known = {source for data in read_by(recipe) for source in sources(data.name) if takes_folder(data.name)}
    for name in folders:
        if name not in known:
            raise unknown("dataset", name, known, f"--data {name}=...: {recipe.title}: ")


def read_by(recipe: Recipe) -> Iterator[Data]:
    """The data that is trained on, and that of protocols with data of their own."""
    yield recipe.data
    yield from (protocol.data for protocol in recipe.protocols.values() if protocol.data)


def sources(name: str) -> Iterable[str]:
    """The dataset's own name, and that of the files it shares with another."""
    return dict.fromkeys((name, datasets.card(name).about.get("source", name)))


def takes_folder(name: str) -> bool:
    """Whether the dataset reads files."""
    return FOLDER in {field.name for field in datasets.card(name).fields}
