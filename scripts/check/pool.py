# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs that check-accuracy draws its comparisons from: for each program a folder with its builds,
its databases, and state.json, which says what is there. Every round is kept when it ends, so that
recording goes on where it was left, in another session too.
"""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field

import bench
import programs

IN_PROCEDURE = [2, 3, 5, 10]
UNIFORM = [3, 5, 10]
# One after the other, or each with the unchanged program at the same time; and what else went on.
POOLS = {'quiet': ('in turns', 'quiet'), 'loaded': ('in turns', 'loaded'),
         'beside': ('side by side', 'quiet'), 'beside-loaded': ('side by side', 'loaded')}


@dataclass
class Variant:
    name: str
    command: list
    kind: str                # none, procedure, uniform, rebuilt
    percent: int = 0
    pool: str = 'quiet'      # how it was recorded: see POOLS
    # By round: stamp, wall and cpu in ns; None where it has none. Of runs side by side `base` is the
    # same of the unchanged program's.
    runs: list = field(default_factory=list)
    perf: list = field(default_factory=list)    # files of perf's own rounds


def run_hpcprof(options, *arguments, statuses=(0,)):
    ran = subprocess.run([options.hpcprof, *map(str, arguments)], capture_output=True, text=True, errors='replace')
    if ran.returncode not in statuses:
        bench.die(f'hpcprof {" ".join(map(str, arguments))} exited with {ran.returncode}: {ran.stderr[-1000:]}')
    return ran


def same_procedure(name, wanted):
    return name is not None and re.sub(r'\.(part|constprop|isra|cold)\b.*', '', name) == wanted


def record(options, db, command, directory):
    ran = subprocess.run([options.hpcprof, 'record', '-q', '--db', str(db), '--', *command], cwd=directory,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        bench.die(f'{" ".join(command[:4])} failed: {ran.stderr[-500:]}')


def record_beside(options, db, base, command, directory):
    """One run of each at the same time; what hpcprof makes of a single pair is of no interest."""
    ran = subprocess.run([options.hpcprof, 'check', '-q', '--db', str(db), '--runs=1', '--warm-up=0', '--side-by-side',
                          '--format=json', '--top=1', '--', *base, '--versus', *command], cwd=directory,
                         capture_output=True, text=True, errors='replace')
    if ran.returncode not in (0, 1, 3) or not ran.stdout:
        bench.die(f'{" ".join(command[:4])}, side by side, failed: {ran.stderr[-500:]}')
    found = json.loads(ran.stdout)
    first, second = ({'stamp': epoch['epoch'], 'wall': 1e9 * epoch['elapsed_s'], 'cpu': 1e9 * epoch['cpu_s']}
                     for epoch in (found['base']['epochs'][0], found['candidate']['epochs'][0]))
    return {**second, 'base': first}


class Load:
    """Something else that wants the other CPU, by turns: 0.2 s of work, 0.1 s of none."""

    def __init__(self, keeps_off=False):
        """Runs side by side are on the last CPU: then it keeps off that."""
        cpus = sorted(os.sched_getaffinity(0))
        self.cpus = set(cpus[:1] if keeps_off else cpus)

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, '-c', 'import time\nwhile True:\n e = time.time() + 0.2\n '
                                         'while time.time() < e: pass\n time.sleep(0.1)'])
        os.sched_setaffinity(self.process.pid, self.cpus)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# --- variants -----------------------------------------------------------------------------------


def share_of_procedure(options, program, command, directory):
    db = program.directory / 'share.db'
    shutil.rmtree(db, ignore_errors=True)
    for _ in range(3):
        record(options, db, command, directory)
    ran = run_hpcprof(options, 'report', '--db', db, '--format=json', '..')
    mine = everything = 0
    for image in json.loads(ran.stdout)['images']:
        for procedure in image['procedures']:
            everything += procedure['samples'][0]
            mine += procedure['samples'][0] if same_procedure(procedure['name'], program.procedure) else 0
    if not mine:
        bench.die(f'{program.name} spends no time in {program.procedure}')
    return mine / everything


def find_rates(options, program, base, units, directory):
    """EXTRA_RATE for each percentage, by a trial that adds about half of what the program costs."""
    part = share_of_procedure(options, program, program.command(base, units), directory)
    trial = program.command(program.build('trial'), units)
    rate = 1 << 12
    for _ in range(30):
        grown = programs.grown(trial, directory, rate)
        if 0.3 < grown < 0.8:
            break
        rate = max(1, round(rate * min(256.0, 0.5 / max(grown, 1e-3))))
    grown = statistics.median(programs.grown(trial, directory, rate) for _ in range(options.trials))
    if grown <= 0:
        bench.die(f'more work in {program.name} takes no time')
    bench.say(f'{program.name}: {program.procedure} has {100 * part:.1f} %')
    return {percent: max(1, round(percent / 100 * part * rate / grown)) for percent in IN_PROCEDURE}


def rebuilt(program):
    yield 'order', program.build('order', '-fno-toplevel-reorder')
    yield 'sections', program.build('sections', '-ffunction-sections', '-Wl,--sort-section=name')
    if shutil.which('clang'):
        yield 'clang', program.build('clang', compiler='clang')


def variants_of(options, program, sources, work):
    program.prepare(sources, program.directory.parent)
    base = program.build('base')
    each = programs.least(program.command(base, program.units), work, options.trials) / program.units
    # Enough that a few percent more of them are a whole number.
    units = max(100, round(options.seconds / each))
    same = program.command(base, units)
    yield Variant('base', same, 'none')
    yield Variant('again', same, 'none')
    rates = find_rates(options, program, base, max(5, round(options.seconds / 3 / each)), work)
    for percent, rate in rates.items():
        built = program.build(f'more{percent}', f'-DEXTRA_RATE={programs.IDLE_RATE + rate}ul')
        yield Variant(f'+{percent} % in procedure', program.command(built, units), 'procedure', percent)
    for percent in UNIFORM:
        yield Variant(f'+{percent} % uniform', program.command(base, round(units * (1 + percent / 100))), 'uniform',
                      percent)
    for name, built in rebuilt(program):
        yield Variant(name, program.command(built, units), 'rebuilt')
    yield Variant('base', same, 'none', pool='loaded')
    yield Variant('again', same, 'none', pool='loaded')


def beside(variants):
    """The same side by side: each has runs of the unchanged program of its own."""
    for variant in variants[1:]:
        if variant.pool == 'quiet':
            yield Variant(variant.name, variant.command, variant.kind, variant.percent, 'beside')
    yield Variant('again', variants[0].command, 'none', pool='beside-loaded')


# --- one program --------------------------------------------------------------------------------


class Pool:
    def __init__(self, options, program, directory):
        self.options = options
        self.program = program
        self.work = directory / 'work'
        self.directory = program.directory = directory / program.name
        self.variants = []
        self.state = self.directory / 'state.json'
        if self.state.exists():
            kept = json.loads(self.state.read_text())
            self.variants = [Variant(**one) for one in kept['variants']]
            self.add_beside()
            if kept['seconds'] != options.seconds:
                bench.die(f'{self.state} has runs of {kept["seconds"]} s: give --seconds={kept["seconds"]}')

    def add_beside(self):
        """To what was kept before there was that, too."""
        if not self.of('beside'):
            self.variants += beside(self.variants)

    def keep(self):
        fresh = self.state.with_suffix('.new')
        fresh.write_text(json.dumps({'seconds': self.options.seconds,
                                     'variants': [asdict(one) for one in self.variants]}, indent=1))
        os.replace(fresh, self.state)

    def db(self, pool):
        return self.directory / f'{pool}.db'

    def of(self, pool):
        return [variant for variant in self.variants if variant.pool == pool]

    def base(self, pool):
        return self.of(pool)[0]

    def runs_of_base(self, variant):
        """By round, near each of the variant's."""
        if POOLS[variant.pool][0] == 'side by side':
            return [run and run['base'] for run in variant.runs]
        return self.base(variant.pool).runs

    def rounds(self, pool):
        return len(self.of(pool)[0].runs) if self.variants else 0

    def build(self):
        if self.variants:
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        self.variants = list(variants_of(self.options, self.program, self.sources(), self.work))
        self.add_beside()
        self.keep()

    def sources(self):
        """Downloaded once for all programs."""
        if self.options.sources:
            return self.options.sources
        fetched = self.work / 'sources'
        if not fetched.exists():
            partial = self.work / 'sources.new'
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            programs.fetch(partial)
            partial.rename(fetched)
        return fetched

    def stamps(self, pool):
        if not self.db(pool).exists():
            return []
        return json.loads(run_hpcprof(self.options, 'epochs', 'list', '--db', self.db(pool),
                                      '--format=json').stdout)['epochs']

    def record_round(self, pool, number):
        """Every variant once, every other time backwards; those that are rebuilt, which only must not
        be slower, in every other round."""
        chosen = [variant for variant in self.of(pool) if variant.kind != 'rebuilt' or number % 2 == 0]
        if number % 4 in (1, 2):
            chosen.reverse()
        for variant in chosen:
            record(self.options, self.db(pool), variant.command, self.work)
        newest = self.stamps(pool)[-len(chosen):]
        for variant in self.of(pool):
            variant.runs.append(None)
        for variant, epoch in zip(chosen, newest):
            (run,) = epoch['runs']
            variant.runs[-1] = {'stamp': epoch['epoch'], 'wall': run['elapsed_ns'],
                                'cpu': run['user_ns'] + run['system_ns']}

    def record(self, pool):
        self.build()
        for number in range(self.rounds(pool), self.options.rounds):
            bench.say(f'{self.program.name}: {pool} round {number + 1} of {self.options.rounds}')
            if pool == 'loaded':
                with Load():
                    self.record_round(pool, number)
            else:
                self.record_round(pool, number)
            self.keep()

    def record_beside(self):
        """Each variant with the unchanged program; rebuilt ones in three of four rounds."""
        self.build()
        base = self.base('quiet').command
        for pool in ('beside', 'beside-loaded'):
            for number in range(self.rounds(pool), self.options.beside_rounds):
                bench.say(f'{self.program.name}: {pool} round {number + 1} of {self.options.beside_rounds}')
                fresh = []
                for variant in self.of(pool):
                    skipped = variant.kind == 'rebuilt' and number % 4 == 3
                    with Load(keeps_off=True) if pool == 'beside-loaded' else contextlib.nullcontext():
                        fresh.append(None if skipped else record_beside(self.options, self.db(pool), base,
                                                                        variant.command, self.work))
                for variant, run in zip(self.of(pool), fresh):
                    variant.runs.append(run)
                self.keep()

    def record_perf(self):
        """perf diff compares two files, one of each side."""
        self.build()
        if not shutil.which(self.options.perf):
            return
        for number in range(self.options.perf_rounds):
            for place, variant in enumerate(self.of('quiet')):
                if variant.kind == 'rebuilt' or len(variant.perf) > number:
                    continue
                bench.say(f'{self.program.name}: perf, round {number + 1}: {variant.name}')
                path = self.directory / f'{number}-{place}.perf'
                subprocess.run([self.options.perf, 'record', '-q', '-e', 'cpu-clock:u', '-F', '1000', '-o', str(path),
                                '--', *variant.command], cwd=self.work, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                variant.perf.append(str(path))
                self.keep()

    def changed(self, variant):
        """By all the runs there are, each against that of its round: mean and standard error."""
        ratios = [after['cpu'] / before['cpu'] - 1
                  for before, after in zip(self.runs_of_base(variant), variant.runs) if after]
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
        return statistics.mean(ratios), error

    def seconds_left(self, parts):
        """What recording these parts takes, about."""
        each = self.options.seconds + 0.2
        count = 12 if not self.variants else len(self.of('quiet'))
        left = 0
        if not self.variants:
            left += 30 * each
        if 'quiet' in parts:
            # Rebuilt ones are in every other round.
            left += (self.options.rounds - self.rounds('quiet')) * (count - 1.5) * each
        if 'loaded' in parts:
            left += (self.options.rounds - self.rounds('loaded')) * 2 * 1.2 * each
        if 'beside' in parts:
            pairs = count - 1 - 0.75
            left += (self.options.beside_rounds - self.rounds('beside')) * pairs * 2 * each
            left += (self.options.beside_rounds - self.rounds('beside-loaded')) * 2 * 1.2 * each
        if 'perf' in parts:
            done = len(self.base('quiet').perf) if self.variants else 0
            left += (self.options.perf_rounds - done) * (count - 3) * each
        return max(0, left)
