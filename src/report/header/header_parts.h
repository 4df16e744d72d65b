/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Larger parts of the header, one per subject. */
#ifndef REPORT_HEADER_HEADER_PARTS_H
#define REPORT_HEADER_HEADER_PARTS_H

#include "header.h"
#include "../common/state.h"

/* What was counted beside samples, and of how much: windows, registers, probes, branch records. */
void header_put_counted(const struct report *report, struct header *header);

/* Files that could not be read, code without names and the way to them, each the largest share
 * first; and what names of the kernel do not mean. */
void header_put_names(const struct report *report, struct header *header);

#endif
