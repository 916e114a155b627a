"""Hopfield networks from outside: patterns stored, damaged and recalled, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, NO_INPUT, USAGE, ask, png_size, read_safetensors, refused, run, small_machine, snapshot,
                      succeed, write_safetensors)

RULES = ["hebb", "storkey", "pseudo-inverse", "modern"]
NETWORK = "memory.safetensors"
FOREIGN = {"format": "ergodic-model", "version": "1", "model": "hopfield", "rule": "by hand"}


@pytest.fixture
def patterns(own_folder):
    """Ten patterns of 400 fair coins: few enough for every rule, as pictures of 20 x 20."""
    bits = np.random.default_rng(1).integers(0, 2, (10, 20, 20), np.uint8)
    np.save("patterns.npy", bits)
    return bits.reshape(10, 400)


def store(*options):
    return ask("train", "--model", "hopfield", "--data", "patterns.npy", "--out", NETWORK, *options)


def recall(*options):
    return ask("recall", NETWORK, "--data", "patterns.npy", "--out", "restored.npy", *options)


def energies(spins, network):
    couplings = network["couplings"].astype(np.float64)
    return -0.5 * np.einsum("ri,ij,rj->r", spins, couplings, spins) - spins @ network["bias"].astype(np.float64)


# ---- Storing ----


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_stores_few_patterns(patterns, rule):
    answer = store("--rule", rule)
    assert set(answer) == {"model", "stopped", "rule", "patterns", "units", "load", "capacity", "stable"}
    assert answer["model"] == NETWORK and answer["rule"] == rule and answer["stopped"] is False
    assert answer["patterns"] == answer["stable"] == 10 and answer["units"] == 400 and answer["load"] == 0.025
    assert (answer["capacity"] is None) == (rule == "modern")
    assert {path.name for path in Path().iterdir()} == {"patterns.npy", NETWORK}


def test_the_file_holds_what_the_rule_says(patterns):
    store("--rule", "hebb")
    arrays, metadata = read_safetensors(NETWORK)
    spins = 2.0 * patterns - 1.0
    expected = spins.T @ spins / 400
    np.fill_diagonal(expected, 0)
    assert (arrays["couplings"] == expected.astype(np.float32)).all() and (arrays["bias"] == 0).all()
    assert metadata["model"] == "hopfield" and metadata["rule"] == "hebb" and metadata["stored"] == "10"
    assert metadata["picture"] == "20x20" and metadata["data"] == "patterns.npy"


def test_the_modern_form_keeps_the_patterns(patterns):
    store("--rule", "modern", "--beta", 0.5, "--patterns", 7)
    arrays, _ = read_safetensors(NETWORK)
    assert (arrays["patterns"] == 2.0 * patterns[:7] - 1.0).all() and arrays["beta"].tolist() == [0.5]


def test_biases_are_the_mean_of_the_patterns(patterns):
    store("--rule", "hebb", "--bias")
    bias = read_safetensors(NETWORK)[0]["bias"]
    assert (bias == ((2.0 * patterns - 1.0).sum(axis=0) / 401).astype(np.float32)).all()


def test_what_was_stored_is_told(patterns):
    done = succeed("train", "--model", "hopfield", "--data", "patterns.npy", "--out", NETWORK)
    assert "stored 10 patterns of 400 units" in done.stderr and "10 of them are stable" in done.stderr
    assert done.stdout == ""


def test_a_load_beyond_the_capacity_is_warned_of():
    np.save("patterns.npy", np.random.default_rng(2).integers(0, 2, (60, 100), np.uint8))
    for rule, limit in (("hebb", "0.138"), ("storkey", "0.330")):
        done = succeed("train", "--model", "hopfield", "--rule", rule, "--data", "patterns.npy", "--out", NETWORK)
        assert "0.600" in done.stderr and limit in done.stderr and "forgets" in done.stderr
    done = succeed("train", "--model", "hopfield", "--data", "patterns.npy", "--out", NETWORK)
    assert "forgets" not in done.stderr and "60 of them are stable" in done.stderr


def test_patterns_that_are_alike_are_warned_of():
    done = succeed("train", "--model", "hopfield", "--rule", "hebb", "--data", "digits:50", "--out", NETWORK)
    assert "alike" in done.stderr and "pseudo-inverse" in done.stderr


# ---- Recalling ----


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("way", [(), ("--synchronous",)], ids=["in turn", "at once"])
def test_damaged_patterns_come_back(patterns, rule, way):
    store("--rule", rule)
    answer = recall("--damage", 0.1, *way)
    assert set(answer) == {"out", "count", "stopped", "converged", "cycles", "sweeps", "energy_before", "energy_after",
                           "overlap_before", "overlap_after"}
    assert answer["count"] == answer["converged"] == 10 and answer["cycles"] == 0
    assert np.isclose(answer["overlap_before"], 0.8) and np.isclose(answer["overlap_after"], 1, atol=1e-6)
    assert answer["energy_after"] < answer["energy_before"]
    restored = np.load("restored.npy")
    assert restored.dtype == np.float32 and np.allclose(restored, 2.0 * patterns - 1, atol=1e-6)


def test_energies_are_those_of_the_definition(patterns):
    store("--rule", "storkey", "--bias")
    network, _ = read_safetensors(NETWORK)
    np.save("damaged.npy", np.random.default_rng(3).integers(0, 2, (30, 400), np.uint8))
    answer = ask("recall", NETWORK, "--data", "damaged.npy", "--out", "restored.npy")
    assert "overlap_before" not in answer and answer["count"] == 30
    # Sums of 160,000 terms in double.
    assert np.isclose(answer["energy_before"], energies(2.0 * np.load("damaged.npy") - 1, network).mean(), rtol=1e-9)
    restored = np.load("restored.npy").astype(np.float64)
    assert np.isclose(answer["energy_after"], energies(restored, network).mean(), rtol=1e-9)


def test_pictures_show_pairs_or_triples(patterns):
    store()
    for damage, tiles in (((), 2), (("--damage", 0.2), 3)):
        succeed("recall", NETWORK, "--data", "patterns.npy", *damage, "--count", 1, "--out", "restored.png")
        side = 3 * 20  # the scale that makes a tile about 56 pixels large
        assert png_size("restored.png") == (6 + tiles * side + (tiles - 1) * 2 + 6, 6 + side + 6)


def test_the_text_says_the_same(patterns):
    store()
    done = succeed("recall", NETWORK, "--data", "patterns.npy", "--damage", 0.2, "--out", "restored.png")
    for line in ("rows       10", "converged  10", "overlap    0.6000 before, 1.0000 after"):
        assert line in done.stdout
    assert "restored.png" in done.stderr


def test_a_cycle_of_two_is_told():
    """Two units that want to be alike, and are not."""
    couplings = np.array([[0, 1], [1, 0]], np.float32)
    write_safetensors(NETWORK, {"couplings": couplings, "bias": np.zeros(2, np.float32)}, FOREIGN)
    np.save("patterns.npy", np.array([[0, 1], [1, 1]], np.uint8))
    answer = recall("--synchronous")
    assert answer["converged"] == 1 and answer["cycles"] == 1
    text = succeed("recall", NETWORK, "--data", "patterns.npy", "--synchronous", "--out", "restored.npy").stdout
    assert "1 ended in a cycle of two states" in text
    assert recall()["converged"] == 2


def test_the_same_bytes_for_any_number_of_threads(patterns):
    rows = np.random.default_rng(4).integers(0, 2, (300, 400), np.uint8)
    np.save("rows.npy", rows)
    for rule in RULES:
        seen = set()
        for threads in (1, 2, 3):
            store("--rule", rule, "--threads", threads)
            succeed("recall", NETWORK, "--data", "rows.npy", "--count", 300, "--out", "restored.npy", "--threads", threads)
            seen.add(tuple(sorted(snapshot().items())))
        assert len(seen) == 1


def test_the_rows_that_are_stored_are_those_that_are_recalled():
    """The training part, although this set has a test part."""
    succeed("train", "--model", "hopfield", "--data", "digits:300", "--patterns", 40, "--out", NETWORK)
    answer = ask("recall", NETWORK, "--data", "digits:300", "--damage", 0.2, "--count", 40, "--out", "restored.png")
    assert answer["overlap_after"] > 0.99 > answer["overlap_before"]


# ---- Refused ----


def test_more_rows_than_units_need_a_number():
    refused(USAGE, "train", "--model", "hopfield", "--data", "bars-and-stripes:3", "--out", NETWORK,
            says=("16 rows", "9 units", "--patterns"))
    assert ask("train", "--model", "hopfield", "--data", "bars-and-stripes:3", "--patterns", 4, "--out",
               NETWORK)["patterns"] == 4


@pytest.mark.parametrize("options, says", [
    (("--rule", "delta"), ("--rule", "pseudo-inverse", "'delta'")),
    (("--beta", "0"), ("--beta", "'0'")),
    (("--patterns", "-1"), ("--patterns", "'-1'")),
    (("--out", "patterns.npy"), ("--data", "--out", "patterns.npy")),
])
def test_options_that_make_no_sense(patterns, options, says):
    line = ("train", "--model", "hopfield", "--data", "patterns.npy", *options)
    refused(USAGE, *line, *(() if "--out" in options else ("--out", NETWORK)), says=says)


@pytest.mark.parametrize("options, says", [
    (("--damage", "1.5"), ("--damage", "'1.5'")),
    (("--sweeps", "0"), ("--sweeps", "'0'")),
    (("--out", "restored.jpg"), ("--out", ".png", ".npy")),
])
def test_a_recall_that_makes_no_sense(patterns, options, says):
    store()
    out = () if "--out" in options else ("--out", "restored.png")
    refused(USAGE, "recall", NETWORK, "--data", "patterns.npy", *out, *options, says=says)


def test_rows_of_another_size(patterns):
    store()
    refused(BAD_DATA, "recall", NETWORK, "--data", "bars-and-stripes:3", "--out", "x.png", says=("400", "9"))


def test_a_missing_network(patterns):
    refused(NO_INPUT, "recall", "nothing", "--data", "patterns.npy", "--out", "x.png", says="nothing")


def test_a_boltzmann_machine_is_no_network():
    small_machine("m.safetensors")
    refused(USAGE, "recall", "m.safetensors", "--data", "bars-and-stripes:3", "--out", "x.png",
            says="recall needs a Hopfield network, found a restricted Boltzmann machine")


def test_a_network_has_no_hidden_layer(patterns):
    store()
    refused(USAGE, "reconstruct", NETWORK, "--data", "patterns.npy", "--out", "x.png", says="found a Hopfield network")
    refused(USAGE, "sample", NETWORK, "--means", "--out", "x.png", says="this is a Hopfield network")
    refused(USAGE, "inspect", NETWORK, "--filters", "x.png", says="found a Hopfield network")


def test_inspect_describes_a_network(patterns):
    store("--rule", "storkey", "--bias")
    answer = ask("inspect", NETWORK)
    network, _ = read_safetensors(NETWORK)
    assert answer["model"] == "hopfield" and answer["rule"] == "storkey" and "hidden" not in answer
    assert (answer["visible"], answer["visible_type"], answer["parameters"]) == (400, "spin", 400 * 399 // 2 + 400)  # each coupling once
    assert answer["digest"] == "agrees" and answer["notes"]["data"] == "patterns.npy"
    for name in ("couplings", "bias"):
        assert np.isclose(answer["ranges"][name]["largest"], network[name].max())
    text = succeed("inspect", NETWORK).stdout
    assert text.startswith("Hopfield network\nvisible     400 spin\nrule        storkey\n")
    refused(USAGE, "inspect", NETWORK, "--filters", "f.png", says="--filters")


def test_inspect_counts_the_patterns_of_the_modern_form(patterns):
    store("--rule", "modern", "--beta", 2)
    answer = ask("inspect", NETWORK)
    assert (answer["rule"], answer["patterns"], answer["beta"], answer["visible"]) == ("modern", 10, 2, 400)


@pytest.mark.parametrize("spoil, says", [
    (lambda w, b: w.__setitem__((0, 1), 7), ("symmetric", "(0, 1)")),
    (lambda w, b: w.__setitem__((2, 2), 7), ("diagonal", "(2, 2)")),
    (lambda w, b: w.__setitem__((0, 1), np.nan), ("couplings", "finite")),
    (lambda w, b: b.__setitem__(3, np.inf), ("bias", "element 3", "finite")),
], ids=["asymmetric", "diagonal", "nan", "infinite bias"])
def test_a_foreign_network_that_makes_no_sense(spoil, says):
    np.save("patterns.npy", np.zeros((1, 4), np.uint8))
    couplings, bias = np.ones((4, 4), np.float32) - np.eye(4, dtype=np.float32), np.zeros(4, np.float32)
    spoil(couplings, bias)
    write_safetensors(NETWORK, {"couplings": couplings, "bias": bias}, FOREIGN)
    refused(BAD_DATA, "recall", NETWORK, "--data", "patterns.npy", "--out", "x.png", says=(NETWORK, *says))


def test_a_damaged_file_is_found(patterns):
    store()
    content = bytearray(Path(NETWORK).read_bytes())
    content[-5] ^= 1
    Path(NETWORK).write_bytes(content)
    refused(BAD_DATA, "recall", NETWORK, "--data", "patterns.npy", "--out", "x.png", says="digest")


def test_quiet_says_nothing(patterns):
    assert run("train", "--model", "hopfield", "--data", "patterns.npy", "--out", NETWORK, "--quiet").stderr == ""
