/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open events of a recording and their rings.
 *
 * Every event is opened for each (thread, CPU), inherited by whatever the thread starts; the events
 * of one CPU share one ring. inherit goes with mmap only per CPU, hence the product. The first
 * event carries the side-band (maps, names, forks, exits); when events start disabled (-D) a dummy
 * event does.
 *
 * Locked memory: rings start at 512 KiB a CPU (16 MiB in all at most) and are halved, all of them,
 * until they fit the budget.
 */
#ifndef HPCPROF_COLLECT_SAMPLER_H
#define HPCPROF_COLLECT_SAMPLER_H

#include "rate.h"
#include "ring.h"

#include <hpcprof/pmu/machine.h>

#include <sys/types.h>

struct sampler_options {
	const struct hp_event_list *events;
	const struct rate *rates; /* by event */
	const pid_t *threads;	  /* -1 alone: the whole system */
	size_t thread_count;
	bool enable_on_exec; /* the thread is a command that has not started yet */
	bool start_disabled; /* until sampler_enable: -D */
	const char *cpus;    /* NULL: all online */
	size_t ring_pages;   /* 0: default */
};

struct sampler {
	const struct hp_event_list *events;
	const struct rate *rates;
	int *fds; /* [thread][cpu][event], the dummy last; -1 where there is none */
	size_t fd_count;
	size_t events_each; /* events a (thread, CPU), the dummy included */
	struct ring_set rings;
	size_t ring_pages;
	bool rings_shrunk;
	bool no_build_ids;    /* the kernel is too old to send them */
	struct event_id *ids; /* sorted */
	size_t id_count;
	struct hp_random random;
	size_t redraw_at; /* next descriptor whose period is drawn again, counted on and on */
	uint64_t *drawn;  /* of each descriptor, the last period that was not the first */
};

struct hp_error *sampler_open(struct sampler *sampler, const struct sampler_options *options,
			      const struct hp_machine *machine, struct hp_event *resolved);
void sampler_close(struct sampler *sampler);

void sampler_enable(struct sampler *sampler);
void sampler_disable(struct sampler *sampler);

/* New periods for some of the events; all come round in turn, once with one that is drawn and then
 * with its mirror image. */
void sampler_redraw(struct sampler *sampler);

/* The event a record belongs to. */
size_t sampler_event_of(const struct sampler *sampler, const struct record *record);

#endif
