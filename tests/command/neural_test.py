"""Neural energies of real numbers, through the command."""

import signal
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, USAGE, ask, png_size, read_safetensors, refused, stop_after, succeed, write_safetensors

SMALL = ("train", "--model", "neural", "--layers", "16,16", "--data", "two-moons:2000", "--quiet")


def pixels(path):
    """Height x width x 3 bytes of an RGB picture."""
    width, height = png_size(path)
    content, data, at = Path(path).read_bytes(), b"", 8
    while at < len(content):
        (length,) = struct.unpack(">I", content[at:at + 4])
        if content[at + 4:at + 8] == b"IDAT":
            data += content[at + 8:at + 8 + length]
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height, 3 * width), np.uint8)
    for y in range(height):
        kind, row = rows[y, 0], rows[y, 1:].astype(int)
        above = out[y - 1].astype(int) if y else np.zeros(3 * width, int)
        if kind == 0:
            out[y] = row
        elif kind == 2:
            out[y] = (row + above) % 256
        else:
            line = np.zeros(3 * width + 3, int)
            corner = np.concatenate([np.zeros(3, int), above])
            for x in range(3 * width):
                a, b, c = line[x], above[x], corner[x]
                if kind == 1:
                    guess = a
                elif kind == 3:
                    guess = (a + b) // 2
                else:
                    p = a + b - c
                    guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                line[x + 3] = (row[x] + guess) % 256
            out[y] = line[3:]
    return out.reshape(height, width, 3)


@pytest.mark.parametrize("name", ["eight-gaussians", "two-moons", "rings"])
def test_a_short_training_learns_more_than_one_normal_distribution_has(name):
    # One normal distribution and the true density. All but a few tenths of a nat between them are learned in a minute.
    normal, true = {"eight-gaussians": (-3.54, -1.70), "two-moons": (-1.90, -1.01), "rings": (-3.06, -2.00)}[name]
    succeed("train", "--model", "neural", "--layers", "24,24", "--data", name, "--epochs", 12, "--out",
            "m.safetensors", "--quiet")
    found = ask("evaluate", "m.safetensors", "--data", name)["log_likelihood"]
    assert found["method"] == "quadrature" and found["upper"] - found["lower"] < 1e-5
    assert normal + 0.4 < found["value"] < true + 0.1  # the 1000 test rows are off by 0.03


def test_the_likelihood_is_that_of_a_plain_sum():
    succeed(*SMALL, "--epochs", 3, "--out", "m.safetensors")
    points = np.random.default_rng(1).normal(size=(50, 2)).astype(np.float32)
    np.save("points.npy", points)
    model = {name: values.astype(float) for name, values in read_safetensors("m.safetensors")[0].items()}

    def energy(x):
        z = (x - model["mean"]) / model["deviation"]
        values = z
        for k in range(2):
            fields = values @ model[f"weights_{k}"] + model[f"bias_{k}"]
            values = fields / (1 + np.exp(-fields))
        return 0.5 * (z * z).sum(1) + (values @ model["weights_2"])[:, 0]

    axis = np.linspace(-8, 8, 801)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    log_z = np.log(np.exp(-energy(grid)).sum() * (axis[1] - axis[0]) ** 2)
    found = ask("evaluate", "m.safetensors", "--data", "points.npy")
    assert found["log_z"]["value"] == pytest.approx(log_z, abs=1e-6)
    assert found["log_likelihood"]["value"] == pytest.approx(-energy(points.astype(float)).mean() - log_z, abs=1e-5)


def test_the_same_bytes_for_any_threads_and_after_an_interruption():
    succeed(*SMALL, "--epochs", 4, "--threads", 1, "--out", "one.safetensors")
    succeed(*SMALL, "--epochs", 4, "--threads", 3, "--out", "three.safetensors")
    code, _, err = stop_after(3, signal.SIGINT, *SMALL, "--epochs", 4, "--out", "again.safetensors")
    assert code == 130, err
    succeed(*SMALL, "--epochs", 4, "--resume", "--out", "again.safetensors")
    first = Path("one.safetensors").read_bytes()
    assert Path("three.safetensors").read_bytes() == first and Path("again.safetensors").read_bytes() == first


def test_samples_have_the_moments_of_the_data():
    succeed("train", "--model", "neural", "--layers", "24,24", "--data", "rings", "--epochs", 12, "--out",
            "m.safetensors", "--quiet")
    succeed("sample", "m.safetensors", "--count", 2000, "--sweeps", 200, "--out", "s.npy")
    samples = np.load("s.npy")
    # A variance of 1.26 along each axis; the error of a variance of 2,000 draws is 4 %, and the machine is only near.
    assert samples.mean(0) == pytest.approx([0, 0], abs=0.15)
    assert samples.var(0) == pytest.approx([1.26, 1.26], abs=0.2)


@pytest.mark.parametrize("machine", ["neural", "rbm"])
def test_a_machine_of_two_real_units_is_drawn_as_a_landscape(machine):
    kind = ("--model", "neural", "--layers", "16,16") if machine == "neural" else (
        "--visible-type", "gaussian", "--hidden", 8)
    succeed("train", *kind, "--data", "eight-gaussians:4000", "--epochs", 5, "--out", "m.safetensors", "--quiet")
    succeed("sample", "m.safetensors", "--count", 500, "--sweeps", 50, "--out", "s.png", "--quiet")
    picture = pixels("s.png")
    side, left, top, right, bottom = 400, 62, 24, 16, 40  # the two squares, and the room for their axes
    assert picture.shape == (top + side + bottom, 2 * (left + side + right), 3)
    energies, points = (picture[top:top + side, first:first + side].sum(2)
                        for first in (left, 2 * left + side + right))
    assert (picture[top + side:, left:left + side].sum(2) < 500).sum() > 100  # numbers and words
    assert len(np.unique(energies)) > 50 and np.ptp(energies) > 300
    # Samples lie where the landscape is dark, and the corners are empty.
    assert energies[points < 700].mean() < energies.mean() - 50
    assert (points[:20, :20] == 765).all()


def test_inspect_names_the_layers():
    succeed(*SMALL, "--epochs", 1, "--out", "m.safetensors")
    text = succeed("inspect", "m.safetensors").stdout
    assert "neural energy" in text and "2 gaussian" in text and "weights_2" in text
    assert ask("inspect", "m.safetensors")["parameters"] == 2 * 16 + 16 + 16 * 16 + 16 + 16


def test_what_cannot_be_is_refused():
    train = ("train", "--model", "neural", "--out", "m.safetensors", "--data")
    for layers in ("", "0", "16,", "16,x", "16,-1", "100000", ",".join(["8"] * 20)):
        refused(USAGE, *train, "two-moons:100", "--layers", layers, says="--layers")
    refused(USAGE, *train, "two-moons:100", "--visible-type", "spin", says="--visible-type is for --model rbm")
    refused(USAGE, *train, "two-moons:100", "--method", "cd", says="persistent chains")


def test_what_a_neural_energy_does_not_have_is_said():
    succeed(*SMALL, "--epochs", 1, "--out", "m.safetensors")
    refused(USAGE, "sample", "m.safetensors", "--sampler", "gibbs", "--out", "s.npy", says="mala")
    refused(USAGE, "sample", "m.safetensors", "--means", "--out", "s.npy", says="hidden layer")
    refused(USAGE, "inspect", "m.safetensors", "--filters", "f.png", says="filters")
    refused(USAGE, "reconstruct", "m.safetensors", "--data", "two-moons:10", "--out", "r.npy", says="neural energy")


def test_damaged_layers_are_refused():
    succeed(*SMALL, "--epochs", 1, "--out", "m.safetensors")
    arrays, metadata = read_safetensors("m.safetensors")
    for key in ("digest", "written_by"):
        metadata.pop(key)
    for change, says in [({"weights_1": None}, "weights_1"), ({"mean": None}, "mean"),
                         ({"bias_0": np.zeros(3, np.float32)}, "bias_0"),
                         ({"deviation": np.zeros(2, np.float32)}, "positive deviations"),
                         ({"weights_2": np.full((16, 1), np.nan, np.float32)}, "weights_2")]:
        changed = {name: value for name, value in {**arrays, **change}.items() if value is not None}
        write_safetensors("bad.safetensors", changed, metadata)
        refused(BAD_DATA, "evaluate", "bad.safetensors", "--data", "two-moons:10", says=says)
