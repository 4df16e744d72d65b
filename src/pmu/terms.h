/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the list between the slashes of `pmu/term=value,…/`, and that of a sysfs event file.
 */
#ifndef HPCPROF_PMU_TERMS_H
#define HPCPROF_PMU_TERMS_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>

struct hp_event_term {
	char *name;
	char *value; /* NULL for a bare name; quotes removed */
};

struct hp_event_terms {
	struct hp_event_term *at;
	size_t count;
	size_t capacity;
};

/* `terms` starts from zeros. */
struct hp_error *hp_event_terms_parse(const char *text, size_t length,
				      struct hp_event_terms *terms);
void hp_event_terms_clear(struct hp_event_terms *terms);

static inline void hp_event_terms_scope(struct hp_event_terms *terms)
{
	hp_event_terms_clear(terms);
}

#endif
