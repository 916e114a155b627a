#!/usr/bin/env python3
"""A machine of letters learns the protein family PF00071 so well that its own samples have the two-site correlations of
the alignment: a Pearson correlation of at least 0.95. Takes some minutes."""

from command import ask, bring, enter_folder, require, run

TRAIN = ("--visible-type", "potts")

folder = enter_folder()
bring("pf00071")
run("train", "--data", "pf00071", *TRAIN, "--out", "m.safetensors")
found = ask("compare", "m.safetensors", "--data", "pf00071", "--count", 2000)
for name in ("means", "correlations"):
    print(f"{name}: {found[name]}")
require(f"two-site correlations agree to {found['correlations']['correlation']:.3f}, at least 0.95",
        found["correlations"]["correlation"] >= 0.95)
