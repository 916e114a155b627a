#!/usr/bin/env python3
"""Samples of a class of which the machine itself is sure, from a class RBM and from a deep belief network: a classifier
that was trained on real digits reads at least 95 % of them as the class that was asked for. Says how many it reads so of
samples as they come, too. Takes half an hour on two cores."""

import numpy as np
from command import bring, enter_folder, require, run

GOAL = 0.95
SURE = ("--sure", 0.99)
EACH = 100  # samples of each class
VALUES = 784
SWEEPS = 2000
MACHINES = {
    "class RBM": ("--model", "class-rbm", "--hidden", 1000, "--epochs", 60, "--learning-rate", 0.1, "--chains", 500,
                  "--steps", 5),
    "deep belief network": ("--model", "dbn", "--hidden", "500,500,2000", "--updates", 40000, "--up-down-updates", 4000),
}


def sample(count, out, *words):
    run("sample", "m.safetensors", "--label", "all", "--count", count, "--sweeps", SWEEPS, *words, "--out", out, "--quiet")


def share_read_as_asked(*words):
    sample(EACH, "rows.npy", *words)
    np.save("values.npy", np.load("rows.npy")[:, :VALUES])
    run("classify", "predict", "reader", "--data", "values.npy", "--out", "read.npy", "--quiet")
    read = np.load("read.npy")[:, 0]  # the class, then the probabilities
    right = read == np.repeat(np.arange(10), EACH)
    print("by class:", *(f"{share:.2f}" for share in right.reshape(10, EACH).mean(axis=1)))
    return right.mean()


def hold(name, options):
    run("train", "--data", "mnist", *options, "--no-likelihood", "--out", "m.safetensors", "--quiet")
    as_they_come, sure = share_read_as_asked(), share_read_as_asked(*SURE)
    sample(10, "sheet.png", *SURE)
    require(f"{name}: {100 * sure:.1f} % of {10 * EACH} samples are read as the class asked for (at least {100 * GOAL:.0f} %); "
            f"of samples as they come {100 * as_they_come:.1f} %", sure >= GOAL)


folder = enter_folder()
bring("mnist")
run("classify", "fit", "--data", "mnist", "--hidden", 1024, "--held-out", 0, "--out", "reader", "--quiet")
for name, options in MACHINES.items():
    hold(name, options)
