# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of frequency.test."""
import math
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / 'scripts'
sys.path[:0] = [str(SCRIPTS / 'frequency'), str(SCRIPTS / 'bench')]

import again
import cases
import controls
import counted
import evidence
import judge
import measure
import profiles
import workloads
from profiles import Block, Edge, Estimate, Procedure, Profile, Report


def graph(block_count, edges, truth=None, samples=None, instructions=1):
    """A procedure of blocks at 0, 16, 32…; every block and edge a class of its own."""
    made = Procedure('/bin/x', 'f', 0, sum(samples or []))
    for i in range(block_count):
        block = Block(i, 16 * i, instructions, i, 'fall')
        block.truth = truth[i] if truth else None
        block.samples = samples[i] if samples else 0
        block.instructions = [(16 * i + k, block.samples if k == 0 else 0, 'nop')
                              for k in range(instructions)]
        made.blocks.append(block)
    made.edges = [Edge(source, target, kind, block_count + i)
                  for i, (source, target, kind) in enumerate(edges)]
    made.executed = True
    return made


DIAMOND = [(None, 0, 'entry'), (0, 1, 'fall'), (0, 2, 'jump'), (1, 3, 'jump'), (2, 3, 'fall'),
           (3, None, 'exit')]
LOOP = [(None, 0, 'entry'), (0, 1, 'fall'), (1, 1, 'jump'), (1, 2, 'fall'), (2, None, 'exit')]


def near(value, wanted):
    assert value is not None and math.isclose(value, wanted, rel_tol=1e-9), (value, wanted)


def same(value, wanted):
    assert value == wanted, (value, wanted)


# --- truth ----------------------------------------------------------------------------------------


def test_counts_are_read_by_image():
    truth = measure.parse_truth(['ob 1 /nowhere/a b', 'ob 2 /nowhere/c', 'i 1 0x10 7', 'i 2 0x10 9',
                                 'j 1 0x10 0x20 3', 'j 1 0x10 0x0 4', 'c 1 0x10 0x20 2'])
    same(truth['/nowhere/a b'].executed, {16: 7})
    same(truth['/nowhere/c'].executed, {16: 9})
    same(truth['/nowhere/a b'].jumped, {(16, 32): 5, (16, 0): 4})


def test_what_a_process_does_again_is_not_what_it_did_first():
    # 5 times at the start, 7 and then 4 a run; the first runs alone make what all others find.
    twice = {'/x': measure.Truth({0: 5, 16: 11, 32: 9}, {(0, 16): 11})}
    thrice = {'/x': measure.Truth({0: 5, 16: 15, 32: 9, 48: 2}, {(0, 16): 15}),
              '/y': measure.Truth({0: 3})}
    truth = measure.continued(twice, thrice, 7)
    same(truth['/x'].executed, {0: 5, 16: 15 + 7 * 4, 32: 9, 48: 8 * 2})
    same(truth['/x'].jumped, {(0, 16): 15 + 7 * 4})
    same(truth['/y'].executed, {0: 8 * 3})
    same(measure.continued(twice, thrice, -1)['/x'].executed, {0: 5, 16: 11, 32: 9, 48: 0})


def test_one_process_after_another_does_the_same():
    named = {workload.name: workload for workload in workloads.workloads()}
    command = ['/usr/bin/x', 'in']
    for name, continues in (('mawk', True), ('perl', True), ('tcl', True), ('dot', False)):
        same(again.looped(named[name], command, 2)[0] == command[0], continues)


def test_graphs_are_read_with_their_ways_in_and_out():
    graphs = profiles.parse_graphs(['procedure 40 missing', 'block 0 40 3 5 tail call',
                                    'edge 0 exit exit 5', 'edge entry 0 entry 5'])
    whole, blocks, edges = graphs[0x40]
    same(whole, False)
    same((blocks[0].address, blocks[0].count, blocks[0].group, blocks[0].end),
         (0x40, 3, 5, 'tail call'))
    same([(edge.source, edge.target) for edge in edges], [(0, None), (None, 0)])


def test_a_repeated_instruction_does_not_count_for_its_block():
    made = graph(1, [])
    made.blocks[0].instructions = [(0, 0, 'rep movsb'), (2, 0, 'ret')]
    profiles.set_block_truth(made, measure.Truth({0: 5000, 2: 10}), 3)
    same(made.blocks[0].truth, 30)


def test_branches_get_their_jumps():
    made = graph(4, DIAMOND, [10, 7, 3, 10])
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {(0, 32): 3}), 1))
    same([edge.truth for edge in made.edges[1:5]], [7, 3, 7, 3])


def landing(truth):
    """A call whose exception lands in block 2; the other way out of 0 is straight on."""
    made = graph(4, [(source, target, 'landing' if (source, target) == (0, 2) else kind)
                     for source, target, kind in DIAMOND], truth)
    return made


def test_where_no_jump_tells_the_flow_does():
    made = landing([10, 7, 3, 10])
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {}), 1))
    same([edge.truth for edge in made.edges[1:5]], [7, 3, 7, 3])


def test_nothing_is_made_up_where_a_graph_misses_edges():
    made = landing([10, 7, 3, 10])
    made.whole = False
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {}), 1))
    same([edge.truth for edge in made.edges[1:5]], [None, None, 7, 3])


def test_more_jumps_than_executions_are_not_believed():
    made = graph(4, DIAMOND, [10, 7, 3, 10])
    made.whole = False
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {(0, 32): 11}), 1))
    same([edge.truth for edge in made.edges[1:3]], [None, None])


# --- reports --------------------------------------------------------------------------------------


def document(executions, edges=None):
    blank = {'estimate': None, 'low': None, 'high': None, 'relative': None, 'confidence': 'none'}
    rows = [(0, 0, 5, 'nop', None, executions), (1, 0, 0, 'nop', None, executions),
            (16, 1, 0, 'ret', None, blank)]
    cfg = {'blocks': 2, 'edges': 1, 'missing_edges': False}
    return {'images': [{'path': '/bin/x', 'procedures': [
        {'address': '0x0', 'cfg': {**cfg, 'edge_list': edges} if edges else cfg,
         'instructions': rows}]}]}


def test_relative_estimates_carry_their_interval():
    report = profiles.estimates_of(document(
        {'estimate': None, 'low': None, 'high': None, 'relative': 0.5, 'relative_low': 0.4,
         'relative_high': 0.7, 'confidence': 'medium'}))
    same(report.blocks['/bin/x', 0][0], Estimate(0.5, 0.4, 0.7, 'medium'))
    same(report.blocks['/bin/x', 0][16].value, None)


def test_an_absolute_interval_is_brought_to_the_relative_scale():
    report = profiles.estimates_of(document(
        {'estimate': 200.0, 'low': 100.0, 'high': 300.0, 'relative': 0.5, 'confidence': 'high'}))
    found = report.blocks['/bin/x', 0][0]
    same((found.absolute, found.low, found.high), (200.0, 0.25, 0.75))


def test_edges_are_known_by_addresses():
    report = profiles.estimates_of(document(
        {'estimate': None, 'low': None, 'high': None, 'relative': 1.0, 'confidence': 'low'},
        [{'from': 0, 'to': 1, 'kind': 'fall', 'relative': 0.25, 'low': None, 'high': None,
          'estimate': None, 'confidence': 'low'},
         {'from': 1, 'to': None, 'kind': 'exit', 'relative': 1.0, 'confidence': 'low'}]))
    same({where: found.value for where, found in report.edges['/bin/x', 0].items()},
         {(0, 16): 0.25})


# --- judging --------------------------------------------------------------------------------------


def judged(truth, samples, estimates, edges=DIAMOND):
    made = graph(len(truth), edges, truth, samples)
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {}), 1))
    report = Report({made.key: {16 * i: estimate if isinstance(estimate, Estimate)
                                else Estimate(estimate) for i, estimate in enumerate(estimates)}},
                    {})
    return judge.judge(Profile([made], sum(samples), {}), report)


def test_limits_are_those_of_the_paper():
    same([judge.is_within(value, 100, limit) for value, limit in (
        (95, 0.05), (94.9, 0.05), (110, 0.10), (110.1, 0.10), (85, 0.15), (200, 1.0), (201, 1.0),
        (50, 1.0), (49, 1.0))],
         [True, False, True, False, True, True, False, True, False])


def test_what_never_ran_is_estimated_well_by_nothing():
    same([judge.is_within(0, 0, 0.05), judge.is_within(3, 0, 1.0), judge.is_within(0, 3, 1.0)],
         [True, False, False])


def test_half_of_the_weight_is_on_each_side_of_the_median():
    same(judge.weighted_median([(1, 1), (2, 1), (10, 5)]), 10)
    same(judge.weighted_median([(4, 2), (1, 2)]), 2.5)
    same(judge.weighted_median([(7, 0)]), None)


def test_the_right_shape_is_right_on_one_free_scale():
    judgement = judged([1000, 600, 400, 1000], [10, 20, 30, 40], [1, 0.6, 0.4, 1])
    same(judgement.procedure.values(), [100, 100, 100, 100])
    same(judgement.shares()['absolute'], None)


def test_samples_weigh_blocks():
    # Scale from the last block; the first is 1.4 times too high, the others nothing like it.
    judgement = judged([1000, 100, 100, 1000], [20, 10, 10, 60], [1.4, 1, 0.01, 1])
    same(judgement.procedure.values(), [60, 60, 60, 80])


def test_no_estimate_is_a_wrong_one():
    judgement = judged([1000, 600, 400, 1000], [10, 20, 30, 40], [1, 0.6, None, 1])
    same(judgement.procedure.values(), [70, 70, 70, 70])


def test_absolute_estimates_are_taken_as_they_are():
    judgement = judged([1000, 600, 400, 1000], [10, 20, 30, 40], [
        Estimate(1, absolute=1000), Estimate(0.6, absolute=640), Estimate(0.4, absolute=900),
        Estimate(1, absolute=1900)])
    same(judgement.shares()['absolute'], [10, 30, 30, 70])


def test_intervals_are_judged_on_the_scale_of_their_procedure():
    judgement = judged([1000, 600, 400, 1000], [10, 20, 30, 40], [
        Estimate(1, 0.9, 1, 'high'), Estimate(0.6, 0.5, 0.7, 'high'),
        Estimate(0.8, 0.5, 0.9, 'low'), Estimate(1, 1, 1, 'medium')])
    calibration = judgement.calibration
    same((calibration.with_interval, calibration.covered), (100, 70))
    same((calibration.blocks, calibration.blocks_covered), (4, 3))
    same((calibration.below, calibration.above), (30, 0))
    same((calibration.hits['high'], calibration.hits['low'], calibration.hits['medium']),
         (30, 0, 40))


def test_edges_weigh_what_they_were_taken():
    made = graph(4, DIAMOND, [1000, 600, 400, 1000], [10, 20, 30, 40])
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {(0, 32): 400}), 1))
    report = Report({made.key: {0: Estimate(1), 16: Estimate(0.6), 32: Estimate(0.4),
                                48: Estimate(1)}},
                    {made.key: {(0, 16): Estimate(0.6), (0, 32): Estimate(0.7)}})
    judgement = judge.judge(Profile([made], 100, {}), report)
    # 0.6 is right, 0.7 is within twice; the two others have no estimate. Of 2000 executions.
    same(judgement.edges.values(), [30, 30, 30, 50])
    same(judgement.branches.values(), [60, 60, 60, 100])


def test_one_scale_for_a_program_needs_procedures_that_agree():
    slow, fast = (graph(1, [], [100], [60]), graph(1, [], [100], [40]))
    fast.image = '/bin/y'
    report = Report({slow.key: {0: Estimate(1)}, fast.key: {0: Estimate(1)}}, {})
    judgement = judge.judge(Profile([slow, fast], 100, {}), report)
    same(judgement.procedure.values(), [100, 100, 100, 100])
    # 60 samples for 100 executions against 40: what fits the one is 2/3 of the other.
    same(judgement.program.values(), [60, 60, 60, 100])


# --- controls -------------------------------------------------------------------------------------


def test_without_time_ways_are_equally_likely():
    visits, edges = controls.no_time_of(graph(4, DIAMOND))
    for node, wanted in enumerate((1, 0.5, 0.5, 1)):
        near(visits[node], wanted)


def test_without_time_a_loop_goes_round_again():
    made = graph(3, LOOP)
    visits, edges = controls.no_time_of(made)
    near(visits[1], 1 / 0.12)
    near(visits[2], 1)
    near(edges[id(made.edges[2])], 0.88 / 0.12)


def test_without_time_flow_is_conserved_in_nested_and_irreducible_loops():
    made = graph(6, [(None, 0, 'entry'), (0, 1, 'fall'), (0, 2, 'jump'), (1, 2, 'fall'),
                     (2, 1, 'jump'), (2, 3, 'fall'), (3, 3, 'jump'), (3, 4, 'fall'),
                     (4, 1, 'jump'), (4, 5, 'fall'), (5, None, 'exit')])
    visits, edges = controls.no_time_of(made)
    for block in made.blocks:
        into = sum(1 if edge.source is None else edges[id(edge)] for edge in made.edges
                   if edge.target == block.number)
        out = sum(edges[id(edge)] for edge in made.edges if edge.source == block.number)
        near(into, visits[block.number])
        near(out, visits[block.number])


def test_one_cycle_pools_what_runs_equally_often():
    made = graph(4, DIAMOND, samples=[30, 5, 4, 10], instructions=2)
    made.blocks[3].group = 0
    rates, _ = controls.one_cycle_of(made)
    same([rates[i] for i in range(4)], [10, 2.5, 2, 10])


def test_samples_move_back_to_the_block_before():
    made = graph(3, LOOP, samples=[3, 9, 4], instructions=2)
    # 9 at the loop's start come from itself and the block above, as 10 to 4.
    moved = controls.shifted_samples(made, 1)
    near(moved[0], 3 + 9 * 4 / 14)
    near(moved[1], 9 * 10 / 14 + 4)
    near(moved[2], 0)
    near(sum(controls.shifted_samples(made, 2).values()), 16)


# --- evidence -------------------------------------------------------------------------------------


def test_a_tenth_of_the_blocks_is_drawn_the_same_each_time():
    made = [graph(25, [], [1] * 25, [1] * 25) for _ in range(40)]
    for i, procedure in enumerate(made):
        procedure.address = i
    profile = Profile(made, 1000, {})
    counts = [len(drawn) for drawn in evidence.draw(profile, 'a').values()]
    same(set(counts), {2, 3})
    assert 80 < sum(counts) < 120, counts
    same(evidence.draw(profile, 'a'), evidence.draw(profile, 'a'))
    assert evidence.draw(profile, 'a') != evidence.draw(profile, 'b')


def test_flow_alone_fixes_what_lies_on_no_cycle_of_unknowns():
    # One side of a diamond and the whole tell the other side; one alone tells nothing but itself.
    made = graph(4, DIAMOND, [10, 7, 3, 10])
    same(evidence.determined(made, {0, 16}), {0, 1, 2, 3})
    same(evidence.determined(made, {16}), {1})
    same(evidence.determined(made, {48}), {0, 3})


def test_what_never_ran_tells_of_its_neighbours():
    made = graph(4, DIAMOND, [10, 0, 10, 10])
    profiles.set_edge_truth(made, profiles.jumps_of(measure.Truth({}, {(0, 32): 10}), 1))
    same(evidence.determined(made, {16}), {1})
    made = graph(3, [(None, 0, 'entry'), (0, 1, 'fall'), (1, 2, 'fall'), (0, 2, 'jump'),
                     (2, None, 'exit')], [10, 0, 10])
    same(evidence.determined(made, {0, 16}), {0, 1, 2})


def test_flow_alone_says_nothing_where_a_graph_misses_edges():
    made = graph(4, DIAMOND, [10, 7, 3, 10])
    made.whole = False
    same(evidence.determined(made, {0, 16}), {0, 1})


def told(value, low, high, confidence='high'):
    return Estimate(1, None, None, confidence, value, low, high)


def judged_absolutely():
    """0 is right, 16 is 8 % off and beyond its interval, 32 and 48 have no estimate; 48 no truth."""
    made = graph(4, DIAMOND, [100, 50, 50, 0], [60, 20, 10, 10], 2)
    made.blocks[3].truth = None
    made.blocks[0].instructions[1] = (1, 0, 'call 0x10')
    for edge, truth in zip(made.edges, (100, 50, 50, 50, 50, 100)):
        edge.truth = truth
    report = Report({made.key: {0: told(100, 95, 105), 16: told(54, 52, 56, 'low')}},
                    {made.key: {(0, 16): told(50, 40, 60), (0, 32): told(80, 70, 90)}})
    profile = Profile([made], 100, {})
    judgement = judge.judge(profile, report)
    result = counted.Counts()
    counted.judge_blocks(result, judgement, profile)
    counted.judge_totals(result, judgement)
    return result


def test_absolute_estimates_are_judged_as_they_are():
    result = judged_absolutely()
    same(result.blocks.values(), [60, 80, 80, 80])
    same(result.sure.values(), [100, 100, 100, 100])
    near(result.sure.total, 60)


def test_absolute_intervals_are_judged_by_samples():
    result = judged_absolutely()
    near(result.with_interval, 80)
    near(result.covered, 60)


def test_absolute_edges_are_judged_by_executions():
    # Of 200 executions between blocks: 50 right, 50 far off, the others without an estimate.
    same(judged_absolutely().edges.values(), [25, 25, 25, 50])


def test_what_has_no_estimate_ran_not_at_all_in_the_totals():
    result = judged_absolutely()
    near(result.instructions, (100 + 54) / 200)
    near(result.calls, 1)


cases.run([case for name, case in globals().items() if name.startswith('test_')])
