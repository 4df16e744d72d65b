/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU lists as the kernel and -C write them: "0-3,6". */
#ifndef HPCPROF_COLLECT_CPUS_H
#define HPCPROF_COLLECT_CPUS_H

#include <hpcprof/base/error.h>

#include <stddef.h>

/* `text` NULL: every online CPU. Sorted, distinct; malloc'ed. */
struct hp_error *cpus_parse(const char *text, int **cpus, size_t *count);

#endif
