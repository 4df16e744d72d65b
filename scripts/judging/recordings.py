# SPDX-License-Identifier: GPL-2.0-or-later
"""What constants do to recordings: short ones, of a few programs, by each value in turn with the program as
it is. Those of src/shadow are judged by shadow windows, those of other folders by call paths, branches from
registers and probes.

Windows begin at random, and the machine has other things to do: so what recordings differ by is measured, by
the controls, which come first, last and behind each three values. A figure has moved when it is further from
the controls' mean than three of their standard deviations, and by --least at least.

Judge on a machine that does nothing else. `hpcprof` of each value is built before, and kept.
"""
import json
import math
import re
import shutil
import statistics
import subprocess
from dataclasses import dataclass

import absolute
import again
import measure
import workloads

PROGRAMS = ('gzip', 'xz', 'perl', 'zstd')       # little memory, much of it, an interpreter, …
THREADED = ['zstd', '-q', '-T2', '-12', '-c']   # … and one that leaves no CPU idle
CALLING = ('redis', 'lua')      # a server and its client, which wait in calls; copies that lose the path
REDIS = ['/bin/sh', '-c', """rm -f redis.socket
redis-server --port 0 --unixsocket redis.socket --save '' --appendonly no --daemonize no >/dev/null &
until redis-cli -s redis.socket ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s redis.socket -q -c 8 -r 10000 -n "$0" -t set,get,lpush,zadd >/dev/null
kill $!; wait $!; exit 0"""]
SECONDS = 2                                     # of CPU time
CALLING_SECONDS = 5                             # more, as windows of servers differ more
PERCENT = 2                                     # budget of the windows
DEVIATIONS = 3
LEAST_DEVIATION = 0.05                          # points: controls may happen to be equal
WINDOWS = (f'--shadow={PERCENT}',)
EVIDENCE = ('--call-paths', '--probes')


def figures_of_windows(told, said):
    windows = told['windows'] or {}
    target = windows.get('target_s') or math.inf
    samples = windows.get('samples') or math.inf
    ended = windows.get('ended') or {}
    own = re.search(r'hpcprof (\d+) ms of CPU', said)
    return {'windows, 10 s': 10 * windows.get('count', 0) / target,
            'counted, % of time': 100 * windows.get('counted_s', 0) / target,
            'matched, % of samples': 100 * windows.get('matched', 0) / samples,
            'complete, % of replayed': 100 * ended.get('complete', 0) / max(1, sum(ended.values())),
            'charged, % of time': 100 * windows.get('lost_s', 0) / target,
            'absolute, % of programs': 100 * bool(windows.get('absolute')),
            'hpcprof itself, % of time': (float(own[1]) / 10 / target) if own else 0}


def figures_of_evidence(told, said):
    taken = told['samples']['total'] or 1
    run = told['recordings'][0]['runs'][0]
    cpu_s = run['user_s'] + run['system_s']
    seen = {'samples, % of one per ms': taken / 10 / cpu_s,
            'samples lost, %': 100 * sum(event['lost'] for event in told['events']) / taken,
            'a sample costs, us': told['recordings'][0]['sample_cost_ns'] / 1000,
            'with branches, % of samples': 100 * told['evidence']['branches']['samples'] / taken,
            'branches, per 100 samples': 100 * told['evidence']['branches']['outcomes'] / taken,
            'probes: hits, per s': told['evidence']['probes']['hits'] / cpu_s,
            'probes: places, per s': told['evidence']['probes']['places'] / cpu_s,
            'hpcprof itself, % of time': 100 * told['recordings'][0]['own_cpu_s'] / cpu_s}
    for what, pattern in (('paths: whole, % of samples', r'([\d.]+) % of samples reach the root'),
                          ('paths: cut, % of samples', r'([\d.]+) % end with the copied stack'),
                          ('paths: KiB of stack', r'(\d+) bytes of stack per sample'),
                          ('sampling, % of the target', r'overhead: target ([\d.]+) %')):
        found = re.search(pattern, said)
        seen[what] = float(found[1]) / (1024 if 'KiB' in what else 1) if found else 0
    return seen


@dataclass
class Program:
    name: str
    command: list


class Recordings:
    def __init__(self, directory, options, figures, programs=PROGRAMS, passes=1):
        self.directory, self.options, self.figures = directory, options, figures
        self.seconds = CALLING_SECONDS if programs == CALLING else SECONDS
        self.most_passes = passes
        self.inputs = directory / 'inputs'
        directory.mkdir(parents=True, exist_ok=True)
        workloads.make_inputs(self.inputs)
        self.kept = directory / 'passes.json'
        self.passes = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        kept = directory / 'commands.json'
        if not kept.exists():
            kept.write_text(json.dumps({name: self.command(name) for name in programs}))
        self.programs = [Program(name, command) for name, command in json.loads(kept.read_text()).items()]

    def command(self, name):
        """As often again as takes the seconds, and then it is kept so."""
        made = next((one for one in workloads.workloads() if one.name == name), None)
        if name == 'zstd':
            again_of = lambda runs: THREADED + ['text.large'] * runs
        elif name == 'redis':
            again_of = lambda runs: [*REDIS, str(2000 * runs)]
        else:
            again_of = lambda runs: again.looped(made, measure.prepare(made, self.inputs, self.directory), runs)
        once, more = (absolute.seconds_of(again_of(runs), self.inputs) for runs in (1, 3))
        return again_of(max(1, round(self.seconds / max((more - once) / 2, 0.01))))

    def record(self, hpcprof):
        """One recording of each program: figures by name, means over programs."""
        seen = {}
        for program in self.programs:
            for what, value in self.record_one(hpcprof, program).items():
                seen.setdefault(what, []).append(value)
        return {what: statistics.mean(values) for what, values in seen.items()}

    def record_one(self, hpcprof, program):
        database = self.directory / 'last.db'
        shutil.rmtree(database, ignore_errors=True)
        done = subprocess.run([hpcprof, 'record', '--db', database, *self.options, '--', *program.command],
                              cwd=self.inputs, env=workloads.ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace')
        if done.returncode:
            raise ValueError(f'{program.name}: {done.stderr[-300:]}')
        told = subprocess.run([hpcprof, 'report', '--db', database, '--summary', '--format=json', '--no-debuginfo'],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
        return self.figures(json.loads(told), done.stderr)

    # --- passes: kept by the key of the code that recorded ---

    def record_all(self, control, others):
        """Passes of each that has too few, in turns, and controls between them."""
        missing = [one for turn in range(self.most_passes) for one in others
                   if len(self.passes.get(one[0], [])) <= turn]
        for at, (key, hpcprof) in enumerate(missing):
            if at % 3 == 0:
                self.record_pass(*control)
            measure.say(f'recording {at + 1} of {len(missing)}')
            self.record_pass(key, hpcprof)
        if missing or len(self.passes.get(control[0], [])) < 2:
            self.record_pass(*control)

    def record_pass(self, key, hpcprof):
        self.passes.setdefault(key, []).append(self.record(hpcprof))
        self.kept.write_text(json.dumps(self.passes))

    def spread(self, control, more=1):
        """By figure: the controls' mean, and how far off it the mean of so many passes may be by chance."""
        passes, made = self.passes[control[0]], {}
        for what in passes[0]:
            values = [one[what] for one in passes]
            deviation = statistics.stdev(values) if len(values) > 1 else math.inf
            made[what] = (statistics.mean(values), DEVIATIONS * max(deviation, LEAST_DEVIATION)
                          * math.sqrt(1 / more + 1 / len(values)))
        return made

    def moved(self, control, other, least):
        figures = {what: statistics.mean(one[what] for one in self.passes[other[0]])
                   for what in self.passes[other[0]][0]}
        return [f'{what} {mean:.1f} -> {figures[what]:.1f}'
                for what, (mean, limit) in self.spread(control, len(self.passes[other[0]])).items()
                if abs(figures[what] - mean) >= max(least, limit)]
