"""A Hopfield network is a machine like the others: at a temperature it is a Boltzmann machine of spins."""

import itertools

import numpy as np
import pytest

from conftest import USAGE, ask, read_safetensors, refused, succeed

SPINS = 8


def network(rule="hebb", *words):
    patterns = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 1, 0, 1, 0]], np.uint8)
    np.save("patterns.npy", patterns)
    succeed("train", "--model", "hopfield", "--data", "patterns.npy", "--rule", rule, "--out", "h.safetensors", *words)
    return patterns


def exact(beta=1.0):
    arrays, _ = read_safetensors("h.safetensors")
    states = np.array(list(itertools.product((-1, 1), repeat=SPINS)))
    energies = -0.5 * np.einsum("si,ij,sj->s", states, arrays["couplings"].astype(float), states) - states @ arrays["bias"]
    log_z = np.log(np.exp(-beta * energies).sum())
    return states, np.exp(-beta * energies - log_z), log_z


def chi_square(rows, states, p):
    place = {tuple(state): k for k, state in enumerate(states)}
    counts = np.bincount([place[tuple(row)] for row in rows], minlength=len(states))
    order, seen, expected, s, e = np.argsort(-p), [], [], 0, 0.0
    for k in order:  # rare states together, so that each cell expects five or more
        s, e = s + counts[k], e + len(rows) * p[k]
        if e >= 5:
            seen.append(s), expected.append(e)
            s, e = 0, 0.0
    seen[-1], expected[-1] = seen[-1] + s, expected[-1] + e
    return ((np.array(seen) - expected) ** 2 / expected).sum(), len(seen) - 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_it_is_sampled_at_a_temperature(temperature):
    network("hebb", "--bias")
    succeed("sample", "h.safetensors", "--temperature", temperature, "--count", 5000, "--sweeps", 300, "--out", "s.npy")
    states, p, _ = exact(1.0 / temperature)
    chi, freedom = chi_square(np.load("s.npy").astype(int), states, p)
    # The 0.999 quantile of chi-square is about f + 3.1 sqrt(2 f) + 6.4.
    assert chi < freedom + 3.1 * np.sqrt(2 * freedom) + 6.4, (chi, freedom)


def test_cold_it_stays_in_a_memory_and_hot_it_leaves():
    patterns = network()
    stored = {tuple(sign * (2 * p.astype(int) - 1)) for p in patterns for sign in (-1, 1)}
    for temperature, least, most in ((0.1, 0.99, 1.0), (20.0, 0.0, 0.1)):
        succeed("sample", "h.safetensors", "--temperature", temperature, "--count", 1000, "--sweeps", 200, "--out", "s.npy")
        share = np.mean([tuple(row) in stored for row in np.load("s.npy").astype(int)])
        assert least <= share <= most, (temperature, share)


def test_it_is_evaluated_inspected_and_compared():
    patterns = network()
    states, p, log_z = exact()
    found = ask("evaluate", "h.safetensors", "--data", "patterns.npy")
    assert found["log_z"]["value"] == pytest.approx(log_z, abs=1e-4)
    place = {tuple(state): k for k, state in enumerate(states)}
    expected = np.mean([np.log(p[place[tuple(2 * row.astype(int) - 1)]]) for row in patterns])
    assert found["log_likelihood"]["value"] == pytest.approx(expected, abs=1e-4)
    inspected = ask("inspect", "h.safetensors")
    assert inspected["model"] == "hopfield" and inspected["rule"] == "hebb"
    assert inspected["parameters"] == SPINS * (SPINS - 1) // 2 + SPINS
    np.save("rows.npy", (states[np.random.default_rng(1).choice(len(states), 3000, p=p)] > 0).astype(np.uint8))
    compared = ask("compare", "h.safetensors", "--data", "rows.npy", "--sweeps", 200)
    assert compared["correlations"]["correlation"] > 0.95 and compared["mixed"]


def test_the_modern_form_is_an_energy_of_real_units():
    """At temperature 1/beta, exp(-beta E) is a mixture of normal distributions around the patterns, of variance 1/beta."""
    beta = 4.0
    patterns = network("modern", "--beta", beta)
    succeed("sample", "h.safetensors", "--temperature", 1 / beta, "--count", 4000, "--sweeps", 2000, "--out", "s.npy")
    rows, centres = np.load("s.npy"), 2.0 * patterns - 1
    nearest = np.argmin(((rows[:, None] - centres) ** 2).sum(axis=2), axis=1)
    off = rows - centres[nearest]
    # The means within 4 standard errors of 0, and the variances of 1/beta: centres are far apart, 4 units of distance
    # 2, so hardly a row is nearest to another centre. Chains may stay near the centre where they began.
    assert np.abs(off.mean(axis=0)).max() < 4 * np.sqrt(1 / beta / 4000) * 2
    assert np.abs(off.var(axis=0) * beta - 1).max() < 4 * np.sqrt(2 / 4000) * 2


def test_options_of_other_machines_are_refused_and_help_shows_its_own():
    network()
    refused(USAGE, "train", "--model", "hopfield", "--data", "patterns.npy", "--epochs", 3, "--out", "x",
            says="--epochs is for --model rbm or boltzmann or neural")
    shown = succeed("train", "--model", "hopfield", "--help").stdout
    assert "--rule" in shown and "--beta" in shown
    for foreign in ("--epochs", "--learning-rate", "--graph", "--layers", "--hidden", "--method", "--resume"):
        assert foreign not in shown, foreign


def test_more_units_than_couplings_fit_for_is_a_usage_error():
    np.save("large.npy", np.zeros((2, 256, 256), np.uint8))
    refused(USAGE, "train", "--model", "hopfield", "--data", "large.npy", "--out", "m.safetensors",
            says=("65536 units", "4.3 billion couplings", "--rule modern"))
