#!/usr/bin/env python3
"""Checks that includes follow the layers of the design.

    tools/layering.py [ROOT]

Which folder of src/ergodic may include which others is read from src/ergodic/CMakeLists.txt; what the doors (apps,
python) may include is the table DOORS below. src/ergodic/ergodic.hpp must name all public headers in reading order.
Every offence is printed as file:line, and the exit code is then 1.
"""

import os
import re
import sys
from pathlib import Path

DOORS = {"apps": ["core", "option", "report", "run"], "python": ["core", "option", "data", "model", "run"]}
FREE = ["tests", "bench", "examples"]  # may include everything
VAGUE_NAMES = {"utils", "common", "misc", "impl"}
UNREAD = {"build", "demo", "node_modules", "__pycache__"}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def declared_folders(root):
    """{folder: [folders it may include]}, in the order of their declaration."""
    text = (root / "src/ergodic/CMakeLists.txt").read_text()
    text = re.sub(r"#.*", "", text)
    folders = {}
    for call in re.findall(r"\bergodic_folder\(([^)]*)\)", text):
        name, *rest = call.split()
        allowed, keyword = [], None
        for word in rest:
            if word in ("FOLDERS", "LIBRARIES"):
                keyword = word
            elif keyword == "FOLDERS":
                allowed.append(word)
        folders[name] = allowed
    return folders


def order_errors(folders):
    """A folder may name only folders declared above it, so that there is no cycle."""
    above = set()
    for name, allowed in folders.items():
        for folder in allowed:
            if folder not in above:
                yield f"src/ergodic/CMakeLists.txt: {name} names {folder}, which is not declared above it"
        above.add(name)


def walk(root):
    """All folders that are ours to judge, with their file names."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in UNREAD and not name.startswith("."))
        yield Path(folder).relative_to(root), sorted(names)


def include_error(root, file, quote, target, allowed):
    """What is wrong with one include, or None. `allowed` is None where everything is."""
    if ".." in target.split("/"):
        return 'is relative; write the path from src/, as in "ergodic/core/random.hpp"'
    ours = target.startswith("ergodic/")
    if quote == '"' or ours:
        places = [root / "src"] if ours else [root / file.parent, root / file.parts[0]]
        if file.parts[0] in FREE:
            places.append(root / "apps/cli")  # a test may be the command with something of its own
        if not any((place / target).is_file() for place in places):
            return "does not exist" if ours else "does not exist in this project; foreign headers go in < >"
    if ours and allowed is not None:
        folder = target.split("/")[1]
        if folder not in allowed:
            return f"is not allowed here; allowed are {' '.join(allowed)}"
    return None


def contents_errors(root):
    """src/ergodic/ergodic.hpp names every public header once, and each after those of this project that it includes."""
    contents = root / "src/ergodic/ergodic.hpp"
    listed = {}
    for number, line in enumerate(contents.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        place = f"src/ergodic/ergodic.hpp:{number}"
        if match[2] in listed:
            yield f"{place}: {match[2]} is there already"
        header = root / "src" / match[2]
        if header.is_file():
            for _, needed in includes_of(header):
                if is_public(root / "src" / needed) and needed not in listed:
                    yield f"{place}: {match[2]} includes {needed}, which must come before it"
        listed[match[2]] = number
    for header in sorted((root / "src").rglob("*.hpp")):
        name = header.relative_to(root / "src").as_posix()
        if header != contents and is_public(header) and name not in listed:
            yield f"src/{name}: not in src/ergodic/ergodic.hpp"


def is_public(header):
    """Headers of one instruction set, and those that need another library, are private."""
    if not header.is_file() or header.name.endswith("-inl.hpp"):
        return False
    return not any(quote == "<" and "/" in target for quote, target in includes_of(header))


def includes_of(file):
    return [(match[1], match[2]) for match in map(INCLUDE.match, file.read_text().splitlines()) if match]


def errors(root):
    folders = declared_folders(root)
    yield from order_errors(folders)
    yield from contents_errors(root)
    for path, names in walk(root):
        if path.name in VAGUE_NAMES:
            yield f"{path}: a folder is named by its concept, never {path.name}"
        parts = path.parts
        if not parts or parts[0] not in ["src", *DOORS, *FREE]:
            continue
        allowed = DOORS.get(parts[0])  # None, that is everything, for src/ergodic/ergodic.hpp and the free ones
        if parts[:2] == ("src", "ergodic") and len(parts) > 2:
            if parts[2] not in folders:
                yield f"{path}: not declared in src/ergodic/CMakeLists.txt"
                continue
            allowed = [parts[2], *folders[parts[2]]]
        for name in names:
            if not name.endswith((".hpp", ".cpp", ".h")):
                continue
            file = path / name
            for number, line in enumerate((root / file).read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                wrong = match and include_error(root, file, match[1], match[2], allowed)
                if wrong:
                    yield f"{file}:{number}: {match[2]} {wrong}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(errors(root))
    for error in found:
        print(error)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
