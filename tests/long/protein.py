#!/usr/bin/env python3
"""A pairwise Potts machine of the protein family PF00071: from a far start its own samples have the connected two-site
correlations of the alignment, Pearson 0.95 or more, which is where the field stops training such machines. Takes some
twenty minutes, see docs/decisions/protein-families.md."""

from command import ask, bring, enter_folder, require, run

folder = enter_folder()
bring("pf00071")
run("train", "--model", "boltzmann", "--data", "pf00071", "--visible-type", "potts", "--held-out", 0, "--batch", 999,
    "--chains", 1000, "--steps", 10, "--epochs", 1000, "--learning-rate", 0.03, "--no-likelihood", "--out", "m.safetensors")
found = ask("compare", "m.safetensors", "--data", "pf00071", "--split", "train", "--count", 1000, "--sweeps", 2000,
            "--draws", 20)["correlations"]
require(f"Pearson {found['correlation']:.4f} +- {found['correlation_error']:.4f}, slope {found['slope']:.3f}",
        found["correlation"] >= 0.95)
