"""``python -m fuzz READER``: run a harness on mutated files, under limits of memory and time."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

MEMORY = 600_000_000  # bytes above those at the start; 20 n + 200 MB for the longest input
LONGEST = 1 << 12  # bytes of an input: a case takes as long as it is large
CPU_SECONDS = 10.0  # of a case; a second is usual for none
FOUND = Path("fuzz/found")


class TooSlowError(Exception):
    """A case took more than its time."""


def _stop(*_):
    raise TooSlowError(f"more than {CPU_SECONDS} s")


def _timed(read, data):
    """Read a case within its time; the handler of the signal is set once for all cases."""
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        read(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, most))


def _keep(name, data, error):
    """Write a finding to a file of its own, and say how to repeat it."""
    file = FOUND / name / hashlib.sha256(data).hexdigest()[:16]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    print(f"{name}: {type(error).__name__}: {str(error)[:200]} ({file})", flush=True)


def _own_loop(name, read, seeds, n_cases, seconds, rng, longest):
    """Mutate without guidance by coverage; return how many cases ran and how many fell."""
    tokens = [bytes([i]) for i in (0, 9, 10, 13, 34, 39, 44, 64, 127, 255)]
    tokens += [b"1e308", b"-1", b"NaN", b"inf", b"9" * 310, b"[" * 120, b"\xff\xfe", b"\xf0\x9f"]
    pool, places, start, n_found = list(seeds), set(), time.monotonic(), 0
    for case in range(n_cases):
        if time.monotonic() - start > seconds:
            return case, n_found
        data = bytearray(rng.choice(pool))
        for _ in range(rng.randint(1, 6)):
            at, to = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
            to = min(to, at + 64)
            kind = rng.randrange(6)
            if kind == 0 and data:
                data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
            elif kind == 1:
                del data[at:to]
            elif kind == 2:
                data[at:at] = data[at:to] * rng.randint(1, 50)
            elif kind == 3:
                data[at:at] = rng.choice(tokens)
            elif kind == 4:
                data[at:to] = bytes(rng.randrange(256) for _ in range(to - at))
            else:
                other = rng.choice(pool)
                cut = rng.randint(0, len(other))
                data[at:] = other[cut : cut + longest]
        given = bytes(data[:longest])
        try:
            _timed(read, given)
        except ValueError as error:
            # A sentence that was not seen before stands for a new place in the reader.
            words = "".join(one for one in str(error) if one.isalpha())[:60]
            if words not in places and len(places) < 2000:
                places.add(words)
                pool.append(given)
        except Exception as error:
            n_found += 1
            _keep(name, given, error)
    return n_cases, n_found


def _atheris_loop(name, read, seeds, n_cases, seconds, longest):
    import atheris

    folder = Path("fuzz/work") / name
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def one_case(data):
        try:
            _timed(read, data)
        except ValueError:
            return
        except Exception as error:
            _keep(name, data, error)

    options = [f"-runs={n_cases}", f"-max_len={longest}", "-rss_limit_mb=0", "-print_final_stats=1"]
    if seconds < float("inf"):
        options.append(f"-max_total_time={int(seconds)}")
    atheris.Setup([sys.argv[0], *options, str(folder)], one_case)
    atheris.Fuzz()  # ends the process


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("reader", help="csv, arff, libsvm, keel, mat, card, model, ...")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument(
        "--longest", type=int, default=LONGEST, metavar="BYTES", help="longest input"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the own loop")
    parser.add_argument("--own", action="store_true", help="use the own loop, without atheris")
    args = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    guided = not args.own
    if guided:
        try:
            import atheris
        except ImportError:
            guided = False
            print("atheris is not installed: mutating without guidance by coverage")
        else:
            with atheris.instrument_imports(include=["ecselm"], enable_loader_override=False):
                import fuzz.readers
    import fuzz.readers

    read = fuzz.readers.READERS[args.reader]
    seeds = [*fuzz.readers.kept_seeds(args.reader).values(), *fuzz.readers.made_seeds(args.reader)]
    for seed in seeds:  # everything is imported before memory is limited
        try:
            read(seed)
        except ValueError:
            continue
    _limit_memory()
    signal.signal(signal.SIGPROF, _stop)
    longest = max(args.longest, *map(len, seeds))
    if guided:
        _atheris_loop(args.reader, read, seeds, args.cases, args.seconds, longest)
    start = time.process_time()
    rng = random.Random(args.seed)  # noqa: S311  no secret
    n_cases, n_found = _own_loop(args.reader, read, seeds, args.cases, args.seconds, rng, longest)
    took = time.process_time() - start
    print(f"{args.reader}: {n_cases} cases in {took:.1f} s of processor time, {n_found} findings")
    return 1 if n_found else 0


if __name__ == "__main__":
    sys.exit(main())
