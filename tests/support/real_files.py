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

from benchsuite.data.readers.images import Fit, LazyImages, open_file


def png(picture: np.ndarray, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, kind)
    return stream.getvalue()


def image_files(files: Sequence[Path], size: int, fit: Fit = "crop") -> LazyImages:
    """Images that are a file each."""
    return LazyImages(len(files), size, lambda i: open_file(files[i]), lambda i: str(files[i]), fit)


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


def write_webdataset(
    folder: Path,
    texts: Sequence[Sequence[object]],
    names: str = "red\nblue\n",
    templates: str = "a {c}.\nno {c}\n",
    kind: str = "classification",
    side: int = 8,
) -> Path:
    """A set as clip_benchmark_export_wds writes it: a tar file for each list of classes or captions, noisy images.

    Of several labels (kind multilabel) each image has a list of ones and zeros, or the bytes of its member.
    """
    (folder / "test").mkdir(parents=True)
    images = iter(pictures(sum(map(len, texts)), side=side))
    member = {"retrieval": "txt", "multilabel": "npy"}.get(kind, "cls")
    number = itertools.count()
    for shard, own in enumerate(texts):
        samples = {f"s{next(number):07}": {member: _told(text), "webp": _lossless(next(images))} for text in own}
        write_shard(folder / "test" / f"{shard}.tar", samples)
    (folder / "test" / "nshards.txt").write_text(f"{len(texts)}\n")
    if kind != "retrieval":
        (folder / "classnames.txt").write_text(names)
        (folder / "zeroshot_classification_templates.txt").write_text(templates)
    if kind != "classification":
        (folder / "dataset_type.txt").write_text(f"{kind}\n")
    return folder


def _told(text: object) -> bytes:
    if not isinstance(text, list):
        return text if isinstance(text, bytes) else str(text).encode()
    stream = io.BytesIO()
    np.save(stream, np.array(text))
    return stream.getvalue()


def _lossless(picture: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "webp", lossless=True)
    return stream.getvalue()


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


def write_classes(folder: Path, sizes: Mapping[str, int], split: str = "train") -> Path:
    """ImageNet's folders: so many pictures a class, all of the grey 10 times the class's place by name."""
    for c, name in enumerate(sorted(sizes)):
        (folder / split / name).mkdir(parents=True, exist_ok=True)
        for i in range(sizes[name]):
            (folder / split / name / f"{name}_{i}.JPEG").write_bytes(png(flat(10 * c % 250), "JPEG"))
    return folder


def write_frames(folder: Path, count: int, pattern: str = "frame_{:010d}.jpg", first: int = 0) -> Path:
    """A video as frames from number 1 on, frame n of grey first + n."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(1, count + 1):
        (folder / pattern.format(n)).write_bytes(png(flat(first + n), "PNG" if pattern.endswith("png") else "JPEG"))
    return folder


EPIC_HEADER = (
    "narration_id,participant_id,video_id,narration_timestamp,start_timestamp,stop_timestamp,start_frame,stop_frame,"
    "narration,verb,verb_class,noun,noun_class,all_nouns,all_noun_classes"
)


def write_epic(folder: Path, place: str = "frames/{video}", clips: int = 6) -> Path:
    """Retrieval annotations and two videos of 60 frames; clip i runs from frame 10 i + 1 to 10 i + 8 of its video."""
    for split in ("train", "test"):
        rows = [EPIC_HEADER]
        for i in range(clips):
            video = f"P0{1 + i % 2}_1{i % 2}"
            nouns = [i % 3, 7] if i % 2 else [i % 3]
            start = 10 * (i % 6) + 1
            rows.append(
                f"{video}_{i},{video[:3]},{video},0,0,0,{start},{start + 7},{split} action {i % 3},"
                f'act,{i % 3},thing,{nouns[0]},"[\'thing\']","{nouns}"'
            )
        (folder / f"EPIC_100_retrieval_{split}.csv").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"EPIC_100_retrieval_{split}.csv").write_text("\n".join(rows) + "\n")
    for video, first in (("P01_10", 0), ("P02_11", 100)):
        write_frames(folder / place.format(video=video, participant=video[:3]), 60, first=first)
    return folder


def write_youcook2(folder: Path, retrieval: bool = False) -> Path:
    """Official annotations of a training and a validation video of 30 frames, one a second, two steps each."""
    videos = {}
    for k, subset in enumerate(("training", "validation", "testing")):
        steps = [{"id": i, "segment": [10 * i, 10 * i + 8], "sentence": f"{subset} step {i}"} for i in range(2)]
        videos[f"video{k}"] = {"subset": subset, "annotations": steps, "duration": 30.0}
        write_frames(folder / "frames" / f"video{k}", 30, first=100 * k)
    (folder / "youcookii_annotations_trainval.json").write_text(json.dumps({"database": videos}))
    if retrieval:
        (folder / "validation_youcook.csv").write_text("end,start,task,text,video_id\n28,20,1,serve it,video1\n")
    return folder


def write_something(folder: Path, lists: str = "") -> Path:
    """Official labels of three classes, and videos of 3 to 7 frames with names of their own."""
    templates = ["Holding [something]", "Moving [something] up", "Dropping [something]"]
    for k, split in enumerate(("train", "validation")):
        rows = []
        for i in range(5):
            name = 100 * k + i
            label = templates[i % 3].replace("[something]", f"cup {name}").lower()
            rows.append({"id": str(name), "label": label, "template": templates[i % 3], "placeholders": ["cup"]})
            write_frames(folder / "frames" / str(name), 3 + i, "img_{:05d}.png", first=10 * i)
        (folder / f"something-something-v2-{split}.json").write_text(json.dumps(rows))
    classes = {t.replace("[", "").replace("]", ""): str(i) for i, t in enumerate(templates)}
    (folder / "something-something-v2-labels.json").write_text(json.dumps(classes))
    if lists:
        (folder / lists).mkdir()
        (folder / lists / "train.txt").write_text("0 0\n3 0\n101 1\n")
        (folder / lists / "val.txt").write_text("102,2\n")
        (folder / lists / "test.txt").write_text("videos/104.webm 1\n\n")
    return folder
