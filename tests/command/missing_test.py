"""Missing values through the command: where they are found, what is said of them, who learns around them and who refuses them."""

from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, USAGE, ask, bars_and_stripes, refused, small_machine, succeed

NAN = np.nan


def gappy():
    """Three of twelve bits are missing."""
    np.save("gaps.npy", np.array([[0, 1, NAN, 1], [NAN, 1, 0, NAN], [1, 0, 0, 1]], np.float32))
    return "gaps.npy"


def test_a_file_with_gaps_needs_the_option():
    said = refused(BAD_DATA, "data", "show", "--data", gappy(), says=("row 1, column 3", "nan", "--missing"))
    assert "scale" not in said
    Path("t.csv").write_text("1,0\n?,1\n")
    refused(BAD_DATA, "data", "show", "--data", "t.csv", says=("line 2", "column 1", '"?"', "--missing"))
    Path("t.fasta").write_text(">a\nAC\n>b\n?C\n")
    refused(BAD_DATA, "data", "show", "--data", "t.fasta", says=("row 2", "column 1", "--missing"))


def test_show_counts_them():
    answer = ask("data", "show", "--data", gappy(), "--missing")
    assert answer["missing"] == 3
    assert np.isclose(answer["mean"], np.mean([1 / 2, 2 / 3, 0, 1]))
    assert "missing    3 values (25.00 %)\n" in succeed("data", "show", "--data", "gaps.npy", "--missing").stdout
    np.save("whole.npy", np.eye(3))
    assert ask("data", "show", "--data", "whole.npy", "--missing")["missing"] == 0
    assert "missing" not in succeed("data", "show", "--data", "whole.npy", "--missing").stdout


@pytest.mark.parametrize("text, missing", [
    ("a,b,c\n1,?,0\n,NA,1\n0,1,nan\n", 4), ("1;;0\n0;1;1\n", 1), ("1 NA 0\n0 1 1\n", 1), ("?,?\n1,0\n", 2),
], ids=["header", "semicolons", "blanks", "first row"])
def test_text(text, missing):
    Path("t.csv").write_text(text)
    assert ask("data", "show", "--data", "t.csv", "--missing")["missing"] == missing


def test_sequences():
    Path("t.fasta").write_text(">a\nAC?D\n>b\n?CXD\n>c\nAC-D\n")
    answer = ask("data", "show", "--data", "t.fasta", "--missing", "--identity", 1)
    assert (answer["sites"], answer["missing"]) == (4, 2)  # X is a gap, as ever
    assert np.isclose(answer["effective_rows"], 1)  # no two differ where both are known


def test_a_column_without_values_is_refused():
    np.save("empty.npy", np.array([[1, NAN], [0, NAN]]))
    refused(BAD_DATA, "data", "show", "--data", "empty.npy", "--missing", says=("column 2", "no known value"))


def test_a_hopfield_network_needs_complete_rows():
    refused(BAD_DATA, "train", "--model", "hopfield", "--out", "x.safetensors", "--data", gappy(), "--missing",
            says=("gaps.npy", "3 missing values"))


@pytest.mark.parametrize("command", ["reconstruct", "compare", "recall"])
def test_who_needs_complete_rows_does_not_list_missing_ones(command):
    assert "--missing" not in succeed(command, "--help").stdout
    small_machine("m.safetensors")
    refused(USAGE, command, "m.safetensors", "--data", gappy(), "--missing", "--out", "x.png", says="--missing")


@pytest.mark.parametrize("machine", [("--hidden", 8), ("--model", "boltzmann", "--hidden", 6)], ids=["rbm", "graph"])
def test_training_draws_them(machine):
    """Complete rows are nearly as likely as if nothing had been missing; zeros in their place cost far more."""
    rows = np.tile(bars_and_stripes(3), (20, 1)).astype(np.float32)
    gaps = np.where(np.random.default_rng(1).random(rows.shape) < 0.2, NAN, rows)
    np.save("gaps.npy", gaps)
    np.save("zeros.npy", np.nan_to_num(gaps))
    likelihood = {}
    for data, more in (("gaps.npy", ("--missing",)), ("zeros.npy", ())):
        succeed("train", *machine, "--data", data, *more, "--held-out", 0, "--epochs", 3000, "--learning-rate", 0.2,
                "--out", "m.safetensors", "--quiet")
        answer = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:3")
        likelihood[data] = answer["log_likelihood"]["value"]
    assert likelihood["gaps.npy"] > likelihood["zeros.npy"] + 0.3
    assert likelihood["gaps.npy"] > -3.3  # complete rows give -2.8, independent units -6.2


@pytest.mark.parametrize("units, values", [
    ("gaussian", [[0.5, NAN, 1.0], [NAN, 2.0, 0.1], [1.5, 0.2, NAN], [0.3, 1.0, 0.9]]),
    ("potts", [[0, 2, -1], [1, -1, 0], [2, 1, 1], [-1, 0, 2]]),
    ("spin", [[0, NAN, 1], [1, 1, NAN], [NAN, 0, 1], [1, 0, 0]]),
])
def test_every_kind_of_units_learns_around_them(units, values):
    np.save("x.npy", np.array(values, np.int64 if units == "potts" else np.float32))
    options = ("train", "--data", "x.npy", "--missing", "--visible-type", units, "--hidden", 3, "--held-out", 0,
               "--epochs", 50, "--quiet", "--out")
    succeed(*options, "a.safetensors", "--threads", 1)
    succeed(*options, "b.safetensors", "--threads", 3)
    assert Path("a.safetensors").read_bytes() == Path("b.safetensors").read_bytes()
