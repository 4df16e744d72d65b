# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of sensitivity.test."""
import argparse
import dataclasses
import importlib.machinery
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import cases

TOP = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('sensitivity', str(TOP / 'scripts/sensitivity'))
spec = importlib.util.spec_from_loader(loader.name, loader)
sensitivity = importlib.util.module_from_spec(spec)
sys.modules[loader.name] = sensitivity
loader.exec_module(sensitivity)

TABLE = '''
/* --- first: a.c ------------------------------------------------------------------- */

/* share; it is so; [chosen] */
static const double some_share = 0.3;
enum {
	/* Many. */
	MANY = 3, /* things [chosen] */
	/* More than that are somebody's attack. */
	MOST = 64, /* things [bound] */
};

/* --- second: b.c ------------------------------------------------------------------ */

/* ns; scripts/bench/that */
#define HOW_LONG 1.5
static const double other = 2; /* times [chosen] */
'''


def table():
    directory = Path(tempfile.mkdtemp())
    (directory / 'src/made').mkdir(parents=True)
    (directory / 'src/made/tuning.h').write_text(TABLE)
    return sensitivity.all_constants(directory)


def each_table_of_the_source_can_be_read():
    constants = sensitivity.all_constants(TOP)
    names = [constant.name for constant in constants]
    for table in (TOP / 'src').glob('*/tuning.h'):
        assert any(constant.folder == table.parent.name for constant in constants), table
    for name in ('COMPARE_POWER', 'most_variance', 'LENT_WINDOWS', 'armed_ahead'):
        assert (name in names) == (name != 'armed_ahead'), name


def a_constant_has_a_section_and_a_source():
    seen = [(one.name, one.literal, one.is_chosen, one.section) for one in table()]
    assert seen == [('some_share', '0.3', True, 'first: a.c'), ('MANY', '3', True, 'first: a.c'),
                    ('MOST', '64', False, 'first: a.c'), ('HOW_LONG', '1.5', False, 'second: b.c'),
                    ('other', '2', True, 'second: b.c')], seen


def half_of_a_whole_number_is_whole_and_not_0():
    some, many, _, _, other = table()
    assert (some.times(0.5), some.times(2)) == ('0.15', '0.6')
    assert (many.times(0.5), many.times(2)) == ('1', '6')
    assert other.times(0.5) == '1.0'


def groups_are_single_ones_or_named_together_or_sections():
    def groups(*wanted, sections=False, every=False):
        options = argparse.Namespace(wanted=wanted, sections=sections, all=every)
        return [[one.name for one in group] for group in sensitivity.chosen_of(options, table())]
    assert groups() == [['some_share'], ['MANY'], ['other']]
    assert groups('made', sections=True) == [['some_share', 'MANY'], ['other']]
    assert groups('MOST,other', 'MANY') == [['MOST', 'other'], ['MANY']]
    assert ['MOST'] in groups('made', every=True)


def a_name_of_two_folders_needs_the_folder():
    here = table()
    there = [dataclasses.replace(one, table=Path('src/also/tuning.h')) for one in here]

    def named(name):
        one = sensitivity.named(here + there, name)
        return one.folder, one.name
    assert named('also/MANY') == ('also', 'MANY') and named('made/MANY') == ('made', 'MANY')
    try:
        named('MANY')
    except SystemExit as told:
        assert str(told) == 'sensitivity: which one: made/MANY, also/MANY', told
        return
    assert False


def recordings_have_moved_when_controls_do_not_differ_as_much():
    judge = sensitivity.recordings.Recordings.__new__(sensitivity.recordings.Recordings)
    judge.passes = {'base': [{'windows': value} for value in (10, 11, 9, 10)], 'half': [{'windows': 11.5}],
                    'twice': [{'windows': 20}]}
    assert judge.moved(('base', ''), ('half', ''), 0.5) == []
    assert judge.moved(('base', ''), ('twice', ''), 0.5) == ['windows 10.0 -> 20.0']


def evidence_is_judged_by_what_is_told_and_said():
    recording = {'sample_cost_ns': 12500, 'own_cpu_s': 0.5, 'runs': [{'user_s': 1.75, 'system_s': 0.25}]}
    told = {'samples': {'total': 1900}, 'events': [{'lost': 19}], 'recordings': [recording],
            'evidence': {'branches': {'samples': 950, 'outcomes': 3800}, 'probes': {'hits': 6, 'places': 4}}}
    said = ('1900 samples; overhead: target 1.34 % (12.5 us per sample)\ncall paths: 99.5 % of samples reach the root, '
            '0.2 % end with the copied stack; 4096 bytes of stack per sample\n')
    seen = sensitivity.recordings.figures_of_evidence(told, said)
    assert seen == {'samples, % of one per ms': 95, 'samples lost, %': 1, 'a sample costs, us': 12.5,
                    'with branches, % of samples': 50, 'branches, per 100 samples': 200,
                    'probes: hits, per s': 3, 'probes: places, per s': 2, 'paths: whole, % of samples': 99.5,
                    'paths: cut, % of samples': 0.2, 'paths: KiB of stack': 4,
                    'hpcprof itself, % of time': 25, 'sampling, % of the target': 1.34}, seen


def comparisons_are_judged_by_what_is_known():
    comparisons = sensitivity.comparisons
    judge = comparisons.Comparisons.__new__(comparisons.Comparisons)
    change = {'estimate': 0.1, 'low': 0.05, 'high': 0.15}
    found = {'scope': 'procedure', 'name': 'f', 'lost': {'estimate': 1}, 'shift': False, 'callers': None}
    part = {'scope': 'procedure', 'base': {'cost': 1}, 'candidate': {'cost': 1}, 'parts': []}
    unbounded = {'estimate': 0.1, 'low': 0.05, 'high': None}
    program = {'change': change, 'parts': [{**part, 'change': change}, {**part, 'change': unbounded}]}
    document = json.dumps({'findings': [found], 'program': program})

    def judged(kind, percent, truth):
        case = comparisons.Case('in turns', kind, percent, truth, 'f', None, None)
        return judge.judge_one(case, 1, document)
    same, slower = judged('none', 0, 0), judged('procedure', 10, 0.1)
    assert same['check, in turns: false alarms'] == 100 and same['check, in turns: intervals hold'] == 0
    assert same['check, in turns: procedures: intervals hold'] == 0
    assert slower['check, in turns: 10 % procedure: found'] == 100
    assert slower['check, in turns: right procedure'] == 100 and slower['check, in turns: intervals hold'] == 100


cases.run([each_table_of_the_source_can_be_read, a_constant_has_a_section_and_a_source,
           half_of_a_whole_number_is_whole_and_not_0, groups_are_single_ones_or_named_together_or_sections,
           a_name_of_two_folders_needs_the_folder, recordings_have_moved_when_controls_do_not_differ_as_much,
           evidence_is_judged_by_what_is_told_and_said, comparisons_are_judged_by_what_is_known])
