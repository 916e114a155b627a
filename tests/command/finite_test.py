"""Numbers of a machine that are too large to compute with: refused when they are read, and never an infinite answer."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, FOREIGN, OK, random_machine, refused, run, write_safetensors


def gaussian(path, log_precision=0.0, scale=1.0):
    arrays = {name: (scale * array).astype(np.float32) for name, array in random_machine().items()}
    arrays["visible_log_precision"] = np.full(6, log_precision, np.float32)
    write_safetensors(path, arrays, {**FOREIGN, "visible": "gaussian"})


def commands(model):
    return {
        "sample": ("sample", model, "--count", 20, "--sweeps", 30, "--out", "s.npy"),
        "means": ("sample", model, "--count", 20, "--sweeps", 30, "--means", "--out", "s.npy"),
        "metropolis": ("sample", model, "--sampler", "metropolis", "--count", 20, "--sweeps", 30, "--out", "s.npy"),
        "annealing": ("sample", model, "--sampler", "annealing", "--count", 20, "--sweeps", 30, "--out", "s.npy"),
        "evaluate": ("evaluate", model, "--data", "x.npy"),
        "quality": ("evaluate", model, "--data", "x.npy", "--quality", "--count", 20, "--sweeps", 10),
        "compare": ("compare", model, "--data", "x.npy", "--count", 20, "--sweeps", 10),
        "reconstruct": ("reconstruct", model, "--data", "x.npy", "--out", "s.npy"),
        "inspect": ("inspect", model),
    }


@pytest.mark.parametrize("name", commands("m"))
@pytest.mark.parametrize("log_precision", [-800.0, 81.0, 710.0, 1e10])
def test_a_precision_out_of_range_is_refused_with_its_place(name, log_precision):
    np.save("x.npy", np.random.default_rng(0).normal(size=(30, 6)))
    gaussian("m.safetensors", log_precision)
    refused(BAD_DATA, *commands("m.safetensors")[name],
            says=("m.safetensors: visible_log_precision: element 0", "from -80 to 80"))


@pytest.mark.parametrize("scale", [1e16, 1e30])
def test_weights_out_of_range_are_refused_with_their_place(scale):
    gaussian("m.safetensors", 0.0, scale)
    refused(BAD_DATA, "inspect", "m.safetensors", says=("m.safetensors: weights: element ", "from -1e+15 to 1e+15"))


@pytest.mark.parametrize("name", commands("m"))
@pytest.mark.parametrize("log_precision, scale, values", [(-80.0, 1e14, 1.0), (80.0, 1e14, 1.0), (-80.0, 1.0, 1.0),
                                                          (80.0, 1.0, 1e15), (0.0, 1e14, 1e15), (-80.0, 1e14, 1e15)])
def test_what_is_no_number_is_no_result(name, log_precision, scale, values):
    """At the limits of what is read a result is finite, or there is none."""
    np.save("x.npy", values * np.random.default_rng(0).uniform(-1, 1, size=(30, 6)))
    gaussian("m.safetensors", log_precision, scale)
    done = run(*commands("m.safetensors")[name], "--json")
    assert done.returncode in (OK, BAD_DATA), done.stderr
    if done.returncode == BAD_DATA:
        assert done.stdout == "" and not Path("s.npy").exists()
        assert "finite" in done.stderr or "not a number" in done.stderr or "are numbers" in done.stderr, done.stderr
        return
    answer = json.loads(done.stdout)
    for estimate in ("log_likelihood", "log_z"):
        assert not answer.get(estimate) or None not in answer[estimate].values()
    assert "free_energy" not in answer or answer["free_energy"] is not None
    assert answer.get("reconstruction_error", 0.0) is not None
    if Path("s.npy").exists():
        assert np.isfinite(np.load("s.npy")).all()
