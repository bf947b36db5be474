"""Lines by room, as `wc -l` counts them: of the checkout, and of other commits beside it.

``python bench/lines.py [commit ...]``. Python, Cython and C that git has, so that nothing generated counts.
"""

import argparse
import io
import subprocess
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".pyx", ".pxd", ".c", ".h")
PRODUCT = "gopfast"
BESIDE = ("tests", "bench")  # counted as one each
TOTAL = "product"


def room(name):
    """Return the room of a file, both trees alike; None for files that do not count."""
    path = PurePosixPath(name)
    if path.suffix not in SUFFIXES:
        return None
    parts = path.parts[1:] if path.parts[0] == "src" else path.parts
    if parts[0] in BESIDE:
        return parts[0]
    return "/".join(parts[:-1]) if parts[0] == PRODUCT and len(parts) > 1 else None


def counted(files):
    """Return lines by room of pairs (name, content)."""
    lines = Counter()
    for name, content in files:
        if (where := room(name)) is not None:
            lines[where] += content.count(b"\n")
            if where not in BESIDE:
                lines[TOTAL] += content.count(b"\n")
    return lines


def git(*arguments):
    """Return what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def of_checkout():
    """Yield the files of the checkout that git knows."""
    for name in git("ls-files", "-z").decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield name, (ROOT / name).read_bytes()


def of_commit(commit):
    """Yield the files of a commit."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
        for member in archive:
            if member.isfile():
                yield member.name, archive.extractfile(member).read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commits", nargs="*", help="commits to count as well")
    commits = parser.parse_args().commits
    columns = [counted(of_commit(commit)) for commit in commits] + [counted(of_checkout())]
    rooms = sorted(set().union(*columns) - {TOTAL, *BESIDE})
    print("| room | " + " | ".join([*commits, "checkout"]) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for where in [*rooms, TOTAL, *BESIDE]:
        print(f"| {where} | " + " | ".join(f"{column[where]:,}" if column[where] else "" for column in columns) + " |")


if __name__ == "__main__":
    main()
