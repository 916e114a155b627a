"""Training that diverges: every kind of machine says so, and with --rescue goes back and on with a lower rate."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, ask, read_safetensors, refused, run, stop_after, succeed

BARS = ("--data", "bars-and-stripes:4", "--no-likelihood", "--out", "m.safetensors")
DIGITS = ("--data", "digits:300", "--no-likelihood", "--out", "m.safetensors")
WILD = {
    "rbm, pcd": (*BARS, "--hidden", 12),
    "rbm, cd": (*BARS, "--hidden", 12, "--method", "cd"),
    "rbm, exact": (*BARS, "--hidden", 12, "--method", "exact"),
    "rbm, population": (*BARS, "--hidden", 12, "--method", "population"),
    "digits": (*DIGITS, "--hidden", 30),
    "gaussian": ("--data", "real.npy", *BARS[2:], "--visible-type", "gaussian", "--hidden", 12),
    "relu": (*BARS, "--hidden-type", "relu", "--hidden", 12),
    "letters": ("--data", "letters.npy", *BARS[2:], "--visible-type", "potts", "--hidden", 12),
    "generative": (*DIGITS, "--model", "class-rbm", "--hidden", 30),
    "discriminative": (*DIGITS, "--model", "class-rbm", "--hidden", 30, "--objective", "discriminative"),
    "boltzmann": (*BARS, "--model", "boltzmann"),
    "neural": ("--data", "eight-gaussians:500", *BARS[2:], "--model", "neural"),
    "dbn": (*DIGITS, "--model", "dbn", "--hidden", "20,10"),
    "dbm": (*DIGITS, "--model", "dbm", "--hidden", "20,10"),
    "dbm, layer by layer": (*DIGITS, "--model", "dbm", "--hidden", "20,10", "--layer-updates", 200),
}


@pytest.fixture(autouse=True)
def data():
    draw = np.random.default_rng(1)
    common = draw.normal(size=(300, 1))
    np.save("real.npy", (common + 0.5 * draw.normal(size=(300, 8))).astype(np.float32))
    np.save("letters.npy", (draw.integers(0, 4, (200, 1)) + draw.integers(0, 2, (200, 6))).astype(np.uint8))


@pytest.mark.parametrize("kind", WILD)
def test_every_machine_says_that_it_diverged(kind):
    refused(BAD_DATA, "train", *WILD[kind], "--learning-rate", 1000, "--updates", 400,
            says=("training diverged after", "lower the learning rate (now 1000)"))


@pytest.mark.parametrize("kind", WILD)
def test_every_machine_can_be_rescued(kind):
    done = run("train", *WILD[kind], "--learning-rate", 1000, "--updates", 400, "--rescue", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    rescues = answer["rescues"]
    assert 1 <= len(rescues) <= 16
    assert answer["learning_rate"] == 1000 / 2**len(rescues)
    assert done.stderr.count("training diverged after") == len(rescues)
    assert f"warning: training diverged after {rescues[0]['diverged_after']} updates" in done.stderr
    assert "rescue 1 goes back to update 0 and on with a learning rate of 500" in done.stderr
    for tensor in read_safetensors("m.safetensors")[0].values():
        assert np.isfinite(tensor).all()


@pytest.mark.parametrize("options", [("--activation", "sigmoid"), ("--activation", "relu"), ("--optimiser", "adam"),
                                     ("--held-out", "0")])
def test_a_classifier_that_diverges_says_so(options):
    refused(BAD_DATA, "classify", "fit", "--data", "digits:1000", "--hidden", "20,10", "--random-start", *options,
            "--learning-rate", 1000, "--out", "c",
            says=("training diverged after", "lower the learning rate (now 1000)"))


def test_a_classifier_whose_units_die_says_so_once():
    done = succeed("classify", "fit", "--data", "digits:1000", "--hidden", "50,50", "--random-start", "--activation",
                   "relu", "--optimiser", "adam", "--learning-rate", 0.3, "--epochs", 30, "--out", "c")
    assert done.stderr.count("more than half of the hidden units are never on") == 1


def test_a_run_that_needs_no_rescue_is_as_it_would_be_without():
    line = ("train", *BARS, "--hidden", 12, "--updates", 300)
    succeed(*line)
    plain = read_safetensors("m.safetensors")[0]
    answer = ask(*line, "--rescue")
    assert answer["rescues"] == []
    for name, tensor in read_safetensors("m.safetensors")[0].items():
        assert np.array_equal(tensor, plain[name])
    assert "rescues" not in ask(*line)


def test_what_cannot_be_rescued_gives_up():
    refused(BAD_DATA, "train", *BARS, "--hidden", 8, "--learning-rate", 1000, "--l2", 1000, "--schedule", "constant",
            "--updates", 2000, "--rescue", says=("16 rescues did not help", "training diverged after"))


RESCUED = ("--data", "bars-and-stripes:4", "--hidden", "12", "--batch", "10", "--momentum", "0.5", "--steps", "100",
           "--learning-rate", "1000", "--epochs", "15", "--rescue", "--no-likelihood", "--quiet")


def rows_of_log():
    rows = [json.loads(line) for line in Path("log").read_text().splitlines()]
    for row in rows:
        del row["seconds"]
    return rows


@pytest.mark.parametrize("method", ["pcd", "cd", "population", "fpcd", "tempering", "exact"])
def test_a_rescued_run_is_the_same_through_any_interruption(method):
    line = ("train", *RESCUED, "--method", method, "--out", "m.safetensors", "--log", "log")
    whole = ask(*line)
    model, rows = Path("m.safetensors").read_bytes(), rows_of_log()
    found = [row for row in rows if "rescues" in row]
    assert [row["rescues"] for row in found] == list(range(1, len(whole["rescues"]) + 1)) != []
    assert [row["diverged_after"] for row in found] == [r["diverged_after"] for r in whole["rescues"]]
    assert [row["update"] for row in found] == [r["back_to"] for r in whole["rescues"]]
    succeed(*line, "--threads", 3)
    assert Path("m.safetensors").read_bytes() == model
    Path("m.safetensors").unlink()
    for checkpoints, how in ((5, signal.SIGKILL), (9, signal.SIGINT), (20, signal.SIGKILL)):
        code, _, err = stop_after(checkpoints, how, *line, "--resume")
        assert code != 0, err
    again = ask(*line, "--resume", "--threads", 2)
    assert Path("m.safetensors").read_bytes() == model
    assert rows_of_log() == rows
    assert again["rescues"] == whole["rescues"] and again["learning_rate"] == whole["learning_rate"]
