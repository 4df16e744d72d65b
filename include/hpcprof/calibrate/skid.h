/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Skid: by how many instructions, in the order they run, samples land after the one they are due
 * to. It is a property of the CPU and of what samples it (MEASURED.md), so it is measured where
 * both are, with loops in which one instruction takes nearly all of the time, and kept in the
 * user's cache (hpcprof/base/cache.h, "skid.json") for the recordings to come.
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

/* One loop of HP_SKID_PLACES instructions, of which the first takes the time. */
struct hp_skid_kernel {
	const char *name;		 /* "load from the L2 cache". Static */
	uint64_t places[HP_SKID_PLACES]; /* samples so many instructions after the first */
	uint64_t elsewhere;		 /* samples outside of the loop */
};

struct hp_skid {
	char *event; /* as it was opened. Owned */
	char *key;   /* without what does not matter to the skid: "cpu-clock", "cycles:pp". Owned */
	struct hp_skid_kernel kernels[HP_SKID_KERNELS];
	size_t kernel_count;
	bool is_clear;	       /* most kernels agree, and most samples: what follows holds */
	uint32_t instructions; /* the skid */
	double share;	       /* of the samples in the loops that land there, kernels alike */
};
void hp_skid_clear(struct hp_skid *skid);

/* The sources of samples that measure time and that this user has here: clocks, and cycles at each
 * level of precision. Appends. */
struct hp_error *hp_skid_sources(const struct hp_machine *machine, struct hp_event_list *sources);

/*
 * Runs the kernels in children of this process, which `event` samples: some two seconds. An event
 * that cannot be opened here is an error as of a recording; where there are no kernels for the
 * architecture it is NOT_FOUND.
 */
struct hp_error *hp_skid_measure(const struct hp_machine *machine, const struct hp_event *event,
				 struct hp_skid *skid);

/* Of the counts: is_clear, instructions, share. */
void hp_skid_judge(struct hp_skid *skid);
/* The place in which most of the kernel's samples are, more than half; -1 when there is none. */
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

/* The file's bytes, which anybody may have written; DAMAGED when they make no sense. */
struct hp_error *hp_skid_decode(const void *bytes, size_t size, struct hp_skid_entries *entries);
/* As JSON; malloc'ed. */
struct hp_error *hp_skid_encode(const struct hp_skid_entries *entries, char **text);

/* All that is kept; none without a file. */
struct hp_error *hp_skid_load(struct hp_skid_entries *entries);
/* Adds a clear skid, dated today, or replaces the one of the same CPU and key. A file that makes
 * no sense is replaced. */
struct hp_error *hp_skid_store(const struct hp_cpu *cpu, const struct hp_skid *skid);

/* The key of an event; malloc'ed, NULL when memory is short. */
char *hp_skid_key(const struct hp_event *event);
/* The calibration of that event on that CPU, or NULL. */
const struct hp_skid_entry *hp_skid_find(const struct hp_skid_entries *entries,
					 const struct hp_cpu *cpu, const struct hp_event *event);

#endif
