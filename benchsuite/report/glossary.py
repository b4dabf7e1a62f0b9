"""What the names in records mean, in a line each: metrics, costs, digests, the environment."""

import re
from collections.abc import Iterable

from benchsuite.records.schema import Record

SIDES = {"i": "image", "t": "text", "v": "video"}
RECALL = re.compile(r"([itv])2([itv])_r(\d+)")
MEDIAN = re.compile(r"([itv])2([itv])_median_rank")
TOP = re.compile(r"(?:k(\d+)_)?top(\d+)")
EXPLAINED = {
    "r_mean": "mean of all R@K of both directions",
    "map": "mean average precision, mean of both directions",
    "ndcg": "normalized discounted cumulative gain, mean of both directions",
    "gap": "distance between the centroids of the two modalities' embeddings",
    "alignment": "mean squared distance of the two embeddings of a pair",
    "uniformity_image": "log mean Gaussian potential of image embeddings; lower is more uniform",
    "uniformity_text": "log mean Gaussian potential of text embeddings; lower is more uniform",
    "uniformity_w2": "uniformity by the Wasserstein distance; higher is more uniform",
    "uniformity_w2_image": "the same of image embeddings alone",
    "uniformity_w2_text": "the same of text embeddings alone",
    "positive_mean": "mean cosine of the pairs",
    "negative_mean": "mean cosine of images and texts that are no pair",
    "tolerance_image": "mean cosine of images of one class",
    "tolerance_text": "mean cosine of texts of one class",
    "inter_class_uniformity_image": "uniformity over pairs of images of two classes",
    "inter_class_uniformity_text": "uniformity over pairs of texts of two classes",
    "iterations": "steps of the probe's solver",
    "converged": "1 if the probe's solver converged",
    "seconds": "training time",
    "cpu_seconds": "training time on processors; other work on the machine lengthens it less than seconds",
    "pairs_per_second": "training pairs in a second",
    "peak_memory_bytes": "most memory that the process held",
    "trainable_parameters": "of towers, heads and method",
    "evaluation_seconds": "time of all protocols",
    "skipped_pictures": "training pairs replaced since their picture could not be decoded",
    "initial_weights": "hash of the towers before step 1: equal for all methods of a seed",
    "batches": "hash of the first batches: equal for all methods of a seed",
    "words": "hash of the vocabulary",
    "data": "hash of the dataset",
    "clusters": "hash of the clusters that the method reads",
    "image_expert": "hash of the frozen image encoder's output",
    "text_expert": "hash of the frozen text encoder's output",
    "paraphrases": "hash of the second captions that the method reads",
    "ranks": "hash of the file of ranks, from which metrics are recomputed",
    "record": "hash of the record: an edited record has another one",
    "code": "hash of the file that defines the method",
    "commit": "of the code that ran",
    "dirty": "whether tracked files differed from the commit",
    "threads": "of each process",
    "processes": "that trained together",
}


def explained(name: str) -> str:
    """A name in a record's results, cost, digests or environment; "" if a plugin or a library gave it."""
    if found := RECALL.fullmatch(name):
        query, answer = SIDES[found[1]], SIDES[found[2]]
        return f"R@{found[3]}: share of {query} queries with the right {answer} among the first {found[3]}"
    if found := MEDIAN.fullmatch(name):
        return f"median rank of the right {SIDES[found[2]]} of {SIDES[found[1]]} queries; lower is better"
    if found := TOP.fullmatch(name):
        where = "the first choice" if found[2] == "1" else f"among the first {found[2]}"
        by = f", by {found[1]} nearest neighbour{'s' * (found[1] != '1')}" if found[1] else ""
        return f"share of test items whose class is {where}{by}"
    return EXPLAINED.get(name, "")


def explained_metrics(records: Iterable[Record]) -> dict[str, str]:
    """Of the numbers of all protocols, by name."""
    results = (result for record in records for result in record.results.values())
    return glossary(name for each in results for name in (*each.metrics, *each.measures, *each.counts))


def glossary(names: Iterable[str]) -> dict[str, str]:
    """The explained ones among some names, each once."""
    return {name: words for name in dict.fromkeys(names) if (words := explained(name))}
