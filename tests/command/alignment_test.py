"""Aligned sequences through the command: what they are read as, how much each counts, and what is refused."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, NO_INPUT, USAGE, ask, png_size, read_safetensors, refused, rows_seen, snapshot, started,
                      stop_after, succeed)

LETTERS = "ACDEFGHIKLMNPQRSTVWY-"


def write_fasta(sequences, path="data.fasta", end="\n", width=60):
    """Wrapped lines under headers that count the sequences."""
    lines = []
    for number, letters in enumerate(sequences):
        lines += [f">sequence {number}"] + [letters[k:k + width] for k in range(0, len(letters), width)]
    Path(path).write_bytes((end.join(lines) + end).encode())
    return path


def one_hot(sequences):
    return np.array([[letter == a for letter in letters for a in LETTERS] for letters in sequences], np.uint8)


def family(rows=60, sites=30, seed=3):
    """Sequences that descend from three ancestors, near and far."""
    draw = np.random.default_rng(seed)
    ancestors = draw.choice(list(LETTERS), (3, sites))
    changed = draw.random((rows, sites)) < draw.random((rows, 1)) * 0.5
    letters = np.where(changed, draw.choice(list(LETTERS), (rows, sites)), ancestors[np.arange(rows) % 3])
    return ["".join(row) for row in letters]


def weights_of(sequences, identity):
    """One over the number of sequences that are alike, by the definition."""
    letters = np.array([list(row) for row in sequences])
    alike = (letters[:, None] == letters[None]).mean(axis=2) >= identity
    return 1 / alike.sum(axis=1)


# ---- Reading ----


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("width", [2, 60])
def test_a_site_is_one_bit_of_21(end, width):
    sequences = ["ACD", "EFG", "HIK", "LMN", "PQR", "STV", "WY-"]
    write_fasta(sequences, end=end, width=width)
    assert (rows_seen("data.fasta", 63) == one_hot(sequences)).all()


@pytest.mark.parametrize("written, read", [
    (["A.C", "ACD"], ["A-C", "ACD"]),
    (["AXCBD", "AZJUO"], ["A-C-D", "A----"]),
    (["AcD.", "A.Dg", "--D."], ["AD", "AD", "-D"]),
    (["AsD", "A-E"], ["AD", "AE"]),
    (["AD", "AcccD", "cA-"], ["AD", "AD", "A-"]),
], ids=["dots", "ambiguous", "padded inserts", "inserts under gaps", "inserts without padding"])
def test_gaps_and_inserts(written, read):
    write_fasta(written)
    assert (rows_seen("data.fasta", 21 * len(read[0])) == one_hot(read)).all()


def test_the_name_of_the_file_does_not_matter():
    write_fasta(["ACD", "ACE"], "data.csv")
    assert ask("data", "show", "--data", "data.csv")["letters"] == 21


# ---- Weights ----


@pytest.mark.parametrize("identity", [0.1, 0.5, 0.6, 0.8, 0.9, 1.0])
def test_show_tells_the_effective_number(identity):
    sequences = family() + family()[:7]
    write_fasta(sequences)
    shown = ask("data", "show", "--data", "data.fasta", "--identity", identity)
    assert (shown["rows"], shown["sites"], shown["letters"], shown["units"]) == (67, 30, 21, 630)
    assert shown["effective_rows"] == pytest.approx(weights_of(sequences, identity).sum())


def test_show_in_words():
    write_fasta(["ACDEF", "ACDEG", "KKKKK"])
    text = succeed("data", "show", "--data", "data.fasta").stdout
    assert "3 sequences of 5 sites, 21 letters (105 units)" in text and "effective  2.0 sequences" in text
    text = succeed("data", "show", "--data", "data.fasta", "--identity", 0).stdout
    assert "effective  3.0 sequences" in text


def test_pictures_are_logos():
    """A column for each site, and twice the height for rows beside their reconstructions."""
    write_fasta(family(sites=30), "family.fasta")
    size = (40 + 30 * 17 + 12, 150)
    succeed("data", "show", "--data", "family.fasta", "--out", "data.png")
    assert png_size("data.png") == size
    succeed("train", "--data", "family.fasta", "--visible-type", "potts", "--hidden", 3, "--epochs", 2, "--out",
            "m.safetensors", "--report", "report.html")
    succeed("sample", "m.safetensors", "--sweeps", 20, "--out", "samples.png")
    assert png_size("samples.png") == size
    succeed("reconstruct", "m.safetensors", "--data", "family.fasta", "--out", "pairs.png")
    assert png_size("pairs.png") == (size[0], 2 * size[1])


def test_other_data_has_no_letters_and_counts_in_full():
    shown = ask("data", "show", "--data", "bars-and-stripes:3")
    assert (shown["sites"], shown["letters"], shown["effective_rows"]) == (0, 0, 16)
    assert "effective" not in succeed("data", "show", "--data", "bars-and-stripes:3").stdout


def train(*args, out="m.safetensors", epochs=3):
    return ("train", "--data", "data.fasta", "--hidden", 4, "--batch", 10, "--epochs", epochs, "--out", out, *args)


@pytest.mark.parametrize("identity, share", [(1, 0.1), (0, 0.9)])
def test_training_begins_at_the_weighted_means(identity, share):
    """81 copies of one sequence, and nine that differ: a tenth of the weights begins with A, or nine tenths."""
    write_fasta(["A" * 9] * 81 + ["C" + "D" * k + "E" * (8 - k) for k in range(9)])
    succeed(*train("--identity", identity, "--learning-rate", 1e-9, "--held-out", 0))
    bias = read_safetensors("m.safetensors")[0]["visible_bias"][0]
    assert bias == pytest.approx(np.log(share), abs=1e-5)


def test_weights_change_the_machine_and_threads_do_not():
    write_fasta(family())
    for out, *options in (["a"], ["b", "--threads", 1], ["c", "--threads", 3], ["d", "--identity", 0]):
        succeed(*train(*options, out=out))
    a, b, c, d = (Path(name).read_bytes() for name in "abcd")
    assert a == b == c != d


def test_a_resumed_run_draws_the_same_rows():
    write_fasta(family())
    succeed(*train(out="whole.safetensors", epochs=200))
    code, _, err = stop_after(2, signal.SIGINT, *train(out="part.safetensors", epochs=200))
    assert code == 130, err
    refused(USAGE, *train("--resume", "--identity", 0.7, out="part.safetensors", epochs=200), says="identity")
    succeed(*train("--resume", out="part.safetensors", epochs=200))
    assert Path("part.safetensors").read_bytes() == Path("whole.safetensors").read_bytes()


def test_labels_and_parts():
    write_fasta(family())
    np.save("labels.npy", np.arange(60) % 3)
    shown = [ask("data", "show", "--data", "data.fasta", "--labels", "labels.npy", "--test-share", 0.25, "--split", part)
             for part in ("train", "test")]
    assert [part["rows"] for part in shown] == [45, 15]
    assert np.add(shown[0]["labels"], shown[1]["labels"]).tolist() == [20, 20, 20]
    total = shown[0]["effective_rows"] + shown[1]["effective_rows"]
    assert total == pytest.approx(weights_of(family(), 0.8).sum())


# ---- Refusals ----


@pytest.mark.parametrize("text, says", [
    (">a\nACD\n>b\nAC\n", ("row 2", '"b"', "expected 3 match columns", "found 2")),
    (">a\nACD\n>b\nA1D\n", ("row 2", "column 2", '"1"')),
    (">a\nACD\n>b\nAC?\n", ("row 2", "column 3", '"?"')),
    (">a\nACD\n>b\n", ("line 3", '"b"', "found none")),
    (">a\nA\tD\n", ("line 2", "column 2", "\\x09")),
    (">a\nacd\n", ("upper-case",)),
    (">", ("line 1", "found none")),
], ids=["length", "digit", "mark", "empty", "control", "inserts only", "cut"])
def test_unfit_alignments_are_refused_with_their_place(text, says):
    Path("data.fasta").write_text(text)
    refused(BAD_DATA, *train(), says=("data.fasta", *says))


@pytest.mark.parametrize("identity", ["-0.1", "1.1", "nan", "much"])
def test_an_impossible_identity(identity):
    write_fasta(["ACD"])
    refused(USAGE, "data", "show", "--data", "data.fasta", "--identity", identity, says="--identity")


def test_the_named_alignment_says_how_to_bring_it():
    refused(NO_INPUT, "data", "show", "--data", "pf00071", says="ergodic data get pf00071")


# ---- Many sequences ----


def test_weights_do_not_depend_on_threads():
    write_fasta(family(500))
    found = [ask("data", "show", "--data", "data.fasta", "--threads", threads)["effective_rows"] for threads in (1, 2, 5)]
    assert found[0] == found[1] == found[2] == pytest.approx(weights_of(family(500), 0.8).sum())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_weighting_can_be_interrupted(how):
    """All pairs of 60,000 sequences take much longer than it takes to be told to stop."""
    draw = np.random.default_rng(1)
    write_fasta(["".join(row) for row in draw.choice(list(LETTERS), (60000, 50))])
    before = snapshot()
    with started("train", "--data", "data.fasta", "--visible-type", "potts", "--threads", 1, "--out", "m.safetensors",
                 stderr=subprocess.PIPE) as process:
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(how)
        said = process.communicate(timeout=10)[1]
    assert process.returncode == 128 + how and "stopped" in said
    assert snapshot() == before
