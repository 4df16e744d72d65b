# SPDX-License-Identifier: GPL-2.0-or-later
"""frequency-accuracy --absolute: executions as shadow windows count them, by budget and run length.

A program does what it does again and again (again.py), for as long as is asked for, and is recorded
with `hpcprof record --shadow=BUDGET`. Its executions are those that callgrind counts; how near
estimates come to them is judged without scales (counted.py).

Counting exactly and judging take longer than recording, and need no quiet machine: with --data,
--only=count and then --only=record do the first two, and the same command without --only judges
what is there. Programs are recorded one by one, as a copy needs a CPU of its own.

When windows begin is drawn, and no two recordings are the same. With --recordings there are several
of each, and tables are of their means; +- is how much they vary (standard deviation, in % of samples
within 10 %), and in the targets how far off the mean may be by that (standard error).
"""
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import again
import counted
import measure
import profiles
import stacks
import subsets
import workloads
from bench import table
from workloads import Failure

QUICK = ('xz', 'bzip2', 'gzip', 'perl')     # one of them kept out of tuning
BUDGETS = (0.5, 1, 3)
LENGTHS = (5, 20, 60)                       # s of run time
# At so many %, for so many s: what is to be reached within 5/10/15 %/2x.
TARGETS = {(1, 20): (66, 80, 88, 99), (3, 20): (75, 90, 94, 99), (1, 60): (75, 90, 94, 99)}


@dataclass
class Result(counted.Counts):
    """Of one recording."""
    workload: workloads.Workload = None
    budget: float = 0
    seconds: float = 0
    windows: dict = field(default_factory=dict)
    judged_stacks: stacks.Stacks = None
    draws: dict = field(default_factory=dict)   # subsets.Drawn by how many windows
    overhead: float = None          # % of CPU time, paired with a recording without windows

    def held(self):
        return 100 * self.covered / self.with_interval if self.with_interval else None

    def lost(self):
        target = self.windows.get('target_s')
        return 100 * self.windows['lost_s'] / target if target else None


class Cell:
    """All recordings of one program, budget and length."""

    def __init__(self, results):
        self.results = results
        self.workload, self.budget, self.seconds = (results[0].workload, results[0].budget,
                                                    results[0].seconds)

    def mean(self, value):
        values = [value(result) for result in self.results]
        return average(value for value in values if value is not None)

    def blocks(self):
        return mean([result.blocks.values() for result in self.results])

    def edges(self):
        return mean([result.edges.values() for result in self.results])

    def variance(self, limit):
        """Of recordings, of the share of samples within 5 (0), 10 (1), 15 % (2), 2x (3)."""
        values = [shares[limit] for result in self.results if (shares := result.blocks.values())]
        return statistics.variance(values) if len(values) > 1 else None

    def sure(self):
        """Samples marked high, those of them within 10 %, and all."""
        return (sum(result.sure.total for result in self.results),
                sum(result.sure.within[1] for result in self.results),
                sum(result.blocks.total for result in self.results))


def cells_of_results(results):
    found = {}
    for result in results:
        key = (result.budget, result.seconds, result.workload.name)
        found.setdefault(key, []).append(result)
    return [Cell(chosen) for chosen in found.values()]


def seconds_of(command, inputs):
    """CPU time of one run."""
    before = os.times()
    measure.run(command, inputs, 'run alone')
    after = os.times()
    return max(after.children_user + after.children_system - before.children_user
               - before.children_system, 0.05)


def record(options, command, inputs, database, more):
    shutil.rmtree(database, ignore_errors=True)
    measure.run([options.hpcprof, 'record', '-q', '--db', str(database), '-F', '1000', *more, '--',
                 *command], inputs, 'being recorded')


# --- judging --------------------------------------------------------------------------------------


def kept_recordings(one, budget, seconds):
    """{number: (database, how often the program ran in it)}, numbers from 1."""
    name = f'shadow-{budget:g}-{seconds:g}-'
    kept = {}
    for database in one.directory.glob(f'{name}*.db'):
        runs, _, number = database.stem.removeprefix(name).partition('.')
        kept[int(number or 1)] = database, int(runs)
    return kept


def recorded(options, one, command, inputs, budget, seconds, number):
    """A database with windows, and how often the program ran in it. With --data it stays."""
    kept, runs = kept_recordings(one, budget, seconds).get(number, (None, 0))
    if kept and (not options.again or kept in options.made):
        return kept, runs
    if kept:
        shutil.rmtree(kept)
        kept.with_suffix('.pairs').unlink(missing_ok=True)
    runs = max(1, math.ceil(seconds / seconds_of(command, inputs)))
    partial = one.directory / 'shadow.new'
    record(options, again.looped(one.workload, command, runs), inputs, partial,
           [f'--shadow={budget:g}'] if budget else [])
    suffix = f'.{number}' if number > 1 else ''
    made = partial.rename(one.directory / f'shadow-{budget:g}-{seconds:g}-{runs}{suffix}.db')
    options.made.add(made)
    return made, runs


def judge_one(options, one, command, inputs, budget, seconds, number):
    result = Result(workload=one.workload, budget=budget, seconds=seconds)
    database, runs = recorded(options, one, command, inputs, budget, seconds, number)
    summary = profiles.summary_of(options.hpcprof, database)
    truth = again.truth_of(one, runs)
    document, profile = counted.judge(result, options, database, truth)
    result.draws = subsets.judge_draws(options, database, truth, one.directory)
    result.judged_stacks = stacks.judge(options.hpcprof, database, document, profile)
    result.windows = summary['windows'] or {}
    result.overhead = overhead(options, one, again.looped(one.workload, command, runs), inputs, database)
    if not options.data:
        shutil.rmtree(database, ignore_errors=True)
    return result


def cpu_seconds(options, database):
    return profiles.cpu_seconds(profiles.summary_of(options.hpcprof, database))


def overhead(options, one, command, inputs, database):
    """CPU time beside a recording without windows, one after the other in turn, since the machine is
    not always as fast; %, None unless measured. The recording itself is the first of the pairs. What
    was measured is kept beside it."""
    kept = database.with_suffix('.pairs')
    if kept.exists():
        return statistics.median(json.loads(kept.read_text()))
    if not options.pairs:
        return None
    budget = database.name.split('-')[1]
    other = one.directory / 'paired.db'
    shares = []
    for i in range(options.pairs):
        if i:
            record(options, command, inputs, other, [f'--shadow={budget}'])
        with_windows = cpu_seconds(options, other if i else database)
        record(options, command, inputs, other, [])
        shares.append(100 * (with_windows / cpu_seconds(options, other) - 1))
    shutil.rmtree(other, ignore_errors=True)
    kept.write_text(json.dumps(shares))
    return statistics.median(shares)


# --- tables ---------------------------------------------------------------------------------------


def cell(values):
    return '/'.join(f'{value:.0f}' for value in values) if values else '-'


def mean(rows):
    rows = [row for row in rows if row]
    return [statistics.mean(column) for column in zip(*rows)] if rows else None


def average(values):
    values = list(values)
    return statistics.mean(values) if values else None


def number(value, form='.2f'):
    return '-' if value is None else format(value, form)


def percent(part, whole):
    return f'{100 * part / whole:.1f}' if whole else '-'


def in_cells(cells):
    """[(budget, seconds, cells of all programs)]"""
    return [(budget, seconds, [one for one in cells if (one.budget, one.seconds) == (budget, seconds)])
            for budget, seconds in sorted({(one.budget, one.seconds) for one in cells})]


def print_results(cells):
    for budget, seconds, chosen in in_cells(cells):
        rows = []
        for one in chosen:
            sure, right, samples = one.sure()
            variance = one.variance(1)
            rows.append([one.workload.name, one.workload.set,
                         number(one.mean(lambda result: result.windows.get('count', 0)), '.0f'),
                         number(one.mean(lambda result: result.windows.get('counted_s', 0)), '.1f'),
                         cell(one.blocks()),
                         number(None if variance is None else math.sqrt(variance), '.0f'),
                         cell(one.edges()), number(one.mean(Result.held), '.1f'),
                         percent(sure, samples), number(100 * right / sure if sure else None, '.0f'),
                         number(one.mean(lambda result: result.told and 100 * result.told), '.0f'),
                         number(one.mean(lambda result: result.instructions), '.3f'),
                         number(one.mean(lambda result: result.calls), '.3f'),
                         number(one.mean(Result.lost), '.1f'),
                         number(one.mean(lambda result: result.overhead), '.1f')])
        for name in (*workloads.SETS, None):
            part = [one for one in chosen if name in (None, one.workload.set)]
            if part and (name is None or len(part) < len(chosen)):
                rows.append([f'mean, {name or "all"}', '', '', '',
                             cell(mean([one.blocks() for one in part])), '',
                             cell(mean([one.edges() for one in part])),
                             number(mean_held(part), '.1f'), '', '', '', '', '', '', ''])
        most = max(len(one.results) for one in chosen)
        table(f'Absolute, {budget:g} % for {seconds:g} s'
              + (f', means of {most} recordings' if most > 1 else '')
              + ': % of samples and of edge executions within '
              '5/10/15 %/2x; 90 %\n  intervals that hold the truth; % of samples marked high, of '
              'these % within 10 %; % of true\n  instructions with an estimate; estimated by true '
              'instructions and calls, in all; % lost as measured, '
              'and as CPU time beside a recording without windows',
              ['program', 'set', 'windows', 's', 'blocks', '+-', 'edges', 'hold', 'high', '10 %',
               'told', 'instr.', 'calls', 'lost', 'CPU'], rows)


def mean_held(cells):
    return average(held for one in cells if (held := one.mean(Result.held)) is not None)


def mean_ratio(cells, name):
    return average(ratio for one in cells if (ratio := one.mean(lambda result: getattr(result, name))))


def sure_of(cells):
    """Of all samples of all programs, since some have hardly any marked so."""
    return [sum(column) for column in zip(*(one.sure() for one in cells))]


def print_overview(cells):
    """One line a budget and length, and set of programs."""
    rows = []
    for budget, seconds, chosen in in_cells(cells):
        for name in (*workloads.SETS, None):
            part = [one for one in chosen if name in (None, one.workload.set)]
            if not part:
                continue
            sure, right, samples = sure_of(part)
            cpu = [value for one in part
                   if (value := one.mean(lambda result: result.overhead)) is not None]
            rows.append([f'{budget:g} %, {seconds:g} s', name or 'all', len(part),
                         cell(mean([one.blocks() for one in part])),
                         cell(mean([one.edges() for one in part])),
                         number(mean_held(part), '.1f'), percent(sure, samples),
                         number(100 * right / sure if sure else None, '.1f'),
                         *(number(mean_ratio(part, what), '.3f')
                           for what in ('instructions', 'calls')),
                         number(average(lost for one in part
                                        if (lost := one.mean(Result.lost)) is not None), '.2f'),
                         number(average(cpu), '.2f')])
    table('Overview, means over programs, columns as above',
          ['', 'set', 'programs', 'blocks', 'edges', 'hold', 'high', '10 %', 'instr.', 'calls',
           'lost', 'CPU'], rows)


def error_of_mean(cells, limit):
    """Over programs, by how much recordings of each vary."""
    errors = [(one.variance(limit), len(one.results)) for one in cells]
    if any(variance is None for variance, _ in errors):
        return None
    return math.sqrt(sum(variance / count for variance, count in errors)) / len(errors)


def print_targets(cells):
    rows, all_met = [], True

    def target(what, value, low, high=None, error=None):
        nonlocal all_met
        met = value is not None and value >= low and (high is None or value <= high)
        all_met &= met
        rows.append([what, number(value, '.1f'), '' if error is None else f'+- {error:.1f}',
                     f'>= {low}' if high is None else f'{low}-{high}', 'met' if met else 'MISSED'])

    for budget, seconds, chosen in in_cells(cells):
        if (budget, seconds) not in TARGETS:
            continue
        name = f'{budget:g} %, {seconds:g} s'
        blocks = mean([one.blocks() for one in chosen])
        for i, (limit, low) in enumerate(zip(('5 %', '10 %', '15 %', '2x'),
                                             TARGETS[budget, seconds])):
            target(f'{name}: blocks within {limit}', blocks and blocks[i], low,
                   error=error_of_mean(chosen, i))
        if budget == 3:
            edges = mean([one.edges() for one in chosen])
            target(f'{name}: edges within 10 %', edges and edges[1], 75)
    target('90 % intervals hold the truth', mean_held(cells), 85, 95)
    sure, right, _ = sure_of(cells)
    target('marked high: within 10 %', 100 * right / sure if sure else None, 90)
    for name in ('instructions', 'calls'):
        ratio = mean_ratio(cells, name)
        target(f'{name} in total, % of exact, mean', ratio and 100 * ratio, 97, 103)
    for one in cells:
        overhead = one.mean(lambda result: result.overhead)
        if overhead is not None:
            target(f'{one.workload.name}, {one.budget:g} %: CPU time beside none, %',
                   -overhead, -(one.budget + 0.5))
    table('Targets', ['', '', '', 'target', ''], rows)
    return all_met


# --- all together ---------------------------------------------------------------------------------


def takes_shadows(options):
    told = subprocess.run([options.hpcprof, 'record', '--help'], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return re.search(r'--shadow\b', told)


def cells_of(parser, options):
    """[(budget, seconds)] of '1:20 3:20'."""
    try:
        cells = [tuple(float(part) for part in cell.split(':')) for cell in options.cells]
    except ValueError:
        cells = [()]
    if any(len(cell) != 2 or cell[0] < 0 or not cell[1] > 0 for cell in cells):
        parser.error('--cells takes PERCENT:SECONDS, as in 1:20')
    return cells


def say_how_long(measured, commands, inputs, cells, options):
    """Of recording; programs run a little longer than asked, as whole runs."""
    alone = {one.workload.name: seconds_of(commands[one.workload.name], inputs)
             for one in measured}
    todo = [(one, seconds) for one in measured for budget, seconds in cells
            for number in range(1, options.recordings + 1)
            if options.again or number not in kept_recordings(one, budget, seconds)]
    whole = sum(seconds + alone[one.workload.name] * 2.5 for one, seconds in todo)
    whole += sum((2 * options.pairs - 1) * seconds for _, seconds in todo if options.pairs)
    measure.say(f'recording {len(todo)} of {len(measured) * len(cells) * options.recordings} takes '
                f'some {whole / 60:.0f} minutes; judging, some seconds each')


def choose(options):
    known = workloads.workloads()
    names = options.programs or (QUICK if options.quick else
                                 [one.name for one in known if one.set != workloads.MADE_UP])
    return [one for one in known if one.name in names]


def main(options, top):
    """True when all targets are met."""
    if not takes_shadows(options):
        raise SystemExit('frequency-accuracy: this hpcprof has no record --shadow')
    inputs = top / 'inputs'
    workloads.make_inputs(inputs)
    cells = options.cells or [(budget, seconds) for budget in options.budgets
                              for seconds in options.lengths]
    options.made = set()
    measured, commands, absent, results = [], {}, [], []
    for workload in choose(options):
        directory = top / workload.folder / workload.name
        try:
            commands[workload.name] = measure.prepare(workload, inputs, directory)
            measured.append(measure.Measured(workload, directory, 1))
        except Failure as failure:
            absent.append((workload.name, str(failure)))

    def count(one):
        try:
            measure.say(f'{one.workload.name}: counting')
            again.count(one, commands[one.workload.name], inputs)
        except Failure as failure:
            return str(failure)
        return None

    with ThreadPoolExecutor(options.jobs) as pool:
        for one, failure in list(zip(measured, pool.map(count, measured))):
            if failure:
                measured.remove(one)
                absent.append((one.workload.name, failure))
    if options.only == 'count':
        for name, why in absent:
            print(f'{name}: left out: {why}')
        return not absent
    say_how_long(measured, commands, inputs, cells, options)
    # All of them once before any of them twice: machines have better and worse hours.
    todo = [(number, one, budget, seconds) for number in range(1, options.recordings + 1)
            for one in measured for budget, seconds in cells]
    for number, one, budget, seconds in todo if options.data else ():
        name = f'{one.workload.name}, {budget:g} %, {seconds:g} s'
        try:
            command = commands[one.workload.name]
            database, runs = recorded(options, one, command, inputs, budget, seconds, number)
            overhead(options, one, again.looped(one.workload, command, runs), inputs, database)
        except Failure as failure:
            absent.append((name, str(failure)))
        measure.say(f'{name}: recorded')
    if options.only == 'record':
        for name, why in absent:
            print(f'{name}: left out: {why}')
        return not absent
    for number, one, budget, seconds in todo:
        began = time.monotonic()
        try:
            result = judge_one(options, one, commands[one.workload.name], inputs, budget, seconds,
                               number)
        except Failure as failure:
            absent.append((f'{one.workload.name}, {budget:g} %, {seconds:g} s', str(failure)))
            continue
        results.append(result)
        measure.say(f'{one.workload.name}, {budget:g} %, {seconds:g} s: blocks '
                    f'{cell(result.blocks.values())}, edges {cell(result.edges.values())}, '
                    f'{result.windows.get("count", 0)} windows ({time.monotonic() - began:.0f} s)')
    for name, why in absent:
        print(f'{name}: left out: {why}')
    if not results:
        raise SystemExit('frequency-accuracy: nothing was measured')
    judged = cells_of_results(results)
    print_results(judged)
    print_overview(judged)
    stacks.print_stacks([(f'{result.workload.name}, {result.budget:g} %, {result.seconds:g} s',
                          result.workload.set, result.judged_stacks) for result in results])
    hold = not options.windows or subsets.print_draws(
        [(f'{result.workload.name}, {result.budget:g} %, {result.seconds:g} s', result.draws)
         for result in results])
    return print_targets(judged) and hold
