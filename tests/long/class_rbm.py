#!/usr/bin/env python3
"""Class RBMs on MNIST, beside the errors that Larochelle and Bengio (2008) published: p(y | x) alone with 500 hidden units,
and both objectives with 1500. Options were chosen by rows held out of the training part; the test part is looked at here
alone. Takes about two hours on two cores."""

import statistics
import struct
import sys
from pathlib import Path

from command import ask, bring, enter_folder, require, run

SEEDS = range(1, 4)
MOST_SECONDS = 1800


def errors(*options):
    """The errors on the test part, in percent."""
    out = []
    for seed in SEEDS:
        answer = ask("train", "--model", "class-rbm", "--data", "mnist", "--binarise", "dynamic", "--held-out", 0.05,
                     "--no-likelihood", *options, "--seed", seed, "--out", "m.safetensors")
        report = ask("classify", "evaluate", "m.safetensors", "--data", "mnist", "--split", "test")
        out.append(100 * report["error"])
        print(f"seed {seed}: {out[-1]:.2f} % of the test rows, {100 * answer['monitors']['held_out_error']:.2f} % of "
              f"held-out ones, {answer['seconds']:.0f} s", flush=True)
        require("in time", answer["seconds"] <= MOST_SECONDS)
    return out


def hold(what, found, goal):
    mean, deviation = statistics.mean(found), statistics.stdev(found)
    require(f"{what}: {mean:.3f} % +- {deviation:.3f} over {len(found)} seeds, at most {goal} %", mean <= goal)


folder = enter_folder()
bring("mnist")
hold("discriminative, 500 hidden units", errors("--objective", "discriminative", "--hidden", 500, "--l2", 5e-5), 1.7)
hold("hybrid, 1500 hidden units", errors("--objective", "hybrid", "--hidden", 1500), 1.28)
run("sample", "m.safetensors", "--label", "all", "--count", 10, "--out", "classes.png")
width, height = struct.unpack(">II", Path("classes.png").read_bytes()[16:24])
require("ten rows of ten samples", (width, height) == (582, 582))
sys.exit(0)
