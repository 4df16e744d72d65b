# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact counts on some of the blocks, and what the estimator makes of them on the absolute scale.

Of each procedure with samples a random tenth of its blocks is drawn, executed or not, with or
without samples; of 14 blocks one, and a second one with a chance of 4 in 10. No procedure is sure
to have one drawn.
"""
import random
from collections import defaultdict
from dataclasses import dataclass, field

import judge
import profiles

TENTH = 0.1


def draw(profile, seed):
    """Block addresses by procedure."""
    chance = random.Random(seed)
    drawn = {}
    for procedure in sorted(profile.procedures, key=lambda p: p.key):
        known = [block for block in procedure.blocks if block.truth is not None]
        wanted = len(known) * TENTH
        count = int(wanted) + (chance.random() < wanted % 1)
        drawn[procedure.key] = {block.address for block in chance.sample(known, count)}
    return drawn


def write(path, profile, drawn=None):
    """As --evidence=counts:FILE reads them; without `drawn`, all."""
    with open(path, 'w', encoding='utf-8') as out:
        for procedure in profile.procedures:
            for block in procedure.blocks:
                if block.truth is not None and (drawn is None or
                                                block.address in drawn[procedure.key]):
                    print(procedure.image, f'{block.address:#x}', block.truth, file=out)


# --- what follows from the counts alone -----------------------------------------------------------


def _bridges(links):
    """Of undirected links (node, node) by name: those that lie on no cycle."""
    near = defaultdict(list)
    for name, (one, other) in links.items():
        near[one].append((other, name))
        near[other].append((one, name))
    found, number, low = set(), {}, {}
    for root in near:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack = [(root, None, iter(near[root]))]
        while stack:
            node, came_by, rest = stack[-1]
            for other, name in rest:
                if name == came_by:
                    continue
                if other in number:
                    low[node] = min(low[node], number[other])
                    continue
                number[other] = low[other] = len(number)
                stack.append((other, name, iter(near[other])))
                break
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                    if low[node] > number[above]:
                        found.add(came_by)
    return found


def determined(procedure, chosen):
    """Numbers of the blocks whose counts follow from those of the chosen ones, by flow in = out.
    Blocks and edges are links between points; of links whose count is unknown exactly those on no
    cycle are fixed by the others. What never ran has neighbours that carry nothing to it."""
    known = {('block', block.number) for block in procedure.blocks if block.address in chosen}
    links = {('block', block.number): (('in', block.number), ('out', block.number))
             for block in procedure.blocks}
    truth = {('block', block.number): block.truth for block in procedure.blocks}
    around = defaultdict(list)
    for i, edge in enumerate(procedure.edges):
        links['edge', i] = tuple(('outside', 0) if node is None else (side, node)
                                 for side, node in (('out', edge.source), ('in', edge.target)))
        truth['edge', i] = edge.truth
        for node in (edge.source, edge.target):
            if node is not None:
                around['block', node].append(('edge', i))
    if not procedure.whole:
        return {number for kind, number in known if kind == 'block'}
    grown = True
    while grown:
        before = len(known)
        for name in [name for name in known if name[0] == 'block' and truth[name] == 0]:
            known.update(around[name])
        known |= _bridges({name: ends for name, ends in links.items() if name not in known})
        grown = len(known) > before
    return {number for kind, number in known if kind == 'block'}


# --- judging --------------------------------------------------------------------------------------


@dataclass
class Drawn:
    """Of one draw: shares on the absolute scale of all samples, and of those in blocks that were
    not drawn; samples in procedures of which something was drawn that runs; samples in blocks
    whose counts follow from flow alone. The last two in %."""
    whole: judge.Share = field(default_factory=judge.Share)
    rest: judge.Share = field(default_factory=judge.Share)
    reached: float = 0
    determined: float = 0


def judge_drawn(profile, report, drawn):
    made = Drawn()
    for procedure in profile.procedures:
        chosen = drawn[procedure.key]
        estimates = report.blocks.get(procedure.key, {})
        follows = determined(procedure, chosen)
        made.reached += procedure.samples * any(
            block.address in chosen and block.truth for block in procedure.blocks)
        for block in procedure.blocks:
            estimate = estimates.get(block.address)
            value = estimate.absolute if estimate else None
            made.determined += block.samples * (block.number in follows)
            for share in (made.whole, made.rest)[:1 if block.address in chosen else 2]:
                if block.truth is None:
                    share.total += block.samples
                else:
                    share.add(value, block.truth, block.samples)
        outside = procedure.samples - sum(block.samples for block in procedure.blocks)
        made.whole.total += outside
        made.rest.total += outside
    made.reached *= 100 / max(made.whole.total, 1)
    made.determined *= 100 / max(made.whole.total, 1)
    return made


def report_with(hpcprof, database, path):
    return profiles.estimates_of(profiles.load(hpcprof, database, f'--evidence=counts:{path}'))
