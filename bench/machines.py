"""Machines: the one that all contenders start from, and files in the layout of docs/format.md."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass
class Machine:
    weights: np.ndarray  # [visible, hidden], float32
    visible_bias: np.ndarray
    hidden_bias: np.ndarray


def first_machine(data, hidden, seed):
    """Small random weights, and the visible biases that fit the data."""
    random = np.random.default_rng(seed)
    margin = 1 / (len(data) + 2)
    means = data.mean(axis=0, dtype=np.float64).clip(margin, 1 - margin)
    return Machine(random.normal(0, 0.01, (data.shape[1], hidden)).astype(np.float32),
                   np.log(means / (1 - means)).astype(np.float32), np.zeros(hidden, np.float32))


def save(path, machine):
    header = {"__metadata__": {"format": "ergodic-model", "version": "1", "model": "rbm"}}
    content = b""
    for name, tensor in vars(machine).items():
        begin = len(content)
        content += np.ascontiguousarray(tensor, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [begin, len(content)]}
    text = json.dumps(header).encode()
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + content)


def load(path):
    content = Path(path).read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])

    def tensor(name):
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(content[start + begin:start + end], "<f4").reshape(header[name]["shape"]).copy()

    return Machine(tensor("weights"), tensor("visible_bias"), tensor("hidden_bias"))
