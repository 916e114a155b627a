"""Machines of many units and few couplings: what is made of their parameters may not be many times the file."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import FOREIGN, TIMEOUT, words, write_safetensors

UNITS = 2_000_000

# Starts the command and prints its peak. The system counts what a process held before it became the command, so this is
# a small process, which the test itself is not.
MEASURE = """import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_of(*args):
    """The most memory that the command held, in bytes."""
    command = [sys.executable, "-I", "-S", "-c", MEASURE, *words(args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


def rbm(visible, hidden):
    weights = np.random.default_rng(1).normal(0, 0.1, (visible, hidden)).astype("<f4")
    return {"weights": weights, "visible_bias": np.zeros(visible, "<f4"), "hidden_bias": np.zeros(hidden, "<f4")}


@pytest.mark.parametrize("tensors, metadata", [
    (rbm(1, UNITS), {"model": "rbm"}),
    (rbm(UNITS, 1), {"model": "rbm"}),
    ({"couplings": np.zeros(0, "<f4"), "bias": np.zeros(UNITS, "<f4"), "edges": np.zeros((0, 2), "<u8")},
     {"model": "boltzmann"}),
], ids=["one visible unit", "one hidden unit", "no edges"])
def test_a_look_at_a_machine_takes_a_few_times_its_file(own_folder, tensors, metadata):
    write_safetensors("narrow.safetensors", tensors, {**FOREIGN, **metadata})
    little = peak_of("data", "list")
    assert peak_of("inspect", "narrow.safetensors") < little + 8 * Path("narrow.safetensors").stat().st_size
