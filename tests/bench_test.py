"""bench/run at its smallest, with Ergodic as the only contender: the harness runs, checks, and says what it found."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(os.environ.get("ERGODIC", ROOT / "build/release/apps/cli/ergodic")).resolve()
BUILD = COMMAND.parents[2]


def bench(*options):
    words = ["/usr/bin/python3", ROOT / "bench/run", "--quick", "--build", BUILD, *options]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def test_measures_and_checks(results):
    done = bench("--contenders", "ergodic", "--only", "W1,W3", "--rounds", "3", "--results", results)
    assert done.returncode == 0, done.stderr
    assert "samples/s" in done.stdout and "chain-sweeps/s" in done.stdout
    written = json.loads((results / "results.json").read_text())
    assert [workload["name"] for workload in written["workloads"]] == ["W1", "W3"]
    for workload in written["workloads"]:
        entry = workload["contenders"]["ergodic"]
        assert len(entry["turns"]) == 3
        assert 0 < entry["value"]["min"] <= entry["value"]["median"] <= entry["value"]["max"]
        assert entry["macs_per_cycle"] > 0
    assert written["failures"] == []


def test_another_build_takes_part_beside_the_first(results):
    names = f"ergodic,ergodic-{BUILD.name}"
    done = bench("--contenders", names, "--ergodic", BUILD, "--only", "W3", "--results", results)
    assert done.returncode == 0, done.stderr
    (workload,) = json.loads((results / "results.json").read_text())["workloads"]
    other = workload["contenders"][f"ergodic-{BUILD.name}"]
    assert 0 < other["ergodic_faster"]["min"] <= other["ergodic_faster"]["max"]


IMPOSTOR = """#!/usr/bin/python3
import sys
print('{"kinds": ["gibbs"]}', flush=True)
for line in sys.stdin:
    print('{"seconds": 1e-6, "activity": 0.9, "hertz": 1e9}', flush=True)
"""


def test_a_wrong_answer_fails_the_run(results, tmp_path):
    program = tmp_path / "impostor/bench/bench_ergodic"
    program.parent.mkdir(parents=True)
    program.write_text(IMPOSTOR)
    program.chmod(0o755)
    names = "ergodic,ergodic-impostor"
    done = bench("--contenders", names, "--ergodic", tmp_path / "impostor", "--only", "W3", "--results", results)
    assert done.returncode == 1
    assert "wrong: ergodic-impostor in W3: activity 0.900" in done.stderr


def test_leaves_out_what_a_contender_cannot_do(results):
    done = bench("--contenders", "loop", "--only", "W1", "--results", results)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("options", [("--contenders", "erdogic"), ("--only", "W99")])
def test_unknown_names_are_refused(results, options):
    done = bench(*options, "--results", results)
    assert done.returncode != 0
    assert "unknown name" in done.stderr
    assert not results.exists()


def test_the_capacity_of_hopfield_networks(results):
    words = ["/usr/bin/python3", ROOT / "bench/hopfield/run", "--quick", "--build", BUILD, "--results", results]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    curves = {curve["rule"]: curve["points"] for curve in json.loads((results / "capacity.json").read_text())["curves"]}
    from_the_pattern = {rule: [p["success"][0]["rate"]["value"] for p in points] for rule, points in curves.items()}
    assert from_the_pattern["hebb"][0] == from_the_pattern["storkey"][0] == 1  # 5 patterns in 100 units
    assert from_the_pattern["pseudo-inverse"] == [1, 1]  # and 50
    assert from_the_pattern["hebb"][1] < 0.5
    assert "pseudo-inverse" in done.stdout
