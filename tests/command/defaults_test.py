"""What training does when little is said: how long it lasts, what it says of itself, and when it gives up."""

import json
import re

import numpy as np
import pytest

from conftest import BAD_DATA, USAGE, ask, refused, succeed

BARS = ("train", "--data", "bars-and-stripes:3", "--out", "m.safetensors", "--quiet")


def likelihood(*args):
    return ask("evaluate", "m.safetensors", *args)["log_likelihood"]["value"]


def test_exact_gradients_learn_bars_and_stripes_with_default_options():
    succeed(*BARS, "--hidden", 16, "--method", "exact")
    assert likelihood("--data", "bars-and-stripes:3") > -2.5993 - 0.1  # minus the entropy of the data is the best


def test_persistent_chains_learn_shifting_bars_with_default_options():
    succeed("train", "--data", "shifting-bars:9", "--hidden", 12, "--out", "m.safetensors", "--quiet")
    assert likelihood("--data", "shifting-bars:9") > -np.log(9) - 0.1


def test_training_lasts_as_many_updates_or_epochs_as_asked_for():
    assert ask(*BARS, "--hidden", 4, "--updates", 7)["updates"] == 7
    assert ask(*BARS, "--hidden", 4, "--epochs", 6, "--batch", 10, "--held-out", 0)["updates"] == 12  # of 16 rows
    refused(USAGE, *BARS, "--updates", 7, "--epochs", 6, says=("--updates", "--epochs", "one of them"))


@pytest.mark.parametrize("line", [
    "--hidden 16 --learning-rate 100",
    "--hidden 16 --learning-rate 1000",
    "--hidden 16 --method exact --learning-rate 100",
    "--model boltzmann --learning-rate 100",
    "--model boltzmann --learning-rate 1000",
    "--model boltzmann --method pseudo --learning-rate 100",
    "--model boltzmann --method exact --learning-rate 1000",  # at 100 it still finds a good machine
])
def test_weights_that_blow_up_end_the_run(line):
    refused(BAD_DATA, *BARS, *line.split(), "--updates", 2000,
            says=("training diverged after", "lower the learning rate"))


@pytest.mark.parametrize("kind", [("--hidden", 60), ("--model", "boltzmann")], ids=["rbm", "boltzmann"])
def test_a_machine_that_learns_noise_by_heart_says_so(kind):
    np.save("noise.npy", np.random.default_rng(1).integers(0, 2, (150, 40)).astype(np.uint8))
    done = succeed("train", "--data", "noise.npy", *kind, "--held-out", 0.3, "--updates", 2000, "--out", "m.safetensors")
    assert re.search(r"over-fitted: training rows have [\d.]+ nats more than held-out rows, which have [\d.]+ nats less",
                     done.stderr)


def test_every_likelihood_stands_beside_that_of_independent_units():
    entropy = 9 * np.log(2)  # each pixel of bars and stripes is on in half of the rows
    done = succeed(*BARS[:-1], "--hidden", 16, "--method", "exact", "--updates", 300)
    assert f"independent units would have {-entropy:.2f}" in done.stderr + done.stdout
    found = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:3")["independent_log_likelihood"]
    assert found == {"value": pytest.approx(-entropy, abs=1e-6), "means": "these rows"}
    assert "with the means of these rows" in succeed("evaluate", "m.safetensors", "--data", "bars-and-stripes:3").stdout


def test_independent_units_have_the_means_of_the_training_part():
    random = np.random.default_rng(1)
    rows = (random.random((200, 5)) < 0.3).astype(np.uint8)
    np.save("x.npy", rows)
    succeed("train", "--data", "x.npy", "--test-share", 0.5, "--hidden", 2, "--updates", 10, "--out", "m.safetensors")
    found = ask("evaluate", "m.safetensors", "--data", "x.npy", "--test-share", 0.5)["independent_log_likelihood"]
    assert found["means"] == "training rows"
    means = rows.mean(0)  # those of either half are near
    assert found["value"] == pytest.approx((means * np.log(means) + (1 - means) * np.log(1 - means)).sum(), abs=0.3)


def test_a_run_that_is_too_short_says_so():
    short = succeed(*BARS[:-1], "--hidden", 16, "--method", "exact", "--updates", 100, "--learning-rate", 0.5)
    assert "still improving" in short.stderr + short.stdout and "--updates 300" in short.stderr + short.stdout
    long = ask(*BARS, "--hidden", 16, "--method", "exact")
    assert long["still_improving"] is False
    shorter = succeed(*BARS[:-1], "--hidden", 16, "--updates", 10, "--learning-rate", 0.001)
    assert "next to nothing was learned" in shorter.stderr + shorter.stdout


def test_the_log_of_every_learner_has_the_size_of_the_weights():
    for model in ("rbm", "boltzmann"):
        succeed(*BARS, "--model", model, "--updates", 5, "--log", "log")
        with open("log") as lines:
            assert all("weight_norm" in json.loads(line) for line in lines)
