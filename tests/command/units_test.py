"""Machines of letters and of real numbers, through the command."""

import signal
from pathlib import Path

import numpy as np
import pytest
from conftest import ask, read_safetensors, refused, stop_after, succeed

PLANE = ("--data", "eight-gaussians:4000", "--visible-type", "gaussian")


@pytest.fixture
def letters():
    """Rows of six sites with three letters: the second half repeats the first."""
    random = np.random.default_rng(5)
    half = random.integers(3, size=(600, 3))
    np.save("letters.npy", np.concatenate([half, half], axis=1))
    return Path("letters.npy")


@pytest.mark.parametrize("name", ["eight-gaussians", "two-moons", "rings"])
def test_real_numbers_are_fitted_better_than_by_one_normal_distribution(name):
    # Both are judged on the same test part. A normal distribution fitted to 10,000 points is off by less than 0.01.
    points = {"eight-gaussians": -3.54, "two-moons": -1.90, "rings": -3.06}
    for seed in range(1, 6):
        succeed("train", "--data", name, "--visible-type", "gaussian", "--hidden", 16, "--seed", seed, "--epochs", 20,
                "--out", "m.safetensors", "--quiet")
        found = ask("evaluate", "m.safetensors", "--data", name)["log_likelihood"]
        assert found["method"] == "exact" and found["value"] > points[name] + 0.05


def test_the_exact_likelihood_of_real_numbers_is_that_of_a_plain_sum():
    succeed("train", *PLANE, "--hidden", 4, "--epochs", 5, "--out", "m.safetensors", "--quiet")
    random = np.random.default_rng(1)
    np.save("points.npy", random.normal(size=(50, 2)).astype(np.float32))
    model = {name: values.astype(float) for name, values in read_safetensors("m.safetensors")[0].items()}

    def free_energy(x):
        own = (0.5 * np.exp(model["visible_log_precision"]) * x * x - model["visible_bias"] * x).sum(1)
        return own - np.logaddexp(0, model["hidden_bias"] + x @ model["weights"]).sum(1)

    axis = np.linspace(-12, 12, 1201)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    log_z = np.log(np.exp(-free_energy(grid)).sum() * (axis[1] - axis[0]) ** 2)
    expected = np.mean(-free_energy(np.load("points.npy").astype(float))) - log_z
    found = ask("evaluate", "m.safetensors", "--data", "points.npy")["log_likelihood"]["value"]
    assert found == pytest.approx(expected, abs=1e-5)  # the sum over a grid is that good for smooth functions


def test_samples_of_real_units_have_the_moments_of_the_data():
    succeed("train", "--data", "rings", "--visible-type", "gaussian", "--hidden", 16, "--epochs", 20, "--out", "m.safetensors",
            "--quiet")
    succeed("sample", "m.safetensors", "--count", 2000, "--sweeps", 300, "--out", "s.npy")
    samples = np.load("s.npy")
    assert samples.shape == (2000, 2)
    # Two rings, radius 1 and 2, have a variance of 1.26 along each axis. The error of a variance of 2,000 draws is 4 %;
    # the machine itself need only be near.
    assert samples.mean(0) == pytest.approx([0, 0], abs=0.15)
    assert samples.var(0) == pytest.approx([1.26, 1.26], abs=0.25)
    assert np.abs(np.corrcoef(samples.T)[0, 1]) < 0.15


@pytest.mark.parametrize("visible, hidden", [("gaussian", "bernoulli"), ("gaussian", "spin"), ("gaussian", "potts"),
                                             ("relu", "bernoulli")])
def test_real_visible_units_with_all_that_can_be_coupled_to_them(visible, hidden):
    answer = ask("train", "--data", "digits:300", "--visible-type", visible, "--hidden-type", hidden, "--hidden", 5,
                 "--epochs", 2, "--out", "m.safetensors", "--report", "r.html")
    assert np.isfinite(answer["monitors"]["log_likelihood"])
    assert Path("r.html").stat().st_size > 10000
    succeed("sample", "m.safetensors", "--count", 4, "--sweeps", 5, "--out", "s.png")
    succeed("reconstruct", "m.safetensors", "--data", "digits:300", "--count", 4, "--out", "r.png")


@pytest.mark.parametrize("hidden", ["gaussian", "relu", "potts"])
def test_other_hidden_units_learn_bars_and_stripes(hidden):
    answer = ask("train", "--data", "bars-and-stripes:3", "--hidden-type", hidden, "--hidden", 12, "--method", "exact",
                 "--epochs", 3000, "--learning-rate", 0.5, "--held-out", 0, "--out", "m.safetensors")
    # Nine units that are on as often as in the data have -6.2; the best possible is -2.6.
    assert answer["monitors"]["log_likelihood"] > -4.5


def test_letters_are_learned(letters):
    answer = ask("train", "--data", letters, "--visible-type", "potts", "--hidden", 12, "--epochs", 200,
                 "--learning-rate", 0.5, "--out", "m.safetensors")
    found = ask("evaluate", "m.safetensors", "--data", letters)
    # Three sites that are free, three that follow: -3 log 3. Six free ones have twice that.
    assert found["log_likelihood"]["value"] > -1.3 * 3 * np.log(3)
    assert answer["monitors"]["reconstruction_error"] < 0.5
    succeed("sample", "m.safetensors", "--count", 1000, "--sweeps", 200, "--out", "s.npy")
    chosen = np.load("s.npy")
    assert chosen.shape == (1000, 6) and chosen.max() == 2
    assert (chosen[:, :3] == chosen[:, 3:]).mean() > 0.8


@pytest.mark.parametrize("types", [("gaussian", "bernoulli"), ("bernoulli", "relu"), ("potts", "bernoulli")])
def test_the_same_bytes_for_any_number_of_threads_and_after_a_stop(types, letters):
    data = {"gaussian": "eight-gaussians:500", "bernoulli": "digits:200", "potts": letters}[types[0]]
    line = ("train", "--data", data, "--visible-type", types[0], "--hidden-type", types[1], "--hidden", 9, "--epochs", 4)
    succeed(*line, "--out", "one.safetensors", "--threads", 1, "--quiet")
    succeed(*line, "--out", "three.safetensors", "--threads", 3, "--quiet")
    assert Path("one.safetensors").read_bytes() == Path("three.safetensors").read_bytes()
    code, _, _ = stop_after(3, signal.SIGTERM, *map(str, line), "--out", "stopped.safetensors", "--quiet")
    assert code == 143
    succeed(*line, "--out", "stopped.safetensors", "--resume", "--quiet")
    assert Path("one.safetensors").read_bytes() == Path("stopped.safetensors").read_bytes()


def test_bad_values_are_named(letters):
    np.save("nan.npy", np.array([[0.5, np.nan], [1.0, 2.0]]))
    refused(65, "train", "--data", "nan.npy", "--visible-type", "gaussian", "--out", "m", says="row 1, column 2")
    np.save("huge.npy", np.array([[0.5, 1e20], [1.0, 2.0]]))
    refused(65, "train", "--data", "huge.npy", "--visible-type", "gaussian", "--out", "m", says=("column 2", "scale"))
    np.save("negative.npy", np.array([[0.5, 1.0], [-1.0, 2.0]]))
    refused(65, "train", "--data", "negative.npy", "--visible-type", "relu", "--out", "m", says="row 2, column 1")
    values = np.load(letters)
    values[3, 2] = -1
    np.save("bad.npy", values)
    refused(65, "train", "--data", "bad.npy", "--visible-type", "potts", "--out", "m", says="row 4, column 3")
    np.save("zeros.npy", np.zeros((5, 4), int))
    refused(65, "train", "--data", "zeros.npy", "--visible-type", "potts", "--out", "m", says="2 letters")
    refused(2, "train", *PLANE, "--hidden-type", "relu", "--out", "m", says="no distribution")
    refused(65, "train", "--data", "rings", "--out", "m", says="gaussian")
    succeed("train", "--data", letters, "--visible-type", "potts", "--hidden", 2, "--epochs", 1, "--out", "m", "--quiet")
    values[3, 2] = 3
    np.save("more.npy", values)
    refused(65, "evaluate", "m", "--data", "more.npy", says="from 0 to 2")


@pytest.mark.parametrize("line", [("--data", "bars-and-stripes:3", "--hidden", 8, "--epochs", 300),
                                  ("--data", "rings", "--visible-type", "gaussian", "--hidden", 8, "--epochs", 20)])
def test_metropolis_and_gibbs_draw_from_the_same_machine(line):
    succeed("train", *line, "--out", "m", "--quiet")
    found = {}
    for sampler in ("gibbs", "metropolis"):
        answer = ask("sample", "m", "--sweeps", 3000, "--sampler", sampler, "--flips", 2, "--out", "s.npy")
        assert answer["mixing"]["mixed"] is True
        assert ("accepted" in answer) == (sampler == "metropolis")
        found[sampler] = answer["mixing"]["quantities"]["free_energy"]
    error = np.hypot(found["gibbs"]["standard_error"], found["metropolis"]["standard_error"])
    assert found["gibbs"]["mean"] == pytest.approx(found["metropolis"]["mean"], abs=4 * error)
