"""Names of code in back-ticks in the documentation exist.

What looks like code of this project is looked up: files and folders, options of the command, names with a scope
(Trainer::run), in camel case (PersistentChains, kMemory), with underscores (independent_start) and calls (step(…)).
Anything else, such as plain words, values, shell lines of other programs, is let through.
"""

import re
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ["src", "apps", "tests", "tools", "bench", "examples"]
SUFFIXES = ("hpp", "cpp", "py", "md", "cmake")
PLACEHOLDER = re.compile(r"(\b|_)NAME(\b|_)|\b[a-z]+_[A-Z]\b|…|\.\.\.|[<>{}]")  # trainer/NAME.hpp, weights_K
FOREIGN_SCOPES = ("std", "hwy", "ergodic", "nlohmann", "fmt")


class Project:
    """All that the files under `root` define or name."""

    def __init__(self, root):
        self.root = root
        self.files = [f for top in [*CODE, "docs"] for f in sorted((root / top).rglob("*")) if is_ours(f, root)]
        self.files += [f for f in root.iterdir() if f.is_file()]
        self.paths = {f.relative_to(root).as_posix() for f in self.files}
        self.folders = {parent.as_posix() for path in self.paths for parent in Path(path).parents}
        self.starts = {Path(p).name for p in self.folders if p.startswith("src/ergodic/") or p in CODE} | {"docs"}

    @cached_property
    def code(self):
        """The text of each file of code, without comments."""
        files = [f for f in self.files if f.relative_to(self.root).parts[0] in CODE and f.name != "docs_test.py"]
        return {f: without_comments(f) for f in files if f.suffix != ".png"}

    @cached_property
    def words(self):
        return set(re.findall(r"\w+", "\n".join(self.code.values())))

    @cached_property
    def options(self):
        """Names of options, wherever commands and tools declare them: not in tests, which try unknown ones."""
        tests = self.root / "tests"
        text = "\n".join(t for f, t in self.code.items() if tests not in f.parents)
        return set(re.findall(r'\(\s*"([a-z][\w-]*)"', text)) | set(re.findall(r"--([a-z][\w-]*)", text))

    @cached_property
    def bodies(self):
        """{name of a class: (its text, its bases)}, all classes of a name together."""
        found = {}
        pattern = re.compile(r"\b(?:class|struct|enum class|enum|concept)\s+(?:alignas\(\d+\)\s+)?(\w+)([^;{}()=]*)\{")
        for file, text in self.code.items():
            if file.suffix in (".hpp", ".cpp"):
                for match in pattern.finditer(text):
                    body, bases = found.get(match[1], ("", set()))
                    found[match[1]] = (body + braced(text, match.end()), bases | set(re.findall(r"\w+", match[2])))
        return found

    def has_path(self, path):
        path = path.rstrip("/")
        if any(c in path for c in "*?"):
            return any(fnmatch(p, pattern) for p in self.paths for pattern in (path, "*/" + path))
        return any(known == path or known.endswith("/" + path) for known in self.paths | self.folders)

    def has_member(self, scope, name):
        if any(re.search(rf"\b{scope}(<\w*>)?::{name}\b", text) for text in self.code.values()):
            return True
        body, bases = self.bodies.get(scope, ("", set()))
        return bool(re.search(rf"\b{name}\b", body)) or any(
            self.has_member(base, name) for base in bases - {scope} if base in self.bodies
        )


def is_ours(file, root):
    return file.is_file() and not {"__pycache__", "build", "demo"} & set(file.relative_to(root).parts)


def without_comments(file):
    text = file.read_text(errors="replace")
    if file.suffix in (".hpp", ".cpp"):
        return re.sub(r"(?<![:\"])//.*", "", text)
    return re.sub(r"(?m)^\s*#.*", "", text)


def braced(text, begin):
    """The text from here to the brace that closes the one before."""
    depth = 1
    for place in re.finditer(r"[{}]", text[begin:]):
        depth += 1 if place[0] == "{" else -1
        if depth == 0:
            return text[begin : begin + place.start()]
    return text[begin:]


def spans(text):
    """(line, text) of what is in back-ticks, outside blocks of code."""
    lines, fenced, indented, blank = [], False, False, True
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        indented = line.startswith("    ") and (blank or indented)
        lines.append("" if fenced or fence or indented else line)
        fenced ^= fence
        blank = not line.strip()
    prose = "\n".join(lines)
    for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", prose):
        yield prose.count("\n", 0, match.start()) + 1, " ".join(match[1].split())


def missing_option(project, span):
    if not re.match(r"--|ergodic |tools/|bench/", span):
        return None
    unknown = [name for name in re.findall(r"(?<![\w-])--([a-z][\w-]*)", span) if name not in project.options]
    return f"no option --{unknown[0]}" if unknown else None


def missing_path(project, span):
    path = span.split(":")[0]
    if not re.fullmatch(r"[\w.*?/-]+", path):
        return None
    suffix = Path(path).suffix[1:]
    ours = suffix in SUFFIXES or ("/" in path and path.split("/")[0] in project.starts and not suffix)
    return f"no file {path}" if ours and not project.has_path(path) else None


def missing_name(project, span):
    name = re.sub(r"<[\w, ]*>", "", span.removeprefix("."))
    call = re.fullmatch(r"([\w:]+)\(.*\)", name)
    name = call[1] if call else name
    if re.fullmatch(r"\w+(::\w+)+", name):
        *scopes, last = [part for part in name.split("::") if part != "ergodic"]
        if not scopes or scopes[-1] in FOREIGN_SCOPES or project.has_member(scopes[-1], last):
            return None
        return f"no {scopes[-1]}::{last}"
    code = re.fullmatch(r"k?([A-Z][a-z0-9]+)+|[A-Za-z]\w*_\w+", name)
    return f"no name {name}" if (code or call) and re.fullmatch(r"\w+", name) and name not in project.words else None


def offences(root):
    project = Project(root)
    for file in [*sorted((root / "docs").rglob("*.md")), root / "CONTRIBUTING.md", root / "README.md"]:
        for line, span in spans(file.read_text()):
            if PLACEHOLDER.search(re.sub(r"\(.*\)|<\w+>", "", span)):
                continue
            for rule in (missing_option, missing_path, missing_name):
                wrong = rule(project, span)
                if wrong:
                    yield f"{file.relative_to(root)}:{line}: `{span}`: {wrong}"
                    break


def test_every_name_in_the_documentation_exists():
    assert list(offences(ROOT)) == []


@pytest.fixture
def tree(tmp_path):
    """A small project whose documentation is right."""
    files = {
        "src/ergodic/trainer/loop.hpp": "// once called old_loop\n"
        "struct Base { int kept; };\nclass TrainLoop : public Base {\n  void run_all();\n  enum { kMost };\n};\n"
        "void update(double velocity);\n",
        "src/ergodic/run/spec.cpp": 'spec.add("budget", &Request::budget, "how long");\n',
        "tests/command/odd_test.py": "run('--no-such-option')\n",
        "README.md": "",
        "CONTRIBUTING.md": "",
        "docs/math.md": "`trainer/loop.hpp`, `TrainLoop::run_all`, `TrainLoop::kept`, `kMost`, `--budget 3s`, "
        "`ergodic train --budget 3`, `tests/command/*_test.py`, `update(0.1)`, `trainer/NAME.hpp`, `parse_NAME(x)`, "
        "`weights_K`, `.cpp`, `loss`, `0.5`, `pip install --upgrade x`, `std::vector_like`, `model.npy`, "
        "`trainer`\n\n    gone_name\n\n```\nGoneName\n```\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(offences(tmp_path)) == []
    return tmp_path


@pytest.mark.parametrize(
    "span, wrong",
    [
        ("trainer/gone.hpp", "no file trainer/gone.hpp"),
        ("tests/laws/gone_test.cpp:12", "no file tests/laws/gone_test.cpp"),
        ("gone.cpp", "no file gone.cpp"),
        ("trainer/gone/", "no file trainer/gone/"),
        ("TrainLoop::update", "no TrainLoop::update"),
        ("TrainLoop::velocity", "no TrainLoop::velocity"),
        ("ergodic::Gone::update", "no Gone::update"),
        ("GoneLoop", "no name GoneLoop"),
        ("Gone", "no name Gone"),
        ("kGone", "no name kGone"),
        ("old_loop", "no name old_loop"),
        ("start_far(2)", "no name start_far"),
        ("begone(Gibbs, …)", "no name begone"),
        (".at_once()", "no name at_once"),
        ("--no-such-option", "no option --no-such-option"),
        ("ergodic train --budget 1 --gone", "no option --gone"),
    ],
)
def test_each_offence_is_found(tree, span, wrong):
    (tree / "docs/decisions").mkdir()
    (tree / "docs/decisions/one.md").write_text(f"First,\n\nwhat `{span}` was.\n")
    assert list(offences(tree)) == [f"docs/decisions/one.md:3: `{span}`: {wrong}"]
