/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples the state of a thread at regular intervals of its user CPU time: general registers, flags
 * and the top of the stack, which together distinguish moments of the target. The event is opened
 * for each window, independently of the recorder's rate and rings, and ticks are counted from the
 * copy on.
 */
#ifndef SHADOW_MATCH_STATE_SAMPLER_H
#define SHADOW_MATCH_STATE_SAMPLER_H

#include "../tuning.h"

#include <hpcprof/base/error.h>
#include <hpcprof/model/window.h>
#include <hpcprof/pmu/ring.h>

#include <sys/types.h>

enum { MATCH_PERIOD_NS = HP_WINDOW_SAMPLE_NS };

struct match_sample {
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t tick;	      /* its number, including ticks that were lost */
	uint64_t general[16]; /* by the registers' numbers in instructions */
	uint64_t ip;
	uint64_t flags;
	bool follows_wait; /* the thread may have waited before: see state_sampler_drain */
	uint32_t stack_bytes;
	uint8_t stack[MATCH_STACK_BYTES];
};

struct state_sampler {
	int fd;
	pid_t pid, tid;
	uint64_t waits; /* of the thread, by the kernel's count, that are not of the window */
	struct hp_ring ring;
	uint64_t tick; /* number of the next sample's tick */
	struct match_sample *samples;
	size_t count, capacity;
	uint64_t damaged; /* records that could not be parsed */
};

void state_sampler_init(struct state_sampler *sampler);
/* Ends sampling, and keeps the samples. */
void state_sampler_end(struct state_sampler *sampler);
/* The same, and forgets the samples; keeps their memory for the next state_sampler_open. */
void state_sampler_close(struct state_sampler *sampler);
void state_sampler_clear(struct state_sampler *sampler);

/* Opens the event on a thread, disabled, … */
struct hp_error *state_sampler_open(struct state_sampler *sampler, pid_t pid, pid_t tid);
/* … and enables it; the thread must be held. */
bool state_sampler_enable(struct state_sampler *sampler);
/* Called when the thread is held again: this stop is no wait. */
void state_sampler_stopped(struct state_sampler *sampler);
/* Whether the thread has waited since it was enabled: then it has made a system call, or waited for the disk that
 * a page is on. Stops by others are waits, too. True if that is unknown. */
bool state_sampler_has_waited(const struct state_sampler *sampler);
/* Stops sampling. Returns how much user CPU time has passed; 0 when that is unknown, because time
 * in the kernel is known only by ticks. The thread must be held. */
uint64_t state_sampler_disable(struct state_sampler *sampler);
/* Takes the records since the last call. Those after which the thread is found to have waited follow a wait, as
 * some of them may. */
struct hp_error *state_sampler_drain(struct state_sampler *sampler);

/* Takes one record, including its header. False when it cannot be parsed. A sample is appended. */
bool state_sampler_take(struct state_sampler *sampler, const uint8_t *record, size_t size);

#endif
