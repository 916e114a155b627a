#!/usr/bin/env python3
"""Errors of classifiers beside published ones, on the test part of real sets: mean and spread over three seeds. Options
were chosen by rows held out of the training part. `classification.py NAME...` runs some of the rows alone; all of them take
hours on two cores."""

import statistics
import sys
import time

from command import ask, bring, enter_folder

SEEDS = (1, 2, 3)
MOST_SECONDS = 1800
ALL_ROWS = ("--held-out", 0)  # the last state is kept, as nothing is left to choose by
FROZEN = ("--frozen", "--optimiser", "adam", "--epochs", 80)

# For each name: what it is, the data, the options of `classify fit`, and the largest error in percent.
ROWS = {
    "rbm-frozen": ("RBM 1024, logistic regression", "mnist", ("--hidden", 1024, *FROZEN, *ALL_ROWS), 1.7),
    "rbm": ("RBM 1024, fine-tuned", "mnist", ("--hidden", 1024, *ALL_ROWS), 1.15),
    "dbn": ("DBN 500-500-2000, fine-tuned", "mnist", ("--hidden", "500,500,2000", *ALL_ROWS), 1.10),
    "dbm": ("DBM 500-1000, fine-tuned", "mnist", ("--model", "dbm", "--hidden", "500,1000", *ALL_ROWS), 0.95),
    "labels-1000": ("RBM 1024, 1,000 labels", "mnist", ("--hidden", 1024, "--labels-per-class", 100), 8.0),
    "labels-100": ("RBM 1024, 100 labels", "mnist",
                   ("--hidden", 1024, "--labels-per-class", 10, "--smoothing", 0.3, "--learning-rate", 0.2), 12.0),
    "small": ("8x8 digits moved about, RBM 100, logistic regression", "optdigits-nudged",
              ("--hidden", 100, "--pretrain-updates", 100000, "--pretrain-rate", 1, "--frozen", "--optimiser", "adam",
               "--learning-rate", 0.03, "--epochs", 300), 5.0),
    "fashion": ("Fashion-MNIST, RBM 1024, fine-tuned", "fashion-mnist", ("--hidden", 1024, *ALL_ROWS), None),
    "fashion-dbm": ("Fashion-MNIST, DBM 500-1000, fine-tuned", "fashion-mnist",
                    ("--model", "dbm", "--hidden", "500,1000", *ALL_ROWS), None),
    "fashion-pixels": ("Fashion-MNIST, logistic regression", "fashion-mnist", ("--hidden", 0, *ALL_ROWS), None),
}


def percent(errors):
    return f"{statistics.mean(errors):.3f} % +- {statistics.stdev(errors):.3f}"


def error_of(data, *options):
    """The error on the test part in percent, and the seconds that training took."""
    began = time.monotonic()
    ask("classify", "fit", "--data", data, *options, "--out", "c", "--quiet")
    seconds = time.monotonic() - began
    error = 100 * ask("classify", "evaluate", "c", "--data", data, "--split", "test")["error"]
    print(f"{error:.2f} % of the test rows, {seconds:.0f} s", flush=True)
    return error, seconds


def hold(name):
    what, data, options, goal = ROWS[name]
    bring(data)
    errors, seconds = zip(*(error_of(data, *options, "--seed", seed) for seed in SEEDS))
    holds = (goal is None or statistics.mean(errors) <= goal) and max(seconds) <= MOST_SECONDS
    verdict = f"{what}: {percent(errors)}, {max(seconds):.0f} s" + ("" if goal is None else f" (at most {goal} %)")
    if name == "labels-100":  # the same network from random weights
        random = [error_of(data, *options, "--random-start", "--seed", seed)[0] for seed in SEEDS]
        holds = holds and statistics.mean(random) - statistics.mean(errors) >= 8
        verdict += f"; from random weights {percent(random)} (at least 8 points more)"
    return holds, verdict


folder = enter_folder()
found = [hold(name) for name in sys.argv[1:] or ROWS]
for holds, verdict in found:
    print(("ok      " if holds else "FAILED  ") + verdict)
sys.exit(not all(holds for holds, _ in found))
