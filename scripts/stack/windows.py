# SPDX-License-Identifier: GPL-2.0-or-later
"""stack-accuracy --windows: what the parts of simulated windows took, beside what the models say of them."""
import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent / 'causes'))

import programs
import reference

# As in hpcprof/model/lanes.h.
AS_IS, NO_MISPREDICT, NO_DCACHE, NO_FAR, MEMORY = 0, 1, 5, 6, 16
# Of base, mispredicts, L2, L3 and memory; lines that may be in memory are where the model guesses.
TABLES = [1, 1, 1, 1, 0]
MEDIAN, NINTH = 12, 30
SECONDS, SHADOW = 8, 10
# A part with fewer cycles is mostly chance: where a sample falls.
LEAST_CYCLES = 1e7
# Of a window, or it was not simulated.
LEAST_SIMULATED = 1e6
# Of a part's instructions, in code whose time a model knows.
LEAST_KNOWN = 0.5
# How far a penalty may be from the core's table, and what a part differs by, as shares: ridge regression.
PRIOR, NOISE = 0.5, 0.1


def parts_of(lines):
    """[(window, measured CPI, [CPI of causes])] of the parts of windows, of what window_parts prints"""
    for line in lines:
        window, _, simulated, instructions, cycles, known, *rest = map(float, line.split())
        factors, lanes = rest[:3], rest[3:]
        if cycles < LEAST_CYCLES or known < LEAST_KNOWN or simulated < LEAST_SIMULATED:
            continue
        branch = lanes[AS_IS] - lanes[NO_MISPREDICT]
        far = lanes[AS_IS] - lanes[NO_FAR]
        near = max(0, lanes[NO_FAR] - lanes[NO_DCACHE])
        unknown = max(0, lanes[MEMORY] - lanes[AS_IS])
        causes = [lanes[AS_IS] - branch - near - far, factors[0] * branch, factors[1] * near,
                  factors[2] * far, factors[2] * unknown]
        yield window, cycles / instructions, [cause / instructions for cause in causes]


def solve(matrix, right):
    """Gauss's elimination."""
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for i, pivot in enumerate(rows):
        for other in rows[i + 1:]:
            factor = other[i] / pivot[i]
            for j in range(i, len(other)):
                other[j] -= factor * pivot[j]
    found = [0] * len(rows)
    for i in reversed(range(len(rows))):
        rest = sum(rows[i][j] * found[j] for j in range(i + 1, len(rows)))
        found[i] = (rows[i][-1] - rest) / rows[i][i]
    return found


def fit(parts):
    """Factors of the causes' penalties, near those of the tables."""
    count = len(TABLES)
    ridge = (NOISE / PRIOR) ** 2
    matrix = [[ridge * (i == j) for j in range(count)] for i in range(count)]
    right = [0] * count
    for _, measured, causes in parts:
        shares = [cause / measured for cause in causes]
        rest = 1 - sum(table * share for table, share in zip(TABLES, shares))
        for i in range(count):
            right[i] += shares[i] * rest
            for j in range(count):
                matrix[i][j] += shares[i] * shares[j]
    return [max(0, table + value) for table, value in zip(TABLES, solve(matrix, right))]


def errors_of(parts, factors):
    return [100 * abs(sum(f * c for f, c in zip(factors, causes)) / measured - 1)
            for _, measured, causes in parts]


def left_out(parts):
    """Errors of the parts of each window, with factors that were fitted to those of the others."""
    errors = []
    for window in sorted({part[0] for part in parts}):
        others = [part for part in parts if part[0] != window]
        errors += errors_of([part for part in parts if part[0] == window], fit(others))
    return errors


def quantiles(errors):
    return statistics.median(errors), sorted(errors)[int(0.9 * (len(errors) - 1) + 0.5)]


def print_row(name, windows, parts, plain, fitted):
    print(f'  {name:10}{windows:9}{len(parts):7}' +
          ''.join(f'{value:9.1f}' for errors in (plain, fitted) for value in quantiles(errors)), flush=True)


def run(build, work, options):
    """Records the programs of cause-accuracy, or takes what is kept of them; whether targets are met."""
    work = Path(work).resolve()
    recording = argparse.Namespace(hpcprof=os.path.join(os.path.abspath(build), 'hpcprof'),
                                   shadow=SHADOW, again=options.again)
    sets = {True: ([], []), False: ([], [])}
    print(f"  {'':10}{'':9}{'':7}{'as tables have it':>18}{'fitted to others':>18}")
    print(f"  {'program':10}{'windows':>9}{'parts':>7}" + f"{'median':>9}{'90 %':>9}" * 2)
    for name, was_looked_at, command in programs.programs(work, SECONDS):
        if options.texts and name not in options.texts:
            continue
        database, _ = programs.recorded(recording, work, name, command)
        lines = subprocess.run([os.path.join(build, 'scripts/stack/window_parts'), database], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        parts = list(parts_of(lines))
        if not parts:
            print(f'  {name:10}  no part of a simulated window')
            continue
        plain, fitted = errors_of(parts, TABLES), left_out(parts)
        sets[was_looked_at][0].extend(plain)
        sets[was_looked_at][1].extend(fitted)
        print_row(name, len({part[0] for part in parts}), parts, plain, fitted)
    return judge(sets)


def judge(sets):
    print(f"\n{'Targets: parts left out, CPI off by, %':54}{'measured':>9}{'target':>9}")
    is_met = True
    for was_looked_at, title in ((True, 'looked at'), (False, 'kept apart')):
        if not sets[was_looked_at][1]:
            continue
        median, ninth = quantiles(sets[was_looked_at][1])
        is_met &= reference.target(f'{title}: median', f'{median:.1f}', f'<= {MEDIAN}', median <= MEDIAN)
        is_met &= reference.target(f'{title}: 90th percentile', f'{ninth:.1f}', f'<= {NINTH}', ninth <= NINTH)
    return is_met
