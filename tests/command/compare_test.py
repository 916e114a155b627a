"""`ergodic compare`: a machine's samples against data, and what is said when they cannot be trusted."""

import numpy as np
import pytest
from conftest import BAD_DATA, FOREIGN, USAGE, ask, png_size, refused, small_machine, succeed, write_safetensors

KEYS = {"count", "correlation", "correlation_error", "slope", "slope_error", "ceiling"}


def couples(rows=4000, seed=1):
    """Twelve bits in couples, each of which is alike more often than the one before."""
    draw = np.random.default_rng(seed)
    first = draw.random((rows, 6)) < np.linspace(0.2, 0.7, 6)
    again = draw.random((rows, 6)) < np.linspace(0.2, 0.7, 6)
    second = np.where(draw.random((rows, 6)) < np.linspace(0, 0.9, 6), first, again)
    np.save("data.npy", np.stack([first, second], axis=2).reshape(rows, 12).astype(np.uint8))
    return "data.npy"


def exactly_paired():
    """A machine whose distribution is known: hidden unit k joins visible units 2k and 2k + 1, in -1/+1 units."""
    weights = np.zeros((12, 6), np.float32)
    strength = np.linspace(0, 1.2, 6)
    for k in range(6):
        weights[2 * k:2 * k + 2, k] = strength[k]
    arrays = {"weights": weights, "visible_bias": np.zeros(12, np.float32), "hidden_bias": np.zeros(6, np.float32)}
    write_safetensors("m.safetensors", arrays, {**FOREIGN, "visible": "spin", "hidden": "spin"})
    # p(x, y) is in proportion to cosh(w (x + y)): equal with probability cosh(2w) / (cosh(2w) + 1).
    return np.cosh(2 * strength) / (np.cosh(2 * strength) + 1)


def test_a_machine_agrees_with_data_of_its_own_distribution():
    equal = exactly_paired()
    draw = np.random.default_rng(2)
    first = draw.integers(0, 2, (50000, 6))
    second = np.where(draw.random((50000, 6)) < equal, first, 1 - first)
    np.save("data.npy", np.stack([first, second], axis=2).reshape(-1, 12).astype(np.uint8))
    answer = ask("compare", "m.safetensors", "--data", "data.npy", "--sweeps", 4000)
    assert answer["mixed"] is True and answer["samples"] == 10000 and answer["rows"] == 50000
    found = answer["correlations"]
    assert set(found) == KEYS and found["count"] == 66
    # The data has noise too: at 50000 rows a fifth of the variance that 10000 samples have.
    assert abs(found["slope"] - 1) < 4 * 1.1 * found["slope_error"]
    assert found["correlation"] > 0.99 and found["ceiling"] > 0.99


def test_a_trained_machine_agrees_and_one_without_couplings_does_not():
    succeed("train", "--data", couples(), "--hidden", 12, "--epochs", 100, "--learning-rate", 0.2, "--out",
            "m.safetensors")
    answer = ask("compare", "m.safetensors", "--data", "data.npy", "--split", "train")
    assert answer["means"]["correlation"] > 0.99 and answer["correlations"]["correlation"] > 0.98
    arrays = {"weights": np.zeros((12, 2)), "visible_bias": np.zeros(12), "hidden_bias": np.zeros(2)}
    write_safetensors("none.safetensors", {k: a.astype(np.float32) for k, a in arrays.items()}, FOREIGN)
    found = ask("compare", "none.safetensors", "--data", "data.npy")["correlations"]
    # 66 numbers that know nothing of each other: a Pearson correlation of 0 with a deviation of 1 / 8.
    assert abs(found["correlation"]) < 4 / 8 and abs(found["slope"]) < 0.1


def test_tempering_along_the_way_of_training_says_how_often_levels_swap():
    succeed("train", "--data", couples(500), "--hidden", 4, "--epochs", 3, "--out", "m.safetensors", "--trajectory", "way",
            "--quiet")
    common = ("m.safetensors", "--data", "data.npy", "--path", "way", "--count", 20, "--sweeps", 20)
    for command in (("compare", *common), ("evaluate", *common, "--quality")):
        answer = ask(*command)
        swapped = answer["swapped"] if command[0] == "compare" else answer["quality"]["swapped"]
        assert len(swapped) >= 1 and all(0 <= rate <= 1 for rate in swapped)
        assert "neighbouring levels swapped " in succeed(*command).stderr


def test_the_same_for_any_number_of_threads():
    small_machine("m.safetensors")
    lines = [ask("compare", "m.safetensors", "--data", "bars-and-stripes:3", "--threads", n) for n in (1, 3)]
    assert lines[0] == lines[1]


def test_text_and_picture():
    small_machine("m.safetensors")
    done = succeed("compare", "m.safetensors", "--data", "bars-and-stripes:3", "--out", "a.png")
    for word in ("Pearson", "slope", "means of units", "two-site correlations"):
        assert word in done.stdout
    assert "mixed" in done.stderr
    assert png_size("a.png") == (2 * (62 + 400 + 16), 24 + 400 + 40)  # two squares with axes


def test_chains_that_have_not_mixed_are_warned_of():
    arrays = {"weights": np.ones((12, 8)), "visible_bias": np.zeros(12), "hidden_bias": np.zeros(8)}
    write_safetensors("m.safetensors", {k: a.astype(np.float32) for k, a in arrays.items()},
                      {**FOREIGN, "visible": "spin", "hidden": "spin"})
    done = succeed("compare", "m.safetensors", "--data", couples())
    assert "the chains have not mixed" in done.stderr


def test_letters_and_their_weights():
    draw = np.random.default_rng(3)
    letters = draw.integers(0, 3, (500, 8))
    letters[:, 4:] = np.where(draw.random((500, 4)) < 0.7, letters[:, :4], letters[:, 4:])
    np.save("letters.npy", letters)
    succeed("train", "--data", "letters.npy", "--visible-type", "potts", "--hidden", 30, "--epochs", 200,
            "--learning-rate", 0.2, "--out", "m.safetensors")
    found = ask("compare", "m.safetensors", "--data", "letters.npy")["correlations"]
    assert found["count"] == 28 * 9 and found["correlation"] > 0.9


def test_data_that_does_not_vary_has_no_correlation():
    np.save("same.npy", np.ones((5, 9), np.uint8))
    small_machine("m.safetensors")
    answer = ask("compare", "m.safetensors", "--data", "same.npy")
    assert answer["correlations"]["correlation"] is None
    assert "nan" not in succeed("compare", "m.safetensors", "--data", "same.npy").stdout


@pytest.mark.parametrize("options, code, says", [
    (("--count", 5), USAGE, "--count"), (("--draws", 0), USAGE, "--draws"),
    (("--data", "shifting-bars:5"), BAD_DATA, "5"),
])
def test_what_is_refused(options, code, says):
    small_machine("m.safetensors")
    data = () if "--data" in options else ("--data", "bars-and-stripes:3")
    refused(code, "compare", "m.safetensors", *data, *options, says=says)
