"""What a search's history says of its start."""


def first_incumbent(history):
    """Return the row of what the first local search ended with: the last one before the root, or that of the root."""
    before_root = history[history[:, 1] == 0]
    return before_root[-1] if len(before_root) else history[0]
