/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a stall stack for programs, as a part of hpcprof-stat/1. */
#include "stat_stalls.h"

#include <math.h>

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *part_object(const struct stat_stalls *stalls, const struct hp_stack_part *part)
{
	json_t *object = json_pack("{s:o, s:o, s:o}", "likely",
				   number(part->values[HP_STACK_INTERVAL]), "low",
				   number(part->low), "high", number(part->high));

	if (object && !isnan(part->values[HP_STACK_INTERVAL]))
		json_object_set_new(object, "half", number(part->half));
	if (object && part->within != HP_STACK_OTHER)
		json_object_set_new(object, "within",
				    json_string(hp_stack_component_name(part->within)));
	if (object && part->missing)
		json_object_set_new(object, "not_counted", json_string(part->missing));
	if (object && stalls->accounting != HP_STACK_INTERVAL)
		json_object_set_new(object, hp_stack_accounting_name(stalls->accounting),
				    number(part->values[stalls->accounting]));
	return object;
}

static json_t *parts_object(const struct stat_stalls *stalls, const struct hp_stack *stack)
{
	json_t *parts = json_object();

	for (unsigned i = 0; parts && i < HP_STACK_COMPONENTS; i++)
		if (stack->parts[i].is_known)
			json_object_set_new(parts,
					    hp_stack_component_name((enum hp_stack_component)i),
					    part_object(stalls, &stack->parts[i]));
	return parts;
}

static json_t *metrics_object(const struct hp_stack *stack)
{
	json_t *metrics = json_object();

	for (size_t i = 0; metrics && i < stack->metric_count; i++)
		json_object_set_new(metrics, stack->metrics[i].name,
				    number(stack->metrics[i].share));
	return metrics;
}

static bool add(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

bool stat_stalls_json(json_t *object, const struct stat_stalls *stalls,
		      const struct hp_stack *stack)
{
	json_t *about = json_pack("{s:s, s:b, s:s, s:b, s:o, s:s?, s:o}", "core",
				  stack->table->name, "core_is_known",
				  !hp_stack_table_is_generic(stack->table), "accounting",
				  hp_stack_accounting_name(stalls->accounting), "adds_up",
				  stack->adds_up, "excess", number(stack->excess), "contradicted",
				  stack->violated, "metrics", metrics_object(stack));
	json_t *cpi = json_pack("{s:o, s:o, s:o}", "value", number(stack->cpi), "low",
				number(stack->cpi_low), "high", number(stack->cpi_high));
	bool fine = add(object, "cpi", cpi);

	fine = add(object, "stack", parts_object(stalls, stack)) && fine;
	return add(object, "stalls", about) && fine;
}
