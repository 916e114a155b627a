"""`train --keep best` and `--patience`: the state that makes held-out rows likeliest is the result."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from conftest import USAGE, ask, refused, stop_after, succeed

# Rows that have nothing in common: whatever is learned beyond the means is learned by heart.
NOISE = ("--data", "noise.npy", "--held-out", 0.5, "--batch", 20, "--learning-rate", 0.3, "--no-likelihood", "--out",
         "m.safetensors", "--log", "log")
KINDS = {
    "rbm": (*NOISE, "--hidden", 30, "--updates", 600),
    "exact": (*NOISE, "--hidden", 8, "--method", "exact", "--updates", 600),
    "spins": (*NOISE, "--hidden", 30, "--visible-type", "spin", "--updates", 600),
    "letters": ("--data", "letters.npy", *NOISE[2:], "--visible-type", "potts", "--hidden", 30, "--updates", 600),
    "boltzmann": (*NOISE, "--model", "boltzmann", "--updates", 600),
    "pseudo": (*NOISE, "--model", "boltzmann", "--method", "pseudo", "--updates", 600),
    "class-rbm": ("--data", "digits:200", "--held-out", 0.3, *NOISE[4:], "--model", "class-rbm", "--hidden", 30,
                  "--updates", 300),
}


@pytest.fixture(autouse=True)
def data():
    draw = np.random.default_rng(1)
    np.save("noise.npy", draw.integers(0, 2, (80, 20)).astype(np.uint8))
    np.save("letters.npy", draw.integers(0, 3, (80, 8)).astype(np.uint8))
    common = draw.normal(size=(200, 1))
    np.save("real.npy", (common + 0.5 * draw.normal(size=(200, 8))).astype(np.float32))


def curve(monitor):
    rows = [json.loads(line) for line in Path("log").read_text().splitlines()]
    return {row["update"]: row[monitor] for row in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_record_is_the_result(kind):
    line = ("train", *KINDS[kind], "--seed", 3)
    last = ask(*line)
    assert "kept" not in last
    monitor = "log_likelihood" if "log_likelihood" in last["monitors"] else "pseudo_log_likelihood"
    all_states = curve(monitor)
    best = max(all_states, key=all_states.get)  # the first of equal ones
    found = ask(*line, "--keep", "best")
    assert found["kept"]["update"] == best
    assert found["kept"]["by"] == monitor
    assert found["kept"]["value"] == all_states[best] == found["monitors"][monitor]
    states = curve(monitor)
    assert {u: v for u, v in states.items() if u != found["updates"]} == {
        u: v for u, v in all_states.items() if u != found["updates"]}
    # What was kept is what a run that ends there by the same schedule cannot show; its record can.
    if best != found["updates"]:
        assert states[found["updates"]] == all_states[best] > all_states[found["updates"]]


def test_what_was_kept_is_said():
    done = succeed("train", *KINDS["rbm"], "--keep", "best")
    assert "kept is the state after " in done.stderr and "pseudo_log_likelihood of held-out rows" in done.stderr
    assert "over-fits" in succeed("train", *KINDS["rbm"]).stderr
    assert "over-fits" not in done.stderr


def test_the_last_state_is_the_default():
    line = ("train", *KINDS["rbm"], "--quiet")
    succeed(*line)
    default = Path("m.safetensors").read_bytes()
    succeed(*line, "--keep", "last")
    assert ask("inspect", "m.safetensors")  # notes name the option; the machine is the same
    succeed(*line, "--keep", "auto")
    assert Path("m.safetensors").read_bytes() == default


def test_patience_ends_a_run():
    line = ("train", *KINDS["rbm"], "--keep", "best")
    whole = ask(*line)
    found = ask(*line, "--patience", 5)
    assert found["updates"] < whole["updates"]
    rows = sorted(curve("pseudo_log_likelihood"))
    assert rows.index(found["updates"]) == rows.index(found["kept"]["update"]) + 5
    assert "patience ended the run before 600 updates" in succeed(*line, "--patience", 5).stderr
    assert ask(*line, "--patience", 10000)["kept"] == whole["kept"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("rate, options", [("0.3", ()), ("0.3", ("--patience", 5)), ("300", ("--rescue",))])
def test_the_best_state_survives_any_interruption(how, rate, options):
    line = ["train", *KINDS["rbm"], "--steps", 100, "--keep", "best", *options, "--quiet"]
    line[line.index("--learning-rate") + 1] = rate
    whole = ask(*line)
    assert bool(whole.get("rescues")) == ("--rescue" in options)
    model = Path("m.safetensors").read_bytes()
    Path("m.safetensors").unlink()
    for checkpoints in (5, 30):
        code, _, err = stop_after(checkpoints, how, *line, "--resume")
        assert code != 0, err
    again = ask(*line, "--resume", "--threads", 3)
    assert Path("m.safetensors").read_bytes() == model
    assert again["kept"] == whole["kept"] and again["updates"] == whole["updates"]


def test_the_best_state_of_classes_is_theirs_by_default():
    line = ("train", "--model", "class-rbm", "--objective", "discriminative", "--data", "digits:300", "--held-out", 0.3,
            "--hidden", 20, "--updates", 300, "--out", "m.safetensors", "--quiet")
    succeed(*line)
    default = Path("m.safetensors").read_bytes()
    succeed(*line, "--keep", "auto")
    assert Path("m.safetensors").read_bytes() == default
    best, last = ask(*line, "--keep", "best"), ask(*line, "--keep", "last")
    assert best["monitors"]["held_out_error"] <= last["monitors"]["held_out_error"]
    assert ask(*line, "--patience", 1)["updates"] <= 300


REFUSED = {
    "no held-out rows": (*NOISE[:2], *NOISE[4:], "--held-out", 0),
    "real units": ("--data", "real.npy", *NOISE[2:], "--visible-type", "gaussian", "--hidden", 30),
    "neural": ("--data", "eight-gaussians:500", *NOISE[2:], "--model", "neural"),
    "dbn": ("--data", "noise.npy", *NOISE[2:], "--model", "dbn", "--hidden", "8,6"),
    "dbm": ("--data", "noise.npy", *NOISE[2:], "--model", "dbm", "--hidden", "8,6"),
    "hidden units of a graph": (*NOISE, "--model", "boltzmann", "--hidden", 4),
    "missing values": ("--data", "gappy.csv", *NOISE[2:], "--missing"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_judged_is_refused(kind):
    draw = np.random.default_rng(2)
    rows = draw.integers(0, 2, (60, 6)).astype(str)
    rows[draw.random((60, 6)) < 0.2] = "?"
    Path("gappy.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    refused(USAGE, "train", *REFUSED[kind], "--updates", 50, "--keep", "best", says=("--keep best", "--keep last"))


def test_a_small_machine_of_real_units_is_judged_exactly():
    found = ask("train", "--data", "real.npy", *NOISE[2:], "--visible-type", "gaussian", "--hidden", 4, "--updates", 300,
                "--keep", "best")
    assert found["kept"]["by"] == "log_likelihood"


def test_patience_needs_a_best_state():
    refused(USAGE, "train", *KINDS["rbm"], "--patience", 3, says=("--patience", "--keep best"))
    refused(USAGE, "train", *KINDS["rbm"], "--keep", "first", says=("--keep", "last, best"))
