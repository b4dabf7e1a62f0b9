import pytest
import torch

from benchsuite.errors import UsageError
from benchsuite.models.towers import ImageEncoder, TemporalTransformer, VideoEncoder, image_encoder, positions
from benchsuite.tower_settings import ImageTower

VIT = {"img_size": 8, "patch_size": 4, "depth": 1}


def tower(frames: str | None = "mean") -> ImageTower:
    return ImageTower.model_validate({"timm": "test_vit", "options": VIT, "frames": frames})


def clips(n: int = 2, frames: int = 5) -> torch.Tensor:
    return torch.randn(n, frames, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("frames", "kind"), [(None, ImageEncoder), ("mean", VideoEncoder), ("transformer", VideoEncoder)]
)
def test_the_setup_says_which_tower_it_is(frames: str | None, kind: type) -> None:
    assert type(image_encoder(tower(frames))) is kind


@pytest.mark.parametrize("frames", ["mean", "transformer"])
@pytest.mark.parametrize("count", [1, 5, 8])
def test_clips_of_any_length_become_one_vector_each(frames: str, count: int) -> None:
    encoder = VideoEncoder(tower(frames)).eval()
    with torch.no_grad():
        assert encoder(clips(frames=count)).shape == (2, encoder.width)
        assert torch.allclose(encoder(clips(frames=count))[1:], encoder(clips(frames=count)[1:]), atol=1e-5)


def test_the_mean_is_over_each_clips_own_frames() -> None:
    encoder = VideoEncoder(tower()).eval()
    with torch.no_grad():
        expected = torch.stack([encoder.image(film).mean(0) for film in clips()])
        assert torch.allclose(encoder(clips()), expected, atol=1e-5)


def test_only_the_transformer_sees_the_order_of_frames() -> None:
    torch.manual_seed(0)
    for frames, sees in (("mean", False), ("transformer", True)):
        encoder = VideoEncoder(tower(frames)).eval()
        with torch.no_grad():
            assert torch.allclose(encoder(clips()), encoder(clips().flip(1)), atol=1e-4) != sees


@pytest.mark.parametrize("width", [7, 10, 64])
def test_the_transformer_takes_every_width_and_all_its_weights_learn(width: int) -> None:
    temporal = TemporalTransformer(width)
    temporal(torch.randn(2, 3, width)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in temporal.parameters())


def test_positions_differ_and_do_not_depend_on_how_many_there_are() -> None:
    rows = positions(8, 6)
    assert rows.shape == (8, 6)
    assert torch.equal(rows[:3], positions(3, 6))
    assert (torch.cdist(rows, rows) + torch.eye(8)).min() > 0.1


def test_images_for_a_video_tower_are_refused() -> None:
    with pytest.raises(UsageError, match=r"takes clips .* given \[2, 3, 8, 8\].*remove `frames`"):
        VideoEncoder(tower())(clips()[:, 0])


def test_clips_for_a_image_tower_are_refused() -> None:
    with pytest.raises(UsageError, match=r'takes images .* given \[2, 5, 3, 8, 8\].*frames = "mean"'):
        ImageEncoder(tower(None))(clips())
