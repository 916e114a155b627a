"""What `train` says of the memory that it will take, and what it then takes."""

import re

import numpy as np
import pytest
from conftest import peak_of, succeed

UNITS = {"MB": 1e6, "GB": 1e9}


def announced(said):
    found = re.search(r"^([\d x]+)( x \d+) weights: about ([\d.]+) (MB|GB)$", said, re.MULTILINE)
    return float(found[3]) * UNITS[found[4]]


@pytest.mark.parametrize("side, hidden, options", [
    (256, 256, ()), (64, 1500, ("--visible-type", "gaussian")), (64, 1500, ("--momentum", "0.5", "--chains", "1000")),
], ids=["pictures of 256 x 256", "real", "many chains"])
def test_training_takes_what_was_announced(side, hidden, options):
    """Within a factor of 1.5: allocators, more threads and the reading of the data are not counted."""
    np.save("x.npy", np.random.default_rng(1).integers(0, 2, (100, side, side), np.uint8))
    said, peak = peak_of("train", "--data", "x.npy", "--hidden", hidden, "--epochs", 1, *options, "--out", "m",
                         "--checkpoint-every", 0, "--threads", 2)
    assert announced(said) / 1.5 < peak < announced(said) * 1.5


@pytest.mark.parametrize("options", [(), ("--up-down-updates", 1)], ids=["tied", "untied"])
def test_a_deep_network_takes_what_was_announced(options):
    np.save("x.npy", np.random.default_rng(1).integers(0, 2, (100, 64, 64), np.uint8))
    said, peak = peak_of("train", "--model", "dbn", "--data", "x.npy", "--hidden", "1500,500,1000", "--updates", 6,
                         *options, "--out", "m", "--checkpoint-every", 0, "--threads", 2, "--no-likelihood")
    assert announced(said) / 1.5 < peak < announced(said) * 1.5


@pytest.mark.parametrize("rows, options", [(100, ()), (20000, ()), (100, ("--layer-updates", 4))],
                         ids=["together", "many rows", "layer by layer"])
def test_a_deep_machine_takes_what_was_announced(rows, options):
    np.save("x.npy", np.random.default_rng(1).integers(0, 2, (rows, 64, 64), np.uint8))
    said, peak = peak_of("train", "--model", "dbm", "--data", "x.npy", "--hidden", "1000,1000", "--updates", 6, *options,
                         "--out", "m", "--checkpoint-every", 0, "--threads", 2, "--no-likelihood")
    assert announced(said) / 1.5 < peak < announced(said) * 1.5


@pytest.mark.parametrize("objective", ["generative", "hybrid", "discriminative"])
def test_a_class_rbm_takes_what_was_announced(objective):
    draw = np.random.default_rng(1)
    np.savez("x.npz", x=draw.integers(0, 2, (200, 64, 64), np.uint8), y=draw.integers(0, 3, 200))
    said, peak = peak_of("train", "--model", "class-rbm", "--objective", objective, "--data", "x.npz", "--hidden", 1500,
                         "--epochs", 2, "--out", "m", "--checkpoint-every", 0, "--threads", 2, "--no-likelihood")
    assert announced(said) / 1.5 < peak < announced(said) * 1.5


@pytest.mark.parametrize("options", [
    ("--hidden", 1500, "--random-start"), ("--hidden", 1500, "--random-start", "--optimiser", "adam"),
    ("--hidden", 1500, "--pretrain-updates", 2),
], ids=["sgd", "adam", "pre-trained"])
def test_a_classifier_takes_what_was_announced(options):
    draw = np.random.default_rng(1)
    np.savez("x.npz", x=draw.integers(0, 2, (200, 64, 64), np.uint8), y=draw.integers(0, 3, 200))
    said, peak = peak_of("classify", "fit", "--data", "x.npz", *options, "--epochs", 2, "--out", "c", "--checkpoint-every",
                         0, "--threads", 2)
    found = re.search(r"^a network of 4096, 1500, 3 units: about ([\d.]+) MB$", said, re.MULTILINE)
    assert float(found[1]) * 1e6 / 1.5 < peak < float(found[1]) * 1e6 * 1.5


def test_little_is_not_worth_saying():
    done = succeed("train", "--data", "bars-and-stripes:3", "--hidden", 4, "--epochs", 1, "--out", "m")
    assert "about" not in done.stderr


def test_quiet_is_quiet():
    np.save("x.npy", np.random.default_rng(1).integers(0, 2, (20, 64, 64), np.uint8))
    done = succeed("train", "--data", "x.npy", "--hidden", 1500, "--epochs", 1, "--method", "cd", "--out", "m", "--quiet")
    assert done.stderr == ""
