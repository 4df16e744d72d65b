# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimators that know less than they could: what an estimator must be better than.

no_time: the graph alone. Every way out of a block is as likely as another, except that a loop goes
round again with 88 % (the loop branch heuristic of Ball and Larus); flow then tells how often each
block runs for once through the procedure. No sample is looked at.

one_cycle: CPI is 1 everywhere. Samples divided by instructions, both summed up over what runs
equally often (cycle equivalence classes); no flow.
"""
from collections import defaultdict

from profiles import Estimate, Report

ROUND_AGAIN = 0.88


def _depth_first(procedure, outs):
    """Reverse postorder of the blocks' numbers, and which edges go back."""
    order, back = [], set()
    state = {}               # 1 on the way, 2 done
    roots = [edge.target for edge in outs[None]] + list(range(len(procedure.blocks)))
    for root in roots:
        if root is None or root in state:
            continue
        state[root] = 1
        stack = [(root, iter(outs[root]))]
        while stack:
            node, edges = stack[-1]
            for edge in edges:
                if edge.target is None:
                    continue
                if state.get(edge.target) == 1:
                    back.add(id(edge))
                elif edge.target not in state:
                    state[edge.target] = 1
                    stack.append((edge.target, iter(outs[edge.target])))
                    break
            else:
                state[node] = 2
                order.append(node)
                stack.pop()
    return order[::-1], back


def _likelihoods(procedure, outs, back):
    chance = {}
    for block in procedure.blocks:
        edges = [edge for edge in outs[block.number] if edge.kind not in ('landing', 'escape')]
        again = [edge for edge in edges if id(edge) in back]
        on = [edge for edge in edges if id(edge) not in back]
        for group, share in ((again, ROUND_AGAIN if on else 0.99),
                             (on, 1 - ROUND_AGAIN if again else 1)):
            for edge in group:
                chance[id(edge)] = share / len(group)
    return chance


def _visits(order, sources, start):
    """How often each node is visited: flow into it, from the chain's other nodes and from outside.
    Nodes are taken out of the chain last first, which leaves loops closed in themselves, and put
    back in the order they run."""
    into = {node: dict(sources[node]) for node in order}
    out = defaultdict(set)
    for node in order:
        for source in into[node]:
            out[source].add(node)
    for node in reversed(order):
        own = 1 / max(1 - into[node].pop(node, 0), 1e-6)
        out[node].discard(node)
        for source in into[node]:
            into[node][source] *= own
        start[node] *= own
        for target in out[node]:
            share = into[target].get(node)
            if share is None:
                continue
            # What comes by this node now comes straight from where it came from.
            for source, weight in into[node].items():
                into[target][source] = into[target].get(source, 0) + weight * share
                out[source].add(target)
            start[target] += start[node] * share
            del into[target][node]
        for source in into[node]:
            out[source].discard(node)
    visits = {}
    for node in order:
        visits[node] = start[node] + sum(visits[source] * weight
                                         for source, weight in into[node].items())
    return visits


def no_time_of(procedure):
    """(blocks, edges) by number and by identity."""
    outs = defaultdict(list)
    for edge in procedure.edges:
        outs[edge.source].append(edge)
    order, back = _depth_first(procedure, outs)
    chance = _likelihoods(procedure, outs, back)
    sources = {node: defaultdict(float) for node in order}
    start = {node: 0.0 for node in order}
    for edge in procedure.edges:
        if edge.source is None and edge.target is not None:
            start[edge.target] += 1.0
        elif edge.target is not None and id(edge) in chance:
            sources[edge.target][edge.source] += chance[id(edge)]
    visits = _visits(order, sources, start)
    return visits, {id(edge): visits[edge.source] * chance[id(edge)]
                    for edge in procedure.edges if id(edge) in chance}


def one_cycle_of(procedure, shifted=None):
    """`shifted`: samples by block number, where they are not to be taken as they are."""
    samples, instructions = defaultdict(float), defaultdict(int)
    for block in procedure.blocks:
        samples[block.group] += shifted[block.number] if shifted else block.samples
        instructions[block.group] += block.count
    rate = {group: samples[group] / instructions[group] for group in samples
            if instructions[group]}
    return ({block.number: rate.get(block.group) for block in procedure.blocks},
            {id(edge): rate.get(edge.group) for edge in procedure.edges})


def shifted_samples(procedure, distance):
    """Samples by block, each moved back by so many instructions; from the first of a block to its
    predecessors, in proportion to what samples they have."""
    lists = {block.number: [float(samples) for _, samples, _ in block.instructions]
             for block in procedure.blocks}
    into = defaultdict(list)
    for edge in procedure.edges:
        if edge.source is not None and edge.target is not None:
            into[edge.target].append(edge.source)
    for _ in range(distance):
        moved = {number: row[1:] + [0.0] for number, row in lists.items() if row}
        for number, row in lists.items():
            if not row or not row[0]:
                continue
            sources = [source for source in into[number] if moved.get(source)]
            weights = [sum(lists[source]) + 1 for source in sources]
            if not sources:
                moved[number][0] += row[0]
            for source, weight in zip(sources, weights):
                moved[source][-1] += row[0] * weight / sum(weights)
        lists = {**lists, **moved}
    return {number: sum(row) for number, row in lists.items()}


def report_of(profile, estimator):
    """The estimator's numbers in the shape of a report."""
    blocks, edges = {}, {}
    for procedure in profile.procedures:
        if not procedure.blocks:
            continue
        of_blocks, of_edges = estimator(procedure)
        blocks[procedure.key] = {block.address: Estimate(of_blocks.get(block.number))
                                 for block in procedure.blocks}
        listed = edges[procedure.key] = {}
        for edge in procedure.edges:
            if edge.source is None or edge.target is None:
                continue
            where = (procedure.blocks[edge.source].address, procedure.blocks[edge.target].address)
            value = of_edges.get(id(edge))
            before = listed.get(where)
            if before and before.value is not None and value is not None:
                value += before.value
            listed[where] = Estimate(value)
    return Report(blocks, edges)


def no_time(profile):
    return report_of(profile, no_time_of)


def one_cycle(profile, distance=0):
    return report_of(profile, lambda procedure: one_cycle_of(
        procedure, shifted_samples(procedure, distance) if distance else None))
