#!/usr/bin/env python3
"""Samples of a class, from a class RBM and from a deep belief network: a classifier that was trained on real digits
reads at least 95 % of them as the class that was asked for. Takes half an hour on two cores."""

import sys

import numpy as np
from command import ask, bring, enter_folder, require, run

GOAL = 0.95
EACH = 100  # samples of each class
VALUES = 784
MACHINES = {
    "class RBM": (("--model", "class-rbm", "--hidden", 1000, "--epochs", 60, "--learning-rate", 0.1, "--chains", 500,
                   "--steps", 5), 2000),
    "deep belief network": (("--model", "dbn", "--hidden", "500,500,2000", "--updates", 40000, "--up-down-updates", 4000),
                            2000),
}


def read_as_asked(name, options, sweeps):
    run("train", "--data", "mnist", *options, "--no-likelihood", "--out", "m.safetensors", "--quiet")
    run("sample", "m.safetensors", "--label", "all", "--count", EACH, "--sweeps", sweeps, "--out", "rows.npy", "--quiet")
    np.save("values.npy", np.load("rows.npy")[:, :VALUES])
    run("classify", "predict", "reader", "--data", "values.npy", "--out", "read.npy", "--quiet")
    read = np.load("read.npy")[:, 0]  # the class, then the probabilities
    right = read == np.repeat(np.arange(10), EACH)
    print("by class:", *(f"{share:.2f}" for share in right.reshape(10, EACH).mean(axis=1)))
    require(f"{name}: {100 * right.mean():.1f} % of {right.size} samples are read as the class asked for (at least "
            f"{100 * GOAL:.0f} %)", right.mean() >= GOAL)
    run("sample", "m.safetensors", "--label", "all", "--count", 10, "--sweeps", sweeps, "--out", "sheet.png", "--quiet")


folder = enter_folder()
bring("mnist")
run("classify", "fit", "--data", "mnist", "--hidden", 1024, "--held-out", 0, "--out", "reader", "--quiet")
for name, (options, sweeps) in MACHINES.items():
    read_as_asked(name, options, sweeps)
sys.exit(0)
