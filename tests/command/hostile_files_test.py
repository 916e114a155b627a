"""Files that would make a careless reader wait for ever, fill the memory, or write to the terminal what they like."""

import os
from pathlib import Path

import numpy as np
import pytest
from conftest import IO, NO_INPUT, refused, small_machine


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
