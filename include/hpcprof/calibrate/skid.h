/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Skid: the number of executed instructions by which samples are late. It depends on the CPU and on
 * the source of samples, so it is measured on the machine, with loops in which one
 * instruction takes nearly all of the time. The result is kept in the user's cache
 * (hpcprof/base/cache.h, "skid.json") for later recordings.
 */
#ifndef HPCPROF_CALIBRATE_SKID_H
#define HPCPROF_CALIBRATE_SKID_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/cpu.h>
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include <stddef.h>
#include <stdint.h>

enum { HP_SKID_KERNELS = 4, HP_SKID_PLACES = 24 };

/* A loop of HP_SKID_PLACES instructions whose first instruction takes the time. */
struct hp_skid_kernel {
	const char *name;		 /* "load from the L2 cache". Static */
	uint64_t places[HP_SKID_PLACES]; /* samples by their distance from the first instruction */
	uint64_t elsewhere;		 /* samples outside of the loop */
};

struct hp_skid {
	char *event; /* as it was opened. Owned */
	char *key;   /* without what does not affect the skid: "cpu-clock", "cycles:pp". Owned */
	struct hp_skid_kernel kernels[HP_SKID_KERNELS];
	size_t kernel_count;
	bool is_clear;	       /* most kernels and most samples agree, so the following is valid */
	uint32_t instructions; /* the skid */
	double share; /* of the samples in the loops at that distance, kernels weighted equally */
};
void hp_skid_clear(struct hp_skid *skid);

/* The sources of samples that measure time and that this user has: clocks, and cycles at each level
 * of precision. Appends. */
struct hp_error *hp_skid_sources(const struct hp_machine *machine, struct hp_event_list *sources);

/*
 * Runs the kernels in child processes, which `event` samples: about two seconds. An event that
 * cannot be opened is an error as in a recording; NOT_FOUND if the architecture has no kernels.
 */
struct hp_error *hp_skid_measure(const struct hp_machine *machine, const struct hp_event *event,
				 struct hp_skid *skid);

/* Computes is_clear, instructions and share from the counts. */
void hp_skid_judge(struct hp_skid *skid);
/* The distance at which more than half of the kernel's samples are; -1 if there is none. */
int hp_skid_kernel_place(const struct hp_skid_kernel *kernel);

/* --- what is kept ----------------------------------------------------------------------------- */

struct hp_skid_entry {
	char *cpu; /* hp_cpu_name */
	char *key;
	uint32_t instructions;
	char *date; /* "2026-11-20" */
};
struct hp_skid_entries {
	struct hp_skid_entry *at;
	size_t count;
	size_t capacity;
};
void hp_skid_entries_clear(struct hp_skid_entries *entries);

/* Decodes the file's bytes, which anybody may have written; DAMAGED if they are malformed. */
struct hp_error *hp_skid_decode(const void *bytes, size_t size, struct hp_skid_entries *entries);
/* As JSON; malloc'ed. */
struct hp_error *hp_skid_encode(const struct hp_skid_entries *entries, char **text);

/* All stored entries; none without a file. */
struct hp_error *hp_skid_load(struct hp_skid_entries *entries);
/* Adds a clear skid with today's date, or replaces that of the same CPU and key. A malformed file
 * is replaced. */
struct hp_error *hp_skid_store(const struct hp_cpu *cpu, const struct hp_skid *skid);

/* The key of an event; malloc'ed, NULL when memory is short. */
char *hp_skid_key(const struct hp_event *event);
/* The calibration of that event on that CPU, or NULL. */
const struct hp_skid_entry *hp_skid_find(const struct hp_skid_entries *entries,
					 const struct hp_cpu *cpu, const struct hp_event *event);

#endif
