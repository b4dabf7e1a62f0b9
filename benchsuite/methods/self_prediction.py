"""Methods without negatives in which one view predicts another: BYOL and SimSiam."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor
from torch.nn.functional import cosine_similarity

from benchsuite.fields import Count, Share
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.heads import Head
from benchsuite.objectives.schedules import cosine
from benchsuite.registry import register_method


@register_method(
    "byol",
    title="BYOL",
    paper="grill2020",
    equation=r"2 - 2\cos(q(z), z'_\xi) + 2 - 2\cos(q(z'), z_\xi),\ \xi \leftarrow m\xi + (1 - m)\theta",
    needs=("image_view", "image_teacher", "image_view_teacher", "text_view", "text_teacher", "text_view_teacher"),
    serves=("image", "text"),
)
class BYOL(Method):
    """A predictor of one view's embedding is trained to hit the embedding of the other by an averaged copy.

    Both views predict, and the two losses are summed (Eq. 2). The copy's momentum rises from `momentum` to 1 along half
    a cosine (section 3.3). The paper's projector is the recipe's projection.

    Traps: only directions count in the loss, but predictor and towers see embeddings of any length. Released code has
    a `momentum` for each length of training: 0.97 for 40 epochs, 0.99 for 100 and 300, 0.996 for 1000.
    """

    normalizes = False
    miniature: ClassVar = {"hidden": 16}

    momentum: Share = 0.996
    """The copy's momentum at the start."""
    rises: bool = True
    """Raise the momentum to 1; if not, it stays, as in lightly's CIFAR-10 benchmark."""
    hidden: Count = 4096
    """Width of the predictor's hidden layer."""

    def heads(self) -> Mapping[str, Head]:
        return {"predictor": Head(layers=2, hidden=self.hidden)}

    def teacher_momentum(self, clock: Clock) -> float:
        return cosine(self.momentum, 1.0, clock.progress / 2) if self.rises else self.momentum

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        (first, second), (target, target_view) = batch.views, batch.teacher_views
        predict = self.head["predictor"]
        return Loss(distance(predict(first), target_view) + distance(predict(second), target))


@register_method(
    "simsiam",
    title="SimSiam",
    paper="chen2021",
    equation=r"-\frac12 \cos(q(z), sg[z']) - \frac12 \cos(q(z'), sg[z])",
    needs=("image_view", "text_view"),
    serves=("image", "text"),
)
class SimSiam(Method):
    """BYOL without the averaged copy: a predictor of one view's embedding is trained to hit the other's, held fixed.

    Both views predict, and the two losses are averaged (Eq. 2 and Algorithm 1).

    Traps: without the stop-gradient everything collapses. The paper's projector has three layers and a batch norm at
    its output; here it is the recipe's projection. In the paper the predictor's learning rate does not decay; here it
    follows the recipe's schedule.
    """

    normalizes = False
    miniature: ClassVar = {"hidden": 16}

    hidden: Count = 512
    """Width of the predictor's hidden layer: a quarter of the paper's embeddings."""

    def heads(self) -> Mapping[str, Head]:
        return {"predictor": Head(layers=2, hidden=self.hidden)}

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        first, second = batch.views
        predict = self.head["predictor"]
        both = cosine_similarity(predict(first), second.detach()) + cosine_similarity(predict(second), first.detach())
        return Loss(-both.mean() / 2)


def distance(prediction: Tensor, target: Tensor) -> Tensor:
    """The squared distance of the two at length 1, 2 - 2 cos, averaged over the batch."""
    return (2 - 2 * cosine_similarity(prediction, target)).mean()
