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
	uint64_t tick;	      /* its number, those that were lost counted too */
	uint64_t general[16]; /* as instructions number them */
	uint64_t ip;
	uint64_t flags;
	uint32_t stack_bytes;
	uint8_t stack[MATCH_STACK_BYTES];
};

struct state_sampler {
	int fd;
	struct hp_ring ring;
	uint64_t tick; /* of the next sample */
	struct match_sample *samples;
	size_t count, capacity;
	uint64_t damaged; /* records that made no sense */
};

void state_sampler_init(struct state_sampler *sampler);
/* Keeps the memory for samples. */
void state_sampler_close(struct state_sampler *sampler);
void state_sampler_clear(struct state_sampler *sampler);

/* Opens the event on a thread, not counting yet. */
struct hp_error *state_sampler_open(struct state_sampler *sampler, pid_t tid);
bool state_sampler_enable(struct state_sampler *sampler);
/* No more samples. How much user CPU time there was, 0 when that cannot be told: of the thread's
 * time in the kernel only ticks are known. The thread must be held. */
uint64_t state_sampler_disable(struct state_sampler *sampler);
/* Takes what has come since the last time. */
struct hp_error *state_sampler_drain(struct state_sampler *sampler);

/* One record, header and all; false when it makes no sense. For samples: appends it. */
bool state_sampler_take(struct state_sampler *sampler, const uint8_t *record, size_t size);

#endif
