"""What the README tells a reader to type works as it stands, on smaller data and for a shorter time."""

import pathlib
import re
import shlex
import subprocess
import sys

from conftest import COMMAND

README = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
FEWER = {"mnist": "digits:300", "1000": "10", "two-moons": "two-moons:1000"}  # data that needs no download, and fewer samples


def commands():
    """The indented lines that begin with `ergodic`, in order, without the one that downloads."""
    lines = re.findall(r"^    (ergodic .*)$", README, flags=re.MULTILINE)
    return [line for line in lines if not line.startswith("ergodic data get")]


def test_every_command_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for snippet in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        subprocess.run([sys.executable, "-c", snippet], check=True)
    lines = commands()
    assert len(lines) >= 10
    for line in lines:
        if "--resume" in line:
            continue  # there is nothing to resume after a run that was not interrupted
        words = [FEWER.get(word, word) for word in shlex.split(line)[1:]]
        if words[0] == "train" and not {"--epochs", "hopfield"} & set(words):
            words += ["--updates", "300"]  # what is good for a user takes too long here
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    assert all(pathlib.Path(name).stat().st_size > 0 for name in ("samples.png", "pairs.png", "filters.png", "report.html"))
