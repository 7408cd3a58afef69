"""Our side: builds the programs, or finds them in a bundle, and drives one of their cases over
pipes."""
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


EXIT_DIFFERS = 1


class Missing(Exception):
    """Something that the benchmark needs is not on this machine."""


class Mismatch(Exception):
    """The two sides do not compute the same thing, so their times must not be compared."""


def build(options, target="fuseline_bench"):
    """The folder of the programs, built from the present sources.

    A folder that is no build folder but holds the program is a bundle, and is used as it is.
    """
    folder = Path(options.build or os.environ.get("FUSELINE_BUILD") or ROOT / "build" / "dev")
    folder = folder.resolve()
    if not (folder / "CMakeCache.txt").exists() and (folder / "bin" / target).exists():
        return folder / "bin"
    commands = []
    if not (folder / "CMakeCache.txt").exists():
        commands.append(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DFUSELINE_BENCH=ON",
                         "-DCMAKE_BUILD_TYPE=Release"])
    commands.append(["cmake", "--build", folder, "--target", target])
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
        if done.returncode:
            raise Missing(f"building {target} in {folder} failed (is FUSELINE_BENCH on "
                          f"there?):\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return folder / "bin"


def environment(programs):
    """For programs of a bundle, which bring libraries that a machine may lack."""
    library = programs.parent / "lib"
    if (programs.parent / "CMakeCache.txt").exists() or not library.exists():
        return dict(os.environ)
    inherited = os.environ.get("LD_LIBRARY_PATH")
    path = f"{library}:{inherited}" if inherited else str(library)
    return {**os.environ, "LD_LIBRARY_PATH": path}


class Case:
    """A running case of fuseline_bench or of another program."""

    def __init__(self, programs, *words, program="fuseline_bench"):
        self.program = program
        self.process = subprocess.Popen(
            [programs / program, *map(str, words)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment(programs))
        self._expect("ready", self.process.stdout.readline())

    def _expect(self, wanted, line):
        if line.strip() != wanted:
            self.process.wait()
            raise Missing(f"{self.program} answered {line!r} where '{wanted}' was due; its message "
                          "stands above")

    def _ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline()
        except BrokenPipeError:
            return ""

    def run(self, count):
        times = [int(word) for word in self._ask(f"run {count}").split()]
        if len(times) != count:
            raise Missing(f"{self.program} gave {len(times)} times for {count} runs")
        return times

    def dump(self, folder):
        self._expect("dumped", self._ask(f"dump {folder}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # the end of its commands ends it
        self.process.stdout.close()
        self.process.wait()


def _statistic(programs, which, rows):
    program = next(programs / name for name in ("fuseline_bench", "cuda_bench")
                   if (programs / name).exists())
    done = subprocess.run([program, which], input="\n".join(rows) + "\n", text=True,
                          stdout=subprocess.PIPE, check=True, env=environment(programs))
    return json.loads(done.stdout)


def ratio_of(programs, peer_blocks, our_blocks):
    """{"value", "low", "high", "n"} of peer / ours, from src/ledger/stats."""
    rows = [f"{peer!r} {ours!r}" for peer, ours in zip(peer_blocks, our_blocks, strict=True)]
    return _statistic(programs, "ratio", rows)


def median_of(programs, sample):
    """{"value", "low", "high", "n"} of the median, from src/ledger/stats."""
    return _statistic(programs, "median", [repr(value) for value in sample])
