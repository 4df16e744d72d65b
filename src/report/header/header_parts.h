/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Larger parts of the header, one per subject. */
#ifndef REPORT_HEADER_HEADER_PARTS_H
#define REPORT_HEADER_HEADER_PARTS_H

#include "header.h"
#include "../common/state.h"

/* Adds what was counted besides samples, and of how much: windows, registers, probes, branch
 * records. */
void header_put_counted(const struct report *report, struct header *header);

/* Adds files that could not be read, and code without names with advice, each by share; and what
 * names of the kernel do not mean. */
void header_put_names(const struct report *report, struct header *header);

#endif
