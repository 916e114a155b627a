"""Data sets of packages by their names, what fetching them says when it cannot, and data frames of R."""

import gzip
import io
import resource
import shutil
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, IO, NO_INPUT, ask, refused, succeed

SETS = ("optdigits", "optdigits-nudged", "mushrooms", "dna", "votes")


# ---- Fetching ----


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH of its own: what fetching needs, but for apt-get and dpkg-deb, which put(name, script) makes."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "tar", "gzip", "cat", "awk"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))

    def put(name, script):
        (folder / name).write_text("#!/bin/sh\n" + script)
        (folder / name).chmod(0o755)

    return put


def package_of(path, content):
    """A tar archive of one file, as dpkg-deb --fsys-tarfile prints it."""
    with tarfile.open("package.tar", "w") as archive:
        member = tarfile.TarInfo("./" + path)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return f"cat {Path('package.tar').absolute()}\n"


@pytest.mark.parametrize("name", SETS)
def test_a_set_that_is_not_there_names_the_command_that_brings_it(name):
    refused(NO_INPUT, "data", "show", "--data", name, says=f"ergodic data get {name}")
    assert f"ergodic data get {name}\n" in succeed("data", "list").stdout


@pytest.mark.parametrize("name", SETS)
def test_without_a_network_or_package_lists_nothing_is_kept(name, programs, tmp_path):
    programs("apt-get", "echo 'E: Unable to locate package' >&2; exit 100\n")
    refused(IO, "data", "get", name, says=("Unable to locate", "apt-get download", "apt-get update"))
    assert list((tmp_path / "cache/ergodic").iterdir()) == []


def test_without_room_nothing_is_kept(programs, tmp_path):
    """As on a full disk: no file may grow beyond 1000 bytes."""
    programs("apt-get", "/usr/bin/head -c 100000 /dev/zero > python3-sklearn_1.deb\n")
    few = (1000, 1000)
    refused(IO, "data", "get", "optdigits", says="apt-get download",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, few))
    assert list((tmp_path / "cache/ergodic").iterdir()) == []


def test_a_package_with_other_content_is_refused(programs, tmp_path):
    programs("apt-get", ": > python3-sklearn_1.deb\n")
    programs("dpkg-deb", package_of("usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz",
                                    gzip.compress(b"1,2\n")))
    refused(BAD_DATA, "data", "get", "optdigits", says=("digits.csv", "SHA-256", "the package has changed"))
    assert list((tmp_path / "cache/ergodic").iterdir()) == []


def test_a_package_without_the_file_is_refused(programs):
    programs("apt-get", ": > r-cran-mlbench_1.deb\n")
    programs("dpkg-deb", package_of("usr/share/doc/other", b""))
    refused(IO, "data", "get", "votes", says=("tar", "HouseVotes84.rda"))


def test_a_program_that_unpacks_is_named_if_it_is_not_there(programs):
    programs("apt-get", ": > r-cran-mlbench_1.deb\n")
    programs("dpkg-deb", package_of("usr/lib/R/site-library/mlbench/data/DNA.rda", b"\xfd7zXZ"))
    refused(IO, "data", "get", "dna", says=("xz", "install it"))


def test_a_damaged_copy_is_refused(tmp_path):
    cached = tmp_path / "cache/ergodic/votes"
    cached.mkdir(parents=True)
    (cached / "HouseVotes84").write_bytes(b"RDX2\nX\n")
    refused(BAD_DATA, "data", "show", "--data", "votes", "--missing",
            says=("SHA-256", "damaged", "ergodic data get votes"))


def test_columns_of_a_named_set_are_not_chosen():
    refused(2, "data", "show", "--data", "votes", "--label-column", "Class", says="leave out")


# ---- Data frames of R ----

HEAD = b"X\n" + struct.pack(">iii", 2, 0x40201, 0x20300)
END = struct.pack(">i", 254)
NA = -2**31


def text(word):
    return struct.pack(">ii", 9, len(word)) + word.encode()


def strings(words):
    return struct.pack(">ii", 16, len(words)) + b"".join(map(text, words))


def pair(name, value):
    return struct.pack(">ii", 0x402, 1) + text(name) + value


def factor(places, levels):
    return (struct.pack(f">ii{len(places)}i", 0x20d, len(places), *places) + pair("levels", strings(levels)) +
            pair("class", strings(["factor"])) + END)


def reals(numbers):
    return struct.pack(f">ii{len(numbers)}d", 14, len(numbers), *numbers)


def frame(**columns):
    return (struct.pack(">ii", 0x313, len(columns)) + b"".join(columns.values()) + pair("names", strings(columns)) +
            pair("class", strings(["data.frame"])) + END)


def save(path, missing=False):
    """Votes as people of two parties give them: what save() of R writes of 400 rows."""
    draw = np.random.default_rng(1)
    party = draw.integers(0, 2, 400)
    votes = (draw.random((400, 6)) < np.where(party, 0.85, 0.15)[:, None]).astype(int) + 1
    if missing:
        votes[draw.random(votes.shape) < 0.1] = NA
    columns = {f"V{k + 1}": factor(votes[:, k], ["no", "yes"]) for k in range(6)}
    frame_of_all = frame(Class=factor(party + 1, ["whig", "tory"]), **columns, share=reals(draw.random(400)))
    Path(path).write_bytes(gzip.compress(b"RDX2\n" + HEAD + pair("votes", frame_of_all) + END))


def test_a_data_frame_of_r_is_a_table():
    save("votes.rda")
    shown = ask("data", "show", "--data", "votes.rda", "--label-column", "Class", "--drop", "share")
    assert shown["rows"] == 400 and shown["names"] == [f"V{k}" for k in range(1, 7)]
    assert shown["classes"] == ["tory", "whig"] and sum(shown["labels"]) == 400
    succeed("train", "--data", "votes.rda", "--drop", "Class,share", "--hidden", 4, "--updates", 500, "--out", "m")
    assert ask("evaluate", "m", "--data", "votes.rda")["log_likelihood"]["value"] > -6 * np.log(2)
    rows = ("--data", "votes.rda", "--label-column", "Class", "--drop", "share")
    succeed("classify", "fit", *rows, "--hidden", 8, "--epochs", 20, "--out", "c")
    assert ask("classify", "evaluate", "c", *rows)["error"] < 0.1  # Bayes' own error is near 0.02


def test_missing_values_of_r_are_missing_values():
    save("votes.rda", missing=True)
    rows = ("--data", "votes.rda", "--label-column", "Class", "--drop", "share")
    refused(BAD_DATA, "data", "show", *rows, says=("NA", "--missing", "V1"))
    shown = ask("data", "show", *rows, "--missing")
    assert 0.07 * 2400 < shown["missing"] < 0.13 * 2400
    succeed("train", "--data", "votes.rda", "--drop", "Class,share", "--missing", "--hidden", 4, "--updates", 500, "--out",
            "m")
    assert ask("evaluate", "m", "--data", "votes.rda", "--missing")["log_likelihood"]["value"] > -6 * np.log(2)
    succeed("classify", "fit", *rows, "--missing", "--hidden", 8, "--epochs", 20, "--out", "c")
    assert ask("classify", "evaluate", "c", *rows, "--missing")["error"] < 0.15


def test_damaged_data_of_r_is_refused():
    save("votes.rda")
    whole = gzip.decompress(Path("votes.rda").read_bytes())
    for size in (4, 30, 200, len(whole) - 1):
        Path("cut.rda").write_bytes(whole[:size])
        refused(BAD_DATA, "data", "show", "--data", "cut.rda", says="cut.rda")
    Path("matrix.rds").write_bytes(HEAD + reals([1.0]))
    refused(BAD_DATA, "data", "show", "--data", "matrix.rds", says=("data frame", "as.data.frame"))
    Path("packed.rda").write_bytes(b"\xfd7zXZ\0")
    refused(BAD_DATA, "data", "show", "--data", "packed.rda", says="unxz")
