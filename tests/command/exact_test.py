"""Exact numbers: learning to the best possible likelihood, and brute force from the file alone."""

import numpy as np
import pytest
from conftest import Machine, ask, bars_and_stripes, succeed

PAIRINGS = [(v, h) for v in ("bernoulli", "spin") for h in ("bernoulli", "spin")]
# The entropy of bars-and-stripes:3: of 16 equally likely rows the empty and the full picture come twice.
BEST = -(12 / 16 * np.log(16) + 4 / 16 * np.log(8))


def test_exact_learning_comes_close_to_the_best_possible():
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", 16, "--method", "exact", "--learning-rate", 2,
            "--epochs", 800, "--out", "m.safetensors", "--quiet")
    found = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:3")["log_likelihood"]["value"]
    assert abs(BEST - -2.5993) < 1e-4
    assert BEST - 0.1 < found <= BEST


@pytest.mark.parametrize("visible, hidden", PAIRINGS)
def test_evaluate_agrees_with_brute_force(visible, hidden):
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", 6, "--visible-type", visible, "--hidden-type", hidden,
            "--epochs", 100, "--learning-rate", 0.5, "--out", "m.safetensors", "--quiet")
    answer = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:3")
    machine, rows = Machine.read("m.safetensors"), bars_and_stripes(3)
    assert (machine.visible, machine.hidden) == (visible, hidden)
    assert answer["rows"] == len(rows)
    for found, expected in ((answer["log_z"]["value"], machine.log_z()),
                            (answer["log_likelihood"]["value"], machine.log_likelihood(rows)),
                            (answer["free_energy"], -machine.minus_free_energy(rows).mean())):
        assert np.isclose(found, expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("visible, hidden", PAIRINGS)
def test_the_pseudo_likelihood_lies_within_its_error(visible, hidden):
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", 6, "--visible-type", visible, "--hidden-type", hidden,
            "--epochs", 100, "--learning-rate", 0.5, "--out", "m.safetensors", "--quiet")
    rows = np.repeat(bars_and_stripes(3), 200, axis=0)  # many rows, for a small error
    np.save("rows.npy", rows.astype(np.uint8))
    found = ask("evaluate", "m.safetensors", "--data", "rows.npy")["pseudo_log_likelihood"]
    exact = Machine.read("m.safetensors").pseudo_log_likelihood(rows)
    assert abs(found["value"] - exact) < 4 * found["standard_error"]
    assert found["standard_error"] < 0.1 * abs(exact)


@pytest.mark.parametrize("hidden", [3, 14])  # enumerates the hidden layer, or the visible one
def test_log_z_is_the_same_whichever_layer_is_summed_over(hidden):
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", hidden, "--epochs", 50, "--weight-scale", 1,
            "--out", "m.safetensors", "--quiet")
    found = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:3")["log_z"]["value"]
    assert np.isclose(found, Machine.read("m.safetensors").log_z(), rtol=1e-6)


@pytest.mark.parametrize("visible, hidden", PAIRINGS)
def test_gibbs_samples_follow_the_exact_distribution(visible, hidden):
    """Chi-square of 4000 samples over the 16 states of 4 units, against its quantile at 1 - 1e-4."""
    succeed("train", "--data", "bars-and-stripes:2", "--hidden", 3, "--visible-type", visible, "--hidden-type", hidden,
            "--epochs", 50, "--weight-scale", 0.5, "--out", "m.safetensors", "--quiet")
    succeed("sample", "m.safetensors", "--count", 4000, "--sweeps", 100, "--out", "s.npy", "--quiet")
    states = (np.arange(16)[:, None] >> np.arange(4)) & 1
    machine = Machine.read("m.safetensors")
    expected = 4000 * np.exp(machine.minus_free_energy(states) - machine.log_z())
    counts = np.bincount(((np.load("s.npy") > 0).astype(int) << np.arange(4)).sum(axis=1), minlength=16)
    assert expected.min() > 5
    assert ((counts - expected) ** 2 / expected).sum() < 44.3  # chi-square, 15 degrees of freedom
