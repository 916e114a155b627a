"""Rows in, rows out: `features`, `score` and `complete`, against NumPy from the model files alone."""

import csv
import itertools

import numpy as np
import pytest

from conftest import (BAD_DATA, FOREIGN, USAGE, ask, on_a_terminal, random_machine, refused, snapshot, succeed,
                      write_safetensors)

VISIBLE, HIDDEN = 6, 5


def machine(path="m.safetensors"):
    """An RBM of {0,1} units with random parameters, as a file."""
    arrays = random_machine(VISIBLE, HIDDEN, seed=3)
    write_safetensors(path, arrays, FOREIGN)
    return {name: array.astype(float) for name, array in arrays.items()}


def states(units=VISIBLE):
    return np.array(list(itertools.product((0, 1), repeat=units)))


def minus_free_energy(m, x):
    return x @ m["visible_bias"] + np.logaddexp(0, x @ m["weights"] + m["hidden_bias"]).sum(axis=-1)


def log_sum(values):
    return np.log(np.exp(values - values.max()).sum()) + values.max()


def probabilities(m):
    terms = minus_free_energy(m, states())
    return np.exp(terms - log_sum(terms))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def some_rows(count=40, seed=1):
    rows = np.random.default_rng(seed).integers(0, 2, (count, VISIBLE))
    np.save("rows.npy", rows.astype(np.uint8))
    return rows


def with_gaps(rows, share=0.3, seed=2):
    gaps = np.random.default_rng(seed).random(rows.shape) < share
    np.save("gaps.npy", np.where(gaps, np.nan, rows))
    return gaps


def joint_given(m, row, gap):
    """p(x, v | what is known of a row), over the x that agree with it and all v; and these x."""
    x, v = states()[np.all((states() == row) | gap, axis=1)], states(HIDDEN)
    terms = (x @ m["visible_bias"])[:, None] + v @ m["hidden_bias"] + x @ m["weights"] @ v.T
    return np.exp(terms - log_sum(terms)), x


def mean_and_error(joint, f, sweeps):
    """Of f(a), averaged over sweeps that draw b given a and a given b in turn: the mean and the standard error.

    With P the matrix of a sweep, p its equilibrium and g = f - E f, the variance of the mean of n sweeps is at most
    (2 s - g)'g / n, in the scalar product of p, where s = (1 + P + P^2 + ...) g = (1 - P + 1p')^-1 g. It is less for
    finite n: P is a product of a projection and its transpose, so that no correlation is negative.
    """
    p = joint.sum(axis=1)
    sweep = (joint / p[:, None]) @ (joint / joint.sum(axis=0)).T
    g = f - p @ f
    s = np.linalg.solve(np.eye(len(p)) - sweep + p, g)
    return p @ f, np.sqrt(np.maximum(p @ ((2 * s - g) * g), 0) / sweeps)


def table(path):
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    return {name: np.array([float(line[k]) if line[k] else np.nan for line in lines[1:]])
            for k, name in enumerate(lines[0])}


# ---- features ----


def test_features_are_the_expected_hidden_units():
    m, rows = machine(), some_rows()
    assert ask("features", "m.safetensors", "--data", "rows.npy", "--out", "f.npy")["method"] == "exact"
    expected = sigmoid(rows @ m["weights"] + m["hidden_bias"])
    assert np.load("f.npy") == pytest.approx(expected, abs=1e-6)
    succeed("features", "m.safetensors", "--data", "rows.npy", "--out", "f.csv")
    assert np.array(list(table("f.csv").values())).T == pytest.approx(expected, abs=1e-6)


def test_drawn_features_have_the_expected_means():
    m = machine()
    np.save("rows.npy", np.tile(np.eye(VISIBLE)[0], (4000, 1)))
    succeed("features", "m.safetensors", "--data", "rows.npy", "--drawn", "--out", "f.npy")
    found, p = np.load("f.npy"), sigmoid(m["weights"][0] + m["hidden_bias"])
    assert set(np.unique(found)) <= {0.0, 1.0}
    assert np.all(np.abs(found.mean(axis=0) - p) < 4 * np.sqrt(p * (1 - p) / 4000))


def test_features_of_rows_with_gaps_are_averaged_over_what_is_missing():
    m, rows = machine(), some_rows(20)
    gaps = with_gaps(rows)
    found = ask("features", "m.safetensors", "--data", "gaps.npy", "--missing", "--sweeps", 20000, "--out", "f.npy")
    assert found["method"] == "chains"
    assert (~gaps.any(axis=1)).any()  # rows without gaps are among them
    for row, gap, features in zip(rows, gaps, np.load("f.npy")):
        joint, x = joint_given(m, row, gap)
        expected, error = mean_and_error(joint, sigmoid(x @ m["weights"] + m["hidden_bias"]), 10000)
        # Four standard errors of the second half of the sweeps, and the rounding of numbers in the file.
        assert np.all(np.abs(features - expected) < 4 * error + 1e-6)


def test_a_machine_without_hidden_units_has_no_features():
    np.save("patterns.npy", np.eye(4))
    succeed("train", "--model", "hopfield", "--data", "patterns.npy", "--out", "h.safetensors")
    refused(USAGE, "features", "h.safetensors", "--data", "patterns.npy", "--out", "f.npy",
            says=("hidden units", "Hopfield network has none"))


# ---- score ----


def test_scores_are_those_of_all_states():
    m, rows = machine(), some_rows()
    found = ask("score", "m.safetensors", "--data", "rows.npy", "--out", "s.csv", "--surprise", "u.npy")
    terms = minus_free_energy(m, states())
    assert found["log_z"]["value"] == pytest.approx(log_sum(terms), abs=1e-5)
    scores, expected = table("s.csv"), minus_free_energy(m, rows)
    assert list(scores["row"]) == list(range(1, len(rows) + 1))
    assert scores["free_energy"] == pytest.approx(-expected, abs=1e-5)
    assert scores["log_p"] == pytest.approx(expected - log_sum(terms), abs=1e-5)
    assert list(np.argsort(scores["rank"])) == list(np.argsort(expected, kind="stable"))
    surprise = np.load("u.npy")
    for i in range(VISIBLE):
        flipped = rows.copy()
        flipped[:, i] = 1 - flipped[:, i]
        assert surprise[:, i] == pytest.approx(np.logaddexp(0, minus_free_energy(m, flipped) - expected), abs=1e-5)
    assert scores["pseudo_log_likelihood"] == pytest.approx(-surprise.sum(axis=1), abs=1e-5)


def test_scores_of_rows_with_gaps_sum_over_what_is_missing():
    m, rows = machine(), some_rows()
    gaps = with_gaps(rows)
    succeed("score", "m.safetensors", "--data", "gaps.npy", "--missing", "--out", "s.csv")
    all_x, terms = states(), minus_free_energy(m, states())
    expected = [log_sum(terms[np.all((all_x == row) | gap, axis=1)]) - log_sum(terms) for row, gap in zip(rows, gaps)]
    assert table("s.csv")["log_p"] == pytest.approx(expected, abs=1e-5)
    found = ask("evaluate", "m.safetensors", "--data", "gaps.npy", "--missing")
    assert found["log_likelihood"]["value"] == pytest.approx(np.mean(expected), abs=1e-5)
    assert found["log_likelihood"]["method"] == "exact"


def test_log_p_is_left_out_where_log_z_is_no_short_sum_and_comes_when_it_is_given():
    draw = np.random.default_rng(1)
    np.save("wide.npy", draw.integers(0, 2, (30, 40)))
    succeed("train", "--data", "wide.npy", "--hidden", 40, "--epochs", 1, "--no-likelihood", "--out", "w.safetensors")
    done = succeed("score", "w.safetensors", "--data", "wide.npy", "--out", "s.csv")
    assert "log p is left out" in done.stderr and "log_p" not in table("s.csv")
    succeed("score", "w.safetensors", "--data", "wide.npy", "--log-z", 50, "--out", "s.csv")
    scores = table("s.csv")
    assert scores["log_p"] == pytest.approx(-scores["free_energy"] - 50)
    found = ask("score", "w.safetensors", "--data", "wide.npy", "--budget", 500, "--out", "s.csv")
    scores = table("s.csv")
    assert found["log_z"]["lower"] < found["log_z"]["value"] < found["log_z"]["upper"]
    assert np.all(scores["log_p_lower"] < scores["log_p"]) and np.all(scores["log_p"] < scores["log_p_upper"])


def test_the_area_under_the_curve_is_that_of_all_pairs():
    machine()
    rows, labels = some_rows(), np.random.default_rng(5).integers(0, 2, 40)
    np.savez("labelled.npz", x=rows, y=labels)
    found = ask("score", "m.safetensors", "--data", "labelled.npz", "--out", "s.csv", "--strangest", "odd.png")
    energy = table("s.csv")["free_energy"]
    pairs = [(a > b) + 0.5 * (a == b) for a in energy[labels == 1] for b in energy[labels == 0]]
    assert found["area_under_curve"]["1"] == pytest.approx(np.mean(pairs))
    assert found["area_under_curve"]["0"] == pytest.approx(1 - np.mean(pairs))


def test_rows_without_a_label_have_no_part_in_the_area_under_the_curve():
    machine()
    labels = np.random.default_rng(5).integers(-1, 2, 40)
    np.savez("labelled.npz", x=some_rows(), y=labels)
    found = ask("score", "m.safetensors", "--data", "labelled.npz", "--out", "s.csv")["area_under_curve"]
    energy = table("s.csv")["free_energy"]
    pairs = [(a > b) + 0.5 * (a == b) for a in energy[labels == 1] for b in energy[labels == 0]]
    assert found == {"0": pytest.approx(1 - np.mean(pairs)), "1": pytest.approx(np.mean(pairs))}


# ---- complete ----


def test_completions_are_draws_given_what_is_known():
    m, draws = machine(), 4000
    row = np.array([1, 0, 1, 1, 0, 1])
    np.save("gap.npy", np.where(np.arange(VISIBLE) < 3, np.nan, row)[None])
    succeed("complete", "m.safetensors", "--data", "gap.npy", "--missing", "--draws", draws, "--sweeps", 200,
            "--out", "full.npy")
    found = np.load("full.npy").reshape(draws, VISIBLE)
    assert np.all(found[:, 3:] == row[3:])
    all_x = states()
    p = probabilities(m) * np.all((all_x == row) | (np.arange(VISIBLE) < 3), axis=1)
    counts = np.array([np.all(found == x, axis=1).sum() for x in all_x])
    expected = draws * p / p.sum()
    chi = ((counts - expected)[expected > 0] ** 2 / expected[expected > 0]).sum()
    assert chi < 24.3  # 7 degrees of freedom, 0.999


def test_means_are_probabilities_given_what_is_known():
    m, rows = machine(), some_rows(10)
    gaps = with_gaps(rows, 0.5)
    succeed("complete", "m.safetensors", "--data", "gaps.npy", "--missing", "--means", "--sweeps", 20000, "--out", "p.npy")
    v = states(HIDDEN)
    for row, gap, found in zip(rows, gaps, np.load("p.npy")):
        assert np.all(found[~gap] == row[~gap])
        joint, _ = joint_given(m, row, gap)
        # What is averaged are expected values given the hidden units, as in the test of features.
        expected, error = mean_and_error(joint.T, sigmoid(v @ m["weights"].T + m["visible_bias"]), 10000)
        assert np.all(np.abs(found - expected)[gap] < (4 * error + 1e-6)[gap])


@pytest.mark.parametrize("mask, hidden", [("left", np.s_[:, :2]), ("right", np.s_[:, 2:]), ("upper", np.s_[:2]),
                                          ("lower", np.s_[2:]), ("box:1,2,3,1", np.s_[2:3, 1:4])])
def test_masks_hide_parts_of_pictures(mask, hidden):
    pictures = np.ones((8, 4, 4))
    pictures[::2] = 0
    np.save("pictures.npy", pictures)
    succeed("train", "--data", "pictures.npy", "--hidden", 4, "--epochs", 300, "--learning-rate", 0.1, "--held-out", 0,
            "--out", "m.safetensors")
    masked = np.zeros((4, 4), bool)
    masked[hidden] = True
    np.save("mask.npy", masked.reshape(-1).astype(np.uint8))
    by_name = ask("complete", "m.safetensors", "--data", "pictures.npy", "--mask", mask, "--out", "a.npy")
    by_file = ask("complete", "m.safetensors", "--data", "pictures.npy", "--mask", "mask.npy", "--out", "b.npy")
    assert by_name["quality"] == by_file["quality"] and by_name["quality"]["hidden_values"] == masked.sum()
    found = np.load("a.npy").reshape(-1, 4, 4)
    assert np.array_equal(found, np.load("b.npy").reshape(-1, 4, 4))
    assert np.array_equal(found[:, ~masked], pictures[:, ~masked])


def test_quality_stands_beside_independent_units_and_the_nearest_neighbour():
    m, rows = machine(), some_rows(60)
    found = ask("complete", "m.safetensors", "--data", "rows.npy", "--mask", "random:0.4", "--out", "full.npy")["quality"]
    assert found["rows"] == 60 and set(found) >= {"machine", "independent", "neighbour"}
    kept = np.load("full.npy")
    assert 0 <= found["machine"]["error"] <= 1 and found["machine"]["log_probability"]["method"] == "exact"
    # log p(hidden | known) from all states, with the mask that the rows show only in part: where a value changed, it was
    # hidden. So the sum over hidden values is checked with a mask that is given.
    mask = np.array([1, 1, 0, 0, 0, 1])
    np.save("mask.npy", mask.astype(np.uint8))
    found = ask("complete", "m.safetensors", "--data", "rows.npy", "--mask", "mask.npy", "--out", "full.npy")["quality"]
    all_x, terms = states(), minus_free_energy(m, states())
    expected = [minus_free_energy(m, row) - log_sum(terms[np.all((all_x == row) | (mask == 1), axis=1)]) for row in rows]
    assert found["machine"]["log_probability"]["value"] == pytest.approx(np.mean(expected), abs=1e-5)
    shares = rows.mean(axis=0)
    alone = np.log(np.where(rows, shares, 1 - shares))[:, mask == 1].sum(axis=1).mean()
    assert found["independent"]["log_probability"]["value"] == pytest.approx(alone, abs=1e-6)
    assert kept.shape == rows.shape


def test_completion_refuses_what_it_cannot_do():
    machine()
    some_rows()
    nothing = ("complete", "m.safetensors", "--data", "rows.npy", "--out", "f.npy")
    refused(USAGE, *nothing, says=("nothing is missing", "--mask"))
    refused(USAGE, *nothing, "--mask", "random:1e-9", says=("nothing is missing", "--mask hides nothing"))
    refused(USAGE, *nothing, "--mask", "middle", says=("--mask", "left, right", "'middle'"))
    refused(USAGE, *nothing, "--mask", "left", says=("no pictures", "random:P"))
    refused(USAGE, *nothing, "--mask", "random:2", says=("random:P", "at most 1"))
    refused(USAGE, *nothing, "--mask", "box:0,0,1,1", says=("no pictures", "random:P"))
    np.save("mask.npy", np.ones(5))
    refused(BAD_DATA, *nothing, "--mask", "mask.npy", says=("mask of 6 values", "found 1 rows of 5"))


def test_a_box_lies_within_the_pictures():
    write_safetensors("m.safetensors", random_machine(16, 3), FOREIGN)
    np.save("pictures.npy", np.zeros((3, 4, 4)))
    for box in ("box:3,0,2,1", "box:0,4,1,1", "box:0,0,0,1", f"box:{2**64 - 1},0,2,1", f"box:0,{2**64 - 1},1,2"):
        refused(USAGE, "complete", "m.safetensors", "--data", "pictures.npy", "--mask", box, "--out", "f.npy",
                says=("expected a box within pictures of 4 x 4", box))


@pytest.mark.parametrize("command", [("features",), ("score",), ("complete", "--mask", "random:0.5"), ("reconstruct",)],
                         ids=lambda command: command[0])
def test_a_result_does_not_replace_the_data(command):
    machine()
    some_rows()
    refused(USAGE, command[0], "m.safetensors", "--data", "rows.npy", *command[1:], "--out", "./rows.npy",
            says="--data and --out both name ./rows.npy")


def test_a_surprise_that_has_no_formula_is_refused_before_the_work():
    """Which would take hours."""
    np.save("points.npy", np.random.default_rng(1).normal(size=(100, 3)))
    succeed("train", "--model", "neural", "--data", "points.npy", "--layers", 3, "--epochs", 1, "--no-likelihood",
            "--out", "n.safetensors")
    refused(USAGE, "score", "n.safetensors", "--data", "points.npy", "--budget", 10**8, "--out", "s.csv",
            "--surprise", "u.npy", says=("--surprise needs", "neural energy"))


@pytest.mark.parametrize("command", [("features",), ("score",), ("complete", "--mask", "random:0.5")])
def test_the_same_bytes_on_any_number_of_threads(command):
    machine()
    some_rows(200)
    for threads in (1, 2, 3):
        succeed(command[0], "m.safetensors", "--data", "rows.npy", *command[1:], "--threads", threads,
                "--out", f"{threads}.npy")
    first = open("1.npy", "rb").read()
    assert open("2.npy", "rb").read() == first and open("3.npy", "rb").read() == first


def test_rows_with_gaps_of_many_units_are_annealed_between_bounds():
    """A machine that is too wide for a sum over what is missing, but whose hidden units are few enough for the truth."""
    draw = np.random.default_rng(7)
    arrays = {"weights": 0.3 * draw.normal(size=(60, 16)), "visible_bias": draw.normal(size=60),
              "hidden_bias": draw.normal(size=16)}
    m = {name: array.astype("<f4") for name, array in arrays.items()}
    write_safetensors("w.safetensors", m, FOREIGN)
    rows = draw.integers(0, 2, (12, 60)).astype(float)
    rows[:, 20:] = np.nan
    np.save("gaps.npy", rows)
    succeed("score", "w.safetensors", "--data", "gaps.npy", "--missing", "--log-z", 0, "--out", "s.csv")
    v = states(16)
    expected = []
    for row in rows:
        known = ~np.isnan(row)
        fields = v @ m["weights"].T.astype(float) + m["visible_bias"]
        terms = v @ m["hidden_bias"].astype(float) + fields[:, known] @ row[known] + \
            np.logaddexp(0, fields[:, ~known]).sum(axis=1)
        expected.append(log_sum(terms))
    scores = table("s.csv")
    assert np.all(scores["log_p_lower"] <= expected) and np.all(expected <= scores["log_p_upper"])
    assert scores["log_p"] == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("command", [("features", "--sweeps", 10**9), ("score",), ("complete", "--sweeps", 10**9)],
                         ids=lambda command: command[0])
def test_an_interrupted_command_leaves_nothing(command):
    """Rows with so many gaps, of so wide a machine, that a score takes minutes."""
    draw = np.random.default_rng(7)
    write_safetensors("w.safetensors", random_machine(60, 40, seed=2), FOREIGN)
    rows = draw.integers(0, 2, (3000, 60)).astype(float)
    rows[:, 20:] = np.nan
    np.save("gaps.npy", rows)
    before = snapshot()
    code, out, seen = on_a_terminal(command[0], "w.safetensors", "--data", "gaps.npy", "--missing", *command[1:],
                                    "--out", "x.npy", interrupt_at="%")
    assert code == 130 and out == "" and "nothing written" in seen
    assert snapshot() == before
