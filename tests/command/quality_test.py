"""`ergodic evaluate --quality`: a machine's samples against held-out data."""

import numpy as np
import pytest
from conftest import BAD_DATA, FOREIGN, USAGE, ask, refused, succeed, write_safetensors


def pairs_machine(strength=0.8):
    """Hidden unit k joins visible units 2k and 2k + 1 of 40, in -1/+1 units. Returns how often they are equal."""
    weights = np.zeros((40, 20), np.float32)
    for k in range(20):
        weights[2 * k:2 * k + 2, k] = strength
    arrays = {"weights": weights, "visible_bias": np.zeros(40, np.float32), "hidden_bias": np.zeros(20, np.float32)}
    write_safetensors("m.safetensors", arrays, {**FOREIGN, "visible": "spin", "hidden": "spin"})
    return np.cosh(2 * strength) / (np.cosh(2 * strength) + 1)


def draw_pairs(rows, equal, seed=1):
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 2, (rows, 20))
    second = np.where(draw.random((rows, 20)) < equal, first, 1 - first)
    return np.stack([first, second], axis=2).reshape(rows, 40).astype(np.uint8)


def quality(*options):
    return ask("evaluate", "m.safetensors", "--data", "data.npy", "--quality", *options)["quality"]


def test_a_machine_cannot_be_told_from_data_of_its_own_law():
    np.save("data.npy", draw_pairs(1500, pairs_machine()))
    found = quality()
    assert found["mixed"] is True and found["rows"] == 1000 and found["samples"] == 10000
    for share in found["nearest_neighbours"].values():
        assert abs(share["value"] - 0.5) < 4 * share["standard_error"] and share["standard_error"] < 0.05
    energy = found["energy"]
    assert energy["distance"] < energy["critical_distance"] == pytest.approx(1.6276 * np.sqrt(2 / 1000), rel=1e-4)
    error = np.hypot(energy["data"]["standard_error"], energy["samples"]["standard_error"])
    assert abs(energy["data"]["value"] - energy["samples"]["value"]) < 4 * error
    assert found["correlations"]["correlation"] > 0.9


def test_a_machine_of_another_law_is_found_out():
    pairs_machine()
    np.save("data.npy", draw_pairs(500, 1.0))  # equal always: closer together than samples
    found = quality()
    assert found["rows"] == 500
    share = found["nearest_neighbours"]["data"]
    assert share["value"] > 0.5 + 8 * share["standard_error"]
    assert found["energy"]["distance"] > 2 * found["energy"]["critical_distance"]
    assert found["energy"]["samples"]["value"] > found["energy"]["data"]["value"]


def test_rows_learned_by_heart_have_a_free_energy_gap():
    """Random rows have nothing in common to learn: what lowers the training rows leaves test rows of the same law above."""
    np.save("data.npy", np.random.default_rng(3).integers(0, 2, (200, 40)).astype(np.uint8))
    apart = ("--data", "data.npy", "--test-share", 0.5)
    succeed("train", *apart, "--held-out", 0, "--hidden", 100, "--batch", 20, "--epochs", 300, "--out", "m.safetensors")
    energy = quality(*apart[2:], "--split", "test", "--count", 100, "--sweeps", 20)["energy"]
    gap = energy["gap"]
    assert gap["value"] == pytest.approx(energy["data"]["value"] - energy["training"]["value"])
    assert gap["standard_error"] == pytest.approx(np.hypot(*(energy[k]["standard_error"] for k in ("data", "training"))))
    assert gap["value"] > 8 * gap["standard_error"]
    assert "gap" not in quality("--count", 100, "--sweeps", 20)["energy"]  # no training rows beside these
    text = succeed("evaluate", "m.safetensors", *apart, "--quality", "--count", 100)
    assert "free-energy gap" in text.stdout


def test_it_says_the_same_as_compare_and_for_any_number_of_threads():
    np.save("data.npy", draw_pairs(300, pairs_machine()))
    options = ("--count", 200, "--sweeps", 100, "--draws", 3)
    found = [quality(*options, "--threads", n) for n in (1, 3)]
    assert found[0] == found[1]
    compared = ask("compare", "m.safetensors", "--data", "data.npy", "--split", "auto", *options)
    for name in ("means", "correlations", "mixed", "samples"):
        assert found[0][name] == compared[name]


def test_machines_of_all_kinds():
    np.save("bits.npy", draw_pairs(100, 0.8))
    succeed("train", "--model", "boltzmann", "--data", "bits.npy", "--epochs", 2, "--hidden", 2, "--held-out", 0,
            "--out", "b.safetensors", "--quiet")
    succeed("train", "--model", "neural", "--data", "two-moons:200", "--epochs", 2, "--out", "n.safetensors", "--quiet")
    for machine, data in (("b", "bits.npy"), ("n", "two-moons:200")):
        answer = ask("evaluate", f"{machine}.safetensors", "--data", data, "--quality", "--count", 50, "--sweeps", 20)
        assert 0 <= answer["quality"]["nearest_neighbours"]["data"]["value"] <= 1


def test_text_and_what_is_refused():
    np.save("data.npy", draw_pairs(100, pairs_machine()))
    done = succeed("evaluate", "m.safetensors", "--data", "data.npy", "--quality", "--count", 50)
    for word in ("50 rows of data against 50 samples", "distance (KS)", "two-site correlations"):
        assert word in done.stdout
    assert "mixed" in done.stderr
    refused(USAGE, "evaluate", "m.safetensors", "--data", "data.npy", "--count", 50, says="--quality")
    np.save("few.npy", draw_pairs(9, 0.8))
    refused(BAD_DATA, "evaluate", "m.safetensors", "--data", "few.npy", "--quality", says="10 rows")
