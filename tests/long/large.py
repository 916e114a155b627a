#!/usr/bin/env python3
"""A machine of 65,536 visible and 256 hidden units learns one epoch of 1,000 pictures of 256 x 256, in as much memory
as was announced. Takes a minute or two."""

import re

import numpy as np
from command import enter_folder, peak_of_children, require, run

SIDE, ROWS = 256, 1000


def textures():
    """Stripes of random direction and width, with a tenth of the pixels flipped."""
    draw = np.random.default_rng(1)
    y, x = np.mgrid[:SIDE, :SIDE]
    out = np.empty((ROWS, SIDE, SIDE), np.uint8)
    for row in out:
        angle, width = draw.uniform(0, np.pi), draw.uniform(4, 32)
        row[:] = np.sin((x * np.cos(angle) + y * np.sin(angle)) * np.pi / width) > 0
        row ^= draw.random((SIDE, SIDE)) < 0.1
    return out


folder = enter_folder()
np.save("textures.npy", textures())
_, said = run("train", "--data", "textures.npy", "--hidden", 256, "--epochs", 1, "--out", "m.safetensors",
              "--checkpoint-every", 0)
announced = float(re.search(r"65536 x 256 weights: about (\d+) MB", said)[1]) * 1e6
peak = peak_of_children()
require(f"announced {announced / 1e6:.0f} MB, taken {peak / 1e6:.0f} MB: within a factor of 1.5",
        announced / 1.5 < peak < announced * 1.5)
