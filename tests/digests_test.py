"""tools/digests: what counts as another result, what does not, and how two lists are compared."""

import json
import struct
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools/digests"
sys.path.insert(0, str(TOOL.parent))
loader = SourceFileLoader("digests", str(TOOL))
digests = module_from_spec(spec_from_loader("digests", loader))
loader.exec_module(digests)


def model(value=1.0, shape=(1,), **notes):
    header = {"__metadata__": notes, "bias": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<f", value)


def test_tensors_and_metadata_of_a_model_are_apart():
    one = digests.model_digests(model(picture="2x2"))
    assert digests.model_digests(model(picture="2x2", digest="0", training="{}", written_by="a later version")) == one
    for other in (model(2.0, picture="2x2"), model(shape=(1, 1), picture="2x2")):
        found = digests.model_digests(other)
        assert found[".tensors"] != one[".tensors"] and found[".metadata"] == one[".metadata"]
    found = digests.model_digests(model(picture="1x4"))
    assert found[".tensors"] == one[".tensors"] and found[".metadata"] != one[".metadata"]


def test_times_and_paths_of_an_answer_do_not_count():
    words = ("train", "--json")
    one = digests.answer_digest(words, '{"updates": 3, "seconds": 1.5, "model": "a", "mixing": {"seconds": 2, "r": 1}}')
    assert digests.answer_digest(words, '{"model": "b", "mixing": {"r": 1}, "updates": 3, "seconds": 9}') == one
    assert digests.answer_digest(words, '{"model": "b", "mixing": {"r": 2}, "updates": 3}') != one


@pytest.mark.parametrize("second, says", [("a  1\nb  2\n", []), ("a  1\nb  3\n", ["differs: b"]),
                                          ("b  2\nc  4\n", ["only in one: a", "only in other: c"])])
def test_lists_are_compared_by_name(tmp_path, second, says):
    (tmp_path / "one").write_text("a  1\nb  2\n")
    (tmp_path / "other").write_text(second)
    done = subprocess.run([TOOL, "--compare", "one", "other"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == says and done.returncode == (1 if says else 0)


@pytest.mark.parametrize("words", [(), ("--compare", "one"), ("--nonsense",)], ids=" ".join)
def test_wrong_usage_is_rejected(words):
    done = subprocess.run([TOOL, *words], capture_output=True, text=True)
    assert done.returncode == 2 and "tools/digests COMMAND" in done.stderr


def test_a_command_that_fails_is_named(tmp_path):
    command = tmp_path / "ergodic"
    command.write_text("#!/bin/sh\necho out of order >&2\nexit 70\n")
    command.chmod(0o755)
    done = subprocess.run([TOOL, command], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert "exit code 70" in done.stderr and "out of order" in done.stderr
