/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates one event name, without modifiers and terms, into the attributes that the kernel
 * expects.
 */
#ifndef HPCPROF_PMU_RESOLVE_H
#define HPCPROF_PMU_RESOLVE_H

#include "sysfs.h"

struct hp_modifiers {
	bool user;
	bool kernel;
	bool hypervisor;
	bool best_precise;
	unsigned precise;
};

/* An event being resolved; its name does not contain modifiers yet. */
struct hp_draft {
	struct hp_event event;
	struct hp_modifiers modifiers;
	bool in_kernel; /* counts nothing with :u */
	bool named;	/* named with name=: modifiers are not added to the name */
};
struct hp_drafts {
	struct hp_draft *at;
	size_t count;
	size_t capacity;
};
void hp_event_clear(struct hp_event *event);
void hp_drafts_clear(struct hp_drafts *drafts);

/* Appends what `name` stands for: one event, or several (a generic name on a machine with several
 * kinds of core, a tracepoint pattern). NOT_FOUND when nothing has that name; other classes when
 * something has, and something else is wrong. With `quick` only what needs no tracefs and no
 * libpfm4 is tried. */
struct hp_error *hp_resolve(const struct hp_machine *machine, const char *name, bool quick,
			    struct hp_drafts *drafts);
/* `pmu/terms/`; the PMU exists. */
struct hp_error *hp_resolve_pmu(const struct hp_machine *machine, const char *pmu,
				const struct hp_event_terms *terms, struct hp_drafts *drafts);
/* `mem:ADDRESS[/length][:rwx]`, already taken apart. length 0 and access 0 are the defaults. */
struct hp_error *hp_resolve_breakpoint(uint64_t address, uint64_t length, uint32_t access,
				       struct hp_drafts *drafts);

#endif
