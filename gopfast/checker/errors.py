"""What is wrong with a proof."""


class GopfastError(Exception):
    """Base class of every error of gopfast, here because the checker takes nothing from the package around it."""


class ProofError(GopfastError):
    """
    A proof that does not hold.

    Parameters
    ----------
    entry : str
        The entry concerned, as ``"leaf 17"`` or ``"claim"``.
    reason : str
    """

    def __init__(self, entry: str, reason: str) -> None:
        super().__init__(f"{entry}: {reason}")
        self.entry, self.reason = entry, reason
