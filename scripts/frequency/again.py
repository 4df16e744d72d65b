# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that do again and again what they do, and how often they then execute what.

In one process where a program can be told to, else in one after another. Its executions are those
that callgrind counts, of doing it twice and three times: what a process does again is not what it
did first, as tables are full by then, memory was used before, and code is warm. The second time
may differ from later ones, too: mawk moves what it finds to the front of its lists. One process
after another does the same.
"""
import measure

# How often it is done, and the files of what callgrind counts then.
COUNTED = (2, 'truth-twice'), (3, 'truth-thrice')

LOOP = 'i=0; while [ $i -lt "$0" ]; do "$@" || exit; i=$((i+1)); done'


def looped(workload, command, runs):
    """The command that does it so often."""
    if workload.again:
        return workload.again(command, runs)
    return ['/bin/sh', '-c', LOOP, str(runs), *command]


def count(one, command, inputs):
    """Unless it was done before."""
    if not one.workload.again:
        measure.count(command, inputs, one.directory)
        return
    for runs, name in COUNTED:
        measure.count(looped(one.workload, command, runs), inputs, one.directory, name)


def truth_of(one, runs):
    """Of so many runs: (truth, what it is to be multiplied with)."""
    if not one.workload.again:
        return one.truth(), runs
    (_, before), (counted, after) = COUNTED
    return measure.continued(one.truth(before), one.truth(after), runs - counted), 1
