# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of coverage.test."""
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import cases

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]


def loaded(script):
    loader = SourceFileLoader(script.name, str(script))
    made = module_from_spec(spec_from_loader(script.name, loader))
    sys.modules[script.name] = made     # dataclasses look there
    loader.exec_module(made)
    return made


coverage = loaded(TOP / 'scripts' / 'window-coverage')


def same(found, expected):
    if found != expected:
        raise AssertionError(f'{found!r}, not {expected!r}')


def program(name, **more):
    return coverage.programs.Program(name, name, None, **more)


def row(name, cpu, absolute=True, told=100, lost=0.5, **more):
    windows = {'absolute': absolute, 'lost_s': lost * cpu / 100, 'target_s': cpu, 'budget_percent': 1}
    return coverage.Row(program(name), cpu, cpu, windows, 0, told, **more)


def counts(within_10, instructions, told):
    made = coverage.counted.Counts(instructions=instructions, told=told)
    made.blocks.total = 100
    made.blocks.within = [0, within_10, within_10, 100]
    return made


def targets(*rows):
    return {what: (count, round(value, 3)) for what, count, value, *_ in coverage.targets_of(rows)}


def test_a_third_of_the_programs_is_kept_out():
    every = coverage.programs.programs()
    same(len(every) >= 36, True)
    same(len({one.name for one in every}), len(every))
    same(3 * sum(one.kept_out for one in every) >= len(every), True)


def test_what_is_not_installed_is_named():
    same(program('x', tools='sh no-such-tool').missing(), ['no-such-tool'])
    same(program('x', tools='no-such-tool|sh').missing(), [])


def test_absolute_counts_of_a_part_do_not_cover_a_program():
    same(row('a', 4).is_covered, True)
    same(row('a', 4, told=79).is_covered, False)
    same(row('a', 4, absolute=False).is_covered, False)


def test_programs_count_by_how_long_they_run():
    found = targets(row('a', 2, absolute=False), row('b', 4), row('c', 4, absolute=False), row('d', 12))
    same(found['absolute, of those that run >= 3 s, %'], (3, 66.667))
    same(found['absolute, of those that run >= 10 s, %'], (1, 100))


def test_the_truth_has_two_lengths():
    found = targets(row('a', 4, counts=counts(80, 0.5, 0.5)), row('b', 12, counts=counts(96, 1.1, 1)),
                    row('c', 2, counts=counts(0, 0, 0)), row('d', 12))
    same(found['samples within 10 % of the truth, programs of >= 3 s, %'], (1, 80))
    same(found['samples within 10 % of the truth, programs of >= 10 s, %'], (1, 96))
    same(found['instructions estimated by true, mean, %'], (2, 105))


def test_prices_are_those_of_the_dearest():
    found = targets(row('a', 4, lost=0.1, real=(0.5, 0, 1)), row('b', 4, lost=3, real=(1.5, 1, 2)))
    same(found['most charged, b, %'], (2, 3))
    same(found['highest real price, b, %'], (2, 1.5))
    same(found['mean real price, %'], (2, 1))


def test_the_most_frequent_reasons_come_first():
    same(coverage.most({'complete': 9, 'signal': 1, 'clock': 3, 'died': 2}, 'complete'), 'clock 3, died 2')
    same(coverage.most({'complete': 9}, 'complete'), '-')


cases.run([case for name, case in globals().items() if name.startswith('test_')])
