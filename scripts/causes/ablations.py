# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets of ablations: runs of the same work, with a cause and without, of kernels and of real programs.

The truth is what the run without the cause saves, the least and the greatest of several pairs of runs, since
what others do to memory changes it from minute to minute."""

INSIDE, NARROW = 90, 70            # percent of the rows
WIDE, OFF, HALF_OFF = 25, 8, 5     # points


def is_inside(truth, found):
    """`truth` (median, least, greatest), `found` (low, likely, high), all shares. In whole percent, as printed."""
    return round(100 * truth[2]) >= round(100 * found[0]) and round(100 * truth[1]) <= round(100 * found[2])


def judged_line(name, what, rows):
    """The line that sums up a table of (truth, found), and whether the targets are met. Where the greatest truth is 1,
    only the least that the cause takes is known: there the likely share is not judged."""
    offs = sorted(abs(found[1] - truth[0]) for truth, found in rows if truth[2] < 1)
    inside = 100 * sum(is_inside(*row) for row in rows) / len(rows)
    narrow = 100 * sum(100 * (found[2] - found[0]) <= WIDE for _, found in rows) / len(rows)
    off = 100 * sum(offs) / max(1, len(offs))
    half = 100 * offs[(len(offs) - 1) // 2] if offs else 0
    met = inside >= INSIDE and narrow >= NARROW and off <= OFF and half <= HALF_OFF and len(offs) >= 6
    return (f'{name}, {len(rows)} {what}: in the range {inside:.0f} % ({INSIDE}), ranges of {WIDE} points '
            f'or less {narrow:.0f} % ({NARROW}), likely off by {off:.0f} on average ({OFF}) and {half:.0f} or '
            f'less in half ({HALF_OFF}): ' + ('met' if met else 'missed')), met
