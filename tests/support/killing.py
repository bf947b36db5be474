"""Pools of processes that lose a worker at work."""

import os
import signal


class LosesWorker:
    """Beside a pool: a worker is killed when the fifth part is handed out."""

    n_parts = 0

    def submit(self, function, /, *arguments, **named):
        self.n_parts += 1
        if self.n_parts == 5:
            os.kill(next(iter(self._processes)), signal.SIGKILL)
        return super().submit(function, *arguments, **named)
