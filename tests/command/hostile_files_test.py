"""Files that would make a careless reader wait for ever, fill the memory, or write to the terminal what they like."""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, FOREIGN, IO, NO_INPUT, TIMEOUT, USAGE, random_machine, refused, small_machine, succeed,
                      words, write_safetensors)


@pytest.fixture(autouse=True)
def machine(own_folder):
    return small_machine("m.safetensors")


TRAIN = ("train", "--data", "bars-and-stripes:3", "--hidden", 3, "--epochs", 1, "--out", "new.safetensors")


# ---- Pipes ----


@pytest.mark.parametrize("args", [
    ("train", "--data", "pipe", "--out", "new.safetensors"),
    ("data", "show", "--data", "pipe"),
    ("data", "show", "--data", "x.npy", "--labels", "pipe"),
    (*TRAIN, "--config", "pipe"),
    ("train", "--model", "boltzmann", "--data", "bars-and-stripes:3", "--graph", "pipe", "--out", "new.safetensors"),
    ("inspect", "pipe"),
    ("evaluate", "pipe", "--data", "bars-and-stripes:3"),
    ("evaluate", "m.safetensors", "--data", "pipe"),
    ("sample", "m.safetensors", "--watch", "pipe", "--out", "s.npy"),
    ("sample", "m.safetensors", "--data", "x.npy", "--fixed", "pipe", "--out", "s.npy"),
], ids=lambda args: " ".join(map(str, args)))
def test_a_pipe_is_refused_and_not_waited_for(args):
    np.save("x.npy", np.zeros((2, 9), np.uint8))
    os.mkfifo("pipe")
    refused(NO_INPUT, *args, says=("pipe", "not a regular file"))


@pytest.mark.parametrize("args", [(*TRAIN, "--log", "pipe"), (*TRAIN, "--report", "pipe"), (*TRAIN, "--resume")],
                         ids=["log", "report", "checkpoint"])
def test_nothing_is_written_to_a_pipe(args):
    os.mkfifo("pipe")
    Path("new.safetensors.checkpoint").symlink_to("pipe" if "--resume" in args else "nothing")
    refused(IO, *args, says="expected the name of a file")


# ---- Memory ----

# Starts the command and prints its peak. The system counts what a process held before it became the command, so this is
# a small process, which the test itself is not.
MEASURE = """import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def peak(*args):
    """Exit code, and the most memory held, in MB."""
    command = [sys.executable, "-I", "-S", "-c", MEASURE, *words(args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    code, kilobytes = map(int, done.stdout.split()[-2:])
    return code, kilobytes / 1000


def small():
    """A command that reads nothing takes so much, and this a little more."""
    return peak("data", "list")[1] + 40


def test_only_the_members_that_are_asked_for_are_inflated():
    np.savez_compressed("b.npz", x=np.ones((4, 4), np.uint8), evil=np.zeros((1 << 18, 1024), np.uint8))
    assert Path("b.npz").stat().st_size < 1e6
    code, most = peak("data", "show", "--data", "b.npz", "--quiet")
    assert code == 0 and most < small()


def test_a_small_file_does_not_fill_the_memory():
    """1 MB that holds 1 GiB of zeros: what the header says is judged before the rest is inflated."""
    def deflated(content):
        coder = zlib.compressobj(9, zlib.DEFLATED, -15)
        return coder.compress(content) + coder.flush(zlib.Z_FULL_FLUSH)

    header = bytes([0, 0, 8, 2]) + struct.pack(">II", 1 << 20, 1 << 10)
    start = bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
    Path("zeros.gz").write_bytes(start + deflated(header) + deflated(bytes(1 << 20)) * 1024 + b"\3\0" + bytes(8))
    assert Path("zeros.gz").stat().st_size < 1.2e6
    code, most = peak("data", "show", "--data", "zeros.gz", "--quiet")
    assert code == BAD_DATA and most < small()
    refused(BAD_DATA, "data", "show", "--data", "zeros.gz", says=("implausible", "without compression"))


@pytest.mark.parametrize("head", [b"", struct.pack("<Q", 1 << 29), struct.pack("<Q", 90_000_000) + b"{"],
                         ids=["zeros", "a long header", "a header of 90 MB"])
def test_a_model_is_judged_by_its_first_bytes(head):
    with open("sparse.safetensors", "wb") as file:
        file.write(head)
        file.truncate(1 << 30)
    code, most = peak("inspect", "sparse.safetensors")
    assert code == BAD_DATA and most < small()


# ---- Text ----

CONTROL = "\x1b]0;title\x07\x1b[31mred\x7f\x9b1m"


def clean(text):
    return all(c == "\n" or (c >= " " and not "\x7f" <= c <= "\x9f") for c in text)


@pytest.mark.parametrize("key", ["a note", "model", "format", "version", "visible", "visible_letters", "digest"])
@pytest.mark.parametrize("value", [CONTROL, "x" * 1_000_000], ids=["control characters", "long"])
def test_metadata_does_not_reach_the_terminal_as_it_is(key, value):
    write_safetensors("hostile.safetensors", random_machine(), {**FOREIGN, key: value})
    if key == "a note":
        said = succeed("inspect", "hostile.safetensors").stdout
    else:
        said = refused(BAD_DATA, "inspect", "hostile.safetensors", says="hostile.safetensors")
    assert clean(said) and len(said) < 6000


@pytest.mark.parametrize("line", ["{}", "hidden = {}", "{} = 1", "data = {}", "method = {}"])
@pytest.mark.parametrize("value", [CONTROL, "x" * 1_000_000], ids=["control characters", "long"])
def test_a_config_file_does_not_reach_the_terminal_as_it_is(line, value):
    Path("c").write_text(line.format(value))
    code = {"{}": BAD_DATA, "data = {}": NO_INPUT}.get(line, USAGE)
    said = refused(code, "train", "--out", "new.safetensors", *([] if "data" in line else ["--data", "digits"]),
                   "--config", "c")
    assert clean(said) and len(said) < 6000


def test_a_graph_is_what_the_file_says():
    couplings = {"couplings": np.ones(2, np.float32), "bias": np.zeros(3, np.float32),
                 "edges": np.array([[0, 1], [1, 2]], np.uint64)}
    metadata = {**FOREIGN, "model": "boltzmann"}
    for graph in ("tree", "dense", CONTROL):
        write_safetensors("graph.safetensors", couplings, {**metadata, "graph": graph})
        said = refused(BAD_DATA, "inspect", "graph.safetensors", says="expected 'graph' to be 'edges'")
        assert clean(said)
    for extra in ({}, {"graph": "edges"}):
        write_safetensors("graph.safetensors", couplings, {**metadata, **extra})
        succeed("inspect", "graph.safetensors")
