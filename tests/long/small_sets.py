#!/usr/bin/env python3
"""The small sets of Debian packages: that they are what docs/format.md says, and the errors of classifiers on them, which
docs/classification.md has. Takes a few minutes."""

from command import ask, bring, enter_folder, require, run

# Rows and units of both parts, and how many rows of each class the training part has.
SETS = {
    "optdigits": (898, 899, 64, [90, 91, 91, 92, 89, 91, 90, 90, 86, 88]),
    "optdigits-nudged": (7188, 1797, 64, None),
    "mushrooms": (4062, 4062, 125, [2078, 1984]),
    "dna": (2000, 1186, 180, [464, 485, 1051]),
    "votes": (435, 0, 16, [267, 168]),
}


def shapes():
    for name, (train, test, units, labels) in SETS.items():
        bring(name)
        missing = ["--missing"] if name == "votes" else []
        found = ask("data", "show", "--data", name, *missing)
        require(f"{name}: {found['rows']} rows of {found['units']} units, {found['labels']}",
                (found["rows"], found["units"]) == (train, units) and labels in (None, found["labels"]))
        if test > 0:
            rows = ask("data", "show", "--data", name, "--split", "test", *missing)["rows"]
            require(f"{name}: {rows} test rows", rows == test)


def error_of(name, *options):
    run("classify", "fit", "--data", name, *options, "--out", "c", "--quiet")
    found = ask("classify", "evaluate", "c", "--data", name, "--split", "test")
    return found["error"], found["error_interval"]


def digits():
    """Pixels alone are hard to beat, unless pictures are moved about."""
    rbm = ("--hidden", 100)
    pixels, (_, high) = error_of("optdigits", "--hidden", 0)
    hidden, _ = error_of("optdigits", *rbm)
    require(f"optdigits: pixels {pixels:.3f}, an RBM {hidden:.3f}", pixels < 0.08 and hidden < high)
    pixels, _ = error_of("optdigits-nudged", "--hidden", 0)
    hidden, _ = error_of("optdigits-nudged", *rbm)
    require(f"optdigits-nudged: pixels {pixels:.3f}, an RBM {hidden:.3f}", 0.2 < pixels < 0.25 and hidden < 0.05)


def others():
    for name, most, options in (("mushrooms", 0.001, ()), ("dna", 0.1, ()),
                                ("votes", 0.1, ("--missing", "--test-share", 0.3))):
        run("classify", "fit", "--data", name, *options, "--hidden", 100, "--out", "c", "--quiet")
        error = ask("classify", "evaluate", "c", "--data", name, *options, "--split", "test")["error"]
        require(f"{name}: {error:.4f} of the test rows are wrong", error < most)


folder = enter_folder()
shapes()
digits()
others()
