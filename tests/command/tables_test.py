"""Tables as people have them, and what is said of data that is odd."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, NO_INPUT, USAGE, ask, read_safetensors, refused, run, succeed

SURVEY = "id,age,old,town,vote\n" + "".join(
    f"{k + 1},{k % 7 / 7:.3f},{k % 2 == 0},{('Utrecht', 'Breda', 'Leiden')[k % 3]},{('no', 'yes')[k % 2]}\n"
    for k in range(30))


def survey():
    Path("survey.csv").write_text(SURVEY)
    return "survey.csv"


def show(*args):
    return ask("data", "show", "--data", *args)


def test_a_survey_becomes_units():
    done = succeed("data", "show", "--data", survey())
    assert "30 rows of 6 units" in done.stdout  # age, old, three towns, vote
    assert "column 1 (id) counts the rows and is left out" in done.stderr


def test_columns_are_chosen():
    data = survey()
    assert show(data, "--columns", "age,town")["units"] == 4
    assert show(data, "--drop", "town,2")["units"] == 2
    labelled = show(data, "--label-column", "vote", "--drop", "town")
    assert labelled["units"] == 2 and labelled["labels"] == [15, 15]
    towns = show(data, "--label-column", "town")
    assert towns["labels"] == [10, 10, 10] and towns["classes"] == ["Breda", "Leiden", "Utrecht"]
    assert towns["names"] == ["age", "old", "vote"]
    refused(USAGE, "data", "show", "--data", data, "--drop", "agee", says=('--drop', '"agee"', "2 (age)"))
    np.save("x.npy", np.eye(3))
    refused(USAGE, "data", "show", "--data", "x.npy", "--drop", "1", says="table")


def test_names_are_in_the_model_file():
    succeed("train", "--data", survey(), "--hidden", 2, "--epochs", 1, "--label-column", "vote", "--out", "m")
    notes = read_safetensors("m")[1]
    assert notes["unit_names"] == '["age","old","town=Breda","town=Leiden","town=Utrecht"]'
    assert notes["class_names"] == '["no","yes"]'


def test_a_machine_finds_its_columns_in_another_table():
    succeed("train", "--data", survey(), "--hidden", 2, "--epochs", 1, "--drop", "vote", "--out", "m")
    Path("other.csv").write_text("town;extra;old;age\nBreda;x;yes;0.2\nBreda;y;no;0.9\n")
    assert ask("evaluate", "m", "--data", "other.csv")["rows"] == 2
    Path("other.csv").write_text("town;old;age\nParis;yes;0.2\n")
    refused(BAD_DATA, "evaluate", "m", "--data", "other.csv", says=("column 1 (town)", '"Paris"'))


def test_a_machine_knows_its_columns_where_little_is_left_of_them():
    """f alone, of f and m, says neither true nor false; and a column without any value can be completed."""
    Path("people.csv").write_text("sex,tall\n" + "m,1\nf,0\n" * 20)
    succeed("train", "--data", "people.csv", "--hidden", 2, "--epochs", 1, "--out", "m")
    Path("one.csv").write_text("tall,sex\n1,f\n")
    assert ask("evaluate", "m", "--data", "one.csv")["rows"] == 1
    Path("unknown.csv").write_text("tall,sex\n1,\n0,\n")
    succeed("complete", "m", "--data", "unknown.csv", "--missing", "--out", "full.csv")
    lines = Path("full.csv").read_text().split()
    assert lines[0] == "sex=f,sex=m,tall" and [line[-1] for line in lines[1:]] == ["1", "0"]


def test_a_table_of_pandas_without_names():
    Path("t.csv").write_text(",0,1,2,3\n0,1,0,1,0\n1,0,0,1,1\n")
    for more in ((), ("--missing",), ("--visible-type", "gaussian")):
        command = ("train", "--hidden", 2, "--epochs", 1, "--out", "m") if "gaussian" in more else ("data", "show")
        done = succeed(*command, "--data", "t.csv", *more)
        assert "counts the rows" in done.stderr
    assert show("t.csv", "--missing")["rows"] == 2


def test_missing_words_are_missing_units():
    Path("t.csv").write_text("a,town\n1,Breda\n0,\n1,Utrecht\n")
    assert show("t.csv", "--missing")["missing"] == 2
    refused(BAD_DATA, "data", "show", "--data", "t.csv", says=("line 3", "column 2 (town)", "--missing"))


@pytest.mark.parametrize("text, says", [
    ("a,likert\n1,5\n", ("row 1, column 2 (likert)", "found 5", "gaussian", "potts")),
    ("a,b\n1,x\n0,1\n", ("line 3: column 2 (b)", '"1"', "--drop")),
    ("a,name\n" + "".join(f"1,n{k}\n" for k in range(99)), ("column 2 (name)", "99 different words", "--drop name")),
    ("ACDEFGHIKL\nACDEFGHIKV\n", ("sequences without names", ">name")),
])
def test_what_tables_cannot_be(text, says):
    Path("t.csv").write_text(text)
    refused(BAD_DATA, "data", "show", "--data", "t.csv", says=says)


def test_dark_bytes_and_constant_rows_are_warned_of():
    np.save("dark.npy", np.random.default_rng(1).integers(0, 17, (20, 4), np.uint8))
    for command in (("data", "show"), ("train", "--hidden", 2, "--epochs", 1, "--out", "m")):
        done = succeed(*command, "--data", "dark.npy")
        assert "the largest is 16" in done.stderr and "divide the array by 16" in done.stderr
        assert "no unit is on" in done.stderr
    np.save("same.npy", np.ones((5, 3)))
    assert "all 5 rows are the same" in succeed("data", "show", "--data", "same.npy").stderr
    np.save("bits.npy", np.eye(4))
    assert "warning" not in succeed("data", "show", "--data", "bits.npy").stderr


def test_dna_is_asked_about():
    Path("x.fasta").write_text(">a\nACGT\n>b\nAC-T\n")
    assert "is this DNA?" in succeed("data", "show", "--data", "x.fasta").stderr


@pytest.mark.parametrize("text", ["# STOCKHOLM 1.0\n#=GF ID x\na/1-4 ACDW\nb/1-4 AC-E\n//\n",
                                  "CLUSTAL W (1.83)\n\na  AC 2\nb  AC 2\n   **\n\na  DW\nb  -E\n"])
def test_alignments_of_other_programs(text):
    Path("x").write_text(text)
    shown = show("x")
    assert (shown["rows"], shown["sites"], shown["letters"]) == (2, 4, 21)


def test_arrays_of_an_archive():
    first, second = np.eye(3), np.eye(5)
    np.savez("two.npz", first, second)
    refused(BAD_DATA, "data", "show", "--data", "two.npz", says=('"arr_0", "arr_1"', "--array"))
    assert show("two.npz", "--array", "arr_1")["units"] == 5
    np.savez("one.npz", first, np.arange(3))
    assert show("one.npz")["units"] == 3


def test_a_folder_of_pictures():
    np.save("grey.npy", np.random.default_rng(2).random((3, 6, 4)))
    Path("pictures").mkdir()
    succeed("data", "show", "--data", "grey.npy", "--count", 1, "--out", "pictures/a.png")
    succeed("data", "show", "--data", "grey.npy", "--count", 1, "--out", "pictures/b.png")
    shown = show("pictures")
    assert shown["rows"] == 2 and shown["height"] * shown["width"] == shown["units"]
    refused(BAD_DATA, "data", "show", "--data", "pictures/a.png", says=("PNG picture", "folder"))
    Path("empty").mkdir()
    refused(NO_INPUT, "data", "show", "--data", "empty", says="without PNG pictures")


def test_other_formats_are_named():
    succeed("train", "--data", survey(), "--hidden", 2, "--epochs", 1, "--out", "m")
    refused(BAD_DATA, "data", "show", "--data", "m", says="safetensors")
    Path("x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    refused(BAD_DATA, "data", "show", "--data", "x.h5", says="HDF5")
    with zipfile.ZipFile("x.xlsx", "w") as book:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            book.writestr(name, "<?xml version='1.0'?>")
    refused(BAD_DATA, "data", "show", "--data", "x.xlsx", says=("spreadsheet", "csv"))
    Path("x.csv.gz").write_bytes(gzip.compress(b"1,0\n0,1\n"))
    refused(BAD_DATA, "data", "show", "--data", "x.csv.gz", says="gunzip")


def test_the_help_says_what_auto_is():
    assert "potts if the data is an alignment" in run("train", "--help").stdout
