/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates event names into the attributes that the kernel expects.
 *
 * The grammar is perf's: comma-separated events, `{a,b}:mods` groups, modifiers `u k h p pp ppp P`
 * (P: the most precise level the machine grants), `pmu/term=value,…/mods` through sysfs, `rNNN`
 * raw, software and generic hardware names and aliases, hardware caches (`L1-dcache-load-misses`),
 * tracepoints `group:name`, breakpoints `mem:0xADDR[/len][:rwx]`, and everything libpfm4 names.
 * `name/period=N,freq=N/` set an event's own rate, `name/share=N/` how much of the time it counts
 * beside others when they take turns. `@name[:mods]` stands for the events of a set.
 *
 * struct hp_event replaces perf_event_attr because libpfm4's header and <linux/perf_event.h> cannot
 * be included in one translation unit.
 */
#ifndef HPCPROF_PMU_EVENT_H
#define HPCPROF_PMU_EVENT_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/profile.h>

#include <linux/perf_event.h>

struct hp_event {
	char *name; /* canonical, with modifiers as in force; owned */
	uint32_t type;
	uint64_t config;
	uint64_t config1; /* also bp_addr */
	uint64_t config2; /* also bp_len */
	uint64_t config3;
	uint32_t bp_type;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hypervisor;
	uint8_t precise;   /* precise_ip; with best_precise an upper bound */
	bool best_precise; /* lower `precise` until the kernel accepts it */
	enum hp_unit unit;
	uint64_t period;     /* 0: as the command line says */
	double frequency_hz; /* 0: as the command line says */
	int group;	     /* events of one {group} share a number; -1 for none */
	char *instead_of;    /* see hp_event_info */
	char *reason;
	char *advice;	 /* how to get the event asked for; NULL */
	uint32_t share;	 /* of counting time, relative to other events; 0: unset */
	const char *set; /* the @set that contained it, NULL if it was named itself; static */
	/* Why it is not available here; then it must not be opened. NULL if it is. Parsing sets
	 * this only for a set's events (for an event that was named itself it is an error);
	 * hp_rotation_sets_create sets it for any. */
	char *absent;
};

struct hp_event_list {
	struct hp_event *events;
	size_t count;
};
void hp_event_list_clear(struct hp_event_list *list);

/* Parses `text` and appends its events to `list` (start from zeros; several -e add up); on failure
 * the list stays as it was. Unknown names fail with USAGE and advice ("did you mean …",
 * `hpcprof events`). Nothing is opened: whether the machine has the event shows when it is opened.
 * Where user_only holds (see hp_machine), `:u` is added to events without a privilege modifier;
 * a `:k`, or an event that only ever happens inside the kernel (it would count nothing under `:u`),
 * then fails with NOT_PERMITTED, or as part of a set is `absent`. On a machine with several kinds
 * of core, a generic name gives one event for each. */
struct hp_machine;
struct hp_error *hp_event_parse(const char *text, const struct hp_machine *machine,
				struct hp_event_list *list);

/* The default of `record`: cycles with the highest precision if there is a PMU, else cpu-clock with
 * instead_of "cycles" and the reason and advice. Either is `:u` only if user_only holds. Appends,
 * like hp_event_parse. */
struct hp_error *hp_event_default(const struct hp_machine *machine, struct hp_event_list *list);

/* Where cycles cannot be counted: why, and what to do about it. */
const char *hp_event_why_no_cycles(const struct hp_machine *machine, const char **advice);

/* Whether one PMU of the kernel counts both: that of hardware events, of software events, of
 * tracepoints, of breakpoints, of cpu-clock or of task-clock. In a group of events of several PMUs,
 * Linux 6.18 loses all but the leader's when the group is switched off and on again. */
bool hp_event_same_pmu(const struct hp_event *a, const struct hp_event *b);
/* Intel's slots (r0400), and their parts (r8000 to r8700: PERF_METRICS): the kernel counts the
 * parts only in a group that slots lead. */
#define HP_SLOTS_CONFIG 0x0400
bool hp_event_is_slots(const struct hp_event *event);
bool hp_event_is_part_of_slots(const struct hp_event *event);
/* cpu-clock or task-clock. */
bool hp_event_is_clock(const struct hp_event *event);
/* Type, config, exclusions, breakpoint fields and precise_ip; the caller sets the rest. */
void hp_event_to_attr(const struct hp_event *event, struct perf_event_attr *attr);
/* "skid+1" (cpu-clock, task-clock: the timer's; x86 data breakpoints: the instruction after the
 * access), "skid" (precise 0), "precise N", "exact" (faults, tracepoints and other software events,
 * breakpoints on execution). */
const char *hp_event_precision(const struct hp_event *event);
/* The skid is the default of that class. */
struct hp_error *hp_event_describe(const struct hp_event *event, struct hp_event_info *info);

/* Every event that this machine can name, for `hpcprof events` and completion. The callback returns
 * false to stop. `kind`: "set", "hardware", "software", "cache", "tracepoint", "pmu NAME", "raw",
 * "breakpoint". Generic events are tried, to show which ones the machine has. */
struct hp_event_entry {
	const char *name;
	const char *kind;
	const char *description; /* one line, may be "" */
	bool here;		 /* false: tried, and not available */
};
/* Why tracepoints are not among them, with advice; NULL if they are. */
struct hp_error *hp_event_missing_tracepoints(const struct hp_machine *machine);
struct hp_error *hp_event_enumerate(const struct hp_machine *machine,
				    bool (*each)(const struct hp_event_entry *entry, void *context),
				    void *context);

#endif
