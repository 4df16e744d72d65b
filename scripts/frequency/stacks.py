# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the ranges that the stack gives for execution hold what exact counts say it is.

The same profile is reported twice: as it was recorded, and with the exact counts of callgrind as
evidence. With these, execution is the best case of all that ran, without its stalls: a number. The
range of the first report is to hold it, of each procedure and of the whole program. Best cases are
of the same tables both times, so errors of the tables are not judged here.
"""
import json
import subprocess
import tempfile
from dataclasses import dataclass

import evidence
import profiles
from bench import table


@dataclass
class Judged:
    """One range; shares of the cycles, 0 to 1."""
    samples: float
    truth: float
    low: float
    high: float
    measured: bool

    @property
    def holds(self):
        return self.low - 1e-6 <= min(self.truth, 1) <= self.high + 1e-6

    @property
    def width(self):
        return self.high - self.low

    @property
    def unknown(self):
        return self.width > 0.9


@dataclass
class Stacks:
    whole: Judged            # the image with most samples, None where nothing could be judged
    procedures: list         # Judged


def compared(shown, exact):
    if not shown or not exact or not exact['absolute']:
        return None
    return Judged(shown['samples'], exact['execution'] / exact['cycles'],
                  shown['execution_low'] / shown['cycles'],
                  shown['execution_high'] / shown['cycles'], shown['execution_measured'])


def stacks_of(document):
    return {(image['path'], procedure['address']): procedure.get('stack')
            for image in document['images'] for procedure in image['procedures']}


def of_image(hpcprof, database, image, *more):
    done = subprocess.run([hpcprof, 'report', '--db', str(database), '--stalls', '--format=json',
                           '--limit=1', '--no-debuginfo', '--image', image, *more],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)['stack'] if done.returncode == 0 else None


def judge(hpcprof, database, document, profile):
    """Of procedures with ten samples or more, all of whose sampled blocks were counted."""
    whole = [p for p in profile.procedures if p.samples >= 10 and p.blocks and not p.unplaced
             and all(block.truth is not None for block in p.blocks if block.samples)]
    if not whole:
        return Stacks(None, [])
    shown = stacks_of(document)
    by_image = {}
    for procedure in whole:
        by_image[procedure.image] = by_image.get(procedure.image, 0) + procedure.samples
    image = max(by_image, key=by_image.get)
    with tempfile.NamedTemporaryFile('w', suffix='.counts') as file:
        evidence.write(file.name, profile)
        counts = f'--evidence=counts:{file.name}'
        exact = stacks_of(profiles.load(hpcprof, database, counts))
        program = compared(of_image(hpcprof, database, image),
                           of_image(hpcprof, database, image, counts))
    found = [compared(shown.get(key), exact.get(key))
             for key in ((p.image, f'{p.address:#x}') for p in whole)]
    return Stacks(program, [one for one in found if one])


def percent(value):
    return f'{100 * value:.1f}'


def weighted(judged, value):
    samples = sum(one.samples for one in judged)
    return percent(sum(one.samples * value(one) for one in judged) / samples) if samples else '-'


def row_of(head, judged):
    return [*head, len(judged), weighted(judged, lambda one: one.holds),
            percent(sum(one.holds for one in judged) / len(judged)) if judged else '-',
            weighted(judged, lambda one: one.width), weighted(judged, lambda one: one.unknown),
            weighted(judged, lambda one: one.truth < one.low - 1e-6 and 1),
            weighted(judged, lambda one: min(one.truth, 1) > one.high + 1e-6)]


def print_stacks(results):
    """`results`: (name, set, Stacks)"""
    rows = []
    for name, of_set, stacks in results:
        one = stacks.whole
        if one:
            rows.append([name, of_set, f'{one.samples:.0f}', 'yes' if one.measured else 'no',
                         percent(one.truth), percent(one.low), percent(one.high),
                         'yes' if one.holds else 'NO', 'yes' if one.unknown else ''])
    table('Execution, in % of the cycles of the program\'s image: by exact counts, and the range '
          'that the stack gives\n  (counted: that executions were); unknown: wider than 90 points',
          ['program', 'set', 'samples', 'counted', 'exact', 'low', 'high', 'holds', 'unknown'],
          rows)
    rows = []
    for is_measured in (False, True):
        judged = [one.whole for *_, one in results
                  if one.whole and one.whole.measured == is_measured]
        if judged:
            rows.append(row_of(['programs', 'yes' if is_measured else 'no'], judged))
        judged = [p for *_, one in results for p in one.procedures if p.measured == is_measured]
        if judged:
            rows.append(row_of(['procedures', 'yes' if is_measured else 'no'], judged))
    table('Ranges that hold the exact share of execution: % by samples, and by number; mean width '
          'in points; % that\n  are unknown; truth below, above',
          ['', 'counted', 'ranges', 'hold', 'by number', 'width', 'unknown', 'below', 'above'],
          rows)
