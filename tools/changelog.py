"""Gather the fragments of changes.d into CHANGELOG.md, and check what a release states.

A fragment is ``changes.d/<issue>.<type>.md`` with the type ``added``, ``changed``, ``deprecated``,
``removed`` or ``fixed``, or ``changes.d/<issue>.md`` for what is added; each of its paragraphs or
bullets is one entry. ``changes.d/notes.md`` heads the section of the release, if there is one.

- ``--draft 1.0.0`` prints the section;
- ``--release 1.0.0`` writes it into CHANGELOG.md and removes the fragments;
- ``--notes 1.0.0`` prints the section of a released version;
- ``--check 1.0.0`` compares the version with package, citation and CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPES = {
    "added": "Added",
    "changed": "Changed",
    "deprecated": "Deprecated",
    "removed": "Removed",
    "fixed": "Fixed",
}
NAME = re.compile(rf"(?P<issue>\d+)(\.(?P<type>{'|'.join(TYPES)}))?\.md")
NOTES = "notes.md"
WIDTH = 120
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def fragments(root: Path) -> list[Path]:
    """Return the files of the fragments by issue.

    Raises
    ------
    ValueError
        If a file is no fragment, so that none is forgotten.
    """
    found = [path for path in (root / "changes.d").glob("*") if path.name != NOTES]
    for path in found:
        if not NAME.fullmatch(path.name):
            raise ValueError(
                f"a fragment must be named <issue>.<type>.md with a type of {', '.join(TYPES)}, "
                f"got {path.name}"
            )
    return sorted(found, key=lambda path: (int(path.name.partition(".")[0]), path.name))


def entries(text: str) -> list[str]:
    r"""Return the paragraphs and bullets of a fragment, each on one line.

    Examples
    --------
    >>> entries("One\nline.\n\nTwo.\n- Three,\n  whole.\n- Four.")
    ['One line.', 'Two.', 'Three, whole.', 'Four.']
    """
    parts = re.split(r"\n\s*\n|\n(?=[-*] )", text.strip())
    return [" ".join(re.sub(r"^[-*] ", "", part.strip()).split()) for part in parts if part.strip()]


def section(root: Path, version: str, date: str) -> str:
    """Return the section of a release, made from the fragments."""
    gathered: dict[str, list[str]] = {kind: [] for kind in TYPES}
    for path in fragments(root):
        kind = NAME.fullmatch(path.name)["type"] or "added"  # type: ignore[index]
        gathered[kind] += entries(path.read_text())
    parts = [f"## {version} ({date})"]
    notes = root / "changes.d" / NOTES
    if notes.exists():
        parts.append(notes.read_text().strip())
    for kind, title in TYPES.items():
        if gathered[kind]:
            lines = [_bullet(entry) for entry in gathered[kind]]
            parts.append(f"### {title}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _bullet(entry: str) -> str:
    return textwrap.fill(
        entry,
        WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def released(root: Path, version: str) -> str:
    """Return the section of a released version, without its title."""
    text = (root / "CHANGELOG.md").read_text()
    pattern = rf"(?ms)^## {re.escape(version)} [^\n]*\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"CHANGELOG.md must have a section of {version}")
    return found[1].strip() + "\n"


def release(root: Path, version: str, date: str) -> None:
    """Write the section above the earlier ones, and remove the fragments."""
    path = root / "CHANGELOG.md"
    text = path.read_text()
    if f"\n## {version} " in text:
        raise ValueError(f"version must be new to CHANGELOG.md, got {version}")
    head, mark, earlier = text.partition("\n## ")
    path.write_text(f"{head.rstrip()}\n\n{section(root, version, date)}{mark}{earlier}")
    for fragment in [*fragments(root), root / "changes.d" / NOTES]:
        fragment.unlink(missing_ok=True)


def disagreements(root: Path, version: str) -> list[str]:
    """Return what does not state a version that is to be released."""
    package = (root / "src/ecselm/__init__.py").read_text()
    citation = (root / "CITATION.cff").read_text()
    problems = []
    if f'__version__ = "{version}"' not in package:
        problems.append(f"src/ecselm/__init__.py is not of version {version}")
    if f"\nversion: {version}\n" not in citation:
        problems.append(f"CITATION.cff is not of version {version}")
    if f"\n## {version} " not in (root / "CHANGELOG.md").read_text():
        problems.append(f"CHANGELOG.md has no section of {version}")
    if fragments(root):
        problems.append("changes.d has fragments that are not in CHANGELOG.md")
    return problems


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run one of the actions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_mutually_exclusive_group(required=True)
    for name in ("draft", "release", "notes", "check"):
        actions.add_argument(f"--{name}", metavar="VERSION")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    args = parser.parse_args(arguments)
    version = args.draft or args.release or args.notes or args.check
    if not VERSION.fullmatch(version):
        parser.error(f"VERSION must be as 1.2.3 or 1.2.3rc1, got {version}")
    try:
        if args.draft:
            print(section(root, version, args.date), end="")
        elif args.release:
            release(root, version, args.date)
        elif args.notes:
            print(released(root, version), end="")
        else:
            problems = disagreements(root, version)
            print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
            return bool(problems)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
