# SPDX-License-Identifier: GPL-2.0-or-later
"""What constants do to comparisons: runs of check-accuracy's programs, recorded once, and compared anew by each
value. A comparison takes some 20 ms, so there are many of them.

Each variant of a program is compared with the unchanged one, in turns and side by side, in some draws of
SIDE of its ROUNDS runs; runs of the same build beside different neighbours are compared with each other
(check/occasions.py), and runs with call paths for which caller became slower.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'check'), str(HERE.parent / 'bench')]

import bench
import occasions
import pool
import programs

QUICK = ('bzip2', 'lua')
SECONDS = 1.0                   # of a run
ROUNDS, SIDE = 5, 4
DRAWS, SAME_DRAWS = 4, 12       # of a variant; of the unchanged program, which finds nothing to miss
VISITED = ('gzip', 'perl')      # what occasions are recorded of; --quick: the first
WITH_PATHS = 'calls'            # the pool of runs with call paths
SIDES = {'quiet': 'in turns', 'loaded': 'in turns', 'beside': 'side by side', 'beside-loaded': 'side by side'}


@dataclass
class Case:
    """One comparison, and what is known of it."""
    way: str                    # in turns, side by side, occasions, calls
    kind: str                   # none, procedure, uniform, rebuilt
    percent: int
    truth: float                # change of the program's CPU time, by all runs; None: nobody knows
    procedure: str
    database: Path
    sides: tuple                # labels or stamps


def options_of(hpcprof):
    return argparse.Namespace(hpcprof=hpcprof, perf='perf', sources=None, seconds=SECONDS, trials=3, rounds=ROUNDS,
                              beside_rounds=ROUNDS, side=SIDE, visits=1, seed=1, quick=True)


class Comparisons:
    def __init__(self, copy, options, directory):
        self.copy, self.jobs = copy, options.jobs
        self.options = options_of(copy.hpcprof)
        self.directory = directory
        self.chance = random.Random(1)
        directory.mkdir(parents=True, exist_ok=True)
        work = directory / 'work'
        if not (work / 'loop.lua').exists():
            work.mkdir(exist_ok=True)
            bench.text_corpus(work / 'text', 20000)
            bench.text_corpus(work / 'small', 1200)
            (work / 'loop.lua').write_text(programs.LUA)
        self.cases = []
        for program in programs.PROGRAMS:
            if not options.quick or program.name in QUICK:
                self.cases += self.cases_of(pool.Pool(self.options, program, directory))
        self.cases += self.occasions(VISITED[:1] if options.quick else VISITED)

    # --- recorded once ---

    def cases_of(self, runs):
        runs.build()
        runs.record('quiet')
        runs.record_beside()
        for variant in runs.variants:
            if variant.name != 'base' and any(variant.runs):
                yield from self.draw(runs, variant)
        yield from self.with_paths(runs)

    def draw(self, runs, variant):
        same = variant.kind == 'none'
        base = runs.runs_of_base(variant)
        pairs = [(base[number]['stamp'], run['stamp']) for number, run in enumerate(variant.runs) if run]
        draws = list(itertools.combinations(pairs, min(SIDE, len(pairs))))
        for drawn in self.chance.sample(draws, min(len(draws), SAME_DRAWS if same else DRAWS)):
            if same:
                drawn = [pair[::-1] if self.chance.random() < 0.5 else pair for pair in drawn]
            yield Case(SIDES[variant.pool], variant.kind, variant.percent, 0 if same else runs.changed(variant)[0],
                       runs.program.procedure, runs.db(variant.pool), tuple(zip(*drawn)))

    def with_paths(self, runs):
        """The unchanged program and the dearest change, with -g."""
        database = runs.db(WITH_PATHS)
        dearest = max((one for one in runs.of('quiet') if one.kind == 'procedure'), key=lambda one: one.percent)
        if not database.exists():
            partial = runs.db(WITH_PATHS + '.new')
            for _ in range(SIDE):
                for label, variant in (('base', runs.base('quiet')), ('dearer', dearest)):
                    bench.say(f'{runs.program.name}: with call paths')
                    pool.run_hpcprof(self.options, 'record', '-q', '-g', '--db', partial, '--label', label, '--',
                                     'sh', '-c', 'cd "$0" && exec "$@"', runs.work, *variant.command)
            partial.rename(database)
        yield Case(WITH_PATHS, 'procedure', dearest.percent, None, runs.program.procedure, database,
                   (['base'], ['dearer']))

    def occasions(self, names):
        commands, work = occasions.installed(self.directory)
        commands = {name: commands[name] for name in names if name in commands}
        visits = occasions.record(self.options, self.directory, 'installed', commands, work)
        for one, other in occasions.pairs_of(visits):
            yield Case('occasions', 'none', 0, 0, None, self.directory / 'installed.db',
                       ([one['label']], [other['label']]))

    # --- compared anew ---

    def judge(self, figures):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            told = list(workers.map(self.compare, self.cases))
        groups = {}
        for case, (status, text) in zip(self.cases, told):
            figures.digest.update(text)
            judged = figures.of(b'%d' % status + text, lambda: self.judge_one(case, status, text))
            for what, value in judged.items():
                groups.setdefault(what, []).append(value)
        for what, values in groups.items():
            figures.values[what] = statistics.mean(values)

    def compare(self, case):
        ran = subprocess.run([self.copy.hpcprof, 'check', '--db', case.database, '--format=json', *case.sides[0], '--',
                              *case.sides[1]], capture_output=True, check=False)
        if ran.returncode not in (0, 1, 3):
            raise ValueError(f'check: exit status {ran.returncode}')
        return ran.returncode, ran.stdout

    def judge_one(self, case, status, text):
        """Figures by name; each is a mean over all that have it."""
        document = json.loads(text)
        way, made = f'check, {case.way}', {}
        worse = [one for one in document['findings'] if one['lost']['estimate'] > 0 and not one['shift']
                 and one['scope'] == 'procedure']
        if case.kind == 'none':
            made[f'{way}: false alarms'] = 100 * (status == 1)
        elif case.kind != 'rebuilt':
            made[f'{way}: {case.percent} % {case.kind}: found'] = 100 * (status == 1)
        made[f'{way}: too little data'] = 100 * (status == 3)
        if case.kind == 'procedure' and worse:
            made[f'{way}: right procedure'] = 100 * pool.same_procedure(worse[0]['name'], case.procedure)
        program = document['program']
        change = program['change']
        if case.truth is not None and None not in (change['low'], change['high']):
            made[f'{way}: intervals hold'] = 100 * (change['low'] <= case.truth <= change['high'])
            made[f'{way}: width'] = 100 * (change['high'] - change['low'])
        parts = list(procedures_of(program))
        if case.kind == 'none':
            known = [part['change'] for part in parts if None not in part['change'].values()]
            if known:
                made[f'{way}: procedures: intervals hold'] = 100 * statistics.mean(
                    one['low'] <= 0 <= one['high'] for one in known)
                made[f'{way}: procedures: width'] = 100 * statistics.median(one['high'] - one['low'] for one in known)
        if case.kind == 'rebuilt':
            cost = sum(part['base']['cost'] for part in parts)
            if cost:
                made[f'{way}: rebuilt: found again'] = 100 * sum(
                    part['base']['cost'] for part in parts if part['candidate']['cost']) / cost
            made[f'{way}: rebuilt: findings, 100 times'] = 100 * len(document['findings'])
        if case.way == WITH_PATHS:
            made[f'{way}: callers named, 100 times'] = 100 * sum(
                len((one['callers'] or {}).get('callers', ())) for one in document['findings'])
        return made


def procedures_of(part):
    for inner in part['parts']:
        if inner['scope'] == 'procedure':
            yield inner
        else:
            yield from procedures_of(inner)
