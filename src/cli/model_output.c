/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model_output.h"

#include <hpcprof/base/text.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static double cpi_of(const struct model_output *output)
{
	const struct hp_cycle_counts *counts = &output->result.counts;

	return (double)counts->cycles / (double)counts->instructions;
}

static double per_thousand(const struct model_output *output, uint64_t count)
{
	return 1000 * (double)count / (double)output->result.counts.instructions;
}

/* --- text -------------------------------------------------------------------------------------- */

static void print_head(const struct model_output *output)
{
	const struct hp_cycle_counts *counts = &output->result.counts;
	char *trace = hp_text_printable(output->trace);

	printf("%s on %s\n", trace ? trace : "?", output->config.title);
	free(trace);
	printf("%" PRIu64 " instructions behind %" PRIu64 " that warm caches: %.3f cycles each\n",
	       counts->instructions, output->warming, cpi_of(output));
	printf("of 1000 instructions: %.2f mispredicted branches; misses",
	       per_thousand(output, counts->mispredicts));
	for (unsigned part = HP_CYCLE_UNITS; part < HP_CYCLE_PARTS; part++)
		if (part != HP_CYCLE_BRANCH && part != HP_CYCLE_STORE)
			printf(" %s %.2f%s",
			       part == HP_CYCLE_UNITS
				       ? "l1d"
				       : hp_cycle_part_name((enum hp_cycle_part)part),
			       per_thousand(output, counts->misses[part]),
			       part < HP_CYCLE_DTLB ? "," : "\n");
	printf("in one pass, as windows are timed: %.3f cycles, %+.1f %%\n\n",
	       output->result.one_pass_cpi,
	       100 * (output->result.one_pass_cpi / cpi_of(output) - 1));
}

static void print_stack(const char *name, const struct hp_cycle_stack *stack)
{
	printf("%-23s", name);
	for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
		printf(" %6.3f", stack->cpi[part]);
}

static void print_table(const struct model_output *output)
{
	printf("%-23s", "cycles per instruction");
	for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
		printf(" %6s", hp_cycle_part_name((enum hp_cycle_part)part));
	puts(output->has_truth ? "  error" : "");
	if (output->has_truth) {
		print_stack("truth, from", &output->result.truth_low);
		putchar('\n');
		print_stack("truth, to", &output->result.truth_high);
		putchar('\n');
	}
	for (unsigned i = 0; i < HP_ACCOUNTINGS; i++) {
		enum hp_cycle_part worst;

		print_stack(hp_accounting_name((enum hp_accounting)i), &output->result.stacks[i]);
		if (output->has_truth)
			printf(" %6.1f", 100 * hp_cycle_error(&output->result,
							      (enum hp_accounting)i, &worst));
		putchar('\n');
	}
	if (output->has_truth)
		puts("error: of the worst component, in percent of all cycles");
}

static struct hp_error *print_counts(const struct model_output *output)
{
	char *text = model_counts_text(output, output->tables[0]);

	if (!text)
		return hp_error_create_no_memory();
	fputs(text, stdout);
	free(text);
	return NULL;
}

struct hp_error *model_print_text(const struct model_output *output)
{
	if (output->table_count)
		return print_counts(output);
	print_head(output);
	print_table(output);
	if (output->change_count)
		putchar('\n');
	for (size_t i = 0; i < output->change_count; i++) {
		const struct model_change *change = &output->changes[i];

		printf("with %s: %.3f cycles, %+.1f %%\n", change->list, change->cpi,
		       100 * (change->cpi / cpi_of(output) - 1));
	}
	return NULL;
}

/* --- JSON -------------------------------------------------------------------------------------- */

static json_t *stack_object(const struct hp_cycle_stack *stack)
{
	json_t *object = json_object();

	for (unsigned part = 0; object && part < HP_CYCLE_PARTS; part++)
		json_object_set_new(object, hp_cycle_part_name((enum hp_cycle_part)part),
				    json_real(stack->cpi[part]));
	return object;
}

static json_t *counts_object(const struct hp_cycle_counts *counts)
{
	json_t *misses = json_object(), *strayed = json_object();

	for (unsigned part = HP_CYCLE_UNITS; part < HP_CYCLE_PARTS; part++) {
		const char *name = hp_cycle_part_name((enum hp_cycle_part)part);

		if (part == HP_CYCLE_BRANCH || part == HP_CYCLE_STORE)
			continue;
		json_object_set_new(misses, name, json_integer((json_int_t)counts->misses[part]));
		json_object_set_new(strayed, name,
				    json_integer((json_int_t)counts->strayed_misses[part]));
	}
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "cycles", (json_int_t)counts->cycles,
		"instructions", (json_int_t)counts->instructions, "slots",
		(json_int_t)counts->slots, "branches", (json_int_t)counts->branches, "mispredicts",
		(json_int_t)counts->mispredicts, "misses", misses, "strayed_misses", strayed);
}

static json_t *accountings_array(const struct model_output *output)
{
	json_t *array = json_array();

	for (unsigned i = 0; array && i < HP_ACCOUNTINGS; i++) {
		enum hp_cycle_part worst;
		double error = hp_cycle_error(&output->result, (enum hp_accounting)i, &worst);
		json_t *one = json_pack("{s:s, s:o}", "name",
					hp_accounting_name((enum hp_accounting)i), "cpi",
					stack_object(&output->result.stacks[i]));

		if (one && output->has_truth) {
			json_object_set_new(one, "error", json_real(error));
			json_object_set_new(one, "worst", json_string(hp_cycle_part_name(worst)));
		}
		json_array_append_new(array, one);
	}
	return array;
}

static json_t *changes_array(const struct model_output *output)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < output->change_count; i++)
		json_array_append_new(array,
				      json_pack("{s:s, s:f}", "with", output->changes[i].list,
						"cpi", output->changes[i].cpi));
	return array;
}

static json_t *texts_object(const struct model_output *output)
{
	json_t *object = json_object();

	for (size_t i = 0; i < output->table_count; i++) {
		char *text = model_counts_text(output, output->tables[i]);

		json_object_set_new(object, output->tables[i]->name,
				    text ? json_string(text) : NULL);
		free(text);
	}
	return object;
}

struct hp_error *model_print_json(const struct model_output *output)
{
	json_t *object = json_pack(
		"{s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:o, s:o}", "schema", "hpcprof-model/1",
		"core", output->core, "title", output->config.title, "warming",
		(json_int_t)output->warming, "cpi", cpi_of(output), "one_pass_cpi",
		output->result.one_pass_cpi, "counts", counts_object(&output->result.counts),
		"accountings", accountings_array(output), "changes", changes_array(output));
	bool is_written = object;

	if (object && output->has_truth) {
		json_object_set_new(object, "truth_low", stack_object(&output->result.truth_low));
		json_object_set_new(object, "truth_high", stack_object(&output->result.truth_high));
		json_object_set_new(object, "fetch_low", json_real(output->result.fetch_low));
		json_object_set_new(object, "fetch_high", json_real(output->result.fetch_high));
	}
	if (object && output->table_count)
		json_object_set_new(object, "texts_of_counts", texts_object(output));
	if (object)
		is_written = json_dumpf(object, stdout, JSON_INDENT(2)) == 0 && putchar('\n') > 0;
	json_decref(object);
	return is_written ? NULL : hp_error_create_no_memory();
}
