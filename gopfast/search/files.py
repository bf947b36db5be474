"""Arrays in files: written whole or not at all, and read without running any code."""

import contextlib
import errno
import json
import os
import platform
import re
import uuid
import zipfile

import numpy as np

HEADER = "header.json"


def write(path, header, parts, sync=True):
    """
    Write arrays to a new file beside `path`, see that they are on the disk, and put it in place of `path`.

    Whatever stops this, `path` holds what it held, or all of the new.

    Parameters
    ----------
    path : str
    header : dict
        JSON types.
    parts : iterable of (str, mapping from names to arrays)
        Names of the file's entries begin with those of the parts; a part need not stay in memory.
    sync : bool
        Whether it must survive the machine, not only the process.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    new = f"{path}.new"
    try:
        with open(new, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(HEADER, json.dumps(header))
                for part, arrays in parts:
                    for name, value in arrays.items():
                        with archive.open(f"{part}{name}.npy", "w", force_zip64=True) as entry:
                            np.lib.format.write_array(entry, np.asarray(value), allow_pickle=False)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
    if sync:
        _sync(os.path.dirname(os.path.abspath(path)))


def _sync(path):
    """See that a file, or the names in a folder, are on the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Reader:
    """
    Entries of a file that `write` has made.

    Parameters
    ----------
    path : str

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is damaged, or another kind of file; also of `part`.
    """

    def __init__(self, path):
        try:
            self.archive = zipfile.ZipFile(path)
            self.header = json.loads(self.archive.read(HEADER))
        except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError) as error:
            raise ValueError(str(error)) from None

    def part(self, part):
        """Arrays by name."""
        names = [name for name in self.archive.namelist() if name.startswith(part) and name.endswith(".npy")]
        return {name[len(part) : -4]: self._array(name) for name in names}

    def parts(self, kind):
        """Yield the parts whose names are `kind`, a number and a stop, in their order."""
        first = {name.split(".")[0] for name in self.archive.namelist()}
        numbers = sorted(int(name[len(kind) :]) for name in first if name[: len(kind)] == kind)
        for number in numbers:
            yield self.part(f"{kind}{number}.")

    def _array(self, name):
        try:
            with self.archive.open(name) as entry:
                array = np.lib.format.read_array(entry, allow_pickle=False)
                if entry.read(1):  # reads to the end, so that the check sum is looked at
                    raise ValueError(f"{name} is longer than its array")
            return array
        except (zipfile.BadZipFile, EOFError, RuntimeError, KeyError, SyntaxError) as error:
            raise ValueError(f"{name}: {error}") from None

    def close(self):
        """Close the file."""
        self.archive.close()


class Spill:
    """
    Nodes of a search on disk.

    Parameters
    ----------
    folder : str
    note : callable, optional
        Takes a line of text where something could not be written.
    """

    def __init__(self, folder, note=None):
        self.folder, self.note = folder, note
        self.prefix = f"gopfast-{_host()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.n_written = 0
        self.own, self.held, self.retired = set(), set(), set()

    def write(self, arrays):
        """Write the arrays of some nodes; return their name, None where they could not be written."""
        name = f"{self.prefix}-{self.n_written}.nodes"
        try:
            os.makedirs(self.folder, exist_ok=True)
            write(os.path.join(self.folder, name), {"format": "gopfast nodes"}, [("", arrays)], sync=False)
        except OSError as error:
            if self.note is not None:
                self.note(f"spill: {error.strerror}; the search dives instead")
            return None
        self.n_written += 1
        self.own.add(name)
        return name

    def read(self, name):
        """
        Read the arrays of some nodes.

        Raises
        ------
        OSError
            If they cannot be read, or are damaged.
        """
        path = os.path.join(self.folder, name)
        try:
            reader = Reader(path)
            try:
                return reader.part("")
            finally:
                reader.close()
        except ValueError as error:
            raise OSError(f"{path}: nodes on disk are damaged: {error}") from None

    def failed(self, error):
        """Tell that nodes could not be read, which ends the search; they stay where they are."""
        if self.note is not None:
            self.note(f"spill: {error}; the search stopped there, and its bounds count the nodes that are on disk")

    def remove(self, name):
        """Remove nodes that are in memory again, once no checkpoint needs them."""
        if name in self.held:
            self.retired.add(name)
            return
        self.own.discard(name)
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.folder, name))

    def sync(self, names):
        """See that these are on the disk before a checkpoint names them."""
        for name in set(names) - self.held:
            _sync(os.path.join(self.folder, name))

    def hold(self, names):
        """Keep these, which a checkpoint needs from now on, and no others."""
        self.held = set(names)
        self.own |= self.held
        for name in self.retired - self.held:
            self.remove(name)
        self.retired &= self.held

    def adopt(self, names, prefix):
        """
        Own the nodes of an earlier process, and remove what it wrote after its checkpoint, where it has ended.

        Parameters
        ----------
        names : list of str
        prefix : str or None
            That of the process which wrote the checkpoint.

        Raises
        ------
        FileNotFoundError
            If some are not there.
        """
        for name in names:
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                raise FileNotFoundError(errno.ENOENT, f"nodes on disk are missing: {path}")
        self.hold(names)
        if prefix is None or not _has_ended(prefix):
            return
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):
                if name.startswith(prefix) and name not in self.held:
                    os.unlink(os.path.join(self.folder, name))

    def close(self):
        """Remove all that no checkpoint needs."""
        for name in self.own - self.held:
            self.remove(name)


def _host():
    """Return the machine's name, of letters that any file may have in its name."""
    return re.sub(r"[^\w.-]", "_", platform.node())


def _has_ended(prefix):
    """Whether the process that named its files so has ended for sure: on this machine, nobody has its number."""
    _, _, rest = prefix.partition("-")
    host, pid, _ = rest.rsplit("-", 2)
    if host != _host():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
