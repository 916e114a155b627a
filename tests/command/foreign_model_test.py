"""Model files written by other programs: read if they make sense, refused with the reason if not."""

import numpy as np
import pytest
from conftest import (BAD_DATA, FOREIGN, Machine, ask, png_size, random_machine, read_safetensors, refused,
                      small_machine, succeed, write_safetensors)

NAME = "foreign.safetensors"


@pytest.fixture(autouse=True)
def data(own_folder):
    rows = np.random.default_rng(1).integers(0, 2, (40, 6), np.uint8)
    np.save("data.npy", rows)
    return rows


def check_against_brute_force(machine, rows):
    answer = ask("evaluate", NAME, "--data", "data.npy")
    assert np.isclose(answer["log_z"]["value"], machine.log_z(), rtol=1e-6)
    assert np.isclose(answer["log_likelihood"]["value"], machine.log_likelihood(rows), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("units", [{}, {"visible": "spin"}, {"hidden": "spin"}, {"visible": "spin", "hidden": "spin"}],
                         ids=lambda units: " ".join(units) or "standard")
def test_a_foreign_machine_is_evaluated(data, dtype, units):
    arrays = random_machine(dtype=dtype)
    write_safetensors(NAME, arrays, {**FOREIGN, **units})
    rounded = {name: array.astype(np.float32) for name, array in arrays.items()}  # the precision of a machine
    check_against_brute_force(Machine(rounded, **units), data)


def test_the_order_of_tensors_does_not_matter(data):
    arrays = random_machine()
    write_safetensors(NAME, dict(reversed(arrays.items())), FOREIGN)
    check_against_brute_force(Machine(arrays), data)


def test_inspect_says_that_there_is_no_digest():
    write_safetensors(NAME, random_machine(), {**FOREIGN, "author": "somebody else"})
    answer = ask("inspect", NAME)
    assert answer["digest"] == "none"
    assert answer["notes"] == {"author": "somebody else"}
    assert "none" in succeed("inspect", NAME).stdout


def test_a_foreign_machine_is_sampled_and_drawn():
    write_safetensors(NAME, random_machine(), FOREIGN)
    succeed("sample", NAME, "--count", 10, "--sweeps", 3, "--out", "s.npy")
    assert np.load("s.npy").shape == (10, 6)
    succeed("inspect", NAME, "--filters", "f.png")
    assert min(png_size("f.png")) > 1


@pytest.mark.parametrize("note", ["0x0", "2x2", "99999999999999999999x1", "-2x-3", "x", ""])
def test_a_picture_shape_that_does_not_fit_is_not_believed(note):
    write_safetensors(NAME, random_machine(), {**FOREIGN, "picture": note})
    succeed("inspect", NAME, "--filters", "f.png")
    assert min(png_size("f.png")) > 1


def test_the_same_machine_with_and_without_digest_gives_the_same_numbers():
    trained = small_machine("trained.safetensors")
    arrays, _ = read_safetensors(trained)
    write_safetensors(NAME, arrays, FOREIGN)
    data = ("--data", "bars-and-stripes:3")
    assert ask("evaluate", NAME, *data) == ask("evaluate", trained, *data)


def without(arrays, name):
    return {key: array for key, array in arrays.items() if key != name}


def broken(kind):
    """A machine with one fault, and what the refusal should say of it."""
    arrays, metadata = random_machine(), dict(FOREIGN)
    if kind == "transposed weights":
        return {**arrays, "weights": arrays["weights"].T.copy()}, metadata, ("visible_bias", "[5]", "[6]")
    if kind == "flat weights":
        return {**arrays, "weights": arrays["weights"].reshape(-1)}, metadata, ("weights", "1 dimensions")
    if kind == "no units":
        return {**arrays, "weights": np.zeros((0, 5), np.float32)}, metadata, ("weights",)
    if kind == "bias as a column":
        return {**arrays, "hidden_bias": arrays["hidden_bias"].reshape(-1, 1)}, metadata, ("hidden_bias", "[5, 1]")
    if kind in arrays:
        return without(arrays, kind), metadata, (kind, "found none")
    if kind == "whole numbers":
        return {**arrays, "weights": np.ones((6, 5), np.int32)}, metadata, ("weights", "floats")
    if kind in ("nan", "inf"):
        arrays["weights"][2, 3] = float(kind)
        return arrays, metadata, ("weights", "element 13", kind)
    if kind == "overflow":
        arrays = random_machine(dtype=np.float64)
        arrays["hidden_bias"][1] = 1e300
        return arrays, metadata, ("hidden_bias", "element 1")
    key, value = kind.split("=")
    metadata[key] = value
    return arrays, metadata if value else without(metadata, key), (key, value)


@pytest.mark.parametrize("kind", [
    "transposed weights", "flat weights", "no units", "bias as a column", "weights", "visible_bias", "hidden_bias",
    "whole numbers", "nan", "inf", "overflow", "visible=potts", "hidden=Spin", "version=2", "version=0", "version=one",
    "version=", "format=another", "format=", "model=gan", "model=", "digest=0123456789abcdef",
    "written_by=ergodic 0.1.0",
])
def test_a_machine_that_makes_no_sense_is_refused(kind):
    arrays, metadata, says = broken(kind)
    write_safetensors(NAME, arrays, metadata)
    if kind.startswith(("digest", "written_by")):
        says = ("digest",)
    refused(BAD_DATA, "evaluate", NAME, "--data", "data.npy", says=(NAME, *says))


def test_a_file_without_metadata_is_refused():
    write_safetensors(NAME, random_machine(), {})
    refused(BAD_DATA, "inspect", NAME, says=(NAME, "format"))


def test_huge_weights_give_a_number_or_a_reason():
    """Never a NaN on standard output."""
    arrays = random_machine()
    arrays["weights"][:] = 1e15
    write_safetensors(NAME, arrays, FOREIGN)
    answer = ask("evaluate", NAME, "--data", "data.npy")
    assert np.isclose(answer["log_z"]["value"], Machine(arrays).log_z(), rtol=1e-6)
