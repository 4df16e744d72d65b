/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open events of a recording and their rings.
 *
 * Every event is opened for each (thread, CPU) and inherited by what the thread starts; the events
 * of one CPU share one ring. The kernel permits inherit with mmap only per CPU, hence the product.
 * The first event carries the side-band (maps, names, forks, exits); if events start disabled (-D),
 * a dummy event does.
 *
 * Locked memory: rings start at 512 KiB per CPU, at more if stacks are copied (at most 16 MiB in
 * all). All of them are halved until they fit the budget.
 */
#ifndef HPCPROF_SAMPLE_SAMPLER_H
#define HPCPROF_SAMPLE_SAMPLER_H

#include <hpcprof/pmu/machine.h>
#include <hpcprof/sample/rate.h>
#include <hpcprof/sample/ring_set.h>

#include <sys/types.h>

enum { HP_SAMPLER_STACKS = 8 };

struct hp_sampler_options {
	const struct hp_event_list *events;
	const struct hp_rate *rates; /* by event */
	const pid_t *threads;	     /* -1 alone: the whole system */
	size_t thread_count;
	bool enable_on_exec; /* the thread is a command that has not started yet */
	bool start_disabled; /* until hp_sampler_enable: -D */
	const char *cpus;    /* NULL: all online */
	size_t ring_pages;   /* 0: default */
	bool branches;	     /* the branches before each sample; see hp_branches_offered */
	bool call_branches;  /* of them, the calls that have not returned */
	/* The kernel's call paths: by frame pointers in user code, unless that is left out; and in
	 * the kernel, where its samples are taken. */
	bool callchain;
	bool no_user_callchain;
	/* For each sample: which registers of user code, as the kernel numbers them, and how much
	 * of the stack, a multiple of 8. */
	uint64_t registers;
	uint32_t stack_bytes;
	/* Sizes of the stack that hp_sampler_copy_stack may choose from later, the smallest first
	 * and `stack_bytes` among them. Each is one more event, of which threads and children
	 * inherit their own: there is only `stack_bytes` if that were too many. */
	const uint32_t *stacks;
	size_t stack_count;
	/* Deep samples: occasional samples of user time with so much more of the stack, a multiple
	 * of 8; 0: none. They belong to no event (hp_sampler_is_deep). */
	uint32_t deep_stack_bytes;
	uint64_t deep_period_ns;
	/* If events take turns, else NULL. By event: whether it is on at first; and its group
	 * (events with one number may be one group of the kernel). */
	const bool *on;
	const uint32_t *turn_of;
};

/* When an event's periods change. */
struct hp_redraw {
	size_t at;     /* next of its descriptors */
	bool mirrored; /* this round is the mirror image of the last */
	uint64_t due_ns;
	uint64_t samples; /* at the last change */
};

struct hp_sampler {
	const struct hp_event_list *events;
	const struct hp_rate *rates;
	int *cpus; /* of each ring */
	int *fds;  /* [thread][cpu][slot]: src/sample/opening.h; -1: none */
	size_t fd_count;
	size_t slots;	 /* per (thread, CPU) */
	bool has_deep;	 /* samples */
	bool of_threads; /* not of the whole system */
	uint32_t stack_bytes[HP_SAMPLER_STACKS];
	size_t stack_count; /* at least 1, also where no stack is copied */
	size_t stack;	    /* index of the size that is copied now */
	struct hp_ring_set rings;
	size_t ring_pages;
	bool rings_shrunk;
	bool no_build_ids;    /* the kernel is too old to send them */
	struct event_id *ids; /* sorted */
	size_t id_count;
	struct hp_random random;
	const bool *on;		   /* see the options; borrowed */
	bool *is_on;		   /* by event */
	struct hp_redraw *redraws; /* by event */
	uint64_t *drawn;	   /* per descriptor, the latest period after the first */
};

struct hp_error *hp_sampler_open(struct hp_sampler *sampler,
				 const struct hp_sampler_options *options,
				 const struct hp_machine *machine, struct hp_event *resolved);
void hp_sampler_close(struct hp_sampler *sampler);
/* For records from a file: opens no event. Records of event i have the id i. */
struct hp_error *hp_sampler_replay(struct hp_sampler *sampler, const struct hp_event_list *events,
				   const struct hp_rate *rates, struct hp_record_layout layout);
/* Sets the CPU of the next record. */
void hp_sampler_set_cpu(struct hp_sampler *sampler, int cpu);

void hp_sampler_enable(struct hp_sampler *sampler);
void hp_sampler_disable(struct hp_sampler *sampler);
/* Stops sampling for good, in constant time: rings take no more records. Events may continue to
 * count until they are closed. */
void hp_sampler_stop(struct hp_sampler *sampler);

/* Switches one event of those that take turns. */
void hp_sampler_switch(struct hp_sampler *sampler, size_t event, bool on);
/* Chooses which of `stacks` new samples have. Samples in the rings keep theirs. */
void hp_sampler_copy_stack(struct hp_sampler *sampler, size_t stack);
/* An event's count so far, and its times; unlike hp_sampler_times, enabled time is not divided. */
struct hp_sampler_count {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};
struct hp_sampler_count hp_sampler_read(const struct hp_sampler *sampler, size_t event);

/* Sets new periods for some of an event's descriptors, if it is time. All of them take turns, once
 * with a random period and then with its mirror image. `samples` is the number of the event's
 * samples so far. */
void hp_sampler_redraw(struct hp_sampler *sampler, size_t event, uint64_t now_ns, uint64_t samples);

/* For how long the event should have counted, and for how long it had a counter: less if there are
 * more events than counters. */
void hp_sampler_times(const struct hp_sampler *sampler, size_t event, uint64_t *enabled_ns,
		      uint64_t *running_ns);

/* The CPU of the last record of its rings. */
int hp_sampler_cpu(const struct hp_sampler *sampler);

/* Whether it is a deep sample, of no event. */
bool hp_sampler_is_deep(const struct hp_sampler *sampler, const struct hp_record *record);

/* The event a record belongs to. */
size_t hp_sampler_event_of(const struct hp_sampler *sampler, const struct hp_record *record);

#endif
