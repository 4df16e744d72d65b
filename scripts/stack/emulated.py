# SPDX-License-Identifier: GPL-2.0-or-later
"""stack-accuracy --emulated: formulas over counters beside the truth, where the reference core counts."""
import json
import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import reference

# Those of a list take the same refill for granted, so that the truth is the same.
TABLES = [['zen-2'], ['zen-3'], ['zen-4', 'zen-5'], ['neoverse-n1'],
          ['neoverse-n2', 'neoverse-n2-r0p0', 'neoverse-v1', 'neoverse-v2'],
          ['skylake-sp', 'ice-lake-sp', 'ice-lake-sp-sampled', 'sapphire-rapids',
           'sapphire-rapids-sampled']]
# Components by what they are compared with, and causes of the truth: those that must be among them,
# and those that may be. The model has data of the second cache and long-latency units in one. Fetch
# is a part of the base: what lines and branches cost that end it.
GROUPS = {
    'branch': (('branch-mispredict', 'restart'), ('branch',), ()),
    'code': (('icache', 'itlb', 'fetch'), ('l1i', 'l2i', 'itlb', 'fetch'), ()),
    'data': (('l2', 'l3', 'memory', 'dcache', 'dtlb'), ('l2d',), ('dtlb', 'units')),
    'rest': (('base', 'l1', 'long-latency', 'dependency', 'store-buffer', 'other'), ('base',),
             ('dtlb', 'units', 'store')),
}


def stack_of(hpcprof, counts):
    with tempfile.NamedTemporaryFile('w') as text:
        text.write(counts)
        text.flush()
        out = subprocess.run([hpcprof, 'stat', '-q', '--stalls', '--format=json', '-o', '-',
                              '--replay', text.name], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)['stack']


def measure(hpcprof, path, tables, options):
    """{table: {group: ...}}; they are of one run, and so is the truth, which takes longest"""
    found = reference.kept(
        path, options.again, f'{tables[0]}-{options.warm}-{options.instructions}',
        lambda: reference.model(hpcprof, path, options.instructions, options.warm,
                                f"--counts={','.join(tables)}"))
    return {table: compare(found, stack_of(hpcprof, found['texts_of_counts'][table]))
            for table in tables}


def truth_of(found):
    """(low, high) by cause"""
    low, high = dict(found['truth_low']), dict(found['truth_high'])
    low['fetch'], high['fetch'] = found['fetch_low'], found['fetch_high']
    low['base'], high['base'] = low['base'] - high['fetch'], high['base'] - low['fetch']
    return low, high


def compare(found, stack):
    """{group: (error in % of the cycles, whether the truth meets the printed range)}; a group of which the
    core has no component is in the rest"""
    result = {}
    truth_low, truth_high = truth_of(found)
    whole = {name: part for name, part in stack.items() if 'within' not in part}
    rest_causes, rest_possible = (), ()
    for group, (names, causes, possible) in GROUPS.items():
        parts = [whole[name] for name in names if name in whole]
        if not parts:
            rest_causes, rest_possible = rest_causes + causes, rest_possible + possible
            continue
        if group == 'rest':
            causes, possible = causes + rest_causes, possible + rest_possible
        low = sum(truth_low[cause] for cause in causes)
        high = sum(truth_high[cause] for cause in set(causes + possible))
        likely = sum(part['likely'] or 0 for part in parts)
        error = max(low - likely, likely - high, 0)
        meets = sum(p['low'] for p in parts) <= high and sum(p['high'] for p in parts) >= low
        result[group] = 100 * error / found['cpi'], meets
    return result


def print_table(title, results):
    """Prints a row per table and component. Returns means, worst errors, and whether in range."""
    print(title)
    print(f"{'core':24}{'component':10}" + ''.join(f'{name:>9}' for name in results) +
          '     mean    worst   in range')
    means, worst, met = [], [], []
    for table in (table for alike in TABLES for table in alike):
        for group in GROUPS:
            row = [found[table][group] for found in results.values()
                   if group in found.get(table, {})]
            if not row:
                continue
            errors = [error for error, _ in row]
            print(f'{table:24}{group:10}' + ''.join(f'{error:9.1f}' for error in errors) +
                  f'{statistics.mean(errors):9.1f}{max(errors):9.1f}'
                  f'{sum(meets for _, meets in row):6} of {len(row)}')
            means.append(statistics.mean(errors))
            worst.append(max(errors))
            met += [meets for _, meets in row]
    print()
    return means, worst, met


def judge(title, means, worst, met):
    share = 100 * sum(met) / len(met)
    print(f"{title:54}{'measured':>9}{'target':>9}")
    return all([
        reference.target('components, mean, the worst of them, % of cycles', f'{max(means):.1f}',
                         '<= 2', max(means) <= 2),
        reference.target('components, worst, % of cycles', f'{max(worst):.1f}', '<= 5',
                         max(worst) <= 5),
        reference.target('truth in the printed range, %', f'{share:.0f}', '>= 90', share >= 90)])


def run(build, work, options):
    hpcprof = os.path.join(os.path.abspath(build), 'hpcprof')
    paths = reference.traces(hpcprof, work, options)
    tables = [['zen-4']] if options.quick else TABLES
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(name, pool.submit(measure, hpcprof, path, alike, options))
                for name, path in paths.items() for alike in tables]
        results = {name: {} for name in paths}
        for name, job in jobs:
            results[name].update(job.result())
    is_met = True
    for title, names in reference.SETS:
        found = {name: results[name] for name in names if name in results}
        if found:
            is_met = judge(title, *print_table(title, found))
            print()
    return is_met
