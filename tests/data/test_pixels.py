import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import affine_grid

from benchsuite.data.pixels import augment, standardize, to_unit, window


def pictures(n: int = 2, side: int = 8) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (n, side, side, 3), dtype=np.uint8)


def crops(
    x: float = 0,
    y: float = 0,
    half: float = 1,
    mirror: float = 1,
    brightness: float = 1,
    contrast: float = 1,
    saturation: float = 1,
    hue: float = 0,
) -> NDArray[np.float32]:
    return np.array([[x, y, half, mirror, brightness, contrast, saturation, hue]] * 2, np.float32)


def pixels() -> Tensor:
    return to_unit(pictures())


def test_bytes_become_fractions_with_channels_first() -> None:
    stored = pictures()
    unit = to_unit(stored)
    assert unit.shape == (2, 3, 8, 8)
    assert np.array_equal((unit.numpy() * 255).round().astype(np.uint8), stored.transpose(0, 3, 1, 2))
    assert unit.is_contiguous(memory_format=torch.channels_last)


def test_the_stored_images_are_not_touched() -> None:
    stored = pictures()
    before = stored.copy()
    augment(to_unit(stored), crops(half=0.5, brightness=0.3))
    assert np.array_equal(stored, before)


def test_whole_crop_is_the_identity() -> None:
    assert torch.allclose(augment(pixels(), crops()), pixels(), atol=1e-6, rtol=0)


def test_mirror_swaps_left_and_right() -> None:
    assert torch.allclose(augment(pixels(), crops(mirror=-1)), pixels().flip(3), atol=1e-6, rtol=0)


def test_crop_window_lands_where_the_parameters_say() -> None:
    whole, side = torch.arange(64.0).view(1, 1, 8, 8).expand(2, 3, 8, 8) / 64, 8
    cut = augment(whole, crops(x=0.5, y=-0.5, half=0.5))
    positions = (torch.arange(side) + 0.5) / side
    column, row = 8 * (0.5 + 0.5 * positions) - 0.5, 8 * (0.5 * positions) - 0.5
    inside = cut[0, 0, 1:-1, 1:-1]
    expected = (row[1:-1, None] * 8 + column[None, 1:-1]) / 64
    assert torch.allclose(inside, expected, atol=1e-6, rtol=0)


def test_a_mirrored_crop_is_the_crop_mirrored() -> None:
    window = {"x": 0.3, "y": -0.2, "half": 0.6}
    assert torch.allclose(augment(pixels(), crops(**window, mirror=-1)), augment(pixels(), crops(**window)).flip(3))


def test_brightness_multiplies_up_to_white() -> None:
    assert torch.allclose(augment(pixels(), crops(brightness=0.5)), pixels() * 0.5, atol=1e-6)
    assert torch.allclose(augment(pixels(), crops(brightness=1.5)), (pixels() * 1.5).clamp(max=1), atol=1e-6)


def test_contrast_moves_away_from_each_images_mean() -> None:
    mean = pixels().mean(dim=(1, 2, 3), keepdim=True)
    assert torch.allclose(augment(pixels(), crops(contrast=0)), mean.expand_as(pixels()), atol=1e-5)
    half = augment(pixels(), crops(contrast=0.5))
    assert torch.allclose(half, (pixels() + mean) / 2, atol=1e-5)


def luma(rgb: Tensor) -> Tensor:
    return 0.299 * rgb[:, 0] + 0.587 * rgb[:, 1] + 0.114 * rgb[:, 2]


def test_no_saturation_leaves_grey_of_the_same_luma() -> None:
    grey = augment(pixels(), crops(saturation=0))
    assert torch.allclose(grey, luma(pixels())[:, None].expand_as(grey), atol=2e-3)


def test_a_turned_hue_keeps_luma_and_a_whole_turn_keeps_all() -> None:
    muted = 0.5 + 0.1 * (pixels() - 0.5)
    turned = augment(muted, crops(hue=0.2))
    assert not torch.allclose(turned, muted, atol=1e-2)
    assert torch.allclose(luma(turned), luma(muted), atol=2e-3)
    assert torch.allclose(augment(muted, crops(hue=1)), muted, atol=1e-4)


def test_a_third_of_a_turn_takes_red_to_blue_and_back_to_green() -> None:
    red = torch.tensor([0.6, 0.4, 0.4]).view(1, 3, 1, 1).expand(2, 3, 4, 4)
    for hue, channel in ((1 / 3, 2), (-1 / 3, 1)):
        assert augment(red, crops(hue=hue))[0, :, 0, 0].argmax() == channel


def test_values_stay_between_black_and_white() -> None:
    out = augment(pixels(), crops(half=0.4, brightness=2, contrast=3))
    assert 0 <= out.min() <= out.max() <= 1


def clips(n: int = 2, frames: int = 3) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (n, frames, 8, 8, 3), dtype=np.uint8)


def test_all_frames_of_a_clip_get_the_same_look() -> None:
    parameters = np.concatenate(
        [crops(0.2, -0.1, 0.6, -1, 0.9, 1, 0.4, 0.1)[:1], crops(-0.3, 0.3, 0.5, 1, 1.1, 1, 1.5, 0)[:1]]
    )
    whole = augment(to_unit(clips()), parameters)
    for frame in range(3):
        assert torch.allclose(whole[:, frame], augment(to_unit(clips()[:, frame]), parameters), atol=1e-6)


def test_contrast_of_a_clip_moves_away_from_the_mean_of_all_its_frames() -> None:
    mean = to_unit(clips()).mean(dim=(1, 2, 3, 4), keepdim=True)
    assert torch.allclose(augment(to_unit(clips()), crops(contrast=0)), mean.expand(2, 3, 3, 8, 8), atol=1e-5)


def test_standardize_works_channel_by_channel() -> None:
    out = standardize(pixels(), (0.1, 0.2, 0.3), (1.0, 2.0, 4.0))
    for channel, (mean, std) in enumerate([(0.1, 1.0), (0.2, 2.0), (0.3, 4.0)]):
        assert torch.allclose(out[:, channel], (pixels()[:, channel] - mean) / std)


def test_a_window_is_one_side_of_torchs_grid() -> None:
    half, centre = torch.tensor([1.0, 0.3, -0.7]), torch.tensor([0.0, 0.2, -0.1])
    for height, width in ((1, 7), (8, 8), (33, 40)):
        zero = torch.zeros(3)
        matrix = torch.stack([torch.stack([half, zero, centre], 1), torch.stack([zero, half, centre], 1)], 1)
        grid = affine_grid(matrix, [3, 3, height, width], align_corners=False)
        assert torch.equal(grid[:, 0, :, 0], window(half, centre, width))
        assert torch.equal(grid[:, :, 0, 1], window(half, centre, height))
