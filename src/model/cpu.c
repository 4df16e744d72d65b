/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/cpu.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hp_cpu_is_known(const struct hp_cpu *cpu)
{
	return cpu->vendor || cpu->implementer;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool hp_cpu_equal(const struct hp_cpu *a, const struct hp_cpu *b)
{
	return same_text(a->vendor, b->vendor) && a->family == b->family && a->model == b->model &&
	       a->stepping == b->stepping && a->has_amx == b->has_amx &&
	       a->implementer == b->implementer && a->part == b->part &&
	       a->instruction_cache_bytes == b->instruction_cache_bytes;
}

char *hp_cpu_name(const struct hp_cpu *cpu)
{
	char *name;
	int length;

	if (!hp_cpu_is_known(cpu))
		return strdup("unknown");
	if (cpu->vendor)
		length = asprintf(&name, "%s-%" PRIu32 "-%" PRIu32 "-%" PRIu32 "%s-%" PRIu32,
				  cpu->vendor, cpu->family, cpu->model, cpu->stepping,
				  cpu->has_amx ? "-amx" : "", cpu->instruction_cache_bytes);
	else
		length = asprintf(&name, "arm-0x%" PRIx32 "-0x%" PRIx32 "-%" PRIu32,
				  cpu->implementer, cpu->part, cpu->instruction_cache_bytes);
	return length < 0 ? NULL : name;
}

struct hp_error *hp_cpu_copy(const struct hp_cpu *from, struct hp_cpu *to)
{
	char *vendor = from->vendor ? strdup(from->vendor) : NULL;

	*to = (struct hp_cpu){ 0 };
	if (from->vendor && !vendor)
		return hp_error_create_no_memory();
	*to = *from;
	to->vendor = vendor;
	return NULL;
}

void hp_cpu_clear(struct hp_cpu *cpu)
{
	free(cpu->vendor);
	*cpu = (struct hp_cpu){ 0 };
}

void hp_cpu_meet(struct hp_cpu *into, const struct hp_cpu *from)
{
	if (!hp_cpu_equal(into, from))
		hp_cpu_clear(into);
}
