"""Arrays in files: written whole or not at all, and read without running any code."""

import contextlib
import errno
import json
import math
import os
import platform
import re
import uuid
import weakref
import zipfile

import numpy as np

HEADER = "header.json"
KEPT, ALONE = "gopfast", "gopfast-alone"  # nodes that a checkpoint may name, and others
# What `zipfile` and `json` raise of a file that is damaged, encrypted, or nested too deeply
DAMAGES = (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError)
PREFIX = re.compile(r"(?P<kind>gopfast|gopfast-alone)-(?P<host>[\w.]+)-(?P<process>[1-9]\d*)-[0-9a-f]{12}")
NAME = re.compile(rf"(?P<prefix>{PREFIX.pattern})-\d+\.nodes(\.new)?")


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
            self.size = os.path.getsize(path)
            self._check_size(self.archive.getinfo(HEADER))
            self.header = json.loads(self.archive.read(HEADER))
        except DAMAGES as error:
            raise ValueError(str(error)) from None

    def _check_size(self, entry):
        """Check that an entry is as long as it says, within the file: nothing larger is ever made room for."""
        if entry.compress_type != zipfile.ZIP_STORED or not entry.file_size == entry.compress_size <= self.size:
            raise ValueError(f"{entry.filename} is longer than the file")

    def part(self, part):
        """Arrays by name."""
        names = [name for name in self.archive.namelist() if name.startswith(part) and name.endswith(".npy")]
        if len(set(names)) < len(names):
            raise ValueError(f"{part} has an entry twice")
        return {name[len(part) : -4]: self._array(name) for name in names}

    def parts(self, kind):
        """Yield the parts whose names are `kind`, a number and a stop, in their order."""
        found = (re.match(rf"{kind}(\d{{1,9}})\.", name) for name in self.archive.namelist())
        for number in sorted({int(one[1]) for one in found if one}):
            yield self.part(f"{kind}{number}.")

    def _array(self, name):
        try:
            info = self.archive.getinfo(name)
            self._check_size(info)
            with self.archive.open(name) as entry:
                shape, fortran, dtype = self._array_header(entry)
                if dtype.kind not in "biuf":
                    raise ValueError(f"dtype {dtype}")
                if min(shape, default=0) < 0 or entry.tell() + math.prod(shape) * dtype.itemsize != info.file_size:
                    raise ValueError("it is not as long as its array")
                data = entry.read()  # to the end, so that the check sum is looked at
            return np.frombuffer(bytearray(data), dtype).reshape(shape, order="F" if fortran else "C")
        except (*DAMAGES, OverflowError) as error:
            raise ValueError(f"{name}: {error}") from None

    @staticmethod
    def _array_header(entry):
        try:
            version = np.lib.format.read_magic(entry)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            return read(entry)
        except Exception as error:  # of a Python literal of some thousand characters at most, whatever it is
            raise ValueError(f"no header of an array ({error})") from None

    def close(self):
        """Close the file."""
        self.archive.close()


class Spill:
    """
    Nodes of a search on disk: those that no checkpoint needs go with it, and with the process at the latest.

    A process that is killed cannot remove them. Where it had no checkpoint the next one does that keeps nodes in the
    folder; those that a checkpoint may name wait for who goes on from it.

    Parameters
    ----------
    folder : str
    note : callable, optional
        Takes a line of text where something could not be written.
    kept : bool
        Whether a checkpoint may come to name them.
    """

    def __init__(self, folder, note=None, kept=False):
        self.folder, self.note = folder, note
        kind = KEPT if kept else ALONE
        self.prefix = f"{kind}-{_host()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.n_written = 0
        self.own, self.held, self.retired = set(), set(), set()
        weakref.finalize(self, _remove_rest, os.getpid(), folder, self.own, self.held)

    def write(self, arrays):
        """Write the arrays of some nodes; return their name, None where they could not be written."""
        name = f"{self.prefix}-{self.n_written}.nodes"
        try:
            os.makedirs(self.folder, exist_ok=True)
            if not self.n_written:
                _remove_of_killed(self.folder)
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
        self.held.clear()
        self.held.update(names)
        self.own.update(names)
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


def _remove_rest(process, folder, own, held):
    """Remove what a search has left that no checkpoint needs; not in a process that was forked from its own."""
    if os.getpid() == process:
        for name in own - held:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _remove_of_killed(folder):
    """Remove nodes that nobody needs: of processes which have ended and had no checkpoint."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            found = NAME.fullmatch(name)
            if found and found["kind"] == ALONE and _has_ended(found["prefix"]):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _host():
    """Return the machine's name, of letters that any file may have in its name; containers' processes are numbered."""
    try:
        numbered = os.readlink("/proc/self/ns/pid")
    except OSError:
        numbered = ""
    return re.sub(r"[^\w.]", "_", platform.node() + re.sub(r"\D", "", numbered))


def _has_ended(prefix):
    """Whether the process that named its files so has ended for sure: here, nobody has its number."""
    found = PREFIX.fullmatch(prefix)
    if not found or found["host"] != _host() or os.name != "posix":  # elsewhere os.kill ends a process, it does not ask
        return False
    try:
        os.kill(int(found["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
