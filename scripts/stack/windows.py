# SPDX-License-Identifier: GPL-2.0-or-later
"""stack-accuracy --windows: what the parts of windows took, beside what report --stack says of them."""
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

MEDIAN, NINTH = 12, 30
SECONDS, SHADOW = 12, 10
TITLES = ['looked at', 'kept apart', 'given']


def parts_of(build, database):
    """([(window, whether it was simulated, error in % by the table, and by what was fitted to others)],
    factors), as window_parts prints them"""
    lines = subprocess.run([os.path.join(build, 'scripts/stack/window_parts'), database], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    parts, factors = [], []
    for line in lines:
        if line.startswith('factors'):
            factors = [float(word) for word in line.split()[1:]]
            continue
        window, measured, by_table, left_out, is_simulated, *_ = map(float, line.split())
        parts.append((window, bool(is_simulated), 100 * abs(by_table / measured - 1),
                      100 * abs(left_out / measured - 1)))
    return parts, factors


def quantiles(errors):
    if not errors:
        return float('nan'), float('nan')
    return statistics.median(errors), sorted(errors)[int(0.9 * (len(errors) - 1) + 0.5)]


def print_row(name, parts, factors):
    simulated = [part for part in parts if part[1]]
    print(f'  {name:10}{len({part[0] for part in simulated}):9}{len(simulated):7}' +
          ''.join(f'{value:9.1f}' for errors in ([part[2] for part in simulated],
                                                 [part[3] for part in simulated],
                                                 [part[3] for part in parts if not part[1]])
                  for value in quantiles(errors)) +
          '  ' + ' '.join(f'{factor:.2f}' for factor in factors), flush=True)


def run(build, work, options):
    """Records the programs of cause-accuracy, or takes what is kept of them; whether targets are met."""
    work = Path(work).resolve()
    work.mkdir(exist_ok=True)
    recording = argparse.Namespace(hpcprof=os.path.join(os.path.abspath(build), 'hpcprof'),
                                   shadow=SHADOW, again=options.again)
    sets = {title: [] for title in TITLES}
    print(f"  {'simulated windows':26}{'by the table':>18}{'fitted to others':>18}{'not simulated':>18}"
          "  base mispredict L2 far dtlb in-memory")
    print(f"  {'program':10}{'windows':>9}{'parts':>7}" + f"{'median':>9}{'90 %':>9}" * 3)
    for name, title, database in databases(work, recording, options.texts):
        parts, factors = parts_of(build, database)
        if not parts:
            print(f'  {name:10}  no part of a window')
            continue
        sets[title] += [part[3] for part in parts if part[1]]
        print_row(name, parts, factors)
    return judge(sets)


def databases(work, recording, wanted):
    """(name, title of its set, database) of those that are given, and of programs that are recorded"""
    given = [text for text in wanted if os.path.isdir(text)]
    for database in given:
        yield Path(database).name.removesuffix('.db')[:10], TITLES[2], database
    for name, was_looked_at, command in programs.programs(work, SECONDS):
        if name in wanted or not wanted:
            yield (name, TITLES[0 if was_looked_at else 1],
                   programs.recorded(recording, work, name, command)[0])


def judge(sets):
    print(f"\n{'Targets: parts left out, CPI off by, %':54}{'measured':>9}{'target':>9}")
    is_met = True
    for title, errors in sets.items():
        if not errors:
            continue
        median, ninth = quantiles(errors)
        is_met &= reference.target(f'{title}: median', f'{median:.1f}', f'<= {MEDIAN}', median <= MEDIAN)
        is_met &= reference.target(f'{title}: 90th percentile', f'{ninth:.1f}', f'<= {NINTH}', ninth <= NINTH)
    return is_met
