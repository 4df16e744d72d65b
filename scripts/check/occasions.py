# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides that were recorded at different times, beside different neighbours: what check-accuracy's part
`occasions` records and compares.

A visit is one side: some runs of one program in a row, beside one of NEIGHBOURS. Visits of all programs
beside all neighbours come in random order, so that those of one program are minutes apart. Each two visits
of one program are a comparison of the same build, which should find nothing.
"""
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import time

import bench
from pool import run_hpcprof

NEIGHBOURS = {'none': [], '1 busy': ['busy'], '2 busy': ['busy'] * 2, '4 busy': ['busy'] * 4,
              '1 copying': ['copying'], '2 copying': ['copying'] * 2, '1 busy, 1 copying': ['busy', 'copying']}

NEIGHBOUR = r'''
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
int main(int count, char **words)
{
	size_t size = 64 << 20;
	char *from, *to;
	/* Nobody stays who was to be beside something that has ended. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (count < 2 || strcmp(words[1], "copying"))
		for (volatile unsigned long turns = 0;; turns++)
			;
	from = malloc(size);
	to = malloc(size);
	memset(from, 1, size);
	for (;;) {
		memcpy(to, from, size);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
}
'''

# Of programs that most systems have: what the constants of src/compare/drift.c were found with.
INSTALLED = {
    'bzip2': ['bzip2', '-kc', 'text'],
    'gzip': ['gzip', '-8kc', 'text'],
    'xz': ['xz', '-T1', '-2kc', 'text'],
    'zstd': ['zstd', '-10', '-qkc', '--single-thread', 'text'],
    'perl': ['perl', '-e', 'my %h; for (1..3000000) { $h{$_ % 5000} .= chr(65 + $_ % 26) } print join("", values %h)'],
    'sqlite3': ['sqlite3', ':memory:', 'with recursive c(x) as (select 1 union all select x + 1 from c where '
                                       'x < 2000000) select sum(x * x % 7) from c'],
    'sort': ['sort', '--parallel=1', '-S64M', 'words'],
}


def installed(directory):
    work = directory / 'occasions'
    work.mkdir(exist_ok=True)
    if not (work / 'text').exists():
        bench.text_corpus(work / 'text', 8000000)
        (work / 'words').write_text('\n'.join((work / 'text').read_text(errors='replace').split()) + '\n')
    return {name: command for name, command in INSTALLED.items() if shutil.which(command[0])}, work


class Beside:
    def __init__(self, directory, names):
        self.path, self.names = directory / 'neighbour', names
        if not self.path.exists():
            subprocess.run(['gcc', '-O2', '-x', 'c', '-', '-o', str(self.path)], input=NEIGHBOUR, text=True, check=True)

    def __enter__(self):
        self.processes = [subprocess.Popen([str(self.path), name]) for name in self.names]
        time.sleep(0.3)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def reference(run):
    ends = [run.get('reference_begin_ns'), run.get('reference_end_ns')]
    return statistics.mean(math.log(end) for end in ends) if all(ends) else None


def visit(options, directory, db, name, command, work, beside):
    label = f'{name}-{time.time():.0f}'
    with Beside(directory, NEIGHBOURS[beside]):
        for number in range(options.side + 1):
            stamped = label if number else 'warm-up'
            ran = subprocess.run([options.hpcprof, 'record', '-q', '--db', str(db), '--label', stamped, '--', *command],
                                 cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if ran.returncode:
                bench.die(f'{name} failed: {ran.stderr[-500:]}')
    listed = json.loads(run_hpcprof(options, 'epochs', 'list', '--db', db, '--format=json').stdout)['epochs']
    runs = [run for epoch in listed if epoch['label'] == label for run in epoch['runs']]
    costs = [math.log(run['user_ns'] + run['system_ns']) for run in runs]
    references = [reference(run) for run in runs]
    return {'label': label, 'time': time.time(), 'program': name, 'beside': beside, 'cost': statistics.mean(costs),
            'deviation': statistics.stdev(costs),
            'reference': None if None in references else statistics.mean(references)}


def record(options, directory, name, commands, work):
    """Visits as they are kept; one more of each, `visits` times."""
    state = directory / f'{name}.json'
    visits = json.loads(state.read_text()) if state.exists() else []
    chance = random.Random(f'{options.seed} {name}')
    for _ in range(options.visits - len(visits) // (len(commands) * len(NEIGHBOURS))):
        for beside in chance.sample(list(NEIGHBOURS), len(NEIGHBOURS)):
            bench.say(f'{name}: {len(visits)} visits, now beside {beside}')
            for program in chance.sample(list(commands), len(commands)):
                visits.append(visit(options, directory, directory / f'{name}.db', program, commands[program], work, beside))
        state.write_text(json.dumps(visits))
    return visits


# --- what they differ by ------------------------------------------------------------------------


def pairs_of(visits):
    return [(one, other) for at, one in enumerate(visits) for other in visits[:at] if one['program'] == other['program']]


def spread_row(name, differences):
    sizes = sorted(100 * abs(one) for one in differences)
    at = lambda part: f'{sizes[int(part * (len(sizes) - 1))]:.1f} %'
    return [name, len(sizes), f'{math.sqrt(statistics.mean(one * one for one in sizes)):.1f} %', at(.5), at(.9), at(.975)]


def report_drift(options, visits):
    """What one side's mean cost differs from another's by, with and without the reference."""
    pairs = [(one['cost'] - other['cost'], one['reference'] - other['reference'],
              (one['deviation'] ** 2 + other['deviation'] ** 2) / options.side)
             for one, other in pairs_of(visits) if one['reference'] and other['reference']]
    if not pairs:
        return
    slope = sum(cost * moved for cost, moved, _ in pairs) / sum(moved * moved for _, moved, _ in pairs)
    rows = [spread_row('as they were recorded', [pair[0] for pair in pairs]),
            spread_row(f'less {slope:.2f} of what the reference moved', [cost - slope * moved for cost, moved, _ in pairs])]
    for least, most in ((0, .02), (.02, .05), (.05, .1), (.1, .2), (.2, 9)):
        some = [pair for pair in pairs if least <= abs(pair[1]) < most]
        if len(some) > 10:
            rows.append(spread_row(f'where it moved by {100 * least:.0f} to {min(100, 100 * most):.0f} %',
                                   [pair[0] for pair in some]))
            rows.append(spread_row('  less that part', [cost - slope * moved for cost, moved, _ in some]))
            inside = math.sqrt(statistics.mean(pair[2] for pair in some))
            rows.append([f'  what runs in a row say of it', len(some), f'{100 * inside:.1f} %', '', '', ''])
    bench.table('Mean CPU time of two sides of the same build', ['sides', 'pairs', 'rms', 'median', '90 %', '97.5 %'], rows)


# --- comparing them -----------------------------------------------------------------------------


def compare(options, directory, name, visits):
    """By how the sides differ: how many comparisons, alarms, and too little data."""
    chance = random.Random(f'{options.seed} draws')
    pairs = pairs_of(visits)
    tallies = {}
    for one, other in chance.sample(pairs, min(options.comparisons, len(pairs))):
        base, candidate = (one, other) if chance.random() < 0.5 else (other, one)
        ran = run_hpcprof(options, 'check', '--db', directory / f'{name}.db', '--format=json', '--top=3', base['label'],
                          '--', candidate['label'], statuses=(0, 1, 3))
        found = json.loads(ran.stdout)
        alike = 'the same neighbours' if one['beside'] == other['beside'] else 'other neighbours'
        for key in (alike, 'all'):
            tally = tallies.setdefault(key, {'count': 0, 1: 0, 3: 0, 0: 0, 'same': 0})
            tally['count'] += 1
            tally[ran.returncode] += 1
            tally['same'] += bool(found.get('same_build'))
        if ran.returncode == 1:
            worst = found['findings'][0]
            print(f'  alarm: {base["label"]} beside {base["beside"]}, {candidate["label"]} beside {candidate["beside"]}: '
                  f'{worst["scope"]} {worst["name"]} {100 * (worst["change"]["estimate"] or 0):+.1f} %')
    return tallies
