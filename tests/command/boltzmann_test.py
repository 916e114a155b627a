"""Boltzmann machines on graphs: learning, evaluating, sampling and inspecting them, and graphs that are none."""

from pathlib import Path

import numpy as np
import pytest
from conftest import ask, bars_and_stripes, read_safetensors, refused, succeed, write_safetensors

USAGE, DATA = 2, 65
TRAIN = ("train", "--model", "boltzmann", "--out", "b.safetensors", "--quiet")


def states(n):
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1


class Graph:
    """A machine of {0,1} or +-1 units by its definition, from the file alone."""

    def __init__(self, path):
        arrays, metadata = read_safetensors(path)
        n = len(arrays["bias"])
        pairs = arrays["edges"] if "edges" in arrays else [(i, j) for i in range(n) for j in range(i + 1, n)]
        self.spin = metadata["units"] == "spin"
        self.bias = arrays["bias"].astype(float)
        self.matrix = np.zeros((n, n))
        for (i, j), w in zip(pairs, arrays["couplings"].astype(float)):
            self.matrix[int(i), int(j)] = self.matrix[int(j), int(i)] = w

    def minus_energy(self, rows):
        x = 2.0 * rows - 1.0 if self.spin else rows.astype(float)
        return 0.5 * ((x @ self.matrix) * x).sum(axis=1) + x @ self.bias

    def log_z(self):
        return np.log(np.exp(self.minus_energy(states(len(self.bias)))).sum())

    def pseudo_log_likelihood(self, rows):
        total = 0.0
        for i in range(rows.shape[1]):
            flipped = rows.copy()
            flipped[:, i] = 1 - flipped[:, i]
            total -= np.log1p(np.exp(self.minus_energy(flipped) - self.minus_energy(rows)))
        return total.mean()


@pytest.mark.parametrize("units", ["bernoulli", "spin"])
@pytest.mark.parametrize("graph", ["dense", "grid:3x3", "torus:3x3", "random:3"])
def test_evaluate_agrees_with_brute_force(units, graph):
    succeed(*TRAIN, "--data", "bars-and-stripes:3", "--visible-type", units, "--graph", graph, "--method", "pseudo",
            "--epochs", 50, "--held-out", 0)
    machine, rows = Graph("b.safetensors"), bars_and_stripes(3)
    answer = ask("evaluate", "b.safetensors", "--data", "bars-and-stripes:3")
    for found, expected in ((answer["log_z"]["value"], machine.log_z()),
                            (answer["log_likelihood"]["value"], machine.minus_energy(rows).mean() - machine.log_z()),
                            (answer["free_energy"], -machine.minus_energy(rows).mean()),
                            (answer["pseudo_log_likelihood"]["value"], machine.pseudo_log_likelihood(rows))):
        assert np.isclose(found, expected, rtol=1e-6)


def grid_machine(path, height, width, coupling):
    """Spins on an open grid with equal couplings."""
    units = np.arange(height * width).reshape(height, width)
    edges = np.concatenate([np.stack([units[:, :-1].ravel(), units[:, 1:].ravel()], axis=1),
                            np.stack([units[:-1].ravel(), units[1:].ravel()], axis=1)])
    edges = edges.astype(np.uint64)
    arrays = {"couplings": np.full(len(edges), coupling, np.float32), "edges": edges,
              "bias": np.zeros(height * width, np.float32)}
    write_safetensors(path, arrays, {"format": "ergodic-model", "version": "1", "model": "boltzmann", "units": "spin"})


def test_a_narrow_grid_of_any_length_is_exact():
    """Against the transfer matrix of a column of four spins."""
    coupling = float(np.float32(0.4))
    grid_machine("g.safetensors", 4, 100, coupling)
    columns = 2.0 * states(4) - 1
    within = np.exp(coupling * (columns[:, :-1] * columns[:, 1:]).sum(axis=1))
    transfer, weights, log_z = np.exp(coupling * columns @ columns.T), within, 0.0
    for _ in range(99):
        weights = within * (transfer @ weights)
        log_z += np.log(weights.sum())
        weights /= weights.sum()
    np.save("x.npy", np.random.default_rng(1).integers(0, 2, (20, 4, 100)).astype(np.uint8))
    answers = [ask("evaluate", "g.safetensors", "--data", "x.npy", "--threads", n) for n in (1, 3)]
    assert answers[0] == answers[1] and answers[0]["log_z"]["method"] == "exact"
    assert np.isclose(answers[0]["log_z"]["value"], log_z, rtol=1e-10)
    assert "(exact)" in succeed("evaluate", "g.safetensors", "--data", "x.npy").stdout


def test_a_graph_that_is_too_wide_is_annealed():
    grid_machine("g.safetensors", 40, 40, 0.4)
    np.save("x.npy", np.zeros((5, 40, 40), np.uint8))
    found = ask("evaluate", "g.safetensors", "--data", "x.npy", "--budget", 20)["log_z"]
    assert "annealing" in found["method"] and found["lower"] < found["upper"]


@pytest.mark.parametrize("method", ["exact", "pcd", "population", "fpcd", "tempering", "cd", "pseudo"])
def test_every_method_learns_a_machine_of_its_own_kind(method):
    """Data drawn exactly from a chain of six spins; the couplings come back within 4 standard errors, which are about
    sqrt(1 / (rows (1 - tanh^2))), and as much again for sampled gradients at a falling rate."""
    j, rows = 0.5, 20000
    rng = np.random.default_rng(1)
    spins = np.ones((rows, 6), int)
    spins[:, 0] = rng.choice([-1, 1], rows)
    for i in range(1, 6):  # each follows the one before it with probability e^J / 2 cosh J
        spins[:, i] = spins[:, i - 1] * np.where(rng.random(rows) < 1 / (1 + np.exp(-2 * j)), 1, -1)
    np.save("rows.npy", ((spins + 1) // 2).astype(np.uint8))
    succeed(*TRAIN, "--data", "rows.npy", "--visible-type", "spin", "--graph", "grid:1x6", "--method", method,
            "--epochs", 40, "--batch", 1000, "--chains", 2000, "--steps", 3, "--learning-rate", 0.2, "--held-out", 0)
    found = read_safetensors("b.safetensors")[0]
    error = 1 / np.sqrt(rows * (1 - np.tanh(j)**2))
    assert np.abs(found["couplings"] - j).max() < 8 * error
    assert np.abs(found["bias"]).max() < 8 * error


def test_letters_on_a_graph_of_sites():
    rng = np.random.default_rng(2)
    letters = rng.integers(0, 3, (2000, 4))
    letters[:, 1] = np.where(rng.random(2000) < 0.8, letters[:, 0], letters[:, 1])
    np.save("letters.npy", letters)
    succeed(*TRAIN, "--data", "letters.npy", "--visible-type", "potts", "--graph", "dense", "--method", "pseudo",
            "--epochs", 100, "--learning-rate", 1)
    answer = ask("inspect", "b.safetensors")
    assert (answer["model"], answer["visible"]) == ("boltzmann", 12)
    assert answer["edges"] == 6 * 9
    judged = ask("evaluate", "b.safetensors", "--data", "letters.npy")
    # The pair has log 3 + the entropy of a copy with probability 0.8 + 0.2 / 3, the others log 3 each. Over 2000 rows
    # the mean has a standard error of 0.02, and a fit of 32 free parameters gains 32 / 4000.
    p = np.array([0.8 + 0.2 / 3, 0.2 / 3, 0.2 / 3])
    assert abs(judged["log_likelihood"]["value"] - (-3 * np.log(3) + (p * np.log(p)).sum())) < 0.1
    succeed("sample", "b.safetensors", "--count", 500, "--sweeps", 50, "--out", "s.npy", "--quiet")
    drawn = np.load("s.npy")
    assert drawn.shape == (500, 4) and drawn.max() == 2
    same = (drawn[:, 0] == drawn[:, 1]).mean()
    assert abs(same - p[0]) < 0.1  # 4 standard errors of the samples are 0.06, of the data 0.03


def test_samples_follow_the_exact_distribution():
    """Chi-square of 4000 samples over the 16 states of 4 units, against its quantile at 1 - 1e-4."""
    succeed(*TRAIN, "--data", "bars-and-stripes:2", "--method", "exact", "--epochs", 30, "--learning-rate", 0.1)
    succeed("sample", "b.safetensors", "--count", 4000, "--sweeps", 100, "--out", "s.npy", "--quiet")
    machine = Graph("b.safetensors")
    expected = 4000 * np.exp(machine.minus_energy(states(4)) - machine.log_z())
    counts = np.bincount((np.load("s.npy").astype(int) << np.arange(4)).sum(axis=1), minlength=16)
    assert expected.min() > 5
    assert ((counts - expected) ** 2 / expected).sum() < 44.3  # chi-square, 15 degrees of freedom


def test_some_units_stay_while_others_are_sampled():
    succeed(*TRAIN, "--data", "bars-and-stripes:3", "--method", "pseudo", "--epochs", 20)
    np.save("mask.npy", np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0]], np.uint8))
    np.save("rows.npy", bars_and_stripes(3).astype(np.uint8))
    succeed("sample", "b.safetensors", "--data", "rows.npy", "--fixed", "mask.npy", "--count", 16, "--sweeps",
            20, "--out", "s.npy", "--quiet")
    assert (np.load("s.npy")[:, :3] == bars_and_stripes(3)[:16, :3]).all()


def test_a_graph_may_come_from_a_file():
    Path("edges.txt").write_text("# a ring\n0 1\n1 2\n2 3\n3 0\n")
    succeed(*TRAIN, "--data", "bars-and-stripes:2", "--graph", "edges.txt", "--epochs", 2)
    arrays, metadata = read_safetensors("b.safetensors")
    assert arrays["edges"].tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert metadata["graph"] == "edges"


@pytest.mark.parametrize("graph, code, says", [
    ("ring", USAGE, ("dense, grid:HxW", "'ring'")), ("grid:3", USAGE, ("two sides",)),
    ("grid:5x5", USAGE, ("25", "9 visible units")), ("torus:2x2", USAGE, ("4", "9 visible")),
    ("random:9", USAGE, ("from 0 to 8",)), ("far.txt", DATA, ("line 2", "0 to 8", "9")),
    ("self.txt", DATA, ("line 1", "with itself")), ("twice.txt", DATA, ("line 3", "again", "line 1")),
    ("words.txt", DATA, ("line 1", "whole number"))])
def test_graphs_that_are_none_are_refused(graph, code, says):
    Path("far.txt").write_text("0 1\n1 9\n")
    Path("self.txt").write_text("3 3\n")
    Path("twice.txt").write_text("0,1\n1,2\n1,0\n")
    Path("words.txt").write_text("a b\n")
    refused(code, *TRAIN, "--data", "bars-and-stripes:3", "--graph", graph, says=says)


def test_a_dense_machine_that_needs_too_much_memory_is_told_so():
    np.save("wide.npy", np.zeros((2, 65536), np.uint8))
    refused(USAGE, *TRAIN, "--data", "wide.npy",
            says=("65536 units", "4.3 billion entries", "GiB", "sparse graph", "RBM"))


def test_what_a_machine_on_a_graph_cannot_do_is_said():
    succeed(*TRAIN, "--data", "bars-and-stripes:3", "--epochs", 1)
    refused(USAGE, "reconstruct", "b.safetensors", "--data", "bars-and-stripes:3", "--out", "r.npy",
            says=("reconstruct", "restricted Boltzmann machine"))
    refused(USAGE, "sample", "b.safetensors", "--means", "--out", "s.npy", says=("--means", "hidden layer"))
    refused(USAGE, "inspect", "b.safetensors", "--filters", "f.png", says=("--filters", "needs a restricted Boltzmann machine"))
    refused(USAGE, *TRAIN[:-2], "c.safetensors", "--quiet", "--data", "digits:20", "--method", "exact",
            says=("--method exact", "24 units"))
    refused(USAGE, "train", "--data", "bars-and-stripes:3", "--method", "pseudo", "--out", "r.safetensors", "--quiet",
            says=("--method pseudo", "--model boltzmann"))
    refused(USAGE, *TRAIN[:-2], "c.safetensors", "--quiet", "--data", "eight-gaussians:50", "--visible-type",
            "gaussian", says=("bernoulli, spin or potts", "gaussian"))


def test_a_matrix_from_another_program_is_taken_or_its_fault_named():
    matrix = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], np.float32)
    metadata = {"format": "ergodic-model", "version": "1", "model": "boltzmann", "units": "spin"}
    arrays = {"matrix": matrix, "bias": np.zeros(3, np.float32)}
    write_safetensors("f.safetensors", arrays, metadata)
    assert ask("inspect", "f.safetensors")["edges"] == 3
    arrays["matrix"] = matrix + np.eye(3, dtype=np.float32)
    write_safetensors("f.safetensors", arrays, metadata)
    refused(DATA, "inspect", "f.safetensors", says=("diagonal", "(0, 0)"))
    arrays["matrix"] = matrix.copy()
    arrays["matrix"][0, 1] = 7
    write_safetensors("f.safetensors", arrays, metadata)
    refused(DATA, "inspect", "f.safetensors", says=("symmetric", "7 at (0, 1)", "1 at (1, 0)"))


@pytest.mark.parametrize("units", ["bernoulli", "spin"])
def test_hidden_units_learn_what_pairs_of_visible_ones_cannot(units):
    """Bars and stripes: without hidden units the exact gradient ends at -3.38, and the best of all is -2.60."""
    succeed(*TRAIN, "--data", "bars-and-stripes:3", "--visible-type", units, "--held-out", 0, "--hidden", 6,
            "--epochs", 3000, "--learning-rate", 0.1)
    machine, rows = Graph("b.safetensors"), bars_and_stripes(3)
    joint = machine.minus_energy(np.hstack([np.repeat(rows, 64, axis=0), np.tile(states(6), (len(rows), 1))]))
    expected = np.log(np.exp(joint.reshape(len(rows), 64)).sum(axis=1)).mean() - machine.log_z()
    answer = ask("evaluate", "b.safetensors", "--data", "bars-and-stripes:3")
    assert np.isclose(answer["log_likelihood"]["value"], expected, rtol=1e-6)
    assert expected > -3.1
    about = ask("inspect", "b.safetensors")
    assert (about["visible"], about["hidden"], about["edges"]) == (9, 6, 105)
    succeed("sample", "b.safetensors", "--count", 7, "--out", "s.npy")
    assert np.load("s.npy").shape == (7, 9)


def test_pseudo_likelihood_has_no_hidden_units():
    refused(USAGE, *TRAIN, "--data", "bars-and-stripes:3", "--hidden", 2, "--method", "pseudo",
            says=("pseudo-likelihood", "hidden"))


def test_a_sparse_machine_of_65536_units_trains():
    np.save("x.npy", np.random.default_rng(1).random((20, 256, 256)) < 0.5)
    answer = ask("train", "--model", "boltzmann", "--graph", "grid:256x256", "--data", "x.npy", "--epochs", 2,
                 "--batch", 10, "--held-out", 0, "--out", "b.safetensors")
    assert answer["updates"] == 4 and ask("inspect", "b.safetensors")["edges"] == 2 * 256 * 255
    refused(USAGE, *TRAIN, "--data", "x.npy", says=("65536 units", "4.3 billion", "GiB", "RBM", "sparse"))
