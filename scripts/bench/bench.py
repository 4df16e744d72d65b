# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks share: their options, running a command under a recorder or bare and
measuring it, statistics of paired runs, tables.

Everything is measured in pairs: in each round every contender runs once, the next round goes the
other way round (A B B A), and what counts is the median over the rounds of a ratio between two
runs of the same round. So a machine that is slow for a while, or busy, is slow for all contenders.
"""
import argparse
import atexit
import csv
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
EVENT = 'cpu-clock:u'

_missed = []


def die(message):
    sys.exit(f'{Path(sys.argv[0]).name}: {message}')


def say(message):
    """Progress: people wait for minutes."""
    print(message, file=sys.stderr, flush=True)


def quickest_cpu():
    """Of a virtual machine, another's work on the same core can slow one CPU down by half for hours: runs that
    are compared must be of one CPU, or their ratio is chance."""
    allowed = os.sched_getaffinity(0)
    taken = dict.fromkeys(allowed, 0)
    for _ in range(10):
        for cpu in allowed:
            os.sched_setaffinity(0, {cpu})
            begin = time.process_time()
            for _ in range(1000000):
                pass
            taken[cpu] += time.process_time() - begin
    os.sched_setaffinity(0, allowed)
    return min(taken, key=taken.get)


# --- options --------------------------------------------------------------------------------------


def parser(documentation, runs=9, quick_runs=3):
    result = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument('--hpcprof', metavar='PATH', default=str(TOP / 'build' / 'hpcprof'),
                        help='the program to measure (default: build/hpcprof)')
    result.add_argument('--perf', metavar='PATH', default='perf',
                        help='what to compare with (default: perf)')
    if runs:
        result.add_argument('--runs', type=int, metavar='N',
                            help=f'rounds (default: {runs}; with --quick: {quick_runs})')
    result.add_argument('--quick', action='store_true',
                        help='small and imprecise: to see that everything runs')
    result.add_argument('--directory', metavar='DIR',
                        help='where to work (default: below $TMPDIR); it is emptied at the end')
    result.set_defaults(full_runs=runs, quick_runs=quick_runs)
    return result


def parse(arguments):
    options = arguments.parse_args()
    if getattr(options, 'runs', 0) is None:
        options.runs = options.quick_runs if options.quick else options.full_runs
    return options


# --- the bench ------------------------------------------------------------------------------------


@dataclass
class Run:
    """One run of a workload. Times in seconds; memory and sizes in bytes."""
    wall: float = 0          # of the target
    cpu: float = 0           # of the target and all it started
    total: float = 0         # of the recorder with the target
    own_cpu: float = 0       # of the recorder alone
    both: float = 0          # CPU time of the two
    peak: int = 0            # of the recorder alone
    samples: int = 0
    lost: int = 0
    unattributed: int = 0
    size: int = 0            # of what it left on disk
    recorded: Path = None    # what it left on disk
    said: str = ''           # by hpcprof record


@dataclass
class Contender:
    name: str
    record: callable
    runs: list = field(default_factory=list)


class Bench:
    """A working directory with the measuring program, and the two recorders."""

    def __init__(self, options):
        self.hpcprof = shutil.which(options.hpcprof)
        self.perf = shutil.which(options.perf)
        if not self.hpcprof:
            die(f'no hpcprof at {options.hpcprof}: build it, or say --hpcprof PATH')
        if not self.perf:
            die(f'no {options.perf}: install it (Debian: linux-perf), or say --perf PATH')
        self.hpcprof = os.path.abspath(self.hpcprof)
        self.directory = Path(tempfile.mkdtemp(prefix='hpcprof-bench-', dir=options.directory))
        atexit.register(shutil.rmtree, self.directory, ignore_errors=True)
        self.measure = self.compile('measure.c')
        self.is_pinned = False   # the target on one CPU, at the same addresses; the recorder elsewhere
        self._serial = 0

    def compile(self, source, *flags, name=None, compiler='cc'):
        program = self.directory / (name or Path(source).stem)
        command = [compiler, '-O2', *flags, '-o', str(program), str(HERE / source)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            die(f'{" ".join(command)}: {done.stderr}')
        return program

    def fresh(self, suffix):
        self._serial += 1
        return self.directory / f'{self._serial}{suffix}'

    def _run(self, recorder, command, peak, watched):
        """Runs it, the target being watched inside of the recorder and the recorder outside. A
        target that is not watched is the recorder's own child."""
        outside = self.fresh('.outside')
        inside = self.fresh('.inside')
        last = (os.cpu_count() or 1) - 1
        there, elsewhere = (['-c', str(last)], ['-c', str(-1 - last)]) if self.is_pinned else ([], [])
        line = [*([str(self.measure), *there, str(inside)] if watched else []), *map(str, command)]
        if recorder:
            line = [str(self.measure), *(['-p'] if peak else []), *elsewhere, str(outside), *recorder,
                    *line]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors='replace',
                              cwd=self.directory, env={**os.environ, 'LC_ALL': 'C'})
        if done.returncode != 0:
            die(f'{" ".join(line)}: exit status {done.returncode}: {done.stderr}')
        run = Run()
        if watched:
            wall, _, cpu, _, _ = map(int, inside.read_text().split())
            run.wall, run.cpu, run.total = wall / 1e9, cpu / 1e9, wall / 1e9
        if recorder:
            wall, own, _, kib, _ = map(int, outside.read_text().split())
            run.total, run.own_cpu, run.peak = wall / 1e9, own / 1e9, kib * 1024
        return run, done.stderr

    def plain(self, command):
        return self._run(None, command, False, True)[0]

    def run_under(self, recorder, command):
        """Of any program that runs another; what it said on standard error comes along."""
        return self._run(recorder, command, False, True)

    def record_perf(self, command, hz=1000, peak=False, watched=True, options=()):
        data = self.fresh('.perf.data')
        run, said = self._run(
            [self.perf, 'record', '-o', str(data), '-e', EVENT, '-F', str(hz), *options, '--'],
            command, peak, watched)
        run.recorded = data
        run.size = data.stat().st_size
        found = re.search(r'\((\d+) samples\)', said)
        run.samples = int(found[1]) if found else self.samples_of(data)
        return run

    def samples_of(self, data):
        """With --buildid-mmap perf record (6.1) does not say how many."""
        text = subprocess.run([self.perf, 'report', '--stats', '-i', str(data)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                              env={**os.environ, 'LC_ALL': 'C'}).stdout
        return sum(int(found) for found in re.findall(r'SAMPLE events:\s+(\d+)', text)[:1])

    def record_hpcprof(self, command, hz=1000, peak=False, watched=True, options=()):
        database = self.fresh('.db')
        run, said = self._run(
            [self.hpcprof, 'record', '--db', str(database), '-e', EVENT, '-F', str(hz), *options,
             '--'],
            command, peak, watched)
        run.recorded = database
        run.size = sum(file.stat().st_size for file in database.rglob('*') if file.is_file())
        run.kept = sum(file.stat().st_size for file in database.rglob('*.code'))
        found = re.search(r'(\d+) samples \((\d+) lost, (\d+) unattributed', said)
        if not found:
            die(f'hpcprof record has no closing line: {said}')
        run.samples, run.lost, run.unattributed = map(int, found.groups())
        run.said = said
        return run

    def discard(self, run):
        if run.recorded and run.recorded.is_dir():
            shutil.rmtree(run.recorded)
        elif run.recorded:
            run.recorded.unlink()

    def perf_report(self, run, *options):
        return subprocess.run([self.perf, 'report', '--stdio', '-i', str(run.recorded), *options],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors='replace', env={**os.environ, 'LC_ALL': 'C'}).stdout

    def perf_stats(self, run):
        """Samples and lost records, as perf report counts them."""
        text = self.perf_report(run, '--stats')
        samples = re.search(r'^\s*SAMPLE events:\s+(\d+)', text, re.M)
        lost = sum(int(n) for n in re.findall(r'^\s*LOST\w* events:\s+(\d+)', text, re.M))
        return int(samples[1]) if samples else 0, lost

    def perf_counts(self, run, field):
        """Samples by 'sym' or 'dso'."""
        counts = {}
        for line in self.perf_report(run, '-F', f'sample,{field}', '-t', ';').splitlines():
            found = re.match(r'\s*(\d+)\s*;\s*(?:\[[.k]\] )?(.*?)\s*$', line)
            if found:
                counts[found[2]] = counts.get(found[2], 0) + int(found[1])
        return counts

    def _hpcprof_rows(self, run, view):
        done = subprocess.run([self.hpcprof, 'report', '--db', str(run.recorded), f'--{view}s',
                               '--format=csv'], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors='replace')
        if done.returncode != 0:
            die(f'hpcprof report: {done.stderr}')
        return csv.DictReader(done.stdout.splitlines())

    def hpcprof_addresses(self, run):
        """How many distinct ones have samples."""
        return sum(1 for row in self._hpcprof_rows(run, 'instruction')
                   if row[f'{EVENT} samples'] != '0')

    def hpcprof_counts(self, run, view='procedure'):
        """Samples by 'procedure' or 'image' (by its file name)."""
        counts = {}
        for row in self._hpcprof_rows(run, view):
            name = os.path.basename(row[view]) if view == 'image' else row[view]
            counts[name] = counts.get(name, 0) + int(row[f'{EVENT} samples'])
        return counts


def rounds(contenders, count, note=''):
    """Lets each contender run `count` times, there and back again."""
    for i in range(count):
        say(f'  round {i + 1} of {count} {note}')
        for contender in contenders if i % 2 == 0 else reversed(contenders):
            contender.runs.append(contender.record())


# --- statistics -----------------------------------------------------------------------------------


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def median_interval(values, level=0.95):
    """Of the median, by the sign test: from order statistics, whatever the distribution. With
    fewer than six values no interval reaches 95 %; it is then their range."""
    values = sorted(values)
    count = len(values)
    tail = 0.0
    rank = 0
    while rank < count // 2:
        tail += math.comb(count, rank) / 2 ** count
        if 2 * tail > 1 - level:
            break
        rank += 1
    rank = max(rank, 1)
    return values[rank - 1], values[count - rank]


def center_interval(values, level=0.95):
    """The median of the means of all pairs (Hodges and Lehmann 1963), and its interval by the signed rank
    test: as robust as the median, and as narrow as if it were the mean. Where values are few it is their
    range."""
    count = len(values)
    means = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    spread = statistics.NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(
        count * (count + 1) * (2 * count + 1) / 24)
    rank = max(math.floor(count * (count + 1) / 4 - spread), 0)
    return median(means), means[rank], means[len(means) - 1 - rank]


@dataclass
class Ratio:
    middle: float
    low: float           # of the interval of the median
    high: float
    least: float
    most: float

    def __str__(self):
        return f'{self.middle:.3f} [{self.low:.3f}, {self.high:.3f}]'

    def extremes(self):
        return f'{self.least:.3f}-{self.most:.3f}'


def ratio(contender, base, key):
    """Of one figure of one contender to that of another, in pairs of the same round."""
    values = [getattr(a, key) / getattr(b, key)
              for a, b in zip(contender.runs, base.runs) if getattr(b, key) > 0]
    return Ratio(median(values), *median_interval(values), min(values), max(values))


def middle(contender, key):
    return median([getattr(run, key) for run in contender.runs])


def verdict(what, value, limit, low=None):
    """Whether a target is met; `low` is the lower end of the value's interval, if it has one."""
    if value <= limit:
        return 'met'
    if low is not None and low <= limit:
        return 'within noise'
    _missed.append(what)
    return 'MISSED'


def finish():
    """The exit status: 1 when a target was missed."""
    if _missed:
        print('missed: ' + '; '.join(_missed))
    else:
        print('All targets met.')
    sys.exit(1 if _missed else 0)


# --- tables ---------------------------------------------------------------------------------------


def table(title, heads, rows):
    """The first column to the left, all others to the right."""
    cells = [heads] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    print(f'\n{title}')
    for row in cells:
        print('  ' + '  '.join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
    sys.stdout.flush()


def in_bytes(count):
    for unit in ('B', 'KiB', 'MiB', 'GiB'):
        if count < 1024 or unit == 'GiB':
            return f'{count:.0f} {unit}' if unit == 'B' else f'{count:.1f} {unit}'
        count /= 1024


def percent(share, digits=2):
    return f'{100 * share:.{digits}f} %'


# --- workloads ------------------------------------------------------------------------------------


def debian_python():
    """A python3 that is a program, not a script that looks for one."""
    return '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable


def small_sources(directory, count):
    """A project of many small C files, and its makefile: compiling it is many short processes."""
    directory.mkdir()
    for i in range(count):
        (directory / f'unit{i}.c').write_text(
            '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n' + ''.join(
                f'static int step{j}(int *at, int n)\n{{\n\tfor (int i = 1; i < n; i++)\n'
                f'\t\tat[i] = at[i - 1] * {2 * j + 3} + (at[i] ^ {i});\n'
                f'\treturn at[n - 1] % {j + 7};\n}}\n\n' for j in range(6)) +
            f'int unit{i}(int *at, int n)\n{{\n\tint sum = 0;\n\n' + ''.join(
                f'\tsum += step{j}(at, n);\n' for j in range(6)) +
            f'\tprintf("%d %zu\\n", sum, strlen("unit{i}"));\n\treturn sum;\n}}\n')
    objects = ' '.join(f'unit{i}.o' for i in range(count))
    (directory / 'Makefile').write_text(
        f'all: {objects}\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n')
    return directory


def compile_load(directory):
    return ['make', '-s', '-B', '-j2', '-C', str(directory)]


def text_corpus(path, size):
    """Something to compress: the same on every machine, like a log."""
    state = 12345
    lines = []
    written = 0
    words = ['error', 'opened', 'closed', 'request', 'session', 'retry', 'timeout', 'accepted',
             'connection', 'from', 'user', 'cache', 'miss', 'hit', 'index', 'block']
    while written < size:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        line = f'{state >> 40:08x} ' + ' '.join(
            words[state >> shift & 15] for shift in range(8, 8 + 4 * (3 + (state >> 60)), 4))
        lines.append(line)
        written += len(line) + 1
    path.write_text('\n'.join(lines))
    return path
