"""Deep belief networks through every command: what they say is held against sums over all states by NumPy."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import BAD_DATA, USAGE, ask, read_safetensors, refused, run, succeed

PIXELS, CLASSES, HIDDEN = 6, 3, (4, 3, 4)
LAYERS = ",".join(map(str, HIDDEN))


def labelled(rows=600, seed=1):
    """Rows whose label says which third of the pixels is on, most of the time."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, CLASSES, rows)
    pixels = draw.random((rows, PIXELS)) < 0.1
    for row, label in enumerate(labels):
        pixels[row, 2 * label:2 * label + 2] |= draw.random(2) < 0.9
    np.savez("rows.npz", x=pixels.astype(np.uint8), y=labels)
    return pixels.astype(int), labels


def trained(*words):
    rows = labelled()
    succeed("train", "--model", "dbn", "--data", "rows.npz", "--hidden", LAYERS, "--epochs", 300,
            "--learning-rate", 0.2, "--out", "m.safetensors", *words)
    return rows


def states(units):
    return np.array(list(itertools.product((0, 1), repeat=units)))


def log_bernoulli(x, fields):
    """log p(x) of two-valued units, a row for each x and a column for each row of fields."""
    return x @ fields.T - np.logaddexp(0, fields).sum(axis=1)


def log_sum(terms, axis):
    largest = terms.max(axis=axis, keepdims=True)
    return np.log(np.exp(terms - largest).sum(axis=axis)) + largest.squeeze(axis)


def log_joint(arrays):
    """log p(x, y) for all pixels and labels, by sums over all hidden states."""
    part = lambda layer, name: arrays[f"layer{layer}.{name}"].astype(float)
    h1, h2 = states(HIDDEN[0]), states(HIDDEN[1])
    tops = np.array([np.concatenate([h, np.eye(CLASSES)[c]]) for h in h2 for c in range(CLASSES)])
    top = tops @ part(3, "visible_bias") + np.logaddexp(0, tops @ part(3, "weights") + part(3, "hidden_bias")).sum(axis=1)
    top = (top - log_sum(top, 0)).reshape(len(h2), CLASSES)
    middle = log_bernoulli(h1, h2 @ part(2, "weights").T + part(2, "visible_bias"))  # [h1, h2]
    of_h1 = log_sum(middle[:, :, None] + top[None], 1)  # [h1, class]
    below = log_bernoulli(states(PIXELS), h1 @ part(1, "weights").T + part(1, "visible_bias"))
    return log_sum(below[:, :, None] + of_h1[None], 1)  # [x, class]


def place(pixels):
    return pixels @ (2 ** np.arange(PIXELS)[::-1])


def chi_square(counts, p):
    """The value and the 0.999 quantile, which is about f + 3.1 sqrt(2 f) + 6.4; rare states together."""
    expected, seen, e, s = [], [], 0.0, 0
    for k in np.argsort(-p):
        e, s = e + counts.sum() * p[k], s + counts[k]
        if e >= 5:
            expected.append(e), seen.append(s)
            e, s = 0.0, 0
    expected[-1], seen[-1] = expected[-1] + e, seen[-1] + s
    freedom = len(expected) - 1
    return ((np.array(seen) - expected) ** 2 / expected).sum(), freedom + 3.1 * np.sqrt(2 * freedom) + 6.4


@pytest.mark.parametrize("options", [(), ("--up-down-updates", 300)], ids=["greedy", "up-down"])
def test_a_small_one_is_evaluated_exactly(options):
    pixels, labels = trained(*options)
    arrays, metadata = read_safetensors("m.safetensors")
    assert metadata["model"] == "dbn" and metadata["classes"] == str(CLASSES)
    assert arrays["layer3.weights"].shape == (HIDDEN[1] + CLASSES, HIDDEN[2])
    assert ("layer1.recognition_weights" in arrays) == bool(options) and "layer3.recognition_weights" not in arrays
    logs = log_joint(arrays)
    assert np.exp(logs).sum() == pytest.approx(1.0)
    found = ask("evaluate", "m.safetensors", "--data", "rows.npz")
    assert found["log_likelihood"]["value"] == pytest.approx(logs[place(pixels), labels].mean(), abs=1e-4)
    assert found["log_likelihood"]["value"] > found["independent_log_likelihood"]["value"] + 0.3


def test_its_samples_follow_the_exact_distribution():
    trained()
    succeed("sample", "m.safetensors", "--count", 5000, "--sweeps", 200, "--out", "s.npy")
    rows = np.load("s.npy").astype(int)
    assert (rows[:, PIXELS:].sum(axis=1) == 1).all()
    p = np.exp(log_joint(read_safetensors("m.safetensors")[0])).ravel()
    counts = np.bincount(place(rows[:, :PIXELS]) * CLASSES + rows[:, PIXELS:].argmax(axis=1), minlength=len(p))
    value, critical = chi_square(counts, p)
    assert value < critical


def test_a_label_may_be_chosen():
    """Chains whose label stays draw p(x | y)."""
    trained()
    np.savez("asked.npz", x=np.zeros((5000, PIXELS), np.uint8), y=np.full(5000, 2))
    np.save("mask.npy", np.array([[0] * PIXELS + [1]], np.uint8))  # the label is one site
    succeed("sample", "m.safetensors", "--data", "asked.npz", "--fixed", "mask.npy", "--count", 5000, "--sweeps", 200,
            "--out", "s.npy")
    rows = np.load("s.npy").astype(int)
    assert (rows[:, PIXELS:].argmax(axis=1) == 2).all()
    p = np.exp(log_joint(read_safetensors("m.safetensors")[0]))[:, 2]
    value, critical = chi_square(np.bincount(place(rows[:, :PIXELS]), minlength=len(p)), p / p.sum())
    assert value < critical


def test_a_large_one_is_bounded_from_below():
    labelled()
    succeed("train", "--model", "dbn", "--data", "rows.npz", "--hidden", "20,20,10", "--epochs", 600, "--out", "l.safetensors")
    found = ask("evaluate", "l.safetensors", "--data", "rows.npz")
    assert found["log_likelihood"] is None
    bound = found["log_likelihood_bound"]
    assert bound["bound"] == "lower" and bound["draws"] == 100
    assert bound["lower"] <= bound["value"] <= bound["upper"]
    assert bound["value"] > found["independent_log_likelihood"]["value"]
    assert found["free_energy_bound"] == pytest.approx(-bound["value"] - found["log_z"]["value"])
    assert "at least" in succeed("evaluate", "l.safetensors", "--data", "rows.npz").stdout
    quality = ask("evaluate", "l.safetensors", "--data", "rows.npz", "--quality", "--count", 200, "--sweeps", 100)
    assert quality["quality"]["rows"] == 200


def test_features_of_every_layer():
    pixels, _ = trained()
    arrays, _ = read_safetensors("m.safetensors")
    values = pixels.astype(float)
    for k, units in enumerate(HIDDEN, start=1):
        weights, bias = arrays[f"layer{k}.weights"].astype(float), arrays[f"layer{k}.hidden_bias"].astype(float)
        fields = values @ weights[:values.shape[1]] + bias + weights[values.shape[1]:].sum(axis=0) / CLASSES
        values = 1 / (1 + np.exp(-fields))
        succeed("features", "m.safetensors", "--data", "rows.npz", "--layer", k, "--out", "f.npy")
        assert np.load("f.npy") == pytest.approx(values, abs=1e-4) and values.shape[1] == units
        succeed("features", "m.safetensors", "--data", "rows.npz", "--layer", k, "--drawn", "--out", "d.npy")
        drawn = np.load("d.npy")
        assert drawn.shape == values.shape and set(np.unique(drawn)) <= {0, 1}
    succeed("features", "m.safetensors", "--data", "rows.npz", "--out", "top.npy")
    assert (np.load("top.npy") == np.load("f.npy")).all()
    refused(USAGE, "features", "m.safetensors", "--data", "rows.npz", "--layer", 4, "--out", "f.npy",
            says="expected a hidden layer from 1 to 3, found 4")
    refused(USAGE, "features", "m.safetensors", "--data", "rows.npz", "--layer", 0, "--out", "f.npy", says="--layer")


def test_every_other_command_takes_it():
    pixels, labels = trained("--report", "report.html", "--log", "log")
    report = Path("report.html").read_text()
    assert "Filters" in report and "layer1_" not in report
    assert all(f"<h3>Pseudo-log-likelihood of layer {k}</h3>" in report for k in (1, 2, 3))
    names = {name for line in Path("log").read_text().splitlines() for name in json.loads(line)}
    assert {"layer1_pseudo_log_likelihood", "layer3_pseudo_log_likelihood", "weight_norm"} <= names
    inspected = ask("inspect", "m.safetensors", "--filters", "filters.png", "--biases", "biases.png")
    assert inspected["hidden"] == list(HIDDEN) and inspected["classes"] == CLASSES
    succeed("reconstruct", "m.safetensors", "--data", "rows.npz", "--out", "r.npy")
    assert np.load("r.npy").shape[1] == PIXELS + CLASSES
    scores = ask("score", "m.safetensors", "--data", "rows.npz", "--out", "scores.csv")
    assert scores
    compared = ask("compare", "m.safetensors", "--data", "rows.npz", "--count", 500, "--sweeps", 200)
    assert compared["means"]["correlation"] > 0.9
    for sampler in ("metropolis", "tempering"):
        succeed("sample", "m.safetensors", "--count", 20, "--sweeps", 50, "--sampler", sampler, "--out", "s.npy")
        assert (np.load("s.npy")[:, PIXELS:].sum(axis=1) == 1).all(), sampler
    succeed("sample", "m.safetensors", "--count", 9, "--sweeps", 20, "--out", "s.png")


def test_what_is_missing_is_completed_and_what_is_known_stays():
    """Of rows that are all the same the first pixels stay; the others and the label are drawn given them."""
    trained()
    known = np.array([0, 0, 1, 1, 0, 0])
    np.savez("same.npz", x=np.tile(known, (4000, 1)).astype(np.uint8), y=np.zeros(4000, int))
    np.save("hidden.npy", np.array([[0, 0, 0, 1, 1, 1, 1]], np.uint8))
    succeed("complete", "m.safetensors", "--data", "same.npz", "--mask", "hidden.npy", "--sweeps", 300, "--out", "c.npy")
    rows = np.load("c.npy").astype(int)
    assert (rows[:, :3] == known[:3]).all()
    joint = np.exp(log_joint(read_safetensors("m.safetensors")[0])).reshape(8, 8, CLASSES)
    p = joint[place(np.append(known[:3], [0, 0, 0])) // 8].ravel()
    counts = np.bincount(place(rows[:, :PIXELS]) % 8 * CLASSES + rows[:, PIXELS:].argmax(axis=1), minlength=len(p))
    value, critical = chi_square(counts, p / p.sum())
    assert value < critical


def test_labels_may_be_left_out_and_are_where_there_are_none():
    trained("--without-labels")
    assert "classes" not in ask("inspect", "m.safetensors")
    np.save("bare.npy", np.load("rows.npz")["x"])
    succeed("train", "--model", "dbn", "--data", "bare.npy", "--hidden", "4,3", "--epochs", 2, "--out", "b.safetensors")
    assert ask("evaluate", "b.safetensors", "--data", "bare.npy")["rows"] == 600


def test_what_does_not_fit_is_refused():
    labelled()
    train = ("train", "--model", "dbn", "--data", "rows.npz", "--out", "m")
    refused(USAGE, *train, "--hidden", "5", says="from 2 to 16 hidden layers")
    refused(USAGE, *train, "--hidden", "5,0", says="--hidden")
    refused(USAGE, *train, "--hidden", "5,4", "--updates", 3, "--up-down-updates", 2, says="--up-down-updates")
    refused(USAGE, *train, "--hidden", "5,4", "--method", "cd", "--up-down-updates", 2, says="--method pcd")
    refused(USAGE, *train, "--hidden", "5,4", "--visible-type", "spin", says="--visible-type")
    gaps = np.load("rows.npz")["x"].astype(float)
    gaps[3, 2] = np.nan
    np.savez("gaps.npz", x=gaps, y=np.load("rows.npz")["y"])
    refused(BAD_DATA, "train", "--model", "dbn", "--data", "gaps.npz", "--missing", "--hidden", "5,4", "--out", "m",
            says="missing")
    trained()
    np.save("bare.npy", np.load("rows.npz")["x"])
    refused(BAD_DATA, "evaluate", "m.safetensors", "--data", "bare.npy", says="expected a label for each row")
    refused(USAGE, "sample", "m.safetensors", "--sampler", "annealing", "--out", "s.npy", says="annealing")
    done = run("train", "--model", "dbn", "--help")
    assert "--hidden" in done.stdout and "--without-labels" in done.stdout and "--trajectory" not in done.stdout
