"""Marks of stages for `fuseline bench -- python3 program.py`; standard library only.

    from fuseline_stage import stage, wait

    with stage("decode"):
        ...
    with wait("device"):        # this thread does nothing but wait
        ...

`fuseline bench` sets FUSELINE_STAGES to the name of a file and reads the marks from it. Without
that variable nothing is written. Stages may nest and may run on several threads and in forked
processes. Names are cut to 46 bytes. The layout is that of include/fuseline/stage.h; every process
writes a file of its own beside that name, because Python has no atomic counter in shared memory.
"""
import mmap
import os
import struct
import threading
import time

__all__ = ["stage", "wait"]

_MAGIC = 0x3147415453534C46
_HEADER = struct.Struct("<QQ48x")
_MARK = struct.Struct("<QIIB47s")
_CAPACITY = 262144
_NAME_BYTES = 46
_STAGE_BEGIN, _STAGE_END, _WAIT_BEGIN, _WAIT_END = 1, 2, 3, 4

_lock = threading.Lock()
_path = os.environ.get("FUSELINE_STAGES")
_file = None


class _File:
    """The marks of this process."""

    def __init__(self):
        self.process = os.getpid()
        descriptor = os.open(f"{_path}.{self.process}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                             0o600)
        try:
            os.ftruncate(descriptor, _HEADER.size + _CAPACITY * _MARK.size)
            self.memory = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        self.count = 0
        _HEADER.pack_into(self.memory, 0, _MAGIC, 0)

    def put(self, moment, kind, name):
        place = self.count
        self.count += 1
        if place < _CAPACITY:
            _MARK.pack_into(self.memory, _HEADER.size + place * _MARK.size, moment, self.process,
                            threading.get_native_id(), kind, name)
        _HEADER.pack_into(self.memory, 0, _MAGIC, self.count)


def _put(moment, kind, name):
    global _file
    with _lock:
        if _file is None:
            _file = _File()
        _file.put(moment, kind, name)


def _after_fork():
    global _file, _lock
    _file, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Scope:
    _kinds = ()

    def __init__(self, name):
        self._name = name.encode()[:_NAME_BYTES] if _path else b""

    def __enter__(self):
        if _path:
            _put(time.clock_gettime_ns(time.CLOCK_MONOTONIC), self._kinds[0], self._name)
        return self

    def __exit__(self, *_):
        if _path:
            _put(time.clock_gettime_ns(time.CLOCK_MONOTONIC), self._kinds[1], self._name)
        return False


class stage(_Scope):
    """The scope of a `with` statement is a stage."""
    _kinds = (_STAGE_BEGIN, _STAGE_END)


class wait(_Scope):
    """The same for time in which this thread only waits."""
    _kinds = (_WAIT_BEGIN, _WAIT_END)
