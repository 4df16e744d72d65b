# SPDX-License-Identifier: GPL-2.0-or-later
"""frequency-accuracy --absolute --windows: intervals from some of a recording's windows only.

An interval is to hold the truth in nine cases of ten however few windows there are, and whichever
phases of the program they fell into. One recording has too few cases to tell; but any of its
windows might have been all that it had. So some are drawn, the others left out (tests/db/keep_windows),
and what is left is judged like any recording: absolute executions as they are, those of one
procedure to each other with one scale (judge.py).
"""
import math
import shutil
import subprocess
from dataclasses import dataclass, field

import counted
import judge
import profiles
from bench import table
from workloads import Failure

HOLD = (85, 95)     # % of samples in blocks whose 90 % interval holds the truth


@dataclass
class Drawn:
    """Of all draws of so many windows, of one program or of several."""
    windows: int = 0
    draws: int = 0
    absolute: counted.Counts = field(default_factory=counted.Counts)
    relative: judge.Calibration = field(default_factory=judge.Calibration)
    programs: list = field(default_factory=list)        # (% held absolutely, to each other)

    def held(self):
        return share(self.absolute.covered, self.absolute.with_interval)

    def held_relative(self):
        return share(self.relative.covered, self.relative.with_interval)

    def told(self):
        return share(self.absolute.with_interval, self.absolute.blocks.total)

    def width(self):
        """high / low, the middle one by samples."""
        middle = judge.weighted_median(self.relative.widths)
        return None if middle is None else math.exp(middle)

    def merge(self, other):
        self.windows += other.windows
        self.draws += other.draws
        self.absolute.covered += other.absolute.covered
        self.absolute.with_interval += other.absolute.with_interval
        self.absolute.blocks.total += other.absolute.blocks.total
        self.relative.merge(other.relative)
        self.programs.append((other.held(), other.held_relative()))


def share(part, whole):
    return 100 * part / whole if whole else None


def keep(options, database, target, count, seed):
    shutil.rmtree(target, ignore_errors=True)
    stamp = next(path.name for path in sorted(database.iterdir()) if path.is_dir())
    done = subprocess.run([options.keep_windows, database, stamp, target, str(count), str(seed)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return int(done.stdout)


def judge_draws(options, database, truth, directory):
    """{how many windows: Drawn} of one recording."""
    found = {}
    target = directory / 'drawn.db'
    for count in options.windows:
        drawn = found[count] = Drawn()
        for seed in range(1, options.draws + 1):
            drawn.windows += keep(options, database, target, count, seed)
            drawn.draws += 1
            document = profiles.load(options.hpcprof, target)
            profile = profiles.build(document, options.show_cfg, *truth)
            judgement = judge.judge(profile, profiles.estimates_of(document))
            counted.judge_blocks(drawn.absolute, judgement, profile)
            drawn.relative.merge(judgement.calibration)
    shutil.rmtree(target, ignore_errors=True)
    return found


def print_draws(results):
    """`results`: [(name, {how many windows: Drawn})]. True when intervals hold as they are to."""
    def row(first, count, drawn):
        return [first, count, f'{drawn.windows / drawn.draws:.1f}',
                *(form(value) for value in (drawn.told(), drawn.held(), drawn.held_relative(),
                                            drawn.width()))]

    def form(value):
        return '-' if value is None else f'{value:.1f}'

    rows, sums = [], {}
    for name, draws in results:
        for count, drawn in draws.items():
            rows.append(row(name, count, drawn))
            sums.setdefault(count, Drawn()).merge(drawn)
    for count, drawn in sorted(sums.items()):
        rows.append(row('all', count, drawn))
    table('Intervals from so many windows of each recording, drawn at random: windows; % of samples '
          'with\n  absolute executions; % of these whose 90 % interval holds the truth; the same of '
          'executions in one\n  procedure to each other; how wide these are, high / low, median',
          ['program', 'drawn', 'windows', 'told', 'hold', 'hold, relative', 'width'], rows)
    fine = True
    for count, drawn in sorted(sums.items()):
        for what, held in (('absolute', drawn.held()), ('relative', drawn.held_relative())):
            if held is not None:
                fine &= held >= HOLD[0]
                print(f'{count} windows, {what}: 90 % intervals hold {held:.1f} % '
                      f'({HOLD[0]}-{HOLD[1]}: {"met" if HOLD[0] <= held <= HOLD[1] else "MISSED"})')
    return fine
