"""SLIP: language supervision with self-supervision of the image tower (Mu et al., 2022)."""

from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import normalize

from benchsuite.fields import Count, NonNegative, Temperature
from benchsuite.methods.base import Clock, Loss, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCELearnable
from benchsuite.objectives.nt_xent import Candidates, nt_xent
from benchsuite.registry import register_method


@register_method(
    "slip",
    title="SLIP",
    paper="mu2022",
    equation=r"L_{CLIP} + c\, L_{SimCLR}(g(\tilde x), g(\tilde x'))",
    needs=("image_view", "image_view2"),
    contains={"infonce-learnable": {"ssl_scale": 0}},
)
class SLIP(InfoNCELearnable):
    """CLIP with a learnable temperature, plus SimCLR between two further views of the image.

    L = L_CLIP + ssl_scale NT-Xent at ssl_tau (Algorithm 1). SimCLR sees the views through a head of its own: three
    linear layers with batch norm and ReLU between them (biases in front of the norms would be idle: there are none).
    The batch norm's statistics are always the global batch's. Where the batch has no second further view, the image
    itself is the other one.

    Trap: the paper's head reads the tower's features in front of CLIP's projection; a method here sees the normalised
    embeddings behind it, and its head reads those.
    """

    miniature: ClassVar = {"head_hidden": 32, "head_width": 16}

    ssl_scale: NonNegative = 1.0
    """Weight of the self-supervised loss."""
    ssl_tau: Temperature = 0.1
    """Temperature of the self-supervised loss."""
    head_hidden: Count = 4096
    """Width of the head's two hidden layers."""
    head_width: Count = 256
    """Width of the head's output."""

    def setup(self) -> None:
        super().setup()
        hidden = self.head_hidden
        self.projector = nn.Sequential(
            nn.LazyLinear(hidden, bias=False) if self.width is None else nn.Linear(self.width, hidden, bias=False),
            nn.BatchNorm1d(hidden, track_running_stats=False),
            nn.ReLU(),
            nn.Linear(hidden, hidden, bias=False),
            nn.BatchNorm1d(hidden, track_running_stats=False),
            nn.ReLU(),
            nn.Linear(hidden, self.head_width),
        )

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        clip = super().loss(batch, clock)
        other = batch.image_view2 if batch.has("image_view2") else batch.image
        ssl = nt_xent(Candidates(self.project(batch.image_view), self.project(other)) / self.ssl_tau)
        return Loss(clip.total + self.ssl_scale * ssl, {"clip": clip.total, "ssl": ssl}, clip.gauges)

    def project(self, x: Tensor) -> Tensor:
        """g(x), normalised."""
        return normalize(self.projector(x), dim=-1)

    def parameter_groups(self) -> list[ParameterGroup]:
        """The temperature's, the head's weights, and its biases and norms, which are not decayed."""
        linear = [layer for layer in self.projector if isinstance(layer, nn.Linear)]
        matrices = tuple(p for layer in linear for name, p in layer.named_parameters() if name == "weight")
        vectors = tuple(p for p in self.projector.parameters() if all(p is not matrix for matrix in matrices))
        return [*super().parameter_groups(), ParameterGroup(matrices), ParameterGroup(vectors, weight_decay=0.0)]
