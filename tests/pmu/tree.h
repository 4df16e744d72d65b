/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A root directory with made-up /proc and /sys files, for machines that are not this one. */
#ifndef HPCPROF_TESTS_PMU_TREE_H
#define HPCPROF_TESTS_PMU_TREE_H

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

struct tree_file {
	const char *path; /* below the root, beginning with a slash; NULL ends a table */
	const char *text;
};

/* Below a temporary directory. */
void tree_add(const char *root, const struct tree_file *files);

/* A machine over the tree that may see everything; nothing is opened. */
struct hp_machine tree_machine(char *root);
/* The same, over a tree of these files alone. */
struct hp_machine tree_of(const struct tree_file *files);

/* Formats and events as the kernel's drivers publish them. */
extern const struct tree_file tree_sapphire_rapids[]; /* one Intel `cpu` */
extern const struct tree_file tree_zen[];	 /* AMD `cpu`: event has 12 bits, in two parts */
extern const struct tree_file tree_neoverse[];	 /* armv8_pmuv3_0 */
extern const struct tree_file tree_alder_lake[]; /* cpu_core and cpu_atom */

#endif
