# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of programs, and what they truly executed.

Below one directory, SET/NAME holds for each program `profile.db`, recorded in
several runs of one epoch, and `truth`, the executions of one run as callgrind.awk writes them. Both
stay for as long as the program, its arguments and its inputs are the same (`key`).
"""
import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import workloads
from workloads import Failure

HERE = Path(__file__).resolve().parent
CALLGRIND = ['valgrind', '-q', '--tool=callgrind', '--dump-instr=yes', '--collect-jumps=yes',
             '--skip-plt=no', '--compress-pos=no', '--compress-strings=no']


@dataclass
class Truth:
    """Of one image, in one run."""
    executed: dict = field(default_factory=dict)     # address: how often
    jumped: dict = field(default_factory=dict)       # (from, to): how often, calls as well


def parse_truth(lines):
    """What callgrind.awk writes, by the path of the image."""
    paths, images = {}, {}
    for line in lines:
        part = line.split()
        if part[0] == 'ob':
            paths[part[1]] = line.split(' ', 2)[2].rstrip('\n')
            images[part[1]] = Truth()
        elif part[0] == 'i':
            images[part[1]].executed[int(part[2], 16)] = int(part[3])
        elif part[0] in 'jc':
            jumped, way = images[part[1]].jumped, (int(part[2], 16), int(part[3], 16))
            jumped[way] = jumped.get(way, 0) + int(part[4])
    return {os.path.realpath(paths[number]): truth for number, truth in images.items()}


def continued(before, after, more):
    """By the path of the image, the truth of `more` runs more in one process (less than 0: fewer) than
    `after` counts, which is one run more than `before` counts: all others are like that last one.
    The first ones start up, and what they leave behind, full tables and memory that was used before,
    is there for all others."""
    made = {}
    for path, last in after.items():
        first = before.get(path, Truth())

        def of_all(both, one):
            return {what: max(0, count + more * (count - one.get(what, 0)))
                    for what, count in both.items()}

        made[path] = Truth(of_all(last.executed, first.executed),
                           of_all(last.jumped, first.jumped))
    return made


def normalized(seen, out):
    """callgrind's own file, made to what parse_truth reads."""
    with open(out, 'wb') as stream:
        subprocess.run(['awk', '-f', str(HERE.parent / 'callgrind.awk'), str(seen)], stdout=stream,
                       check=True)


def run(command, inputs, what, timeout=None):
    done = subprocess.run(command, cwd=inputs, env=workloads.ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors='replace', timeout=timeout)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [''])[-1]
        raise Failure(f'{what}: exit status {done.returncode}: {last}')


def key_of(workload, program, inputs):
    """Changes with whatever changes the executions."""
    made = hashlib.sha256()
    for argument in [program, *workload.command[1:], *workload.inputs]:
        path = inputs / argument
        made.update(str(argument).encode() + b'\0')
        if path.is_file():
            made.update(hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()


@dataclass
class Measured:
    workload: workloads.Workload
    directory: Path
    runs: int

    @property
    def database(self):
        return self.directory / 'profile.db'

    def truth(self, name='truth'):
        with open(self.directory / name, encoding='utf-8') as lines:
            return parse_truth(lines)


def say(message):
    print(message, file=sys.stderr, flush=True)


def prepare(workload, inputs, directory):
    program = shutil.which(workload.command[0], path=workloads.ENVIRONMENT['PATH']) \
        if '/' not in workload.command[0] else workload.command[0]
    if not program or not (inputs / program).is_file():
        raise Failure('not installed')
    directory.mkdir(parents=True, exist_ok=True)
    key = key_of(workload, program, inputs)
    kept = directory / 'key'
    if not kept.exists() or kept.read_text() != key:
        for old in (directory / 'profile.db', *directory.glob('truth*'),
                    *directory.glob('shadow-*.db'), *directory.glob('shadow-*.pairs')):
            shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
        kept.write_text(key)
    return [program, *workload.command[1:]]


def count(command, inputs, directory, name='truth'):
    """Callgrind, unless it has been done."""
    if (directory / name).exists():
        return
    seen = directory / 'seen'
    made = directory / 'truth.new'
    run([*CALLGRIND, f'--callgrind-out-file={seen}', *command], inputs, 'under callgrind')
    normalized(seen, made)
    seen.unlink()
    made.rename(directory / name)


def record(hpcprof, command, inputs, directory, runs, hz):
    """As many runs as asked for, one epoch."""
    if (directory / 'profile.db').exists():
        return
    partial = directory / 'profile.new'
    shutil.rmtree(partial, ignore_errors=True)
    for i in range(runs):
        run([hpcprof, 'record', '-q', '--db', str(partial), '-F', str(hz),
             *(['--append=@latest'] if i else []), '--', *command], inputs, 'being recorded')
    partial.rename(directory / 'profile.db')


def measure_all(chosen, hpcprof, top, runs, hz, jobs):
    """Yields what could be measured, and tells (name, why) of what could not. Profiles are taken
    one by one while nothing else runs here; the counting then uses several CPUs."""
    inputs = top / 'inputs'
    workloads.make_inputs(inputs)
    measured, absent, commands = [], [], {}
    for workload in chosen:
        directory = top / workload.folder / workload.name
        try:
            commands[workload.name] = prepare(workload, inputs, directory)
            say(f'{workload.name}: recording')
            record(hpcprof, commands[workload.name], inputs, directory, runs, hz)
            measured.append(Measured(workload, directory, runs))
        except Failure as failure:
            absent.append((workload.name, str(failure)))

    def counted(one):
        try:
            say(f'{one.workload.name}: counting')
            count(commands[one.workload.name], inputs, one.directory)
        except Failure as failure:
            return str(failure)
        return None

    with ThreadPoolExecutor(jobs) as pool:
        for one, failure in list(zip(measured, pool.map(counted, measured))):
            if failure:
                measured.remove(one)
                absent.append((one.workload.name, failure))
    return measured, absent
