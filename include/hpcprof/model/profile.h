/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampled data: events, histograms, and the profile of one image under one event.
 */
#ifndef HPCPROF_MODEL_PROFILE_H
#define HPCPROF_MODEL_PROFILE_H

#include <hpcprof/model/address.h>
#include <hpcprof/model/body.h>
#include <hpcprof/model/image_id.h>

/* What one unit of the period is. */
enum hp_unit {
	HP_UNIT_EVENTS = 0,
	HP_UNIT_NS = 1,
	HP_UNIT_CYCLES = 2,
	HP_UNIT_INSTRUCTIONS = 3,
};
const char *hp_unit_name(enum hp_unit unit); /* "events", "ns", "cycles", "instructions" */

/* An event in an epoch. Epochs add up event by event, by `name`. */
struct hp_event_info {
	char *name; /* as resolved, with its modifiers: "cpu-clock:u". Owned */
	enum hp_unit unit;
	char *precision; /* precision class: "skid+1", "skid", "precise 0" … "precise 3". Owned */
	char *instead_of; /* the event asked for, if another one was sampled, else NULL */
	char *reason;	  /* why, or NULL */
	/* The number of executed instructions by which a sample is late. */
	uint32_t skid_instructions;
	char *skid_source; /* "default", "calibrated 2026-11-20"; NULL when unknown. Owned */
};

/* Whether an event counts user mode and the kernel, from the modifiers of its name. Without
 * modifiers it counts both. */
struct hp_event_modes {
	bool has_user;
	bool has_kernel;
};
struct hp_event_modes hp_event_modes(const char *name);

/*
 * The events of `record --stalls` are an extra profile: "stalls/uops_issued.any/u", by the name
 * that public lists give them. Views of samples leave them out unless they are asked for; stacks of
 * stalls are made of them.
 */
#define HP_STALLS_PREFIX "stalls/"
bool hp_event_is_of_stalls(const char *name);
/* Whether it is the one of this public name. */
bool hp_event_is_stall_event(const char *name, const char *public_name);

enum { HP_SKID_LIMIT = 255 };
/* The default skid of a precision class: 1 instruction for those with skid, and for "precise 1",
 * which reports the next instruction on some CPUs; else 0. */
uint32_t hp_skid_default(const char *precision);
struct hp_error *hp_event_info_copy(const struct hp_event_info *from, struct hp_event_info *to);
void hp_event_info_clear(struct hp_event_info *info);

/* One address of a histogram. */
struct hp_count {
	hp_image_offset offset;
	uint64_t samples;
};

/*
 * A stratum: samples that share command, process and sampling period. Histograms of different
 * periods are never added up into one, so that merging epochs of different rates stays exact:
 * the weight of a stratum is samples times period.
 */
struct hp_stratum {
	char *command;	 /* the process's name (comm) when it was sampled; owned, "" when unknown */
	uint32_t pid;	 /* 0 unless the epoch was recorded with --per-process */
	uint64_t period; /* mean number of units between two samples, > 0 */
	struct hp_count *counts; /* sorted by offset, offsets distinct, samples > 0. Owned */
	size_t count_count;
	/* Only for shares of a profile, see below; otherwise NULL and 0. */
	char *thread; /* the thread's name; owned; NULL unknown, never "" */
	uint32_t tid; /* 0 unknown */
	uint32_t cpu; /* its number plus 1; 0 unknown */
};
/* By command, pid, tid, thread, cpu, period; 0 for the same stratum. */
int hp_stratum_compare(const struct hp_stratum *a, const struct hp_stratum *b);
uint64_t hp_stratum_samples(const struct hp_stratum *stratum);

/* One image under one event: strata sorted by hp_stratum_compare, distinct. */
struct hp_profile {
	struct hp_image_id image;
	char *event; /* name, owned */
	struct hp_stratum *strata;
	size_t stratum_count;
	/* The same samples by thread or CPU, sorted and distinct likewise. If there are any, they
	 * add up to `strata`; samples recorded without have thread 0 and CPU 0, unknown. */
	struct hp_stratum *shares;
	size_t share_count;
	bool has_lost_shares; /* the epoch had shares, which were damaged */
};
void hp_profile_clear(struct hp_profile *profile);
uint64_t hp_profile_samples(const struct hp_profile *profile);

/* The strata that shares add up to, in `strata` (the caller clears and frees them). */
struct hp_error *hp_shares_sum(const struct hp_stratum *shares, size_t share_count,
			       struct hp_stratum **strata, size_t *stratum_count);
void hp_strata_free(struct hp_stratum *strata, size_t count);

/* Adds `from` to `into` (same image and event). Commutative and associative in the result. After an
 * error `into` holds part of the sum: clear it. */
struct hp_error *hp_profile_add(struct hp_profile *into, const struct hp_profile *from);

/* A name for [offset, offset + size) of an image whose names are not available later: JIT code, the
 * kernel, modules, the vdso. Sorted by offset, not overlapping. */
struct hp_symbol {
	hp_image_offset offset;
	uint64_t size;	      /* > 0 */
	char *name;	      /* owned */
	struct hp_body *body; /* of the procedure that this is (a part of); owned; NULL: not kept */
};

#endif
