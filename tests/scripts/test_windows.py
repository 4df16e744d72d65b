# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of windows.test: `list` prints their names, else that of the name is run."""
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parents[2] / 'scripts/stack'))

import windows


def line(window, simulated, instructions, cycles, known, lanes, factors=(1, 1, 1)):
    values = [0] * 24
    for lane, value in lanes.items():
        values[lane] = value
    return ' '.join(str(v) for v in (window, 0, simulated, instructions, cycles, known, *factors, *values))


LANES = {windows.AS_IS: 60e6, windows.NO_MISPREDICT: 50e6, windows.NO_DCACHE: 30e6, windows.NO_FAR: 40e6,
         windows.MEMORY: 80e6}


def made(window, causes, factors):
    return window, sum(f * c for f, c in zip(factors, causes)), causes


def near(found, wanted, most=1e-9):
    if len(found) != len(wanted) or any(abs(f - w) > most for f, w in zip(found, wanted)):
        raise AssertionError(f'{found!r}, not {wanted!r}')


def a_part_is_divided_among_its_causes():
    (window, measured, causes), = windows.parts_of([line(3, 12e6, 100e6, 90e6, 1, LANES)])
    near((window, measured, *causes), (3, 0.9, 0.2, 0.1, 0.1, 0.2, 0.2))


def what_was_met_in_the_window_counts():
    (_, _, causes), = windows.parts_of([line(0, 12e6, 100e6, 90e6, 1, LANES, (2, 3, 0.5))])
    near(causes, (0.2, 0.2, 0.3, 0.1, 0.1))


def parts_that_say_little_are_left_out():
    near(list(windows.parts_of([line(0, 0, 100e6, 90e6, 1, LANES), line(0, 12e6, 1e6, 0.9e6, 1, LANES),
                                line(0, 12e6, 100e6, 90e6, 0.3, LANES)])), [])


def penalties_are_found_where_many_parts_tell_them():
    draw = random.Random(7)
    factors = [1.3, 0.8, 1.1, 1.6, 0.4]
    parts = [made(i, [draw.uniform(0.1, 1) for _ in factors], factors) for i in range(400)]
    near(windows.fit(parts), factors, 0.05)


def without_parts_they_are_those_of_the_tables():
    near(windows.fit([]), windows.TABLES)


def a_window_is_judged_by_the_others():
    # It alone is twice as slow; its own parts would have told.
    parts = [made(i, [1, 0, 0, 0, 0], [2 if i == 9 else 1] * 5) for i in range(10)]
    near(windows.left_out(parts)[9:], [50])
    near(windows.left_out(parts)[:1], [0], 15)


CASES = [a_part_is_divided_among_its_causes, what_was_met_in_the_window_counts,
         parts_that_say_little_are_left_out, penalties_are_found_where_many_parts_tell_them,
         without_parts_they_are_those_of_the_tables, a_window_is_judged_by_the_others]

if sys.argv[1] == 'list':
    print('\n'.join(case.__name__ for case in CASES))
else:
    next(case for case in CASES if case.__name__ == sys.argv[1])()
