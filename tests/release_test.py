"""The version is said alike wherever it is said."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def found(file, expression):
    return re.search(expression, (ROOT / file).read_text(), re.MULTILINE).group(1)


def test_the_citation_and_the_changelog_have_the_version():
    version = found("src/ergodic/core/version.hpp", r'kVersion = "([\d.]+)"')
    assert found("CITATION.cff", r"^version: (\S+)$") == version
    assert found("CHANGELOG.md", r"^## \[(\d[\d.]*)\]") == version


def test_the_changelog_has_a_place_for_what_comes():
    assert found("CHANGELOG.md", r"^## \[(.+?)\]") == "Unreleased"
