"""Missing values through the command: where they are found, what is said of them, and who refuses them."""

from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, ask, refused, small_machine, succeed

NAN = np.nan


def gappy():
    """Three of twelve bits are missing."""
    np.save("gaps.npy", np.array([[0, 1, NAN, 1], [NAN, 1, 0, NAN], [1, 0, 0, 1]], np.float32))
    return "gaps.npy"


def test_a_file_with_gaps_needs_the_option():
    said = refused(BAD_DATA, "data", "show", "--data", gappy(), says=("row 0, column 2", "nan", "--missing"))
    assert "scale" not in said
    Path("t.csv").write_text("1,0\n?,1\n")
    refused(BAD_DATA, "data", "show", "--data", "t.csv", says=("line 2", "column 1", '"?"', "--missing"))
    Path("t.fasta").write_text(">a\nAC\n>b\n?C\n")
    refused(BAD_DATA, "data", "show", "--data", "t.fasta", says=("row 1", "column 0", "--missing"))


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
    refused(BAD_DATA, "data", "show", "--data", "empty.npy", "--missing", says=("column 1", "no known value"))


@pytest.mark.parametrize("line", [
    ("evaluate", "m.safetensors"),
    ("reconstruct", "m.safetensors", "--out", "x.png"),
    ("compare", "m.safetensors"),
    ("train", "--model", "hopfield", "--out", "x.safetensors"),
], ids=lambda line: " ".join(line[:1] + line[1:3] * (line[0] == "train")))
def test_who_needs_complete_rows_says_so(line):
    small_machine("m.safetensors")
    refused(BAD_DATA, *line, "--data", gappy(), "--missing", says=("gaps.npy", "3 missing values"))
