"""Enumerations that read as words."""


class Word:
    """
    Mixin of the enumerations that users see: a member prints as its name and equals it.

    ``status == "OPTIMAL"``, ``f"{status}"`` and ``status in {"OPTIMAL", "TIME_LIMIT"}`` do what they say, and so do
    tables that count by name. A member that is also a number equals that too, ``status == 1``, but its hash is that of
    the name: one object cannot have the hashes of a word and of a number. So a dict with numbers as keys is to be
    asked for ``int(status)``.
    """

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def __format__(self, spec: str) -> str:
        """Format the name, or with a number's specification such as "d" the value."""
        try:
            return format(self.name, spec)
        except ValueError:
            return format(self.value, spec)

    def __eq__(self, other: object) -> bool:
        """Whether `other` is this member, its name, or what else the enumeration's kind equals."""
        if isinstance(other, str):
            return self.name == other
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        """Contrary of equal; an integer has one of its own."""
        if isinstance(other, str):
            return self.name != other
        return super().__ne__(other)

    def __hash__(self) -> int:
        """Return the hash of the name."""
        return hash(self.name)
