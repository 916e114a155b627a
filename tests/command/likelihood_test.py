"""Likelihoods of machines that are too large to sum over: brackets, budgets, stops, and the way of training."""

import itertools
import json
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, FOREIGN, NO_INPUT, TIMEOUT, USAGE, Machine, ask, on_a_terminal, random_machine, refused,
                      run, started, succeed, write_safetensors)

PADS = 40  # units without couplings: too many states to enumerate, and a factor of Z that is known


def padded_machine(path, seed=0):
    """A random machine of 6 x 5 units, with as many more on both sides. Returns its log Z."""
    small, draw = random_machine(seed=seed), np.random.default_rng(seed + 1)
    arrays = {"weights": np.zeros((6 + PADS, 5 + PADS), np.float32),
              "visible_bias": draw.normal(size=6 + PADS).astype(np.float32),
              "hidden_bias": draw.normal(size=5 + PADS).astype(np.float32)}
    arrays["weights"][:6, :5] = small["weights"]
    arrays["visible_bias"][:6], arrays["hidden_bias"][:5] = small["visible_bias"], small["hidden_bias"]
    write_safetensors(path, arrays, FOREIGN)
    alone = np.concatenate([arrays["visible_bias"][6:], arrays["hidden_bias"][5:]]).astype(float)
    return Machine(small).log_z() + np.logaddexp(0, alone).sum()


def some_rows(path, count=200, units=6 + PADS):
    rows = (np.random.default_rng(5).random((count, units)) < 0.5).astype(np.uint8)
    np.save(path, rows)
    return rows


@pytest.fixture
def padded():
    some_rows("rows.npy")
    return padded_machine("m.safetensors")


@pytest.mark.parametrize("seed", [0, 2])
def test_the_bracket_holds_the_exact_value(seed):
    rows, log_z = some_rows("rows.npy"), padded_machine("m.safetensors", seed)
    answer = ask("evaluate", "m.safetensors", "--data", "rows.npy", "--budget", 500)
    found, likelihood = answer["log_z"], answer["log_likelihood"]
    assert found["lower"] <= log_z <= found["upper"]
    assert abs(found["value"] - log_z) < 4 * found["standard_error"] < 0.5
    assert np.isclose(likelihood["value"], -answer["free_energy"] - found["value"])
    assert np.isclose(likelihood["lower"], -answer["free_energy"] - found["upper"])
    assert answer["row_standard_error"] > 0 and len(rows) == answer["rows"]
    annealing = answer["annealing"]
    assert annealing["temperatures"] == 500 and not annealing["partial"]
    for side in ("forward", "backward"):
        assert 1 <= annealing[side]["effective_chains"] <= annealing["chains"] + 1e-6
    forward, backward = annealing["forward"], annealing["backward"]
    assert np.isclose(found["lower"], forward["value"] - 3 * forward["standard_error"])
    assert np.isclose(found["upper"], backward["value"] + 3 * backward["standard_error"])


def test_a_graph_too_wide_to_sum_over():
    """30 spins, all coupled, but most of them with a strength of zero."""
    coupled, units, draw = 8, 30, np.random.default_rng(1)
    matrix = np.zeros((units, units), np.float32)
    matrix[:coupled, :coupled] = np.triu(draw.normal(scale=0.7, size=(coupled, coupled)), 1)
    bias = draw.normal(scale=0.5, size=units).astype(np.float32)
    write_safetensors("b.safetensors", {"matrix": matrix + matrix.T, "bias": bias},
                      {"format": "ergodic-model", "version": "1", "model": "boltzmann", "units": "spin"})
    some_rows("rows.npy", units=units)
    x = np.array(list(itertools.product((-1.0, 1.0), repeat=coupled)))
    terms = np.einsum("ri,ij,rj->r", x, matrix[:coupled, :coupled].astype(float), x) + x @ bias[:coupled].astype(float)
    log_z = np.logaddexp.reduce(terms) + np.log(2 * np.cosh(bias[coupled:].astype(float))).sum()
    found = ask("evaluate", "b.safetensors", "--data", "rows.npy", "--budget", 500)["log_z"]
    assert found["method"] != "exact"
    assert found["lower"] <= log_z <= found["upper"]
    assert abs(found["value"] - log_z) < 4 * found["standard_error"]


def hidden_machine(path, hidden=28, coupled=5, seed=1):
    """4 visible spins and many hidden ones, all coupled, but with a strength of zero for most. Returns log p of rows."""
    draw, units, known = np.random.default_rng(seed), 4 + hidden, 4 + coupled
    matrix = np.zeros((units, units), np.float32)
    matrix[:known, :known] = np.triu(draw.normal(scale=0.7, size=(known, known)), 1)
    bias = draw.normal(scale=0.5, size=units).astype(np.float32)
    write_safetensors(path, {"matrix": matrix + matrix.T, "bias": bias},
                      {"format": "ergodic-model", "version": "1", "model": "boltzmann", "units": "spin",
                       "visible_units": "4"})
    x = np.array(list(itertools.product((-1.0, 1.0), repeat=known)))
    terms = np.einsum("ri,ij,rj->r", x, matrix[:known, :known].astype(float), x) + x @ bias[:known].astype(float)
    terms -= np.logaddexp.reduce(terms)
    of_visible = np.logaddexp.reduce(terms.reshape(16, -1), axis=1)  # the first units count slowest
    return lambda rows: of_visible[rows @ [8, 4, 2, 1]].mean()


def test_hidden_units_too_many_to_sum_over():
    """A random half of the rows, or more, gets a bracket; over all of them the mean may differ by the error over rows."""
    exact, rows = hidden_machine("b.safetensors"), some_rows("rows.npy", count=300, units=4)
    answer = ask("evaluate", "b.safetensors", "--data", "rows.npy", "--budget", 500)
    found, clamped = answer["log_likelihood"], answer["clamped"]
    assert 100 <= clamped["rows"] <= 300 and clamped["temperatures"] == 50
    assert clamped["free_energy"]["lower"] <= answer["free_energy"] <= clamped["free_energy"]["upper"]
    assert np.isclose(found["lower"], -clamped["free_energy"]["upper"] - answer["log_z"]["upper"])
    assert np.isclose(found["upper"], -clamped["free_energy"]["lower"] - answer["log_z"]["lower"])
    error = np.hypot(found["standard_error"], answer["row_standard_error"])
    assert abs(found["value"] - exact(rows)) < 4 * error
    # With all rows looked at, there is no error over rows.
    np.save("few.npy", rows[:60])
    found = ask("evaluate", "b.safetensors", "--data", "few.npy", "--budget", 500)
    assert found["clamped"]["rows"] == 60
    likelihood = found["log_likelihood"]
    assert likelihood["lower"] <= exact(rows[:60]) <= likelihood["upper"]
    assert abs(likelihood["value"] - exact(rows[:60])) < 4 * likelihood["standard_error"] < 0.5


def test_hidden_units_too_many_to_sum_over_in_words_for_any_threads_and_in_seconds():
    hidden_machine("b.safetensors")
    some_rows("rows.npy", count=150, units=4)
    common = ("evaluate", "b.safetensors", "--data", "rows.npy")
    texts = [succeed(*common, "--budget", 100, "--threads", n) for n in (1, 3)]
    assert texts[0].stdout == texts[1].stdout
    assert re.search(r"standard error +\d+\.\d+ over rows \(\d+ random rows of 150\)", texts[0].stdout)
    assert "hidden units annealed at each row, 50 temperatures, 16 chains" in texts[0].stdout
    assert "annealing of the hidden units at " in texts[0].stderr
    answer = ask(*common, "--budget", "1s")
    assert answer["clamped"]["rows"] >= 16 and answer["log_likelihood"]["lower"] < answer["log_likelihood"]["upper"]
    quality = ask(*common, "--budget", 50, "--quality", "--count", 20, "--sweeps", 20)["quality"]
    assert np.isfinite(quality["energy"]["data"]["value"])


def test_one_layer_of_hidden_units_is_summed_over():
    """The same as a restricted machine: its free energy is exact, however many there are."""
    with open("edges.txt", "w") as edges:
        edges.writelines(f"{i} {j}\n" for i in range(30) for j in range(30, 70))
    some_rows("rows.npy", units=30)
    succeed("train", "--model", "boltzmann", "--data", "rows.npy", "--hidden", 40, "--graph", "edges.txt", "--epochs", 1,
            "--out", "b.safetensors", "--quiet", "--no-likelihood")
    answer = ask("evaluate", "b.safetensors", "--data", "rows.npy", "--budget", 100)
    assert "clamped" not in answer and answer["log_likelihood"]["lower"] < answer["log_likelihood"]["upper"]


def test_an_interrupt_among_rows_says_that_there_is_no_answer():
    hidden_machine("b.safetensors")
    some_rows("rows.npy", count=5000, units=4)
    code, out, seen = on_a_terminal("evaluate", "b.safetensors", "--data", "rows.npy", "--budget", "1000s", "--json",
                                    interrupt_at=r" [1-9]\d*%")
    assert code == 130 and "annealing of the hidden units" not in seen  # which is said after the last row
    answer = json.loads(out)
    assert answer["log_likelihood"] is None and answer["why_no_log_z"] == "stopped before the end"


def test_real_units_too_many_for_quadrature():
    np.save("x.npy", np.random.default_rng(2).normal([0, 5, -3], [1, 2, 0.5], (500, 3)))
    succeed("train", "--model", "neural", "--data", "x.npy", "--epochs", 3, "--out", "n.safetensors", "--quiet")
    answer = ask("evaluate", "n.safetensors", "--data", "x.npy", "--budget", 300)["log_likelihood"]
    assert answer["lower"] <= answer["value"] <= answer["upper"] and answer["upper"] - answer["lower"] < 0.5
    # The data is normal, and hardly anything else can be learned: close to minus its entropy, ln(2 pi e)/2 a unit.
    entropy = 1.5 * np.log(2 * np.pi * np.e) + np.log(1 * 2 * 0.5)
    assert abs(answer["value"] + entropy) < 0.5


def test_the_text_has_everything(padded):
    done = succeed("evaluate", "m.safetensors", "--data", "rows.npy", "--budget", 200)
    number = r"-?\d+\.\d+"
    assert re.search(rf"^log-likelihood +{number} nats a row, between {number} and {number} \(annealing both ways, 200 "
                     r"temperatures, 128 chains\)$", done.stdout, re.M)
    assert re.search(rf"^  standard error +{number} over rows$", done.stdout, re.M)
    assert re.search(rf"^log Z +{number} \+- {number}, between {number} and {number}$", done.stdout, re.M)
    for side in ("forward", "backward"):
        assert re.search(rf"^  {side} +{number} \+- {number} \(effective chains \d+ of 128\)$", done.stdout, re.M)
    assert "annealing both ways, 50 temperatures: log Z" in done.stderr


def test_one_row_has_no_error_over_rows(padded):
    some_rows("row.npy", 1)
    assert "row_standard_error" not in ask("evaluate", "m.safetensors", "--data", "row.npy", "--budget", 200)
    done = succeed("evaluate", "m.safetensors", "--data", "row.npy", "--budget", 200)
    assert re.search(r"^  standard error +unknown$", done.stdout, re.M)


def test_threads_do_not_matter(padded):
    answers = {run("evaluate", "m.safetensors", "--data", "rows.npy", "--budget", 100, "--json", "--threads", n).stdout
               for n in (1, 2, 3)}
    assert len(answers) == 1


def test_budgets_that_are_none(padded):
    for budget in ("0", "-3", "1.5", "soon", "10 s", "5m", "0s", "nans"):
        refused(USAGE, "evaluate", "m.safetensors", "--data", "rows.npy", "--budget", budget,
                says=["--budget", "expected a number of temperatures", "seconds", f"'{budget}'"])


def test_an_interrupt_gives_the_partial_answer(padded):
    """After the first round, which is said on standard error."""
    with open("said", "w") as said:
        with started("evaluate", "m.safetensors", "--data", "rows.npy", "--budget", "1000s", "--json",
                     stdout=subprocess.PIPE, stderr=said) as process:
            while "temperatures: log Z" not in Path("said").read_text() and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=TIMEOUT)
    answer = json.loads(out)
    assert process.returncode == 130
    assert answer["annealing"]["partial"] and answer["annealing"]["temperatures"] >= 100
    assert answer["log_z"]["lower"] <= padded <= answer["log_z"]["upper"]


def test_few_temperatures_on_a_machine_of_two_modes_are_warned_of():
    n = 40
    write_safetensors("m.safetensors", {"weights": np.full((n, n), 1.0, np.float32),
                                        "visible_bias": np.full(n, -n / 2, np.float32),
                                        "hidden_bias": np.full(n, -n / 2, np.float32)}, FOREIGN)
    np.save("rows.npy", np.repeat([[0], [1]], 50, axis=0).repeat(n, axis=1).astype(np.uint8))
    done = succeed("evaluate", "m.safetensors", "--data", "rows.npy", "--budget", 5)
    assert "warning: " in done.stderr and "--budget" in done.stderr


# ---- At the end of training, and along its way


def test_training_ends_with_a_bracket_unless_told_not_to():
    common = ("train", "--data", "digits", "--hidden", 20, "--epochs", 1, "--out", "m.safetensors")
    done = succeed(*common, "--json")
    assert re.search(r"log-likelihood of \d+ held-out rows: -\d+\.\d+ nats a row, between", done.stderr)
    answer = json.loads(done.stdout)["log_likelihood"]
    assert answer["lower"] <= answer["value"] <= answer["upper"] and answer["held_out"] and answer["rows"] > 100
    assert "log_likelihood" not in ask(*common, "--no-likelihood")


def test_training_of_many_hidden_units_ends_with_a_bracket_too():
    some_rows("rows.npy", units=6)
    done = succeed("train", "--model", "boltzmann", "--data", "rows.npy", "--hidden", 30, "--epochs", 20, "--held-out", 0.3,
                   "--json", "--out", "b.safetensors")
    answer = json.loads(done.stdout)["log_likelihood"]
    assert answer["lower"] <= answer["value"] <= answer["upper"] and answer["rows"] >= 16
    assert "held-out rows" in done.stderr


def test_annealing_along_the_way_of_training():
    train = ("train", "--data", "digits", "--hidden", 20, "--epochs", 1, "--quiet", "--trajectory", "way")
    succeed(*train, "--out", "m.safetensors")
    assert "way holds the machines of another run" in refused(USAGE, *train, "--out", "other.safetensors")
    succeed("train", "--data", "digits", "--hidden", 40, "--epochs", 1, "--quiet", "--trajectory", "long-way", "--out",
            "large.safetensors")
    straight = ask("evaluate", "large.safetensors", "--data", "digits", "--budget", 500)["log_z"]
    along = ask("evaluate", "large.safetensors", "--data", "digits", "--budget", 500, "--path", "long-way")["log_z"]
    assert max(straight["lower"], along["lower"]) <= min(straight["upper"], along["upper"])
    assert straight["value"] != along["value"]
    refused(BAD_DATA, "evaluate", "large.safetensors", "--data", "digits", "--path", "way", says="same shape")
    refused(NO_INPUT, "evaluate", "large.safetensors", "--data", "digits", "--path", "nowhere", says="no machines")
