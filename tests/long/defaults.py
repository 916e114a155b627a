#!/usr/bin/env python3
"""What default options reach: bars and shifting bars within a tenth of a nat of the best possible, a table within 0.3 nats
of what ten times as long gives, the couplings of a spin glass from its samples, and 8 x 8 digits. Takes some ten
minutes."""

import json
import math
import struct

import numpy as np
from command import ask, enter_folder, require, run

SEEDS = range(1, 11)


def likelihood(model, *data):
    return ask("evaluate", model, *data)["log_likelihood"]["value"]


def bars(data, best, *options, seeds=SEEDS):
    found = []
    for seed in seeds:
        run("train", "--data", data, *options, "--seed", seed, "--out", "m.safetensors", "--quiet")
        found.append(likelihood("m.safetensors", "--data", data))
    require(f"{data}: {min(found):.4f} to {max(found):.4f} over {len(found)} seeds, best possible {best:.4f}",
            sum(value > best - 0.1 for value in found) >= 0.9 * len(found))


def table():
    """2,000 rows of 30 answers that follow from ten habits."""
    draw = np.random.default_rng(1)
    habits = draw.random((2000, 10)) < 0.5
    noise = draw.random((2000, 30))
    np.save("table.npy", np.where(np.repeat(habits, 3, axis=1), noise < 0.85, noise < 0.15).astype(np.uint8))
    data = ("--data", "table.npy", "--test-share", 0.2)
    run("train", *data, "--hidden", 10, "--out", "m.safetensors", "--quiet")
    run("train", *data, "--hidden", 10, "--updates", 300000, "--out", "long.safetensors", "--quiet")
    short, long = (likelihood(model, *data) for model in ("m.safetensors", "long.safetensors"))
    require(f"a table: {short:.3f} nats a row, ten times as long {long:.3f}", short > long - 0.3)


def digits():
    """The 8 x 8 digits that scikit-learn brings, 16 grey levels as bits; the last fifth of the rows is not learned from."""
    from sklearn.datasets import load_digits
    grey = load_digits().data / 16
    for name, rows in (("train", grey[:1437]), ("test", grey[1437:])):
        np.save(f"{name}.npy", rows)
    run("train", "--data", "train.npy", "--hidden", 64, "--out", "m.safetensors", "--quiet")
    found = ask("evaluate", "m.safetensors", "--data", "test.npy")["log_likelihood"]
    require(f"8 x 8 digits: {found['value']:.2f} nats a test row, between {found['lower']:.2f} and {found['upper']:.2f}",
            found["lower"] >= -19.5)


def glass(scale):
    """Couplings of a spin glass on a torus, learned from 5,000 of its samples."""
    draw = np.random.default_rng(2)
    np.save("coins.npy", (draw.random((50, 64)) < 0.5).astype(np.uint8))
    graph = ("--model", "boltzmann", "--visible-type", "spin", "--graph", "torus:8x8")
    run("train", *graph, "--data", "coins.npy", "--updates", 1, "--out", "truth.safetensors", "--quiet")
    truth = with_couplings("truth.safetensors", scale, draw)
    run("sample", "truth.safetensors", "--sampler", "tempering", "--count", 5000, "--sweeps", 2000, "--out", "x.npy",
        "--quiet")
    run("train", *graph, "--data", "x.npy", "--out", "found.safetensors", "--quiet")
    run("inspect", "found.safetensors", "--couplings", "found.npy")
    found = np.load("found.npy")[:, 2]
    slope = found @ truth / (truth @ truth)
    require(f"a spin glass of scale {scale}: slope {slope:.3f}, root mean square error {np.std(found - truth):.3f}",
            0.95 <= slope <= 1.05)


def with_couplings(path, scale, draw):
    """Gives a model file normal couplings and no biases; returns the couplings. The file of another program has no
    digest."""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + size]), bytearray(content[8 + size:])
    metadata = header["__metadata__"]
    for key in ("digest", "written_by"):
        metadata.pop(key, None)
    couplings = None
    for name, entry in header.items():
        if name not in ("couplings", "bias"):
            continue
        begin, end = entry["data_offsets"]
        values = np.zeros((end - begin) // 4, "<f4")
        if name == "couplings":
            couplings = values = (scale * draw.normal(size=len(values))).astype("<f4")
        data[begin:end] = values.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(data))
    return couplings.astype(float)


folder = enter_folder()
bars("bars-and-stripes:3", -2.5993, "--hidden", 16, "--method", "exact", seeds=range(1, 4))
table()
digits()
for scale in (0.5, 0.8):
    glass(scale)
bars("bars-and-stripes:4", -3.3791)
bars("shifting-bars:9", -math.log(9))
