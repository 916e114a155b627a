"""Samples at temperatures, chains that are kept, and their energies."""

import csv
import itertools

import numpy as np
import pytest

from conftest import BAD_DATA, USAGE, ask, png_size, refused, succeed, write_safetensors

UNITS = 4


def glass():
    """A Boltzmann machine of spins, all coupled, with its couplings as a matrix."""
    draw = np.random.default_rng(2)
    pairs = list(itertools.combinations(range(UNITS), 2))
    couplings, bias = draw.normal(size=len(pairs)).astype("<f4"), 0.5 * draw.normal(size=UNITS).astype("<f4")
    write_safetensors("m.safetensors", {"couplings": couplings, "bias": bias.astype("<f4")},
                      {"format": "ergodic-model", "version": "1", "model": "boltzmann", "units": "spin", "graph": "dense"})
    matrix = np.zeros((UNITS, UNITS))
    for (i, j), w in zip(pairs, couplings):
        matrix[i, j] = matrix[j, i] = w
    return matrix, bias.astype(float)


def energies(machine, x):
    matrix, bias = machine
    return -0.5 * np.einsum("...i,ij,...j", x, matrix, x) - x @ bias


def spins(array):
    """As -1 and +1."""
    return np.where(np.asarray(array) > 0, 1.0, -1.0)


def chi_square_of(found, machine, temperature):
    all_x = np.array(list(itertools.product((-1.0, 1.0), repeat=UNITS)))
    p = np.exp(-energies(machine, all_x) / temperature)
    expected = len(found) * p / p.sum()
    counts = np.array([np.all(found == x, axis=1).sum() for x in all_x])
    # States with few expected counts are taken together.
    rare = expected < 5
    terms = [(counts[k] - expected[k]) ** 2 / expected[k] for k in np.flatnonzero(~rare)]
    if rare.any() and expected[rare].sum() > 0:
        terms.append((counts[rare].sum() - expected[rare].sum()) ** 2 / expected[rare].sum())
    return sum(terms), len(terms) - 1


QUANTILE = {k: q for k, q in zip(range(1, 16), (10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59,
                                                31.26, 32.91, 34.53, 36.12, 37.70))}  # chi-square, 0.999


def test_a_list_of_temperatures_gives_the_distribution_at_each():
    machine, temperatures = glass(), (0.5, 1, 3)
    succeed("sample", "m.safetensors", "--temperature", "0.5,1,3", "--count", 3000, "--sweeps", 200, "--out", "x.npy")
    found = spins(np.load("x.npy"))
    assert found.shape == (3, 3000, UNITS)
    for samples, temperature in zip(found, temperatures):
        chi, freedom = chi_square_of(samples, machine, temperature)
        assert chi < QUANTILE[freedom]


def test_draws_of_chains_are_kept_with_their_energies():
    machine = glass()
    succeed("sample", "m.safetensors", "--count", 50, "--sweeps", 100, "--draws", 40, "--every", 20, "--out", "x.npy",
            "--energies", "e.csv")
    found = spins(np.load("x.npy"))
    assert found.shape == (50, 40, UNITS)
    with open("e.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["temperature", "chain", "draw", "energy"]
    listed = np.array(lines[1:], float)
    assert np.array_equal(listed[:, 1:3], [[c, d] for c in range(1, 51) for d in range(1, 41)])
    assert listed[:, 3] == pytest.approx(energies(machine, found).reshape(-1), abs=1e-5)
    # Draws that are twenty sweeps apart are as good as independent here.
    chi, freedom = chi_square_of(found.reshape(-1, UNITS), machine, 1)
    assert chi < QUANTILE[freedom]


def test_the_last_draw_is_what_a_longer_run_gives():
    glass()
    succeed("sample", "m.safetensors", "--count", 7, "--sweeps", 10, "--draws", 3, "--every", 5, "--out", "a.npy")
    succeed("sample", "m.safetensors", "--count", 7, "--sweeps", 20, "--out", "b.npy")
    assert np.array_equal(np.load("a.npy")[:, 2], np.load("b.npy"))


def test_tempering_gives_all_its_levels():
    machine = glass()
    found = ask("sample", "m.safetensors", "--sampler", "tempering", "--temperatures", 3, "--hottest", 0.2, "--all-levels",
                "--count", 3000, "--sweeps", 200, "--out", "x.npy")
    levels, betas = spins(np.load("x.npy")), found["inverse_temperatures"]
    assert levels.shape == (3, 3000, UNITS) and betas[0] == 1 and betas[-1] == pytest.approx(0.2)
    for samples, beta in zip(levels, betas):
        chi, freedom = chi_square_of(samples, machine, 1 / beta)
        assert chi < QUANTILE[freedom]


def test_fixed_units_keep_their_values_in_means_too():
    draw = np.random.default_rng(1)
    rows = draw.integers(0, 2, (30, 6))
    np.save("rows.npy", rows)
    np.save("mask.npy", np.array([[1, 1, 1, 0, 0, 0]]))
    succeed("train", "--data", "rows.npy", "--hidden", 4, "--epochs", 5, "--out", "r.safetensors")
    found = ask("sample", "r.safetensors", "--data", "rows.npy", "--fixed", "mask.npy", "--means", "--out", "x.npy")
    values = np.load("x.npy")
    assert found["count"] == 30 and np.array_equal(values[:, :3], rows[:, :3])
    assert np.all((values[:, 3:] > 0) & (values[:, 3:] < 1))


def test_equal_starts_say_nothing_about_mixing():
    draw = np.random.default_rng(1)
    np.save("row.npy", draw.integers(0, 2, (1, 6)))
    np.save("mask.npy", np.zeros((1, 6)))
    succeed("train", "--data", "row.npy", "--hidden", 4, "--epochs", 5, "--held-out", 0, "--out", "r.safetensors")
    found = ask("sample", "r.safetensors", "--data", "row.npy", "--count", 40, "--fixed", "mask.npy", "--out", "x.npy")
    assert found["mixing"]["mixed"] is None


def test_more_chains_than_rows_take_them_again_and_say_so():
    np.save("rows.npy", np.eye(6)[:2])
    np.save("mask.npy", np.array([1, 1, 1, 0, 0, 0]))
    succeed("train", "--data", "rows.npy", "--hidden", 4, "--epochs", 5, "--held-out", 0, "--out", "r.safetensors")
    sample = ("sample", "r.safetensors", "--data", "rows.npy", "--fixed", "mask.npy", "--out", "x.npy")
    assert "taken again" not in succeed(*sample).stderr
    assert "--count 5 is more than the 2 rows, which are taken again from the first" in succeed(*sample, "--count", 5).stderr
    assert np.array_equal(np.load("x.npy")[:, :3], np.eye(6)[[0, 1, 0, 1, 0], :3])
    np.save("mask.npy", np.zeros((5, 6)))
    refused(BAD_DATA, *sample, says=("a mask of 6 values", "`ergodic complete --mask` takes a mask for each row"))


def test_combinations_that_mean_nothing_are_refused():
    glass()
    refused(USAGE, "sample", "m.safetensors", "--all-levels", "--out", "x.npy", says=("--all-levels", "tempering"))
    refused(USAGE, "sample", "m.safetensors", "--temperature", "1,cold", "--out", "x.npy",
            says=("--temperature", "with commas", "1,cold"))
    refused(USAGE, "sample", "m.safetensors", "--means", "--drawn", "--out", "x.png", says=("--means and --drawn",))


def test_log_z_alone_needs_no_data():
    matrix, bias = glass()
    all_x = np.array(list(itertools.product((-1.0, 1.0), repeat=UNITS)))
    expected = np.log(np.exp(-energies((matrix, bias), all_x)).sum())
    found = ask("evaluate", "m.safetensors")
    assert found["log_z"]["value"] == pytest.approx(expected, abs=1e-5) and found["log_likelihood"] is None
    assert "log Z" in succeed("evaluate", "m.safetensors").stdout


def test_couplings_and_biases_are_written_and_drawn():
    matrix, bias = glass()
    succeed("inspect", "m.safetensors", "--couplings", "w.csv", "--biases", "b.npy")
    with open("w.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["unit", "unit", "coupling"] and len(lines) == 1 + UNITS * (UNITS - 1) // 2
    for i, j, w in np.array(lines[1:], float):
        assert w == pytest.approx(matrix[int(i) - 1, int(j) - 1], abs=1e-6)
    assert np.load("b.npy")[:, 2] == pytest.approx(bias, abs=1e-6)
    succeed("inspect", "m.safetensors", "--couplings", "w.png", "--biases", "b.png")
    succeed("inspect", "m.safetensors", "--couplings", "w3.png", "--biases", "b3.png", "--scale", 3)
    for name in ("w", "b"):
        width, height = png_size(f"{name}.png")
        assert png_size(f"{name}3.png") == (3 * width, 3 * height)
