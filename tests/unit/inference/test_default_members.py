"""The tables of default members, against what the tests are given."""

import numpy as np
import pytest

from kernelmean.inference.adaptive.default_members import (
    INDEPENDENCE,
    PAIR_NUMBERS,
    SAMPLE_SIZES,
    TWO_SAMPLES,
    independence_members,
    two_sample_members,
)


@pytest.mark.parametrize("table", [TWO_SAMPLES, INDEPENDENCE])
def test_every_row_has_its_own_name_and_one_sentence(table):
    assert len({row.name for row in table}) == len(table)
    for row in table:
        assert row.sees[0].isupper()
        assert row.sees.index(".") == len(row.sees) - 1


@pytest.mark.parametrize("place", range(len(SAMPLE_SIZES)))
def test_weights_of_two_samples_are_those_of_the_table(place):
    members = two_sample_members(SAMPLE_SIZES[place])
    expected = [(row.look.label, row.weights[place]) for row in TWO_SAMPLES if row.weights[place]]
    assert [(member.label, member.weight) for member in members] == expected


def test_weights_between_sizes_and_clusters_are_in_between():
    mean, row = two_sample_members(np.sqrt(12.0 * 50.0), 0.25)[0], TWO_SAMPLES[0]
    assert mean.weight == pytest.approx(0.75 * (row.weights[0] + row.weights[1]) / 2 + 0.25 * row.weight_in_clusters)


@pytest.mark.parametrize("place", range(len(PAIR_NUMBERS)))
def test_mirror_images_share_the_weight_of_a_pair(place):
    pairs = {(pair.x, pair.y): pair.weight for pair in independence_members(PAIR_NUMBERS[place])}
    assert all(pairs[y, x] == weight for (x, y), weight in pairs.items())
    for row in INDEPENDENCE:
        both = {(row.x, row.y), (row.y, row.x)}
        assert sum(pairs.get(each, 0.0) for each in both) == row.weights[place]
