"""The class RBM: a visible layer of two parts, pixels and a softmax of labels, through every command."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import BAD_DATA, USAGE, ask, read_safetensors, refused, run, succeed

PIXELS, CLASSES, HIDDEN = 6, 3, 4


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
    succeed("train", "--model", "class-rbm", "--data", "rows.npz", "--hidden", HIDDEN, "--epochs", 100,
            "--learning-rate", 0.2, "--out", "m.safetensors", *words)
    return rows


def all_states():
    """Every state of pixels and label, one-hot."""
    pixels = np.array(list(itertools.product((0, 1), repeat=PIXELS)))
    return np.array([np.concatenate([p, np.eye(CLASSES, dtype=int)[c]]) for p in pixels for c in range(CLASSES)])


def minus_free_energy(arrays, states):
    fields = states @ arrays["weights"].astype(float) + arrays["hidden_bias"]
    return states @ arrays["visible_bias"].astype(float) + np.logaddexp(0, fields).sum(axis=1)


def test_it_is_evaluated_exactly():
    pixels, labels = trained()
    arrays, metadata = read_safetensors("m.safetensors")
    assert metadata["model"] == "class-rbm" and metadata["classes"] == str(CLASSES)
    assert arrays["weights"].shape == (PIXELS + CLASSES, HIDDEN)
    terms = minus_free_energy(arrays, all_states())
    log_z = np.log(np.exp(terms - terms.max()).sum()) + terms.max()
    rows = np.concatenate([pixels, np.eye(CLASSES, dtype=int)[labels]], axis=1)
    found = ask("evaluate", "m.safetensors", "--data", "rows.npz")
    assert found["log_z"]["value"] == pytest.approx(log_z, abs=1e-4)
    assert found["log_likelihood"]["value"] == pytest.approx((minus_free_energy(arrays, rows) - log_z).mean(), abs=1e-4)
    # It has learned which pixels go with which label: far better than independent units.
    shares = rows.mean(axis=0)
    pixel_entropy = -(shares[:PIXELS] * np.log(shares[:PIXELS]) + (1 - shares[:PIXELS]) * np.log(1 - shares[:PIXELS])).sum()
    label_entropy = -(shares[PIXELS:] * np.log(shares[PIXELS:])).sum()
    assert found["log_likelihood"]["value"] > -pixel_entropy - label_entropy + 0.5


def test_its_samples_have_one_label_and_the_exact_distribution():
    trained()
    succeed("sample", "m.safetensors", "--count", 5000, "--sweeps", 200, "--out", "s.npy")
    rows = np.load("s.npy")
    assert (rows[:, PIXELS:].sum(axis=1) == 1).all()
    arrays, _ = read_safetensors("m.safetensors")
    states = all_states()
    terms = minus_free_energy(arrays, states)
    p = np.exp(terms - terms.max())
    p /= p.sum()
    place = {tuple(state): k for k, state in enumerate(states)}
    counts = np.bincount([place[tuple(row)] for row in rows.astype(int)], minlength=len(states))
    order = np.argsort(-p)  # rare states together, so that each cell expects five or more
    cells, expected, seen, e, s = [], [], [], 0.0, 0
    for k in order:
        e, s = e + 5000 * p[k], s + counts[k]
        if e >= 5:
            expected.append(e), seen.append(s)
            e, s = 0.0, 0
    expected[-1], seen[-1] = expected[-1] + e, seen[-1] + s
    chi = ((np.array(seen) - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    # The 0.999 quantile of chi-square is about f + 3.1 sqrt(2 f) + 6.4.
    assert chi < freedom + 3.1 * np.sqrt(2 * freedom) + 6.4, (chi, freedom)


def test_every_other_command_takes_it():
    trained("--trajectory", "way", "--report", "report.html")
    inspected = ask("inspect", "m.safetensors", "--filters", "filters.png")
    assert inspected["visible_type"] == "bernoulli+potts" and inspected["classes"] == CLASSES
    assert inspected["parameters"] == (PIXELS + CLASSES) * HIDDEN + PIXELS + CLASSES + HIDDEN
    compared = ask("compare", "m.safetensors", "--data", "rows.npz", "--count", 500, "--sweeps", 200)
    assert compared["means"]["correlation"] > 0.95
    succeed("reconstruct", "m.safetensors", "--data", "rows.npz", "--out", "r.npy")
    assert np.load("r.npy").shape[1] == PIXELS + CLASSES
    bracket = ask("evaluate", "m.safetensors", "--data", "rows.npz", "--path", "way")["log_likelihood"]
    assert bracket["method"]
    for sampler in ("metropolis", "tempering", "annealing"):
        succeed("sample", "m.safetensors", "--count", 20, "--sweeps", 50, "--sampler", sampler, "--out", "s.npy")
        assert (np.load("s.npy")[:, PIXELS:].sum(axis=1) == 1).all(), sampler


def test_the_label_of_pixels_is_completed():
    """Fixed pixels and a free label: a classifier."""
    pixels, labels = trained()
    mask = np.array([[1] * PIXELS + [0]], np.uint8)  # the label is one site
    np.save("mask.npy", mask)
    succeed("sample", "m.safetensors", "--data", "rows.npz", "--fixed", "mask.npy", "--count", 600, "--sweeps", 100,
            "--out", "s.npy")
    rows = np.load("s.npy")
    assert (rows[:, :PIXELS] == pixels).all()
    assert (rows[:, PIXELS:].argmax(axis=1) == labels).mean() > 0.7  # a guess is right in a third of the cases


def test_what_does_not_fit_is_refused():
    labelled()
    np.save("bare.npy", np.load("rows.npz")["x"])
    refused(BAD_DATA, "train", "--model", "class-rbm", "--data", "bare.npy", "--out", "m", says="expected a label for each row")
    refused(USAGE, "train", "--model", "class-rbm", "--data", "rows.npz", "--graph", "dense", "--out", "m",
            says="--graph is for --model boltzmann")
    rows = np.load("rows.npz")
    for label, says in ((-1, "expected a label from 0 to"), (5000, "expected labels from 0 to 999")):
        np.savez("odd.npz", x=rows["x"], y=np.where(np.arange(len(rows["y"])) == 3, label, rows["y"]))
        refused(BAD_DATA, "train", "--model", "class-rbm", "--data", "odd.npz", "--held-out", 0, "--out", "m", says=says)
    trained()
    refused(BAD_DATA, "evaluate", "m.safetensors", "--data", "bare.npy", says="expected a label for each row")
    done = run("train", "--model", "class-rbm", "--help")
    assert "--hidden " in done.stdout and "--visible-type" not in done.stdout
    kinds = json.loads(succeed("reference", "--json").stdout)["commands"][0]["kinds"]
    assert {o["name"] for o in kinds["class-rbm"]["options"]} >= {"hidden", "weight-scale", "method", "epochs", "out"}


def test_a_class_that_only_held_out_rows_have_is_a_class_all_the_same():
    draw = np.random.default_rng(1)
    np.savez("few.npz", x=draw.integers(0, 2, (9, 5)), y=np.arange(9))  # each class once: held-out rows have their own
    succeed("train", "--model", "class-rbm", "--data", "few.npz", "--hidden", 3, "--held-out", 0.5, "--epochs", 2,
            "--out", "m.safetensors")
    assert ask("inspect", "m.safetensors")["classes"] == 9


def test_labels_that_are_words_keep_their_classes_in_every_table():
    """A table that has only some of the classes must not count them anew."""
    draw = np.random.default_rng(2)
    words = np.array(["maybe", "no", "yes"])
    rows = draw.integers(0, 2, (90, 4))

    def write(name, chosen, label):
        lines = [",".join(map(str, [*row, label(r)])) for r, row in zip(chosen, rows[chosen])]
        Path(name).write_text("\n".join(["a,b,c,d,buys", *lines]) + "\n")

    write("all.csv", np.arange(90), lambda r: words[r % 3])
    write("words.csv", np.arange(2, 90, 3), lambda r: "yes")
    write("numbers.csv", np.arange(2, 90, 3), lambda r: 2)
    label = ("--label-column", "buys")
    succeed("train", "--model", "class-rbm", "--data", "all.csv", *label, "--hidden", 3, "--epochs", 20, "--out", "m.safetensors")
    found = [ask("evaluate", "m.safetensors", "--data", name, *label)["log_likelihood"]["value"]
             for name in ("words.csv", "numbers.csv")]
    assert found[0] == found[1]
