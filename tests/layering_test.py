"""The includes of the tree follow its layers, and tools/layering.py sees it when they do not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import layering  # noqa: E402


CONTENTS = "".join(f'#include "ergodic/{folder}/probe.hpp"\n' for folder in ("core", "model", "run"))


def check(root):
    """The exit code and the lines of output."""
    done = subprocess.run([sys.executable, ROOT / "tools/layering.py", root], capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path):
    """A small tree that passes, under a path with a space."""
    root = tmp_path / "a clone"
    files = {
        "src/ergodic/CMakeLists.txt": (ROOT / "src/ergodic/CMakeLists.txt").read_text(),
        "src/ergodic/core/probe.hpp": "#pragma once\n#include <vector>\n",
        "src/ergodic/model/probe.hpp": '#pragma once\n\n#include "ergodic/core/probe.hpp"\n',
        "src/ergodic/run/probe.hpp": '#include "ergodic/model/probe.hpp"\n',
        "src/ergodic/ergodic.hpp": CONTENTS,
        "apps/cli/options.hpp": "",
        "apps/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "options.hpp"\n#include "ergodic/run/probe.hpp"\n',
        "tests/probe.hpp": "",
        "tests/model/probe_test.cpp": '#include "probe.hpp"\n#include "ergodic/run/probe.hpp"\n',
        "examples/first.cpp": "#include <ergodic/ergodic.hpp>\n",
    }
    for name, text in files.items():
        write(root / name, text)
    assert check(root) == (0, [])
    return root


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_this_tree_passes():
    assert check(ROOT) == (0, [])


def test_declared_folders_are_in_order():
    folders = layering.declared_folders(ROOT)
    assert list(folders)[0] == "core" and folders["core"] == []
    assert list(folders)[-1] == "run"
    assert folders["sampler"] == ["core", "option", "kernels", "model"]
    assert list(layering.order_errors(folders)) == []


def test_a_cycle_is_rejected():
    assert list(layering.order_errors({"core": ["model"], "model": ["core"]})) == [
        "src/ergodic/CMakeLists.txt: core names model, which is not declared above it"
    ]


def test_a_copy_of_this_tree_with_a_forbidden_include_is_rejected(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    write(tmp_path / "src/ergodic/model/probe.hpp", "#pragma once\n")
    header = tmp_path / "src/ergodic/core/random.hpp"
    lines = header.read_text().splitlines()
    header.write_text("\n".join([*lines, '#include "ergodic/model/probe.hpp"', ""]))
    place = f"src/ergodic/core/random.hpp:{len(lines) + 1}"
    code, found = check(tmp_path)
    assert code == 1 and found[-1] == f"{place}: ergodic/model/probe.hpp is not allowed here; allowed are core"


@pytest.mark.parametrize(
    "file, text, error",
    [
        ("src/ergodic/core/a.cpp", "\n# include <ergodic/run/probe.hpp>", ":2: ergodic/run/probe.hpp is not allowed"),
        ("src/ergodic/model/a.cpp", '#include "ergodic/ergodic.hpp"', ":1: ergodic/ergodic.hpp is not allowed"),
        ("src/ergodic/model/a.cpp", '#include "../core/probe.hpp"', ":1: ../core/probe.hpp is relative"),
        ("src/ergodic/model/a.cpp", '#include "ergodic/core/none.hpp"', ":1: ergodic/core/none.hpp does not exist"),
        ("src/ergodic/model/a.cpp", '#include "fmt/format.h"', ":1: fmt/format.h does not exist in this project"),
        ("apps/cli/a.cpp", '#include "ergodic/model/probe.hpp"', ":1: ergodic/model/probe.hpp is not allowed"),
        ("tests/core/a_test.cpp", '#include "ergodic/core/none.hpp"', ":1: ergodic/core/none.hpp does not exist"),
    ],
)
def test_each_offence_is_named_with_its_place(tree, file, text, error):
    write(tree / file, text)
    code, lines = check(tree)
    assert code == 1 and len(lines) == 1
    assert lines[0].startswith(file + error)


@pytest.mark.parametrize(
    "file, text, error",
    [
        ("core/a.hpp", "#pragma once", "src/ergodic/core/a.hpp: not in src/ergodic/ergodic.hpp"),
        ("ergodic.hpp", CONTENTS + '#include "ergodic/core/probe.hpp"\n', ":4: ergodic/core/probe.hpp is there"),
        ("ergodic.hpp", CONTENTS + '#include "ergodic/core/gone.hpp"\n', ":4: ergodic/core/gone.hpp does not exist"),
        (
            "ergodic.hpp",
            "\n".join(reversed(CONTENTS.splitlines())),
            "ergodic.hpp:1: ergodic/run/probe.hpp includes ergodic/model/probe.hpp, which must come before it",
        ),
    ],
)
def test_the_table_of_contents_is_complete_and_in_reading_order(tree, file, text, error):
    write(tree / "src/ergodic" / file, text)
    code, lines = check(tree)
    assert code == 1 and error in lines[0]


def test_private_headers_are_not_in_the_table_of_contents(tree):
    write(tree / "src/ergodic/core/a-inl.hpp", "#pragma once")
    write(tree / "src/ergodic/core/b.hpp", "#include <nlohmann/json.hpp>")
    assert check(tree) == (0, [])


@pytest.mark.parametrize("name", sorted(layering.VAGUE_NAMES))
def test_vague_folder_names_are_rejected(tree, name):
    write(tree / "tests" / name / "a.cpp", "")
    assert check(tree) == (1, [f"tests/{name}: a folder is named by its concept, never {name}"])


def test_undeclared_folders_are_rejected(tree):
    write(tree / "src/ergodic/extra/a.cpp", "")
    assert check(tree) == (1, ["src/ergodic/extra: not declared in src/ergodic/CMakeLists.txt"])
