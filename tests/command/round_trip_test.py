"""What comes out goes back in: samples of every kind of machine are data for it, and for a new one, in every format."""

import csv
import json

import numpy as np
import pytest
from conftest import BAD_DATA, USAGE, ask, read_safetensors, refused, succeed

DRAW = np.random.default_rng(3)
BITS = (DRAW.random((40, 5)) < 0.4).astype(np.uint8)
LETTERS = DRAW.integers(0, 3, (40, 4))
REALS = DRAW.normal(size=(40, 2))
ALPHABET = "ACDEFGHIKLMNPQRSTVWY-"
FASTA = "".join(f">s{r}\n{''.join(ALPHABET[a] for a in row)}\n" for r, row in enumerate(DRAW.integers(0, 21, (12, 3))))

SMALL = ("--hidden", 3, "--epochs", 2, "--batch", 10, "--no-likelihood")
GRAPH = ("--epochs", 2, "--batch", 10, "--no-likelihood")

# name: (data, options of training, formats of samples)
CASES = {
    "rbm-bernoulli": ("bits", SMALL, ("npy", "csv")),
    "rbm-spin": ("bits", ("--visible-type", "spin", *SMALL), ("npy", "csv")),
    "rbm-potts": ("letters", ("--visible-type", "potts", *SMALL), ("npy", "csv")),
    "rbm-gaussian": ("reals", ("--visible-type", "gaussian", *SMALL), ("npy", "csv")),
    "rbm-relu": ("positive", ("--visible-type", "relu", *SMALL), ("npy", "csv")),
    "rbm-alignment": ("alignment", SMALL, ("npy", "csv", "fasta")),
    "boltzmann-bernoulli": ("bits", ("--model", "boltzmann", *GRAPH), ("npy", "csv")),
    "boltzmann-spin": ("spins", ("--model", "boltzmann", "--visible-type", "spin", *GRAPH), ("npy", "csv")),
    "boltzmann-potts": ("letters", ("--model", "boltzmann", "--visible-type", "potts", *GRAPH), ("npy", "csv")),
    "boltzmann-alignment": ("alignment", ("--model", "boltzmann", *GRAPH), ("npy", "csv", "fasta")),
    "hopfield": ("spins", ("--model", "hopfield", "--patterns", 2), ("npy", "csv")),
    "class-rbm": ("labelled", ("--model", "class-rbm", *SMALL), ("npy", "csv")),
    "dbn": ("labelled", ("--model", "dbn", "--hidden", "4,3", "--epochs", 2, "--batch", 10, "--no-likelihood"),
            ("npy", "csv")),
    "dbm": ("bits", ("--model", "dbm", "--hidden", "4,3", "--epochs", 2, "--batch", 10, "--no-likelihood"), ("npy", "csv")),
    "neural": ("reals", ("--model", "neural", "--epochs", 1, "--layers", 4, "--no-likelihood"), ("npy", "csv")),
}
LABELLED = ("class-rbm", "dbn")  # whose samples have their label as further units


def test_every_kind_of_machine_and_type_of_unit_is_tried():
    reference = json.loads(succeed("reference", "--json").stdout)
    kinds = next(command["kinds"] for command in reference["commands"] if command["name"] == "train")
    tried = [" ".join(map(str, options)) for _, options, _ in CASES.values()]
    for kind in set(kinds) - {"rbm"}:
        assert any(f"--model {kind}" in line for line in tried), kind
    types = next(option["choices"] for option in kinds["rbm"]["options"] if option["name"] == "visible-type")
    for name in (choice["name"] for choice in types if choice["name"] not in ("auto", "bernoulli")):
        assert any(f"--visible-type {name}" in line for line in tried), name


def write(kind):
    """A data file of the kind; its name, and the options that belong to it."""
    if kind == "alignment":
        with open("data.fasta", "w") as file:
            file.write(FASTA)
        return "data.fasta", ()
    arrays = {"bits": BITS, "spins": 2 * BITS.astype(np.int8) - 1, "letters": LETTERS, "reals": REALS,
              "positive": np.abs(REALS), "labelled": BITS}
    np.save("data.npy", arrays[kind])
    np.save("labels.npy", np.arange(40) % 3)
    return "data.npy", ("--labels", "labels.npy") if kind == "labelled" else ()


def trained(case):
    kind, options, _ = CASES[case]
    data, of_data = write(kind)
    succeed("train", "--data", data, *of_data, *options, "--out", "model.safetensors")
    return "model.safetensors"


def drawn(model, form, *options):
    out = f"samples.{form}"
    succeed("sample", model, "--count", 30, "--sweeps", 20, "--out", out, *options)
    return out


def label_options(case, form):
    return ("--label-column", "label") if case in LABELLED and form == "csv" else ()


@pytest.mark.parametrize("case", CASES)
def test_samples_are_data_for_the_machine_that_drew_them(case):
    model = trained(case)
    said = [ask("evaluate", model, "--data", drawn(model, form), *label_options(case, form))
            for form in CASES[case][2]]
    assert all(answer["rows"] == 30 for answer in said)
    assert all(answer == said[0] for answer in said), "the formats do not hold the same rows"


@pytest.mark.parametrize("case, form", [(case, form) for case in CASES for form in CASES[case][2]])
def test_samples_are_data_for_a_new_machine(case, form):
    model = trained(case)
    samples = drawn(model, form)
    options = CASES[case][1]
    of_data = label_options(case, form)
    if case in LABELLED and form == "npy":  # the label is the last units
        rows = np.load(samples)
        np.save("x.npy", rows[:, :5])
        np.save("y.npy", rows[:, 5:].argmax(axis=1))
        samples, of_data = "x.npy", ("--labels", "y.npy")
    if case.endswith("alignment") and form == "npy":
        options = (*options, "--visible-type", "potts")  # numbers do not say that they are letters
    succeed("train", "--data", samples, *of_data, *options, "--out", "again.safetensors")


@pytest.mark.parametrize("case, form", [(case, form) for case in CASES for form in CASES[case][2]])
def test_samples_with_gaps_are_completed_to_data(case, form):
    """Rows that a machine drew, a third of their values hidden and filled in, are data again."""
    model = trained(case)
    samples, of_data, full = drawn(model, form), label_options(case, form), f"full.{form}"
    succeed("complete", model, "--data", samples, *of_data, "--mask", "random:0.3", "--sweeps", 10, "--out", full)
    assert ask("evaluate", model, "--data", full, *of_data)["rows"] == 30


def test_spins_are_written_as_minus_one_and_one():
    model = trained("rbm-spin")
    assert set(np.unique(np.load(drawn(model, "npy")))) == {-1, 1}
    with open(drawn(model, "csv")) as file:
        assert {cell for line in csv.reader(file) for cell in line} == {"-1", "1"}
    means = np.load(drawn(model, "npy", "--means"))
    assert means.min() < 0 and means.min() >= -1 and means.max() <= 1
    assert ask("evaluate", model, "--data", "samples.npy")["rows"] == 30


def test_a_hopfield_network_restores_minus_one_and_one():
    model = trained("hopfield")
    succeed("recall", model, "--data", "data.npy", "--out", "restored.npy")
    restored = np.load("restored.npy")
    assert set(np.unique(restored)) == {-1, 1}
    succeed("recall", model, "--data", "restored.npy", "--out", "again.npy")
    assert np.array_equal(np.load("again.npy"), restored)


@pytest.mark.parametrize("rows", [BITS, BITS.astype(np.float64), 2 * BITS.astype(np.int8) - 1,
                                  2 * BITS.astype(np.float32) - 1])
@pytest.mark.parametrize("case", ["rbm-bernoulli", "rbm-spin"])
def test_zeros_and_ones_are_minus_ones_and_ones(case, rows):
    model = trained(case)
    np.save("bits.npy", BITS)
    np.save("other.npy", rows)
    np.savetxt("other.csv", rows, fmt="%g", delimiter=",")
    expected = ask("evaluate", model, "--data", "bits.npy")
    assert ask("evaluate", model, "--data", "other.npy") == expected
    assert ask("evaluate", model, "--data", "other.csv") == expected


def test_letters_are_numbers_or_one_hot_or_probabilities():
    model = trained("rbm-potts")
    letters = np.load(drawn(model, "npy"))
    assert letters.shape == (30, 4) and letters.dtype == np.uint8 and letters.max() < 3
    expected = ask("evaluate", model, "--data", "samples.npy")
    np.save("one_hot.npy", np.eye(3)[letters].reshape(30, 12))
    assert ask("evaluate", model, "--data", "one_hot.npy") == expected
    means = np.load(drawn(model, "npy", "--means"))
    assert means.shape == (30, 12)
    assert np.allclose(means.reshape(30, 4, 3).sum(axis=2), 1, atol=1e-5)
    np.save("letters.npy", means.reshape(30, 4, 3).argmax(axis=2))
    assert ask("evaluate", model, "--data", "samples.npy") == ask("evaluate", model, "--data", "letters.npy")
    np.save("wrong.npy", np.ones((3, 12)))
    refused(BAD_DATA, "evaluate", model, "--data", "wrong.npy", says=("row 1, columns 1 to 3", "add up to 3"))


def test_an_alignment_makes_letters_and_comes_back_as_sequences():
    model = trained("rbm-alignment")
    _, metadata = read_safetensors(model)
    assert metadata["visible"] == "potts" and metadata["visible_letters"] == "21" and metadata["alphabet"] == ALPHABET
    numbers = np.load(drawn(model, "npy"))
    lines = open(drawn(model, "fasta")).read().splitlines()
    assert lines[0] == ">sample 1"
    assert lines[1::2] == ["".join(ALPHABET[a] for a in row) for row in numbers]
    with open(drawn(model, "csv")) as file:
        table = list(csv.reader(file))
    assert table[0] == ["site 1", "site 2", "site 3"]
    assert ["".join(row) for row in table[1:]] == lines[1::2]


def test_the_type_can_be_chosen_for_an_alignment():
    data, _ = write("alignment")
    succeed("train", "--data", data, "--visible-type", "bernoulli", *SMALL, "--out", "m.safetensors")
    assert read_safetensors("m.safetensors")[1]["visible"] == "bernoulli"


def test_sequences_need_letters_of_an_alignment():
    model = trained("rbm-potts")
    refused(USAGE, "sample", model, "--out", "x.fasta", says=("no letters of an alignment", ".csv"))
    model = trained("rbm-alignment")
    refused(USAGE, "sample", model, "--means", "--out", "x.fasta", says=("no means", ".csv"))


def test_a_mask_may_have_one_dimension():
    model = trained("rbm-bernoulli")
    np.save("mask.npy", np.array([1, 1, 0, 0, 0]))
    succeed("sample", model, "--data", "data.npy", "--fixed", "mask.npy", "--count", 40, "--out", "x.npy")
    assert np.array_equal(np.load("x.npy")[:, :2], BITS[:, :2])


def test_names_of_columns_come_back():
    with open("t.csv", "w") as file:
        file.write("old,town\n" + "yes,Breda\nno,Utrecht\n" * 10)
    succeed("train", "--data", "t.csv", *SMALL, "--out", "m.safetensors")
    succeed("sample", "m.safetensors", "--count", 5, "--out", "s.csv")
    assert open("s.csv").readline() == "old,town=Breda,town=Utrecht\n"
    assert ask("evaluate", "m.safetensors", "--data", "s.csv")["rows"] == 5
