"""Pools of processes that lose a worker at work, and searches of which every state is kept."""

import os
import shutil
import signal

from gopfast.search.checkpoint import Checkpoint


class LosesWorker:
    """Beside a pool: a worker is killed when the fifth part is handed out."""

    n_parts = 0

    def submit(self, function, /, *arguments, **named):
        self.n_parts += 1
        if self.n_parts == 5:
            os.kill(next(iter(self._processes)), signal.SIGKILL)
        return super().submit(function, *arguments, **named)


def kept_states(monkeypatch, path, solve):
    """Copy each state that a search writes to beside it, as 1, 2, ...; return whether each had a node at hand."""
    write, found = Checkpoint.write, []

    def kept(self, search, finished=False):
        write(self, search, finished)
        found.append(search.current is not None)
        shutil.copy(path, path.parent / str(len(found)))

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", kept)
        solve(path)
    return found
