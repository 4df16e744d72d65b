# SPDX-License-Identifier: GPL-2.0-or-later
"""How near estimates come to the truth, as in figures 8 and 9 of Anderson et al., "Continuous
Profiling: Where Have All the Cycles Gone?", section 6.2.

Blocks are weighted by their samples, edges by how often they were taken. All samples of what can
be compared are in the denominator: where there is no estimate, it is wrong.

Three scales. Absolute takes estimates as they are. One free scale a procedure: the factor on all
estimates of a procedure is the median, weighted by samples, of truth / estimate over its blocks;
its edges get the same factor. One free scale a program: likewise over all blocks of the program,
after each procedure was brought to the same samples a (estimated) executed instruction.
"""
import math
from collections import defaultdict
from dataclasses import dataclass, field

LIMITS = (0.05, 0.10, 0.15, 1.0)
MARKS = ('high', 'medium', 'low', 'none')


def is_within(estimate, truth, limit):
    """Within 5 % is from 0.95 to 1.05 times the truth; within 2x, from half of it to twice."""
    if truth == 0:
        return estimate < 0.5
    ratio = estimate / truth
    return 0.5 <= ratio <= 2 if limit == 1.0 else abs(ratio - 1) <= limit + 1e-12


def weighted_median(pairs):
    """Of (value, weight); between two values where half of the weight is on each side."""
    pairs = sorted(pair for pair in pairs if pair[1] > 0)
    half = sum(weight for _, weight in pairs) / 2
    below = 0
    for i, (value, weight) in enumerate(pairs):
        below += weight
        if below > half * (1 + 1e-12):
            return value
        if below >= half * (1 - 1e-12):
            return (value + pairs[i + 1][0]) / 2 if i + 1 < len(pairs) else value
    return None


@dataclass
class Share:
    """Weights of what lies within the limits, of all."""
    total: float = 0
    within: list = field(default_factory=lambda: [0.0] * len(LIMITS))

    def add(self, estimate, truth, weight):
        self.total += weight
        if estimate is None:
            return
        for i, limit in enumerate(LIMITS):
            if is_within(estimate, truth, limit):
                self.within[i] += weight

    def values(self):
        return [100 * within / self.total for within in self.within] if self.total else None


@dataclass
class Item:
    """One judged block."""
    procedure: object
    block: object
    estimate: object         # None: the estimator says nothing
    scale: float = None      # of the procedure


@dataclass
class Calibration:
    samples: dict = field(default_factory=lambda: defaultdict(float))     # by mark
    hits: dict = field(default_factory=lambda: defaultdict(float))        # within 10 %
    halves: dict = field(default_factory=lambda: defaultdict(float))      # within 2x
    covered: float = 0       # samples whose truth lies in the interval
    with_interval: float = 0
    blocks_covered: int = 0
    blocks: int = 0          # with an interval, executed or with samples
    below: float = 0         # samples whose truth is less than the interval says
    above: float = 0
    widths: list = field(default_factory=list)      # (high / low, samples)
    places: list = field(default_factory=lambda: [0.0] * 12)

    def add(self, item):
        estimate, samples = item.estimate, item.block.samples
        mark = estimate.confidence if estimate and estimate.value is not None else 'none'
        self.samples[mark] += samples
        if mark == 'none' and (not estimate or estimate.value is None):
            return
        if item.scale is None or item.block.truth is None:
            return
        guess = estimate.value * item.scale
        self.hits[mark] += samples * is_within(guess, item.block.truth, 0.10)
        self.halves[mark] += samples * is_within(guess, item.block.truth, 1.0)
        if estimate.low is not None and estimate.high is not None:
            self._interval(estimate.low * item.scale, estimate.high * item.scale,
                           item.block.truth, samples)

    def _interval(self, low, high, truth, samples):
        inside = low * (1 - 1e-9) <= truth <= high * (1 + 1e-9)
        self.with_interval += samples
        self.covered += samples * inside
        if truth or samples:
            self.blocks += 1
            self.blocks_covered += inside
        self.below += samples * (truth < low and not inside)
        self.above += samples * (truth > high and not inside)
        if low > 0:
            self.widths.append((math.log(high / low), samples))
        if truth > 0 and 0 < low < high:
            place = math.log(truth / low) / math.log(high / low)
            self.places[min(11, max(0, 1 + math.floor(place * 10)))] += samples

    def merge(self, other):
        for mine, its in ((self.samples, other.samples), (self.hits, other.hits),
                          (self.halves, other.halves)):
            for mark, value in its.items():
                mine[mark] += value
        for name in ('covered', 'with_interval', 'blocks_covered', 'blocks', 'below', 'above'):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.widths += other.widths
        self.places = [a + b for a, b in zip(self.places, other.places)]


@dataclass
class Judgement:
    absolute: Share = field(default_factory=Share)
    program: Share = field(default_factory=Share)
    procedure: Share = field(default_factory=Share)
    edges: Share = field(default_factory=Share)
    branches: Share = field(default_factory=Share)      # edges out of blocks that have several
    calibration: Calibration = field(default_factory=Calibration)
    items: list = field(default_factory=list)
    edge_items: list = field(default_factory=list)      # (procedure, edge, estimate, scale)
    has_absolute: bool = False
    has_edges: bool = False
    edges_unknown: float = 0     # edges whose truth is not known, of all

    def shares(self):
        return {'absolute': self.absolute.values() if self.has_absolute else None,
                'program': self.program.values(), 'procedure': self.procedure.values(),
                'edges': self.edges.values() if self.has_edges else None,
                'branches': self.branches.values() if self.has_edges else None}


def log_ratios(items, value):
    return [(math.log(item.block.truth / value(item)), item.block.samples) for item in items
            if item.block.truth and value(item)]


def value_of(item):
    return item.estimate.value if item.estimate and item.estimate.value else None


def procedure_scale(items):
    middle = weighted_median(log_ratios(items, value_of))
    return math.exp(middle) if middle is not None else None


def pace(items):
    """Samples an estimated executed instruction: what brings procedures to one scale."""
    executed = sum(value_of(item) * item.block.count for item in items if value_of(item))
    samples = sum(item.block.samples for item in items)
    return samples / executed if executed else None


def _judge_program_scale(judgement, by_procedure):
    paces = {key: pace(items) for key, items in by_procedure.items()}

    def placed(item):
        own, value = paces[item.procedure.key], value_of(item)
        return own * value if own and value else None

    middle = weighted_median(log_ratios(judgement.items, placed))
    for item in judgement.items:
        if item.block.truth is None:
            continue
        value = item.estimate.value if item.estimate else None
        if value:
            own = placed(item)
            value = own * math.exp(middle) if own and middle is not None else None
        judgement.program.add(value, item.block.truth, item.block.samples)


def _judge_edges(judgement, procedure, estimates, scale):
    several = defaultdict(int)
    for edge in procedure.edges:
        several[edge.source] += 1
    for edge in procedure.edges:
        if edge.source is None or edge.target is None:
            continue
        if edge.truth is None:
            judgement.edges_unknown += 1
            continue
        where = procedure.blocks[edge.source].address, procedure.blocks[edge.target].address
        estimate = estimates.get(where)
        value = estimate.value if estimate else None
        judgement.edge_items.append((procedure, edge, estimate, scale))
        judgement.has_edges |= estimate is not None
        if value:
            value = value * scale if scale else None
        judgement.edges.add(value, edge.truth, edge.truth)
        if several[edge.source] > 1:
            judgement.branches.add(value, edge.truth, edge.truth)


def judge(profile, report):
    """One estimator on one program."""
    judgement = Judgement()
    by_procedure = {}
    for procedure in profile.procedures:
        estimates = report.blocks.get(procedure.key, {})
        items = [Item(procedure, block, estimates.get(block.address)) for block in procedure.blocks]
        by_procedure[procedure.key] = items
        judgement.items += items
        scale = procedure_scale(items)
        placed = 0
        for item in items:
            item.scale = scale
            placed += item.block.samples
            if item.block.truth is None:
                judgement.procedure.total += item.block.samples
                judgement.program.total += item.block.samples
                judgement.absolute.total += item.block.samples
                continue
            estimate = item.estimate
            value = estimate.value if estimate else None
            if value:
                value = value * scale if scale else None
            judgement.procedure.add(value, item.block.truth, item.block.samples)
            absolute = estimate.absolute if estimate else None
            judgement.has_absolute |= absolute is not None
            judgement.absolute.add(absolute, item.block.truth, item.block.samples)
            judgement.calibration.add(item)
        # Samples that are in no block, or in no graph, are judged wrong.
        for share in (judgement.procedure, judgement.program, judgement.absolute):
            share.total += procedure.samples - placed
        judgement.calibration.samples['none'] += procedure.samples - placed
        _judge_edges(judgement, procedure, report.edges.get(procedure.key, {}), scale)
    _judge_program_scale(judgement, by_procedure)
    return judgement
