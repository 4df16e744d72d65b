/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the results of hpcprof model. */
#ifndef HPCPROF_CLI_MODEL_OUTPUT_H
#define HPCPROF_CLI_MODEL_OUTPUT_H

#include <hpcprof/cycle/model.h>
#include <hpcprof/stack/table.h>

enum { MODEL_CHANGES_MOST = 16, MODEL_TABLES_MOST = 16 };

struct model_output {
	const char *trace;
	const char *core; /* its name */
	struct hp_cycle_config config;
	uint64_t warming; /* instructions */
	bool has_truth;
	const struct hp_stack_table *tables[MODEL_TABLES_MOST]; /* whose events are emulated */
	size_t table_count;
	struct hp_cycle_result result;
	size_t change_count;
	struct model_change {
		const char *list;
		struct hp_cycle_config config;
		double cpi;
	} changes[MODEL_CHANGES_MOST];
};

/* Returns the table if its events are emulated, else NULL. */
const struct hp_stack_table *model_table_named(const char *name);
/* Returns the counts of the table's events as a text for hpcprof stat --replay: malloc'ed; NULL
 * when memory is short. */
char *model_counts_text(const struct model_output *output, const struct hp_stack_table *table);

struct hp_error *model_print_text(const struct model_output *output);
struct hp_error *model_print_json(const struct model_output *output);

#endif
