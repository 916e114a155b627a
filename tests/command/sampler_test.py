"""Every sampler through the command: the same machine, the same distribution; completion of rows; and what is refused."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, FOREIGN, USAGE, Machine, ask, random_machine, refused, small_machine, succeed,
                      write_safetensors)

SAMPLERS = [("gibbs",), ("metropolis",), ("langevin", "--step", "0.2"), ("mala",), ("hmc",), ("tempering",),
            ("tempering", "--inner", "mala", "--temperatures", "3", "--hottest", "0.5"),
            ("tempering", "--inner", "hmc", "--temperatures", "3", "--hottest", "0.5"),
            ("tempering", "--inner", "metropolis", "--temperatures", "3", "--hottest", "0.5")]


def normal_machine(path="normal.safetensors"):
    """Two normal units of variance 1 around (1, -0.5), and a hidden unit that does nothing."""
    arrays = {"weights": np.zeros((2, 1), np.float32), "visible_bias": np.array([1, -0.5], np.float32),
              "hidden_bias": np.zeros(1, np.float32), "visible_log_precision": np.zeros(2, np.float32)}
    write_safetensors(path, arrays, {**FOREIGN, "visible": "gaussian"})
    return Path(path)


def bits_machine(path="bits.safetensors", scale=0.7):
    arrays = {name: np.float32(scale) * array for name, array in random_machine().items()}
    write_safetensors(path, arrays, FOREIGN)
    return Machine(arrays)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=" ".join)
def test_real_units_get_their_means_and_variances(sampler):
    normal_machine()
    answer = ask("sample", "normal.safetensors", "--count", 1000, "--sweeps", 200, "--out", "s.npy", "--sampler", *sampler)
    samples = np.load("s.npy").astype(float)
    # Independent chains: 4 standard errors. A Langevin step of 0.2 adds a variance of 0.01 to 1.
    assert samples.mean(0) == pytest.approx([1, -0.5], abs=4 / np.sqrt(1000))
    assert samples.var(0) == pytest.approx([1, 1], abs=4 * np.sqrt(2 / 1000) + 0.01)
    quiet = sampler[0] in ("gibbs", "langevin") or sampler == ("tempering",)
    assert ("accepted" in answer) != quiet
    if "mala" in sampler or "hmc" in sampler:
        assert answer["accepted"] == pytest.approx(0.8 if "hmc" in sampler else 0.57, abs=0.1)
    if sampler[0] == "tempering":
        rates = answer["swapped"]
        assert len(rates) == (2 if len(sampler) > 1 else 9)
        assert max(rates) - min(rates) < 0.1 and min(rates) > 0.3


@pytest.mark.parametrize("sampler", [("gibbs",), ("metropolis",), ("tempering",), ("tempering", "--inner", "metropolis")],
                         ids=" ".join)
def test_bits_get_their_exact_means(sampler):
    machine = bits_machine()
    answer = ask("sample", "bits.safetensors", "--count", 16, "--sweeps", 2000, "--temperatures", 4, "--out", "s.npy",
                 "--sampler", *sampler)
    states = np.array(list(itertools.product((0, 1), repeat=6)))
    minus_free_energy = machine.minus_free_energy(states)
    p = np.exp(minus_free_energy - machine.log_z())
    found = answer["mixing"]["quantities"]
    assert answer["mixing"]["mixed"]
    for name, exact in {"free_energy": -p @ minus_free_energy, "activity": p @ states.mean(axis=1)}.items():
        assert abs(found[name]["mean"] - exact) < 4 * found[name]["standard_error"]


def test_rates_are_printed():
    bits_machine()
    done = succeed("sample", "bits.safetensors", "--sampler", "tempering", "--inner", "metropolis", "--temperatures", 3,
                   "--count", 20, "--out", "s.npy", "--verbose")
    assert "accepted " in done.stderr and "neighbouring levels swapped " in done.stderr
    assert " about " in done.stderr and "<=" not in done.stderr


def test_annealing_finds_the_state_of_lowest_energy():
    bits_machine(scale=1.0)
    arrays = random_machine()
    states = [np.array(list(itertools.product((0, 1), repeat=n))) for n in (6, 5)]
    energies = -(states[0] @ arrays["weights"] @ states[1].T + (states[0] @ arrays["visible_bias"])[:, None]
                 + states[1] @ arrays["hidden_bias"])
    answer = ask("sample", "bits.safetensors", "--sampler", "annealing", "--sweeps", 300, "--out", "s.npy")
    assert answer["lowest_energy"] == pytest.approx(energies.min(), abs=1e-5)
    assert answer["lowest_chains"] >= 90 and answer["mixing"] is None
    best = states[0][energies.min(axis=1).argmin()]
    assert (np.load("s.npy") == best).all(axis=1).sum() == answer["lowest_chains"]
    done = succeed("sample", "bits.safetensors", "--sampler", "annealing", "--inner", "metropolis", "--out", "s.npy")
    assert "the lowest energy is " in done.stderr and "chains" in done.stderr


@pytest.mark.parametrize("sampler", ["gibbs", "metropolis", "tempering", "annealing"])
def test_fixed_units_keep_their_values_and_the_others_follow(sampler):
    machine = bits_machine(scale=1.0)
    np.save("rows.npy", np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]], np.uint8))
    np.savetxt("mask.csv", [[1, 1, 0, 0, 0, 0]], fmt="%d", delimiter=",")
    answer = ask("sample", "bits.safetensors", "--data", "rows.npy", "--fixed", "mask.csv", "--count", 4000, "--sweeps",
                 100, "--sampler", sampler, "--out", "s.npy")
    samples = np.load("s.npy")
    assert (samples[0::2, :2] == [1, 0]).all() and (samples[1::2, :2] == [0, 1]).all()
    if sampler == "annealing":
        return
    assert answer["mixing"]["mixed"] is None and "each chain completes a different row" in answer["mixing"]["reason"]
    for given, drawn in (((1, 0), samples[0::2]), ((0, 1), samples[1::2])):
        states = np.array([(*given, *rest) for rest in itertools.product((0, 1), repeat=4)])
        p = np.exp(machine.minus_free_energy(states))
        means = (p / p.sum()) @ states[:, 2:]  # of the units that are not fixed
        errors = np.sqrt(means * (1 - means) / 2000)
        assert (np.abs(drawn[:, 2:].mean(0) - means) <= 4 * errors).all()


@pytest.mark.parametrize("sampler", [("gibbs",), ("metropolis",), ("langevin", "--step", "0.5"), ("mala",), ("hmc",)],
                         ids=" ".join)
def test_fixed_real_units_stay(sampler):
    normal_machine()
    np.save("rows.npy", np.array([[0.123, 5]], np.float32))
    np.save("mask.npy", np.array([[1, 0]], np.uint8))
    answer = ask("sample", "normal.safetensors", "--data", "rows.npy", "--fixed", "mask.npy", "--count", 1000,
                 "--sweeps", 200, "--out", "s.npy", "--sampler", *sampler)
    samples = np.load("s.npy")
    assert (samples[:, 0] == np.float32(0.123)).all() and "quantities" in answer["mixing"]
    assert samples[:, 1].mean() == pytest.approx(-0.5, abs=4 / np.sqrt(1000))


def test_letters_are_fixed_by_site():
    random = np.random.default_rng(5)
    np.save("letters.npy", random.integers(3, size=(50, 4)))
    succeed("train", "--data", "letters.npy", "--visible-type", "potts", "--hidden", 3, "--epochs", 1, "--out", "m",
            "--quiet")
    np.savetxt("mask.csv", [[0, 1, 0, 1]], fmt="%d", delimiter=",")
    for sampler in ("gibbs", "metropolis"):
        succeed("sample", "m", "--data", "letters.npy", "--fixed", "mask.csv", "--count", 50, "--sweeps", 20,
                "--sampler", sampler, "--out", "s.npy")
        sites = np.load("s.npy")
        rows = np.load("letters.npy")
        assert (sites[:, [1, 3]] == rows[:, [1, 3]]).all() and (sites != rows).any()


@pytest.mark.parametrize("sampler", [("mala",), ("hmc",), ("tempering", "--inner", "mala", "--temperatures", "3"),
                                     ("annealing", "--inner", "hmc")], ids=" ".join)
def test_any_number_of_threads_gives_the_same_samples(sampler):
    normal_machine()
    samples = []
    for threads in (1, 3):
        succeed("sample", "normal.safetensors", "--sweeps", 50, "--threads", threads, "--out", "s.npy", "--sampler",
                *sampler)
        samples.append(Path("s.npy").read_bytes())
    assert samples[0] == samples[1]


TRAIN = ("train", "--data", "bars-and-stripes:3", "--epochs", 200, "--quiet")


@pytest.mark.parametrize("machine", [("--hidden", 6), ("--model", "boltzmann", "--hidden", 3)], ids=["rbm", "boltzmann"])
def test_the_machines_of_a_training_run_are_a_ladder(machine):
    succeed(*TRAIN, *machine, "--trajectory", "way", "--out", "m")
    sample = ("sample", "m", "--sampler", "tempering", "--path", "way", "--count", 500, "--sweeps", 400, "--out", "s.npy")
    samples = []
    for threads in (1, 3):
        done = succeed(*sample, "--threads", threads)
        assert "neighbouring levels swapped " in done.stderr
        samples.append(Path("s.npy").read_bytes())
    assert samples[0] == samples[1]
    answer = ask(*sample)
    rates = answer["swapped"]
    # Levels that are not needed are left out: two neighbouring pairs never swap nearly always.
    assert 1 <= len(rates) < len(list(Path("way").iterdir()))
    assert all(a * b < 0.5 for a, b in itertools.pairwise(rates)) and min(rates) > 0.02
    found = np.load("s.npy").mean(0)
    succeed("sample", "m", "--count", 1000, "--sweeps", 1000, "--out", "s.npy")
    expected = np.load("s.npy").mean(0)
    # Independent chains of both: 4 standard errors.
    assert (np.abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) * (1 / 500 + 1 / 1000))).all()


def test_quality_and_compare_take_a_ladder():
    succeed(*TRAIN, "--hidden", 6, "--trajectory", "way", "--out", "m")
    given = ("m", "--data", "bars-and-stripes:3", "--count", 100, "--sweeps", 100)
    for command in (("evaluate", *given, "--quality"), ("compare", *given)):
        with_ladder, without = ask(*command, "--path", "way"), ask(*command)
        with_ladder, without = (answer.get("quality", answer) for answer in (with_ladder, without))
        assert with_ladder["samples"] == without["samples"] == 1000
        one, other = with_ladder["correlations"], without["correlations"]
        assert one != other
        error = np.hypot(one["correlation_error"], other["correlation_error"])
        assert abs(one["correlation"] - other["correlation"]) < 4 * error


def test_what_is_no_ladder_is_refused():
    succeed(*TRAIN, "--hidden", 6, "--trajectory", "way", "--out", "m")
    succeed(*TRAIN, "--hidden", 7, "--out", "other")
    sample = ("sample", "m", "--out", "s.npy", "--path", "way")
    assert "neighbouring levels swapped" in succeed(*sample, "--sampler", "auto").stderr  # tempering, as it must be
    Path("s.npy").unlink()
    for sampler in ("gibbs", "annealing"):
        refused(USAGE, *sample, "--sampler", sampler, says=["--path", f"--sampler is {sampler}", "--sampler tempering"])
    refused(USAGE, *sample, "--sampler", "tempering", "--temperatures", 5, says=["--temperatures", "--path"])
    for command in (("sample", "other", "--sampler", "tempering", "--out", "s.npy"),
                    ("compare", "other", "--data", "bars-and-stripes:3")):
        refused(BAD_DATA, *command, "--path", "way", says=["not a machine of the same shape", "its own training"])
    succeed("train", "--data", "two-moons:50", "--model", "neural", "--epochs", 1, "--quiet", "--out", "n")
    refused(USAGE, "sample", "n", "--sampler", "tempering", "--path", "way", "--out", "s.npy",
            says=["neural energy", "leave out --path"])


def test_what_does_not_fit_is_refused():
    small_machine()
    sample = ("sample", "model.safetensors", "--out", "s.npy")
    for sampler in ("langevin", "mala", "hmc"):
        refused(USAGE, *sample, "--sampler", sampler, says=[sampler, "gaussian units", "bernoulli", "take gibbs or metropolis"])
    refused(USAGE, *sample, "--sampler", "tempering", "--inner", "hmc", says="gaussian units")
    refused(USAGE, *sample, "--inner", "gibbs", says="--inner is for tempering and annealing")
    refused(USAGE, *sample, "--sampler", "tempering", "--temperatures", 1, says="temperatures")
    refused(USAGE, *sample, "--sampler", "annealing", "--means", says="--means")
    refused(USAGE, *sample, "--data", "bars-and-stripes:3", says=["--fixed", "give both"])
    np.save("mask.npy", np.zeros((1, 9), np.uint8))
    refused(USAGE, *sample, "--fixed", "mask.npy", says=["--data", "give both"])
    both = (*sample, "--data", "bars-and-stripes:3", "--fixed")
    np.save("wide.npy", np.zeros((1, 10), np.uint8))
    refused(BAD_DATA, *both, "wide.npy", says=["a mask of 9 values", "found 1 rows of 10"])
    np.save("full.npy", np.ones((3, 3), np.uint8))
    refused(BAD_DATA, *both, "full.npy", says="nothing is left to sample")


def test_relu_units_take_no_forces():
    arrays = {**random_machine(), "visible_log_precision": np.zeros(6, np.float32)}
    write_safetensors("relu.safetensors", arrays, {**FOREIGN, "visible": "relu"})
    refused(USAGE, "sample", "relu.safetensors", "--sampler", "mala", "--out", "s.npy", says="which end at 0")
    succeed("sample", "relu.safetensors", "--sampler", "metropolis", "--out", "s.npy")
    assert (np.load("s.npy") >= 0).all()


def test_an_unadjusted_step_that_is_too_large_is_said():
    normal_machine()
    refused(BAD_DATA, "sample", "normal.safetensors", "--sampler", "langevin", "--step", 1000, "--out", "s.npy",
            says="take a smaller step")
