# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that do again and again what they do, and how often they then execute what.

In one process where a program can be told to, else in one after another. Its executions are those
that callgrind counts, of doing it once and of doing it twice: what a process does again is not what
it did first, as tables are full by then, memory was used before, and code is warm; one process
after another does the same.
"""
import measure

LOOP = 'i=0; while [ $i -lt "$0" ]; do "$@" || exit; i=$((i+1)); done'


def looped(workload, command, runs):
    """The command that does it so often."""
    if workload.again:
        return workload.again(command, runs)
    return ['/bin/sh', '-c', LOOP, str(runs), *command]


def counted_once(workload, command):
    """The file of doing it once as `looped` does it."""
    return 'truth' if looped(workload, command, 1) == command else 'truth-once'


def count(one, command, inputs):
    """Unless it was done before."""
    if not one.workload.again:
        measure.count(command, inputs, one.directory)
        return
    measure.count(looped(one.workload, command, 1), inputs, one.directory,
                  counted_once(one.workload, command))
    measure.count(looped(one.workload, command, 2), inputs, one.directory, 'truth-twice')


def truth_of(one, command, runs):
    """Of so many runs: (truth, what it is to be multiplied with)."""
    if not one.workload.again:
        return one.truth(), runs
    once = one.truth(counted_once(one.workload, command))
    return measure.continued(once, one.truth('truth-twice'), runs), 1
