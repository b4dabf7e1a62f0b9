"""What the training can give a method beyond the embeddings of pictures and texts."""

from benchsuite.errors import UsageError
from benchsuite.methods.base import Method

PROVIDED = frozenset({"image_view", "text_view", "index"})


def require_served(method: Method) -> None:
    """Refuse a method that needs what no batch carries, before anything runs."""
    if missing := sorted(method.needs - PROVIDED):
        given = ", ".join(sorted(PROVIDED))
        raise UsageError(
            f"{method.card.name} needs {', '.join(missing)}, which training does not provide (only {given})."
        )
