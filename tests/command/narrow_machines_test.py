"""Machines of many units and few couplings: what is made of their parameters may not be many times the file."""

from pathlib import Path

import numpy as np
import pytest
from conftest import FOREIGN, peak_of, write_safetensors

UNITS = 2_000_000


def rbm(visible, hidden):
    weights = np.random.default_rng(1).normal(0, 0.1, (visible, hidden)).astype("<f4")
    return {"weights": weights, "visible_bias": np.zeros(visible, "<f4"), "hidden_bias": np.zeros(hidden, "<f4")}


@pytest.mark.parametrize("tensors, metadata", [
    (rbm(1, UNITS), {"model": "rbm"}),
    (rbm(UNITS, 1), {"model": "rbm"}),
    ({"couplings": np.zeros(0, "<f4"), "bias": np.zeros(UNITS, "<f4"), "edges": np.zeros((0, 2), "<u8")},
     {"model": "boltzmann"}),
], ids=["one visible unit", "one hidden unit", "no edges"])
def test_a_look_at_a_machine_takes_a_few_times_its_file(own_folder, tensors, metadata):
    write_safetensors("narrow.safetensors", tensors, {**FOREIGN, **metadata})
    _, little = peak_of("data", "list")
    _, peak = peak_of("inspect", "narrow.safetensors")
    assert peak < little + 8 * Path("narrow.safetensors").stat().st_size
