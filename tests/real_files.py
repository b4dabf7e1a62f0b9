"""Tiny files in the true layouts."""

import io
import itertools
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def png(picture: np.ndarray, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, kind)
    return stream.getvalue()


def pictures(count: int, seed: int = 0, side: int = 32) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def write_cifar(
    folder: Path,
    train: Sequence[int],
    test: Sequence[int],
    shards: int = 1,
    picture: str = "img",
    label: str = "label",
    side: int = 32,
) -> Path:
    """Parquet files as the hub has them: a struct of bytes and path, and class ids."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, ids) in enumerate((("train", train), ("test", test))):
        images = [{"bytes": png(one), "path": f"{i}.png"} for i, one in enumerate(pictures(len(ids), seed, side))]
        bounds = np.linspace(0, len(ids), shards + 1).astype(int)
        for shard, (start, stop) in enumerate(itertools.pairwise(bounds)):
            table = pa.table({picture: images[start:stop], label: pa.array(ids[start:stop], pa.int64())})
            pq.write_table(table, folder / f"{split}-{shard:05}-of-{shards:05}.parquet")
    return folder


def write_mmvp(folder: Path, pairs: int = 9) -> Path:
    """Questions.csv and a picture for each row; statement and picture i belong together."""
    kinds = ("Orientation", "Presence", "State", "Quantity", "Spatial", "Color", "Structural Character", "Text", "View")
    rows = ["Question ID,Type,Statement"]
    for i in range(2 * pairs):
        kind = kinds[i * len(kinds) // (2 * pairs)]
        rows.append(f'{i + 1},{kind},"a dog, number {i}"')
        place = folder / "MLLM_VLM Images" / kind
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i + 1}.jpg").write_bytes(png(np.full((6, 8, 3), i * 7, np.uint8), "JPEG"))
    (folder / "Questions.csv").write_text("\n".join(rows) + "\n")
    return folder


def write_senteval(folder: Path) -> Path:
    """SentEval's data/downstream, a few sentences a file."""
    from benchsuite.data.real.senteval import STS, TWO_FILES

    def write(name: str, lines: Sequence[str], encoding: str = "utf-8") -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode(encoding))

    for year, subsets in STS.items():
        for k, subset in enumerate(subsets):
            write(f"STS/{year}-en-test/STS.input.{subset}.txt", [f"a{i + k}  word\tb{i} word" for i in range(5)])
            write(f"STS/{year}-en-test/STS.gs.{subset}.txt", ["4.5", "", "1", str(k), "0.5"])
    rows = [f'main\tMSR\t2012\t{i:04}\t{i % 6}\ta{i} word\tb{i} "word\textra' for i in range(6)]
    write("STS/STSBenchmark/sts-test.csv", rows)
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    write("SICK/SICK_test_annotated.txt", [header, *(f"{i}\ta{i}\tb{i}\t{i / 2}\tNEUTRAL" for i in range(5))])
    for one, zero in TWO_FILES.values():
        write(one, [f"good film caf\xe9 {i}" for i in range(6)], "latin-1")
        write(zero, [f"bad film {i}" for i in range(6)], "latin-1")
    for split in ("train", "dev", "test"):
        write(f"SST/binary/sentiment-{split}", [f"{'good' if i % 2 else 'bad'} {split} {i}\t{i % 2}" for i in range(8)])
    kinds = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    for file, each in (("train_5500", 4), ("TREC_10", 1)):
        questions = [f"{kind}:any {kind} word {i}" for kind in kinds for i in range(each)]
        write(f"TREC/{file}.label", questions, "latin-1")
    for split in ("train", "test"):
        rows = [f"{i % 2}\t{i}\t{i}\tgood {i}\t{'good' if i % 2 else 'bad'} {i}" for i in range(8)]
        write(f"MRPC/msr_paraphrase_{split}.txt", ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows])
    return folder


def flat(grey: int, width: int = 8, height: int = 6) -> np.ndarray:
    """A picture of one grey, so that it is known again after JPEG and resizing."""
    return np.full((height, width, 3), grey, np.uint8)


def write_pictures(folder: Path, names: Sequence[str]) -> Path:
    """JPEGs of greys 0, 10, 20, ... in the order of the names, wider than high."""
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(png(flat(10 * i), "JPEG"))
    return folder


def write_pairs(folder: Path, count: int = 12, split: str = "train", kind: str = "tsv") -> Path:
    """A table of pairs as open_clip reads them, beside its pictures."""
    names = [f"{split}_pictures/{i:03}.jpg" for i in range(count)]
    write_pictures(folder, names)
    rows = [(name, f"a thing, number {i}") for i, name in enumerate(names)]
    text = {
        "tsv": "\n".join(["filepath\ttitle", *(f"{a}\t{b}" for a, b in rows)]),
        "csv": "\n".join(["image,caption", *(f'{a},"{b}"' for a, b in rows)]),
        "json": json.dumps([{"image": a, "caption": b, "image_id": i} for i, (a, b) in enumerate(rows)]),
        "jsonl": "\n".join(json.dumps({"id": i, "image": a, "caption": [b]}) for i, (a, b) in enumerate(rows)),
    }
    (folder / f"{split}.{kind}").write_text(text[kind] + "\n")
    return folder


def write_shard(file: Path, samples: Mapping[str, Mapping[str, bytes]]) -> Path:
    """One tar file of samples by key, each with its members by kind, in img2dataset's order."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w") as tar:
        for key, members in samples.items():
            for kind, content in members.items():
                info = tarfile.TarInfo(f"{key}.{kind}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return file


def write_shards(folder: Path, sizes: Sequence[int] = (5, 4, 3), split: str = "train") -> Path:
    """Tar files as img2dataset names them; sample i of all is grey 10 i, and said to be number i."""
    number = itertools.count()
    for shard, size in enumerate(sizes):
        samples = {}
        for place in range(size):
            i = next(number)
            said = f"a thing, number {i}"
            told = json.dumps({"caption": said, "url": "http://x.y/z.jpg", "status": "success"}).encode()
            picture = png(flat(10 * i), "JPEG")
            samples[f"{shard:05}{place:04}"] = {"jpg": picture, "json": told, "txt": said.encode()}
        write_shard(folder / split / f"{shard:05}.tar", samples)
    return folder


def write_karpathy(folder: Path, name: str = "coco", each: int = 3) -> Path:
    """Karpathy's JSON and its pictures: `each` pictures a split, five captions each, the first one has six."""
    rows, names = [], []
    for split in ("train", "restval", "val", "test") if name == "coco" else ("train", "val", "test"):
        for i in range(each):
            place = ("train2014" if split == "train" else "val2014") if name == "coco" else ""
            file = f"{split}_{i}.jpg"
            names.append(f"{place}/{file}" if place else f"flickr30k-images/{file}")
            said = [{"raw": f"{split} {i}, caption {k}", "tokens": []} for k in range(6 if i == 0 else 5)]
            row = {"filename": file, "split": split, "sentences": said, "imgid": len(rows)}
            rows.append({**row, "filepath": place} if place else row)
    write_pictures(folder, names)
    (folder / f"dataset_{name}.json").write_text(json.dumps({"images": rows, "dataset": name}))
    return folder
