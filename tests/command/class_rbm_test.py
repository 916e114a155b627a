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


def chi_square(counts, p):
    """Of counts against probabilities, rare cells together so that each expects five or more, and degrees of freedom."""
    total, expected, seen, e, s = counts.sum(), [], [], 0.0, 0
    for k in np.argsort(-p):
        e, s = e + total * p[k], s + counts[k]
        if e >= 5:
            expected.append(e), seen.append(s)
            e, s = 0.0, 0
    expected[-1], seen[-1] = expected[-1] + e, seen[-1] + s
    return ((np.array(seen) - expected) ** 2 / expected).sum(), len(expected) - 1


def posterior(arrays, pixels):
    """p(y | x) by the formula, x being any numbers."""
    scores = np.array([minus_free_energy(arrays, np.concatenate([pixels, np.tile(np.eye(CLASSES)[c], (len(pixels), 1))], axis=1))
                       for c in range(CLASSES)]).T
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def test_samples_may_be_those_that_are_sure():
    """p(x | y) without the rows of which the machine doubts the label; chains here forget all between two looks."""
    trained()
    sure, label = 0.6, 1
    command = ("sample", "m.safetensors", "--label", label, "--count", 4000, "--sweeps", 400, "--seed", 3)
    arrays, _ = read_safetensors("m.safetensors")
    states = all_states()
    pixels = states[::CLASSES, :PIXELS]
    reads = posterior(arrays, pixels)[:, label]
    assert 4 <= (reads >= sure).sum() <= len(reads) - 4
    p = np.exp(minus_free_energy(arrays, states)[label::CLASSES])
    p[reads < sure] = 0.0
    done = succeed(*command, "--sure", sure, "--out", "s.npy", "--energies", "e.npy")
    assert "less sure" not in done.stderr
    found = np.load("s.npy").astype(int)
    assert (found[:, PIXELS:].argmax(axis=1) == label).all() and len(np.load("e.npy")) == len(found)
    counts = np.bincount(found[:, :PIXELS] @ (1 << np.arange(PIXELS)[::-1]), minlength=len(p))
    assert counts[reads < sure].sum() == 0
    chi, freedom = chi_square(counts, p / p.sum())
    assert chi < freedom + 3.1 * np.sqrt(2 * freedom) + 6.4, (chi, freedom)
    succeed(*command, "--sure", sure, "--out", "again.npy", "--threads", 2)
    assert Path("again.npy").read_bytes() == Path("s.npy").read_bytes()

    # What no state reaches: the surest that a chain has seen.
    done = succeed(*command, "--sure", 1, "--out", "u.npy")
    assert "4000 of 4000 samples are less sure than asked for" in done.stderr
    asked = ask(*command, "--sure", 1, "--out", "u.npy")
    assert asked["unsure"] == 4000 and asked["sweeps"] == 800
    surest = np.load("u.npy").astype(int)[:, :PIXELS] @ (1 << np.arange(PIXELS)[::-1])
    assert reads[surest].mean() > reads[counts > 0].mean()


def test_sureness_needs_a_label_and_one_sample_of_each_chain():
    trained()
    command = ("sample", "m.safetensors", "--sure", 0.9, "--out", "s.npy")
    refused(USAGE, *command, says="give a label by --label")
    refused(USAGE, *command, "--label", 1, "--draws", 2, says="leave out --draws")
    refused(USAGE, *command, "--label", 1, "--sampler", "annealing", says="leave out --sure")
    refused(USAGE, *command[:3], 1.5, "--label", 1, "--out", "s.npy", says="--sure")


@pytest.mark.parametrize("objective", ["generative", "discriminative", "hybrid"])
def test_the_classes_of_rows_are_those_of_the_formula(objective):
    pixels, labels = trained("--objective", objective)
    arrays, _ = read_safetensors("m.safetensors")
    exact = posterior(arrays, pixels)
    succeed("classify", "predict", "m.safetensors", "--data", "rows.npz", "--out", "p.npy")
    found = np.load("p.npy")
    assert np.abs(found[:, 1:] - exact).max() < 1e-5
    assert (found[:, 0] == found[:, 1:].argmax(axis=1)).all()
    report = ask("classify", "evaluate", "m.safetensors", "--data", "rows.npz", "--confusion", "confusion.png")
    assert report["error"] == pytest.approx((exact.argmax(axis=1) != labels).mean(), abs=1e-9)
    # The best rule looks which third is on: a row is wrong if its own third is all off, or another is on as well.
    assert report["error"] < 0.15
    assert report["log_loss"] == pytest.approx(-np.log(exact[np.arange(len(labels)), labels]).mean(), abs=1e-5)
    # Grey levels enter as numbers; labels are not needed.
    grey = np.random.default_rng(3).random((50, PIXELS))
    np.save("grey.npy", grey)
    succeed("classify", "predict", "m.safetensors", "--data", "grey.npy", "--binarise", "dynamic", "--out", "p.npy")
    assert np.abs(np.load("p.npy")[:, 1:] - posterior(arrays, grey)).max() < 1e-4  # levels have 16 bits
    # Unless it is said otherwise they are what the machine was trained on: bits.
    succeed("classify", "predict", "m.safetensors", "--data", "grey.npy", "--out", "p.npy")
    assert np.abs(np.load("p.npy")[:, 1:] - posterior(arrays, (grey >= 0.5).astype(int))).max() < 1e-5


@pytest.mark.parametrize("sampler", ["auto", "tempering"])
def test_samples_of_a_class_have_the_exact_conditional_distribution(sampler):
    trained()
    arrays, _ = read_safetensors("m.safetensors")
    states = all_states()
    terms = minus_free_energy(arrays, states)
    joint = np.exp(terms - terms.max())
    answer = ask("sample", "m.safetensors", "--label", "2,0", "--count", 4000, "--sweeps", 200, "--sampler", sampler,
                 "--out", "s.npy")
    assert answer["count"] == 8000 and answer["mixing"]
    rows = np.load("s.npy").astype(int)
    for part, label in enumerate((2, 0)):
        own = rows[4000 * part:4000 * (part + 1)]
        assert (own[:, PIXELS:] == np.eye(CLASSES, dtype=int)[label]).all()
        of_label = states[:, PIXELS + label] == 1
        p = joint[of_label] / joint[of_label].sum()
        place = {tuple(state): k for k, state in enumerate(states[of_label])}
        counts = np.bincount([place[tuple(row)] for row in own], minlength=len(p))
        chi, freedom = chi_square(counts, p)
        # The 0.999 quantile of chi-square is about f + 3.1 sqrt(2 f) + 6.4.
        assert chi < freedom + 3.1 * np.sqrt(2 * freedom) + 6.4, (label, chi, freedom)


def test_labels_of_samples_are_named_in_several_ways():
    Path("words.csv").write_text("a,b,kind\n" + "1,0,cat\n0,1,dog\n1,1,cat\n0,0,fox\n" * 20)
    succeed("train", "--model", "class-rbm", "--data", "words.csv", "--label-column", "kind", "--hidden", 3, "--epochs", 5,
            "--held-out", 0, "--out", "m.safetensors")

    def labels(text, *words):
        succeed("sample", "m.safetensors", "--label", text, "--sweeps", 20, "--out", "s.csv", *words)
        lines = Path("s.csv").read_text().splitlines()
        assert lines[0] == "a,b,label"
        return [int(line.split(",")[-1]) for line in lines[1:]]

    assert labels("dog") == [1] * 100
    assert labels("dog,0", "--count", 2) == [1, 1, 0, 0]
    assert labels("all") == [0] * 10 + [1] * 10 + [2] * 10
    # Means keep the label that was given.
    succeed("sample", "m.safetensors", "--label", "fox", "--sweeps", 20, "--count", 3, "--means", "--out", "s.npy")
    assert (np.load("s.npy")[:, 2:] == [0, 0, 1]).all()
    refused(USAGE, "sample", "m.safetensors", "--label", "cow", "--out", "s.csv", says="or of the names cat, dog, fox")
    refused(USAGE, "sample", "m.safetensors", "--label", "3", "--out", "s.csv", says="expected a label from 0 to 2")
    refused(USAGE, "sample", "m.safetensors", "--label", "cat,", "--out", "s.csv", says="found ''")
    refused(USAGE, "sample", "m.safetensors", "--label", "cat", "--data", "words.csv", "--fixed", "mask.csv", "--out",
            "s.csv", says="leave out either")
    succeed("train", "--data", "bars-and-stripes:2", "--hidden", 2, "--epochs", 1, "--out", "plain.safetensors")
    refused(USAGE, "sample", "plain.safetensors", "--label", "1", "--out", "s.csv", says="--model class-rbm")
    refused(BAD_DATA, "classify", "predict", "plain.safetensors", "--data", "bars-and-stripes:2", "--out", "p.csv",
            says="expected a classifier or a machine with labels, found a model of the kind rbm")


def test_a_class_that_training_never_saw_is_not_sampled():
    draw = np.random.default_rng(1)
    np.savez("gap.npz", x=draw.integers(0, 2, (60, 5)), y=np.array([0, 1, 3])[np.arange(60) % 3])
    succeed("train", "--model", "class-rbm", "--data", "gap.npz", "--hidden", 3, "--epochs", 2, "--out", "m.safetensors")
    assert read_safetensors("m.safetensors")[1]["unseen_classes"] == "2"
    assert ask("inspect", "m.safetensors")["unseen_classes"] == [2]
    refused(USAGE, "sample", "m.safetensors", "--label", "1,2", "--out", "s.csv", says="no row of class 2")
    succeed("sample", "m.safetensors", "--label", "all", "--count", 2, "--sweeps", 20, "--out", "s.csv")
    assert [int(line.split(",")[-1]) for line in Path("s.csv").read_text().splitlines()[1:]] == [0, 0, 1, 1, 3, 3]


def test_pictures_show_pixels_alone():
    """28 x 28 tiles of two pixels for each value, with gaps of two: no strip of values and labels."""
    succeed("train", "--model", "class-rbm", "--data", "digits:200", "--hidden", 6, "--updates", 20, "--out", "m.safetensors",
            "--report", "report.html")

    def size(path):
        return tuple(int.from_bytes(Path(path).read_bytes()[k:k + 4], "big") for k in (16, 20))

    sheet = lambda columns, rows: (2 + 58 * columns, 2 + 58 * rows)
    succeed("sample", "m.safetensors", "--count", 9, "--sweeps", 5, "--out", "s.png")
    assert size("s.png") == sheet(3, 3)
    succeed("sample", "m.safetensors", "--label", "all", "--count", 4, "--sweeps", 5, "--out", "s.png")
    assert size("s.png") == sheet(4, 10)
    succeed("inspect", "m.safetensors", "--filters", "f.png", "--biases", "b.png")
    assert size("f.png") == sheet(3, 2) and size("b.png") == sheet(1, 1)
    data = ("--data", "digits:200", "--count", 4)
    succeed("reconstruct", "m.safetensors", *data, "--out", "r.png")
    assert size("r.png") == (6 + 2 * (2 * 56 + 2 + 6), 6 + 2 * (56 + 6))
    succeed("complete", "m.safetensors", *data, "--mask", "lower", "--sweeps", 5, "--out", "c.png")
    assert size("c.png")[1] % 62 == 6
    succeed("score", "m.safetensors", "--data", "digits:50", "--out", "s.csv", "--strangest", "odd.png")
    assert (size("odd.png")[1] - 2) % 58 == 0


@pytest.mark.parametrize("objective", ["generative", "hybrid", "discriminative"])
def test_rows_without_a_label_are_learned_from_too(objective):
    pixels, labels = labelled(rows=900)
    few = np.where(np.arange(900) < 60, labels, -1)
    np.savez("few.npz", x=pixels, y=few)
    weight = ("--generative-weight", 1) if objective == "hybrid" else ()
    train = ("train", "--model", "class-rbm", "--hidden", HIDDEN, "--updates", 6000, "--learning-rate", 0.2, "--held-out", 0,
             "--objective", objective, *weight, "--out", "m.safetensors")
    succeed(*train, "--data", "few.npz")
    from_array = Path("m.safetensors").read_bytes()
    assert ask("classify", "evaluate", "m.safetensors", "--data", "rows.npz")["error"] < 0.2
    # The same as a table in which labels are missing.
    names = [f"x{i}" for i in range(PIXELS)]
    lines = [",".join(map(str, [*row, "NA" if label < 0 else label])) for row, label in zip(pixels, few)]
    Path("few.csv").write_text("\n".join([",".join([*names, "kind"]), *lines]) + "\n")
    table = ("--data", "few.csv", "--label-column", "kind")
    refused(BAD_DATA, *train, *table, says="--missing")
    succeed(*train, *table, "--missing")
    for name in ("weights", "visible_bias", "hidden_bias"):
        assert (read_safetensors("m.safetensors")[0][name] == parse(from_array)[name]).all()
    # Rows without a label are evaluated with the label summed out.
    found = ask("evaluate", "m.safetensors", *table, "--missing")
    assert np.isfinite(found["log_likelihood"]["value"])


def parse(content):
    Path("parsed.safetensors").write_bytes(content)
    return read_safetensors("parsed.safetensors")[0]


def test_classes_of_rows_with_missing_values_are_those_of_what_is_known():
    pixels, labels = trained()
    arrays, _ = read_safetensors("m.safetensors")
    states = all_states()
    weight = np.exp(minus_free_energy(arrays, states))
    gaps = np.random.default_rng(5).random((200, PIXELS)) < 0.4
    gaps[:20] = False
    lines = [",".join("NA" if gap else str(x) for x, gap in zip(row, missing)) for row, missing in zip(pixels, gaps)]
    names = ",".join(f"x{i}" for i in range(PIXELS))
    Path("gaps.csv").write_text("\n".join([f"{names},kind", *(f"{x},{y}" for x, y in zip(lines, labels))]) + "\n")
    table = ("--data", "gaps.csv", "--label-column", "kind", "--missing")
    exact = np.empty((200, CLASSES))
    for row, (x, missing) in enumerate(zip(pixels, gaps)):
        agrees = ((states[:, :PIXELS] == x) | missing).all(axis=1)
        p = [weight[agrees & (states[:, PIXELS + c] == 1)].sum() for c in range(CLASSES)]
        exact[row] = np.array(p) / sum(p)
    sweeps = 20000
    predict = ("classify", "predict", "m.safetensors", *table, "--sweeps", sweeps)
    succeed(*predict, "--out", "p.npy")
    found = np.load("p.npy")[:, 1:]
    assert np.abs(found[:20] - exact[:20]).max() < 1e-5  # nothing is missing there
    # Sixteen seeds with 2,000 sweeps, of which 1,000 count, differed by a standard deviation of 0.086 at most and of 0.022 on
    # average over rows and classes: here, with ten times as many, 0.027 and 0.007. Four of the first, two of the second,
    # which is a mean over 600 numbers.
    assert np.abs(found - exact).max() < 0.108
    assert np.sqrt(((found - exact) ** 2).mean()) < 0.014
    succeed(*predict, "--out", "again.npy", "--threads", 2)
    assert Path("again.npy").read_bytes() == Path("p.npy").read_bytes()
    report = ask("classify", "evaluate", "m.safetensors", *table, "--sweeps", sweeps)
    assert report["error"] == pytest.approx((found.argmax(axis=1) != labels[:200]).mean())


def test_labels_that_say_nothing_are_refused():
    pixels, _ = labelled()
    train = ("train", "--model", "class-rbm", "--data", "odd.npz", "--out", "m")
    for y, says in ((np.full(600, -1), "no row with a label"), (np.full(600, 4), "only the label 4")):
        np.savez("odd.npz", x=pixels, y=y)
        refused(BAD_DATA, *train, says=says)
    refused(USAGE, "train", "--model", "class-rbm", "--data", "rows.npz", "--generative-weight", 0.1, "--out", "m",
            says="--objective hybrid")
    refused(USAGE, "train", "--data", "rows.npz", "--objective", "hybrid", "--out", "m",
            says="--objective is for --model class-rbm")
    succeed("train", "--model", "class-rbm", "--data", "rows.npz", "--hidden", 2, "--epochs", 2, "--out", "m.safetensors")
    np.savez("other.npz", x=pixels, y=np.full(600, 7))
    refused(BAD_DATA, "classify", "evaluate", "m.safetensors", "--data", "other.npz", says="a class that the classifier")
    np.save("bare.npy", pixels)
    refused(BAD_DATA, "classify", "evaluate", "m.safetensors", "--data", "bare.npy", says="expected a label for each row")
    np.save("wide.npy", np.ones((3, PIXELS + 1)))
    refused(BAD_DATA, "classify", "predict", "m.safetensors", "--data", "wide.npy", "--out", "p.csv",
            says=f"expected rows of {PIXELS} values")


def test_a_discriminative_run_tells_the_error_and_no_likelihood():
    labelled()
    answer = ask("train", "--model", "class-rbm", "--data", "rows.npz", "--hidden", 4, "--epochs", 30, "--held-out", 0.2,
                 "--objective", "discriminative", "--out", "m.safetensors")
    assert set(answer["monitors"]) == {"weight_norm", "error", "log_loss", "held_out_error", "held_out_log_loss"}
    assert "log_likelihood" not in answer and "mixing" not in answer
    assert answer["monitors"]["held_out_error"] < 0.2


def test_it_becomes_a_network():
    pixels, labels = trained()
    succeed("classify", "fit", "--from", "m.safetensors", "--data", "rows.npz", "--epochs", 20, "--out", "n.classifier")
    assert ask("classify", "evaluate", "n.classifier", "--data", "rows.npz")["error"] < 0.15


def test_every_other_command_takes_it():
    trained("--trajectory", "way", "--report", "report.html")
    report = Path("report.html").read_text()
    assert all(f"<h3>{title}</h3>" in report for title in ("Error", "Log loss on held-out rows"))
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


def test_a_mask_is_said_to_have_the_label():
    trained()
    np.save("mask.npy", np.ones((1, PIXELS), np.uint8))
    refused(BAD_DATA, "complete", "m.safetensors", "--data", "rows.npz", "--mask", "mask.npy", "--out", "c.npy",
            says=f"expected a mask of {PIXELS + 1} values, one for each visible site, the last for the label")


def test_what_does_not_fit_is_refused():
    labelled()
    np.save("bare.npy", np.load("rows.npz")["x"])
    refused(BAD_DATA, "train", "--model", "class-rbm", "--data", "bare.npy", "--out", "m", says="expected a label for each row")
    refused(USAGE, "train", "--model", "class-rbm", "--data", "rows.npz", "--graph", "dense", "--out", "m",
            says="--graph is for --model boltzmann")
    rows = np.load("rows.npz")
    for label, says in ((-2, "expected a label from 0 to 2, or -1"), (5000, "expected labels from 0 to 999")):
        np.savez("odd.npz", x=rows["x"], y=np.where(np.arange(len(rows["y"])) == 3, label, rows["y"]))
        refused(BAD_DATA, "train", "--model", "class-rbm", "--data", "odd.npz", "--held-out", 0, "--out", "m", says=says)
    trained()
    refused(BAD_DATA, "evaluate", "m.safetensors", "--data", "bare.npy", says="expected a label for each row")
    done = run("train", "--model", "class-rbm", "--help")
    assert "--hidden " in done.stdout and "--visible-type" not in done.stdout
    kinds = json.loads(succeed("reference", "--json").stdout)["commands"][0]["kinds"]
    assert {o["name"] for o in kinds["class-rbm"]["options"]} >= {"hidden", "weight-scale", "method", "epochs", "objective",
                                                                  "generative-weight", "out"}


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
