"""Deep Boltzmann machines: everything that a machine can do, against sums over all states."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, USAGE, ask, read_safetensors, refused, succeed

SHAPES = ["3,2", "3,2,2"]
WAYS = {"together": (), "layer by layer": ("--layer-updates", 5000), "mean field": ("--data-side", "mean-field")}


def states(units):
    return np.array(list(itertools.product((0, 1), repeat=units)), float)


def log_weights(path, x):
    """log of the sum over hidden units of exp(-E) for each row of x, and the expected hidden units of each layer."""
    tensors = read_safetensors(path)[0]
    depth = len([name for name in tensors if name.startswith("weights")])
    sizes = [len(tensors[f"bias{k}"]) for k in range(depth + 1)]
    hidden = states(sum(sizes[1:]))
    parts = np.split(hidden, np.cumsum(sizes[1:])[:-1], axis=1)
    negative = sum(part @ tensors[f"bias{k + 1}"] for k, part in enumerate(parts))
    for k in range(1, depth):
        negative = negative + np.einsum("si,ij,sj->s", parts[k - 1], tensors[f"weights{k}"], parts[k])
    all_states = (x @ tensors["bias0"])[:, None] + x @ tensors["weights0"] @ parts[0].T + negative
    largest = all_states.max(1, keepdims=True)
    weights = np.exp(all_states - largest)
    return largest[:, 0] + np.log(weights.sum(1)), weights @ hidden / weights.sum(1, keepdims=True)


@pytest.fixture(params=SHAPES)
def machine(request):
    succeed("train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", request.param, "--updates", 3000,
            "--learning-rate", 0.1, "--out", "m.safetensors", "--quiet")
    return "m.safetensors"


def test_likelihood_is_that_of_all_states(machine):
    x = states(4)
    found = ask("evaluate", machine, "--data", "bars-and-stripes:2")
    log_z = np.logaddexp.reduce(log_weights(machine, x)[0])
    assert found["log_z"]["value"] == pytest.approx(log_z, abs=1e-5)
    rows = np.array([row for row in x if is_bars_or_stripes(row)])
    counts = np.where([row.min() == row.max() for row in rows], 2, 1)
    truth = log_weights(machine, rows)[0] - log_z
    assert found["log_likelihood"]["value"] == pytest.approx(np.average(truth, weights=counts), abs=1e-5)


def is_bars_or_stripes(row):
    picture = row.reshape(2, 2)
    return (picture == picture[:1]).all() or (picture == picture[:, :1]).all()


def test_completions_follow_the_conditional_distribution(machine):
    np.save("x.npy", np.tile([[1, 0, 0, 0]], (4000, 1)).astype(np.uint8))
    np.save("mask.npy", np.array([1, 1, 0, 0], np.uint8))
    succeed("complete", machine, "--data", "x.npy", "--mask", "mask.npy", "--out", "c.npy")
    found = np.load("c.npy").reshape(4000, 4)
    fixed = np.flatnonzero([(found[:, i] == found[0, i]).all() for i in range(4)])
    candidates = np.array([row for row in states(4) if (row[fixed] == found[0, fixed]).all()])
    log_p = log_weights(machine, candidates)[0]
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    for row, probability in zip(candidates, p):
        share = (found == row).all(1).mean()
        # Rows are independent chains: four standard errors of a share, and one count for what is rare.
        assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / 4000) + 1 / 4000


@pytest.mark.parametrize("hidden", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_machine_learns_more_than_independent_units_know(hidden, way):
    succeed("train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", hidden, "--updates", 10000,
            "--learning-rate", 0.1, *WAYS[way], "--out", "m.safetensors", "--quiet")
    found = ask("evaluate", "m.safetensors", "--data", "bars-and-stripes:2")["log_likelihood"]["value"]
    assert found > -4 * np.log(2) + 0.4  # of 1.04 nats that there are to learn


def test_records_tell_layers_apart():
    succeed("train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", "3,2", "--updates", 300,
            "--layer-updates", 200, "--log", "log", "--out", "m.safetensors", "--quiet")
    rows = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert "layer1_pseudo_log_likelihood" in rows[1] and "layer2_pseudo_log_likelihood" in rows[len(rows) // 2]
    assert "pseudo_log_likelihood" in rows[-1] and "layer2_pseudo_log_likelihood" not in rows[-1]


def test_files_of_other_shapes_are_refused(machine):
    content = Path(machine).read_bytes()
    for old, new in ((b'"4,3,2', b'"4,3,9'), (b'"4,3,2', b'"4,0,2'), (b'"4,3,2', b'"4,x,2')):
        assert old in content
        Path("bad").write_bytes(content.replace(old, new, 1))
        refused(BAD_DATA, "inspect", "bad", says="bad")


def test_what_a_deep_machine_cannot_do_is_said(machine):
    refused(USAGE, "train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", "3", "--out", "d",
            says="at least two hidden")
    refused(USAGE, "train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", "3,2", "--method", "exact",
            "--out", "d", says="pcd")
    for updates in (1, 101):
        refused(USAGE, "train", "--model", "dbm", "--data", "bars-and-stripes:2", "--hidden", "3,2", "--updates", 100,
                "--layer-updates", updates, "--out", "d", says=("--layer-updates", str(updates)))
    Path("gaps.csv").write_text("a,b,c\n1,0,1\n0,,1\n1,1,0\n")
    for option in (("--layer-updates", 20), ("--data-side", "mean-field")):
        refused(USAGE, "train", "--model", "dbm", "--data", "gaps.csv", "--missing", "--hidden", "3,2", "--updates", 100,
                *option, "--out", "d", says=("missing", option[0]))
    assert not Path("d").exists()


def test_everything_else_works(machine):
    succeed("sample", machine, "--count", 20, "--sweeps", 50, "--out", "s.png")
    succeed("features", machine, "--data", "bars-and-stripes:2", "--out", "f.npy")
    succeed("reconstruct", machine, "--data", "bars-and-stripes:2", "--out", "r.png")
    succeed("inspect", machine, "--filters", "filters.png")
    succeed("compare", machine, "--data", "bars-and-stripes:2", "--count", 100)
    found = ask("inspect", machine)
    assert found["hidden"] in ([3, 2], [3, 2, 2])
