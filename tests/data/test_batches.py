from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.data.base import Split
from benchsuite.data.batches import GROUP, BatchPlan, augmentation_parameters, epoch_order
from benchsuite.data.pixels import augmented_rendering
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation
from benchsuite.streams import numpy_stream

AUGMENTATION = Augmentation(crop=(0.5, 0.9), brightness=0.2, contrast=0.3, flip=True)


def split(n: int = 10, paraphrases: bool = True) -> Split:
    words = [[f"{i}a", f"{i}b", f"{i}c"] for i in range(n)]
    other = [[f"{i}x", f"{i}y"] for i in range(n)] if paraphrases else []
    return Split("train", np.zeros((n, 2, 2, 3), np.uint8), words, other)


def plan(seed: int = 0, batch: int = 4, n: int = 10) -> BatchPlan:
    return BatchPlan(split(n), batch, AUGMENTATION, seed)


def test_another_seed_draws_others() -> None:
    one, two = plan(0).draw(0), plan(1).draw(0)
    assert one.index.tolist() != two.index.tolist()
    assert not np.array_equal(one.augmentations, two.augmentations)
    assert plan(0).digest() != plan(1).digest()
    wordings = [[text[-1] for step in range(8) for text in plan(seed).draw(step).captions] for seed in (0, 1)]
    assert wordings[0] != wordings[1]


def test_views_do_not_move_first_draws() -> None:
    alone, with_views = plan(), plan()
    for step in range(3):
        view, first, expected = with_views.draw_view(step), with_views.draw(step), alone.draw(step)
        assert first.captions == expected.captions
        assert np.array_equal(first.augmentations, expected.augmentations)
        assert view.index.tolist() == first.index.tolist() == expected.index.tolist()


def test_a_view_is_a_paraphrase_under_another_crop() -> None:
    first, view = plan().draw(0), plan().draw_view(0)
    assert all(text[:-1] == str(i) and text[-1] in "xy" for i, text in zip(view.index, view.captions, strict=True))
    assert not np.array_equal(first.augmentations, view.augmentations)


def test_captions_belong_to_their_images_and_vary() -> None:
    draws = [plan().draw(step) for step in range(20)]
    pairs = [(i, text) for draw in draws for i, text in zip(draw.index, draw.captions, strict=True)]
    assert all(text[:-1] == str(i) for i, text in pairs)
    assert {text[-1] for _, text in pairs} == set("abc")


def test_each_step_draws_its_own_captions() -> None:
    assert len({tuple(text[-1] for text in plan().draw(step).captions) for step in range(20)}) > 1


@given(st.integers(2, 40), st.data())
def test_each_epoch_visits_each_pair_at_most_once(n: int, data: st.DataObject) -> None:
    batch = data.draw(st.integers(2, n))
    one = plan(3, batch, n)
    for epoch in range(2):
        steps = range(epoch * one.steps_per_epoch, (epoch + 1) * one.steps_per_epoch)
        seen = np.concatenate([one.index(step) for step in steps])
        assert len(seen) == len(set(seen.tolist())) == n // batch * batch
        assert set(seen.tolist()) <= set(range(n))


def test_epochs_are_shuffled_anew() -> None:
    one = plan(batch=10)
    assert one.index(0).tolist() != one.index(1).tolist()


@pytest.mark.parametrize(("n", "bytes_each"), [(255, 1), (256, 2), (70_000, 4)])
def test_an_order_is_one_permutation_in_the_smallest_numbers(n: int, bytes_each: int) -> None:
    order = epoch_order(3, 1, n)
    assert np.array_equal(order, numpy_stream(3, "order", 1).permutation(n))
    assert order.nbytes == n * bytes_each
    assert epoch_order.cache_info().maxsize == 1, "each worker would hold several epochs"


@given(n=st.integers(1, 30_000), window=st.integers(1, 12_000))
def test_within_a_window_pairs_lie_in_few_places(n: int, window: int) -> None:
    order = epoch_order(3, 1, n, window).astype(int)
    assert np.array_equal(np.sort(order), np.arange(n))
    for first in range(0, n, window):
        assert len({*order[first : first + window] // GROUP}) <= window / GROUP + 3


def test_pairs_of_a_window_are_mixed_and_each_epoch_has_windows_of_its_own() -> None:
    orders = [epoch_order(0, epoch, 20_000, 4_000) for epoch in (0, 1)]
    assert orders[0].dtype == np.uint16
    groups = [order[:4_000] // GROUP for order in orders]
    assert {*groups[0]} != {*groups[1]}
    assert 0.1 < np.mean(groups[0][1:] == groups[0][:-1]) < 0.4  # as of four groups, not one after the other


def test_digest_moves_with_captions_and_crops() -> None:
    told = plan().digest()
    other_words = Split("train", split().images, [[text + "!" for text in texts] for texts in split().captions])
    assert plan().digest() == told
    assert BatchPlan(other_words, 4, AUGMENTATION, 0).digest() != told
    assert BatchPlan(split(), 4, AUGMENTATION.model_copy(update={"brightness": 0.0}), 0).digest() != told


def test_a_batch_larger_than_the_split_is_refused() -> None:
    with pytest.raises(UsageError, match="batch 11 is larger than split train with 10 pairs"):
        plan(batch=11)


def test_without_paraphrases_there_are_views_of_images_alone() -> None:
    without, with_them = (BatchPlan(split(paraphrases=said), 4, AUGMENTATION, 0) for said in (False, True))
    assert np.array_equal(without.draw_view(0).augmentations, with_them.draw_view(0).augmentations)
    assert np.array_equal(without.draw_view(0).index, with_them.draw_view(0).index)
    assert len(without.draw_view(0).captions) == 0


def test_crops_lie_inside_the_image_and_in_the_ranges_asked_for() -> None:
    x, y, half, mirror, brightness, contrast, saturation, hue = augmentation_parameters(
        AUGMENTATION, 500, 0, "first", 0
    ).T
    assert ((half**2 >= 0.5 - 1e-6) & (half**2 <= 0.9 + 1e-6)).all()
    assert (np.abs(np.stack([x, y])) + half <= 1 + 1e-6).all()
    assert set(mirror.tolist()) == {-1.0, 1.0}
    assert (np.abs(brightness - 1) <= 0.2 + 1e-6).all()
    assert (np.abs(contrast - 1) <= 0.3 + 1e-6).all()
    assert (saturation == 1).all()
    assert (hue == 0).all()


def test_colour_is_touched_as_often_as_asked_for() -> None:
    strong = Augmentation(saturation=0.4, hue=0.1, jitter=0.8, grayscale=0.2)
    *_, saturation, hue = augmentation_parameters(strong, 5000, 0, "first", 0).T
    assert np.mean(hue != 0) == pytest.approx(0.8, abs=0.02)
    assert np.mean(saturation == 0) == pytest.approx(0.2, abs=0.02)
    assert np.abs(hue).max() <= 0.1


def test_a_third_augmentation_is_of_the_same_pairs_and_differs_from_both_others() -> None:
    plan = BatchPlan(split(), 4, AUGMENTATION, 0)
    first, view, third = plan.draw(1), plan.draw_view(1), plan.draw_third(1)
    assert np.array_equal(first.index, third.index)
    assert not np.array_equal(first.augmentations, third.augmentations)
    assert not np.array_equal(view.augmentations, third.augmentations)


def test_dropout_views_say_the_same_words() -> None:
    plan = BatchPlan(split(paraphrases=False), 4, AUGMENTATION.model_copy(update={"text_view": "dropout"}), 0)
    assert plan.draw_view(0).captions == plan.draw(0).captions
    assert not np.array_equal(plan.draw_view(0).augmentations, plan.draw(0).augmentations)


def test_no_augmentation_is_the_whole_image_unchanged() -> None:
    assert np.array_equal(augmentation_parameters(Augmentation(), 3, 0, "first", 0), [[0, 0, 1, 1, 1, 1, 1, 0]] * 3)


def test_what_is_done_to_a_batchs_positions_does_not_reach_the_next() -> None:
    first = plan(batch=4).index(0)
    before = first.copy()
    first[:] = -1
    assert np.array_equal(plan(batch=4).index(0), before)


def vectors(n: int = 64) -> Split:
    return Split("train", np.random.default_rng(0).normal(size=(n, 3, 50)).astype(np.float32))


def test_vectors_are_rendered_masked_and_made_noisy_as_drawn() -> None:
    rows = vectors()
    drawn = BatchPlan(rows, 64, Augmentation(mask=0.3, noise=0.5), seed=0)
    one, view = drawn.draw(0), drawn.draw_view(0)
    out = augmented_rendering(rows.images[one.index], one.augmentations).numpy()
    whole = rows.images[one.index, one.augmentations[:, 0].astype(int)]
    masked = one.augmentations[:, 1:51] == 0
    assert masked.mean() == pytest.approx(0.3, abs=0.05)
    assert np.abs(out[~masked] - whole[~masked]).mean() == pytest.approx(0.5 * np.sqrt(2 / np.pi), rel=0.1)
    assert out[masked].std() == pytest.approx(0.5, rel=0.1)
    assert not np.array_equal(one.augmentations, view.augmentations)
    assert np.array_equal(one.augmentations, drawn.draw(0).augmentations)


def test_vectors_without_mask_and_noise_are_renderings_and_draw_as_before() -> None:
    """Renderings are drawn first: options do not move them."""
    plain, noisy = (BatchPlan(vectors(), 64, Augmentation(noise=noise), seed=0).draw(0) for noise in (0.0, 0.1))
    assert plain.augmentations.shape == (64, 1)
    assert np.array_equal(plain.augmentations[:, 0], noisy.augmentations[:, 0])
    rows = vectors().images
    expected = rows[np.arange(64), plain.augmentations[:, 0].astype(int)]
    assert np.array_equal(augmented_rendering(rows, plain.augmentations).numpy(), expected)


@pytest.mark.parametrize(
    ("options", "of", "message"),
    [
        ({"flip": True}, vectors, r"holds vectors, but augmentation.flip is for images. For vectors there are"),
        ({"mask": 0.5}, lambda: split(64), "holds images, but augmentation.mask is for vectors. Remove it"),
    ],
)
def test_augmentations_of_what_is_not_there_are_refused(
    options: dict[str, Any], of: Callable[[], Split], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        BatchPlan(of(), 8, Augmentation(**options), seed=0)
