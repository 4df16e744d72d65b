# SPDX-License-Identifier: GPL-2.0-or-later
"""How near absolute executions of one recording come to the truth: nothing is scaled.

Blocks are weighted by their samples, edges by how often they were taken, and all samples of what
can be compared are in the denominator, as in judge.py.
"""
from dataclasses import dataclass, field

import judge as judges
import profiles


@dataclass
class Counts:
    blocks: judges.Share = field(default_factory=judges.Share)
    edges: judges.Share = field(default_factory=judges.Share)
    sure: judges.Share = field(default_factory=judges.Share)    # blocks marked high
    covered: float = 0              # samples whose truth is in the interval
    with_interval: float = 0
    whole: judges.Share = field(default_factory=judges.Share)   # procedures: their instructions
    whole_covered: float = 0        # samples whose procedure's true instructions are in the interval
    told: float = None              # share of the true instructions that have an estimate
    instructions: float = None      # in all, estimated by true
    calls: float = None


def judge(counts, options, database, truth):
    """Fills them in; `truth` as again.truth_of has it. (the report of instructions, the profile)"""
    document = profiles.load(options.hpcprof, database)
    profile = profiles.build(document, options.show_cfg, *truth)
    judgement = judges.judge(profile, profiles.estimates_of(document))
    judge_blocks(counts, judgement, profile)
    judge_totals(counts, judgement)
    judge_procedures(counts, profile, profiles.instructions_of(options.hpcprof, database))
    return document, profile


def judge_blocks(result, judgement, profile):
    for item in judgement.items:
        samples, truth = item.block.samples, item.block.truth
        estimate = item.estimate
        value = estimate.absolute if estimate else None
        if truth is None:
            result.blocks.total += samples
            continue
        result.blocks.add(value, truth, samples)
        if value is None:
            continue
        if estimate.confidence == 'high':
            result.sure.add(value, truth, samples)
        if estimate.absolute_low is not None:
            result.with_interval += samples
            result.covered += samples * (estimate.absolute_low * (1 - 1e-9) <= truth
                                         <= estimate.absolute_high * (1 + 1e-9))
    placed = sum(item.block.samples for item in judgement.items)
    result.blocks.total += sum(procedure.samples for procedure in profile.procedures) - placed
    for _, edge, estimate, _ in judgement.edge_items:
        result.edges.add(estimate.absolute if estimate else None, edge.truth, edge.truth)


def judge_procedures(result, profile, figures):
    """Instructions of whole procedures, of those whose blocks all have a truth."""
    for procedure in profile.procedures:
        if not procedure.whole or any(block.truth is None for block in procedure.blocks):
            continue
        truth = sum(block.truth * block.count for block in procedure.blocks)
        figure = figures.get(procedure.key)
        if not truth or not figure:
            continue
        result.whole.add(figure['estimate'], truth, procedure.samples)
        result.whole_covered += procedure.samples * (figure['low'] * (1 - 1e-9) <= truth
                                                     <= figure['high'] * (1 + 1e-9))


def judge_totals(result, judgement):
    """Instructions, and calls made, in all blocks with a truth: without an estimate a block has
    not run at all, or else leaving out the hard ones would make a total right."""
    sums = {'instructions': [0.0, 0.0], 'calls': [0.0, 0.0]}
    told = 0.0
    for item in judgement.items:
        if item.block.truth is None:
            continue
        value = item.estimate.absolute if item.estimate else None
        if value is None:
            value = 0.0
        else:
            told += item.block.truth * item.block.count
        calls = sum(text.startswith('call') for _, _, text in item.block.instructions)
        for name, weight in (('instructions', item.block.count), ('calls', calls)):
            sums[name][0] += value * weight
            sums[name][1] += item.block.truth * weight
    for name, (estimated, true) in sums.items():
        setattr(result, name, estimated / true if true else None)
    executed = sums['instructions'][1]
    result.told = told / executed if executed else None
