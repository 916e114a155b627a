#!/usr/bin/env python3
"""A pairwise Potts machine and a Potts RBM of the protein family PF00071: from a far start their own samples have the
connected two-site correlations of the alignment, Pearson 0.95 or more, which is where the field stops training such
machines. Takes about an hour, see docs/decisions/protein-families.md."""

from command import ask, bring, enter_folder, require, run

FAMILY = ("--data", "pf00071", "--visible-type", "potts", "--held-out", 0, "--batch", 999, "--no-likelihood")


def hold(name, training, sampling):
    run("train", *FAMILY, *training, "--out", "m.safetensors")
    found = ask("compare", "m.safetensors", "--data", "pf00071", "--split", "train", *sampling)["correlations"]
    require(f"{name}: Pearson {found['correlation']:.4f} +- {found['correlation_error']:.4f}, slope {found['slope']:.3f}",
            found["correlation"] >= 0.95)


folder = enter_folder()
bring("pf00071")
hold("pairwise", ("--model", "boltzmann", "--chains", 1000, "--steps", 10, "--epochs", 1000, "--learning-rate", 0.03),
     ("--count", 1000, "--sweeps", 2000, "--draws", 20))
hold("restricted", ("--method", "population", "--hidden", 300, "--chains", 2000, "--steps", 3, "--epochs", 8000,
                    "--learning-rate", 0.01),
     ("--count", 2000, "--sweeps", 4000, "--draws", 40))
