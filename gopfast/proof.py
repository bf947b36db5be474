"""A proof that a solve keeps in memory, or writes to a file."""

from dataclasses import dataclass
from pathlib import Path

from gopfast import annotations


@dataclass(frozen=True, repr=False)
class Proof:
    """
    A proof of a result's bounds, for `gopfast.check`: what its file would hold.

    Attributes
    ----------
    data : bytes
        See `gopfast.checker.file`.
    size : int
        Bytes.
    """

    data: bytes

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.data)

    def save(self, path: annotations.Path) -> None:
        """
        Write the file.

        Parameters
        ----------
        path : str or path-like
        """
        Path(path).write_bytes(self.data)

    def __repr__(self) -> str:
        """Return the size."""
        return f"<Proof of {self.size:,} bytes>"


def keep(data: bytes, where: str | bool) -> str | Proof:
    """Write a proof to a file, whose name is returned, or keep it where `where` is True."""
    proof = Proof(data)
    if not isinstance(where, str):
        return proof
    proof.save(where)
    return where
