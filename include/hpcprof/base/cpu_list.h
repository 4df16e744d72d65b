/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU lists as the kernel and -C write them: "0-3,6". */
#ifndef HPCPROF_BASE_CPU_LIST_H
#define HPCPROF_BASE_CPU_LIST_H

#include <hpcprof/base/error.h>

#include <stddef.h>

/* `text` NULL: every online CPU. Sorted, distinct; malloc'ed. */
struct hp_error *hp_cpu_list_parse(const char *text, int **cpus, size_t *count);

#endif
