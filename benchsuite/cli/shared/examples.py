"""Two examples for the help of each command. Tests parse all of them."""

EXAMPLES = {
    "compare": ("benchsuite compare infonce mine.py", "benchsuite compare mine.py --data latents --budget 20m"),
    "list": ("benchsuite list methods --verbose", "benchsuite list tables --json"),
    "repro": (
        "benchsuite repro temo/table1 --scale latents --replicates 3",
        "benchsuite repro temo/table1 --scale smoke --plugin mine.py --rows infonce,mine --dry-run",
    ),
    "run": (
        "benchsuite run temo --recipe latents-pairs --seed 1",
        "benchsuite run infonce --recipe pairs-tiny --data pairs=photos --set tau=0.05",
    ),
    "tune": (
        "benchsuite tune temo/table1 --scale latents --dry-run",
        "benchsuite tune mine --plugin mine.py --recipe latents-pairs --replicates 3",
    ),
    "embed": (
        "benchsuite embed pairs --data pairs=photos --image timm:resnet50 --text distilbert-base-uncased --out vectors",
        "benchsuite embed scenes --image timm:test_resnet?size=32 --text distilbert?dim=64 --untrained --out check",
    ),
    "weights": ("benchsuite weights 3f2a --out towers", "benchsuite weights 3f2a --out towers --results runs"),
    "evaluate": (
        "benchsuite evaluate towers --task retrieval --data pairs=photos",
        "benchsuite evaluate timm:resnet50 --task knn --data cifar10=cifar --json",
    ),
    "report": ("benchsuite report --results runs --report site", "benchsuite report --results results"),
    "export": (
        "benchsuite export temo/table1 --scale latents --format latex --out table1.tex",
        "benchsuite export --all --format parquet --out results.parquet",
    ),
    "plot": (
        "benchsuite plot temo/table1 --scale latents --out claims.pdf",
        "benchsuite plot --survey --results results --out survey.pdf",
    ),
    "claims": (
        "benchsuite claims temo/table1 --scale latents",
        "benchsuite claims temo --all-scales --results results",
    ),
    "regress": ("benchsuite regress temo --update", "benchsuite regress mine.py --against scores.json"),
    "new-method": ("benchsuite new-method my-loss", "benchsuite new-method my-loss --into losses"),
    "new-dataset": ("benchsuite new-dataset my-data", "benchsuite new-dataset my-data --into data"),
    "new-task": ("benchsuite new-task my-task", "benchsuite new-task my-task --into tasks"),
    "new-recipe": (
        "benchsuite new-recipe my-setup",
        "benchsuite new-recipe my-setup --like latents-pairs --into own/recipes",
    ),
    "new-table": (
        "benchsuite new-table mine/table1 infonce temo --tables own --measure retrieval.t2i_r1",
        "benchsuite new-table mine/table2 infonce mine --tables own --measure geometry.gap --plugin mine.py",
    ),
    "new-leaderboard": ("benchsuite new-leaderboard my-board", "benchsuite new-leaderboard my-board --method my-loss"),
    "verify": ("benchsuite verify runs --json", "benchsuite verify results --rerun 2"),
    "diff": ("benchsuite diff 3f2a 81bc", "benchsuite diff results ../theirs/results"),
    "doctor": ("benchsuite doctor", "benchsuite doctor --json"),
    "check-method": ("benchsuite check-method my_loss.py", "benchsuite check-method infonce temo --json"),
}
"""By command, in the order of the help."""


def epilog(command: str) -> str:
    """What its help ends with; the mark keeps lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in EXAMPLES[command])])
