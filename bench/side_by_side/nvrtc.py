"""Times NVRTC on one CUDA source, to a cubin, in processes that have not seen this source.

Run as a program, nvrtc.py LIBRARY SOURCE ARCHITECTURE prints the milliseconds of an empty program,
which is mostly NVRTC's own start, and then those of the source.
"""
import ctypes
import ctypes.util
import glob
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROCESSES = 7
ARCHITECTURE = "sm_90"


def _library():
    folders = [Path(path) for path in sys.path if "site-packages" in path]
    wheels = [file for folder in folders for file in folder.glob("nvidia/*/lib/libnvrtc.so.*")]
    toolkits = glob.glob("/usr/local/cuda/lib64/libnvrtc.so")
    found = [ctypes.util.find_library("nvrtc"), *toolkits, *map(str, wheels)]
    return next((name for name in found if name), None)


def _no_time(reason):
    return {"nvrtc_ms": None, "nvrtc_start_ms": None, "nvrtc_reason": reason}


def times_ms(source):
    """Result fields: the source's time, NVRTC's start, and why there is no time, if so."""
    if not source.exists():
        return _no_time("this build gave no CUDA source for the Region")
    library = _library()
    if library is None:
        return _no_time("libnvrtc was not found")
    rows = []
    for _ in range(PROCESSES):
        done = subprocess.run([sys.executable, "-B", __file__, library, source, ARCHITECTURE],
                              text=True, capture_output=True)
        if done.returncode:
            return _no_time(f"NVRTC failed: {done.stderr.strip()[-400:]}")
        rows.append([float(word) for word in done.stdout.split()])
    start, compiled = (statistics.median(column) for column in zip(*rows))
    return {"nvrtc_ms": compiled, "nvrtc_start_ms": start, "nvrtc_reason": None}


def _compile_once(library, source, architecture):
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
    begin = time.perf_counter()
    status = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"region.cu", 0, None, None)
    status = status or nvrtc.nvrtcCompileProgram(program, 1, options)
    milliseconds = (time.perf_counter() - begin) * 1e3
    if status:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(f"status {status}: {log.value.decode(errors='replace')}")
    return milliseconds


if __name__ == "__main__":
    file, architecture = sys.argv[1], sys.argv[3]
    for text in (b"", Path(sys.argv[2]).read_bytes()):
        print(_compile_once(file, text, architecture))
