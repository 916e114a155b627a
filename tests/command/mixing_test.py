"""Whether the chains of `ergodic sample` have mixed: said on standard error and in the JSON, true, and never fatal."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import FOREIGN, Machine, ask, random_machine, refused, small_machine, succeed, write_safetensors

DIRECTIONS = ("first_direction", "second_direction", "third_direction")
QUANTITIES = ("free_energy", "activity", *DIRECTIONS)
SPINS = ("free_energy", "magnetisation", *DIRECTIONS)


def two_valleys(name="valleys.safetensors"):
    """All units like to agree, so strongly that no chain ever changes sides: all up and all down are equally likely."""
    arrays = {"weights": np.ones((12, 8)), "visible_bias": np.zeros(12), "hidden_bias": np.zeros(8)}
    write_safetensors(name, {key: array.astype(np.float32) for key, array in arrays.items()},
                      {**FOREIGN, "visible": "spin", "hidden": "spin"})
    return name


def expectations(machine):
    """The means of the free energy and of the units, by enumeration."""
    states = np.array(list(itertools.product((0, 1), repeat=len(machine.b))))
    minus_free_energy = machine.minus_free_energy(states)
    p = np.exp(minus_free_energy - machine.log_z())
    name = "magnetisation" if machine.visible == "spin" else "activity"
    values = machine.values(states)
    direction = np.linalg.svd(machine.weights)[0][:, 0]
    return {"free_energy": -p @ minus_free_energy, name: p @ values.mean(axis=1),
            DIRECTIONS[0]: p @ (values @ direction)}


@pytest.mark.parametrize("units", [{}, {"visible": "spin"}], ids=lambda units: " ".join(units) or "standard")
def test_chains_that_mix_know_the_exact_means(units):
    """Within 4 of the standard errors that the command gives."""
    arrays = {name: 0.5 * array for name, array in random_machine().items()}
    write_safetensors("m.safetensors", arrays, {**FOREIGN, **units})
    mixing = ask("sample", "m.safetensors", "--sweeps", 4000, "--out", "s.npy")["mixing"]
    assert mixing["mixed"] is True and "reason" not in mixing
    assert (mixing["chains"], mixing["draws"], mixing["every"]) == (16, 200, 10)
    assert tuple(mixing["quantities"]) == (SPINS if units else QUANTITIES)
    for name, exact in expectations(Machine(arrays, **units)).items():
        found = mixing["quantities"][name]
        assert set(found) == {"mean", "standard_error", "r_hat", "ess_bulk", "ess_tail", "autocorrelation_time"}
        mean = found["mean"] * (np.sign(found["mean"] * exact) if name in DIRECTIONS else 1)  # it may point either way
        assert abs(mean - exact) < 4 * found["standard_error"]
        assert found["r_hat"] < 1.01 and min(found["ess_bulk"], found["ess_tail"]) > 400


@pytest.mark.parametrize("units", [{}, {"visible": "spin"}], ids=lambda units: " ".join(units) or "standard")
def test_a_sum_of_the_users_choice_is_watched_too(units):
    arrays = {name: 0.5 * array for name, array in random_machine().items()}
    write_safetensors("m.safetensors", arrays, {**FOREIGN, **units})
    machine = Machine(arrays, **units)
    chosen = np.linspace(-2, 1, len(machine.b)).reshape(2, -1)
    np.save("chosen.npy", chosen)
    quantities = ask("sample", "m.safetensors", "--sweeps", 4000, "--watch", "chosen.npy", "--out", "s.npy")["mixing"][
        "quantities"]
    names = SPINS if units else QUANTITIES
    assert tuple(quantities) == (*names, "sum")
    states = np.array(list(itertools.product((0, 1), repeat=len(machine.b))))
    p = np.exp(machine.minus_free_energy(states) - machine.log_z())
    values = 2 * states - 1 if units else states
    assert abs(quantities["sum"]["mean"] - p @ (values @ chosen.ravel())) < 4 * quantities["sum"]["standard_error"]
    plain = ask("sample", "m.safetensors", "--sweeps", 4000, "--out", "t.npy")["mixing"]["quantities"]
    assert all(quantities[name] == plain[name] for name in names)
    assert (np.load("s.npy") == np.load("t.npy")).all()


def test_what_is_watched_has_a_number_for_each_visible_unit():
    units = len(random_machine()["visible_bias"])
    np.save("few.npy", np.ones((1, units - 1)))
    np.save("nan.npy", np.full((1, units), np.nan))
    write_safetensors("m.safetensors", random_machine(), FOREIGN)
    for name, code, words in (("few", 65, f"few.npy: expected {units} numbers, one for each visible unit"),
                              ("nan", 65, "nan.npy"), ("none", 66, "none.npy")):
        refused(code, "sample", "m.safetensors", "--watch", f"{name}.npy", "--out", "s.npy", says=words)
    refused(2, "sample", "m.safetensors", "--watch", "few.npy", "--sampler", "annealing", "--out", "s.npy",
            says="leave out --watch")


def test_the_table_is_on_standard_error_if_asked_for():
    done = succeed("sample", small_machine(), "--out", "s.npy")
    assert done.stdout == "" and "the chains have mixed\n" in done.stderr and "R-hat" not in done.stderr
    done = succeed("sample", "model.safetensors", "--out", "s.npy", "--verbose")
    assert done.stdout == "" and "the chains have mixed\n" in done.stderr
    for name in QUANTITIES:
        row = re.search(rf"^{name.replace('_', ' ')} +(\S+) \+- (\S+) +(\S+) +(\d+) +(\d+) +<= ([\d.]+) sweeps$",
                        done.stderr, re.M)
        assert row and 0.99 < float(row[3]) < 1.01
    assert "chains watched: 16; draws of each: 167, every 3 sweeps of the second half of the run\n" in done.stderr


def test_chains_in_two_valleys_have_not_mixed():
    """The free energy is the same in both, but not the magnetisation. The samples are written all the same."""
    mixing = ask("sample", two_valleys(), "--count", 20, "--out", "s.npy")["mixing"]
    assert mixing["mixed"] is False
    assert mixing["reason"].startswith("magnetisation: the chains disagree (R-hat ")
    found = mixing["quantities"]["magnetisation"]
    assert found["ess_bulk"] < 100 and (found["r_hat"] is None or found["r_hat"] > 1.1)
    samples = np.load("s.npy").mean(axis=1)
    assert ((samples < 0.2) | (samples > 0.8)).all() and samples.min() < 0.2 and samples.max() > 0.8


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--verbose",)], ids=lambda more: " ".join(more))
def test_not_to_have_mixed_is_a_warning(more):
    """One line, with what helps between two valleys of the same depth."""
    done = succeed("sample", two_valleys(), "--out", "s.npy", *more)
    warnings = re.findall(r"^warning: (.*)$", done.stderr, re.M)
    assert len(warnings) == 1 and len(warnings[0]) < 200
    assert re.fullmatch(r"the chains have not mixed \(R-hat \S+, should be below 1.01\): .*try --sampler tempering, see "
                        r"docs/mixing.md", warnings[0])
    assert ("R-hat  bulk ESS" in done.stderr) == (more == ("--verbose",))
    assert Path("s.npy").exists()


def test_chains_that_start_alike_are_not_known_to_have_mixed():
    arrays = {name: 0.5 * array for name, array in random_machine().items()}
    write_safetensors("m.safetensors", arrays, FOREIGN)
    np.save("row.npy", np.ones((1, 6), np.uint8)), np.save("mask.npy", np.zeros((1, 6), np.uint8))
    mixing = ask("sample", "m.safetensors", "--data", "row.npy", "--fixed", "mask.npy", "--count", 100, "--sweeps",
                 4000, "--out", "s.npy")["mixing"]
    assert mixing["mixed"] is None and "all chains started at one state" in mixing["reason"]


def test_a_short_run_is_not_judged():
    mixing = ask("sample", small_machine(), "--sweeps", 14, "--out", "s.npy")["mixing"]
    assert mixing["mixed"] is None and mixing["quantities"] == {} and mixing["draws"] == 0
    assert mixing["reason"] == "the run is too short to judge, with 14 sweeps; 15 are the fewest"
    assert "too short to judge" in succeed("sample", "model.safetensors", "--sweeps", 14, "--out", "s.npy").stderr
    judged = ask("sample", "model.safetensors", "--sweeps", 15, "--out", "s.npy")["mixing"]
    assert tuple(judged["quantities"]) == QUANTITIES


def test_chains_that_never_change_tell_nothing():
    arrays = random_machine()
    arrays["weights"][:], arrays["visible_bias"][:] = 0, 1000
    write_safetensors("fixed.safetensors", arrays, FOREIGN)
    mixing = ask("sample", "fixed.safetensors", "--out", "s.npy")["mixing"]
    assert mixing["mixed"] is None and "every draw is the same" in mixing["reason"]
    assert mixing["quantities"]["activity"]["mean"] == 1 and mixing["quantities"]["activity"]["r_hat"] is None
    assert "is not known: free energy: every draw is the same" in succeed("sample", "fixed.safetensors", "--out",
                                                                        "s.npy").stderr


def test_watching_does_not_depend_on_threads():
    small_machine()
    one, three = (ask("sample", "model.safetensors", "--threads", n, "--out", "s.npy")["mixing"] for n in (1, 3))
    assert one == three


def test_training_says_it_too():
    options = ("train", "--data", "bars-and-stripes:3", "--hidden", 8, "--out", "t.safetensors", "--held-out", 0,
               "--steps", 1, "--chains", 16)
    mixing = ask(*options, "--epochs", 20)["mixing"]
    assert mixing["mixed"] is True and tuple(mixing["quantities"]) == QUANTITIES
    assert (mixing["chains"], mixing["draws"]) == (16, 200)
    # A machine of deep valleys, which its chains do not leave within a few hundred sweeps.
    done = succeed(*options, "--epochs", 10000, "--learning-rate", 0.5, "--schedule", "constant", "--quiet")
    assert re.search(r"^warning: the chains of training have not mixed \(R-hat .*\), .*; more --steps", done.stderr, re.M)
    for method in ("cd", "exact"):  # no chains go on
        assert "mixing" not in ask(*options, "--epochs", 20, "--method", method)


def test_training_of_a_deep_belief_network_says_it_of_the_chains_of_its_top():
    options = ("train", "--model", "dbn", "--data", "bars-and-stripes:3", "--hidden", "8,6", "--out", "t.safetensors",
               "--steps", 1, "--chains", 16)
    for more in ((), ("--up-down-updates", 50)):
        mixing = ask(*options, "--updates", 200, *more)["mixing"]
        assert mixing["mixed"] is True and tuple(mixing["quantities"]) == QUANTITIES
        assert (mixing["chains"], mixing["draws"]) == (16, 200)
    done = succeed(*options, "--updates", 20000, "--learning-rate", 0.5, "--schedule", "constant", "--quiet")
    assert "warning: the chains of training have not mixed" in done.stderr
    assert "mixing" not in ask(*options, "--updates", 200, "--method", "cd")
