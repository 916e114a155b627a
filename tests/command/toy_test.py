"""A machine and a training method that only a test program has, registered by one row each, through all commands."""

import itertools
import json
import os
import subprocess
from pathlib import Path

import numpy as np

from conftest import COMMAND, read_safetensors

TOY = os.environ.get("ERGODIC_TOY", str(Path(COMMAND).parents[2] / "tests/ergodic_toy"))
SPINS = 6


def toy(*words, code=0):
    done = subprocess.run([TOY, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


def exact(coupling, field):
    """All states of the ring, their probabilities, and log Z."""
    states = np.array(list(itertools.product((-1, 1), repeat=SPINS)))
    minus_energy = coupling * (states * np.roll(states, -1, axis=1)).sum(axis=1) + field * states.sum(axis=1)
    log_z = np.log(np.exp(minus_energy).sum())
    return states, np.exp(minus_energy - log_z), log_z


def train(out, *words):
    states, p, _ = exact(0.4, 0.1)
    rows = np.random.default_rng(1).choice(len(states), size=4000, p=p)
    np.save("rows.npy", (states[rows] > 0).astype(np.uint8))
    return toy("train", "--model", "ring", "--data", "rows.npy", "--out", out, *words)


def test_help_options_and_reference_know_both():
    shown = toy("train", "--help").stdout
    assert "a ring of spins with one coupling and one field" in shown
    assert "persistent chains that start anew from time to time" in shown
    ring = toy("train", "--model", "ring", "--help").stdout
    assert "--epochs" in ring and "--hidden" not in ring and "--rule" not in ring
    train_entry = json.loads(toy("reference", "--json").stdout)["commands"][0]
    methods = [o for o in train_entry["kinds"]["ring"]["options"] if o["name"] == "method"][0]["choices"]
    assert "restarted" in [choice["name"] for choice in methods]
    assert "--hidden is for --model" in toy("train", "--model", "ring", "--hidden", 3, "--data", "digits:20", "--out", "m",
                                            code=2).stderr


def test_it_learns_by_either_method_and_goes_through_every_command():
    for method in ("pcd", "restarted"):
        train("ring.safetensors", "--method", method, "--learning-rate", 0.02)
        arrays, metadata = read_safetensors("ring.safetensors")
        assert metadata["model"] == "ring"
        # Maximum likelihood from 4,000 rows: J and h within 4 standard errors, 0.4 +- 0.008 and 0.1 +- 0.005, and as
        # much again for the noise of the last steps.
        assert abs(arrays["J"][0] - 0.4) < 0.06 and abs(arrays["h"][0] - 0.1) < 0.04, arrays
    states, p, log_z = exact(float(arrays["J"][0]), float(arrays["h"][0]))
    found = json.loads(toy("evaluate", "ring.safetensors", "--data", "rows.npy", "--json").stdout)
    assert abs(found["log_z"]["value"] - log_z) < 1e-5
    inspected = json.loads(toy("inspect", "ring.safetensors", "--json").stdout)
    assert inspected["model"] == "ring" and inspected["parameters"] == 2 and inspected["shape"] == "ring"
    toy("sample", "ring.safetensors", "--count", 4000, "--sweeps", 50, "--out", "samples.npy")
    rows = np.load("samples.npy")
    # The mean of a pair of neighbours: values within +-1, so a standard error of at most 1/sqrt(4000) = 0.016.
    expected = (p[:, None] * states * np.roll(states, -1, axis=1)).sum(axis=0)
    assert np.abs((rows * np.roll(rows, -1, axis=1)).mean(axis=0) - expected).max() < 4 * 0.016
    compared = json.loads(toy("compare", "ring.safetensors", "--data", "rows.npy", "--sweeps", 100, "--json").stdout)
    assert compared["correlations"]["correlation"] > 0.9
    assert "found a ring of spins" in toy("reconstruct", "ring.safetensors", "--data", "rows.npy", "--out", "r.png",
                                          code=2).stderr
    assert "found a ring of spins" in toy("recall", "ring.safetensors", "--data", "rows.npy", "--out", "r.png",
                                          code=2).stderr


def test_it_resumes_to_the_same_bytes():
    train("whole.safetensors", "--method", "restarted", "--epochs", 4)
    train("again.safetensors", "--method", "restarted", "--epochs", 4)
    assert Path("whole.safetensors").read_bytes() == Path("again.safetensors").read_bytes()
