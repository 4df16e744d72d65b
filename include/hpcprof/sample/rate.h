/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling rate and its cost.
 *
 * Events that count time or cycles have a fixed mean period: every sample then stands for the same
 * amount, and the mean need not be estimated. The period varies by ±10 % at random and is changed
 * during the run, so that sampling cannot synchronise with a loop (Anderson et al. 1997, section
 * 4.1.1). Only events that hpcprof opened itself can be changed. Threads and children inherit the
 * period at their creation, so each has its own; see hp_rate_count(). Software events have small
 * fixed periods by default. Other events of unknown rate (cache misses) use the kernel's frequency
 * mode, where each sample contains its period; such periods are rounded to classes 9 % apart.
 */
#ifndef HPCPROF_SAMPLE_RATE_H
#define HPCPROF_SAMPLE_RATE_H

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/event.h>

/* Samples per second and CPU: the default, and the maximum without --no-cap. */
enum { HP_DEFAULT_FREQUENCY_HZ = 1000, HP_FREQUENCY_CAP_HZ = 10000 };

struct hp_rate {
	bool kernel_frequency;
	double frequency_hz; /* target rate; 0: the user gave a period of unknown rate */
	uint64_t period;     /* mean, in units; 0 in frequency mode */
};

/* The measured cost of sampling on this machine. */
struct hp_sample_cost {
	double sample_ns;    /* cost to the target per sample; 0: could not be measured */
	double units_per_ns; /* of the event, while busy; 0: unknown */
};

/* Samples itself for about 10 ms with the event: alternating stretches of the same work with and
 * without it. With `stack_bytes` (at most 65528) each sample copies registers and so much of the
 * stack. */
struct hp_sample_cost hp_measure_cost(const struct hp_event *event, uint32_t stack_bytes);

struct hp_rate_wishes {
	double frequency_hz; /* 0: not given */
	double default_hz;   /* of events with no period of their own; 0: HP_DEFAULT_FREQUENCY_HZ */
	uint64_t period;     /* 0: not given */
	bool no_cap;
	double overhead_percent; /* 0: no budget */
};

enum hp_rate_limit { HP_RATE_AS_WISHED, HP_RATE_CAPPED, HP_RATE_IN_BUDGET };

/* Chooses the rate; returns whether and why it is lower than requested. */
enum hp_rate_limit hp_rate_decide(const struct hp_event *event, const struct hp_rate_wishes *wishes,
				  struct hp_sample_cost cost, struct hp_rate *rate);

/* A random period around the rate's mean, or the mean itself if it is too small to vary. The first
 * period of an event stays within 1 %, because a short run has no other and its samples count as
 * the mean. */
uint64_t hp_rate_draw(const struct hp_rate *rate, struct hp_random *random);
uint64_t hp_rate_draw_first(const struct hp_rate *rate, struct hp_random *random);
/* The period after `period`, so that the two have the rate's mean. */
uint64_t hp_rate_mirror(const struct hp_rate *rate, uint64_t period);

/*
 * How many samples of the mean period one sample with this period counts as: 0, 1 or 2, correct on
 * average. A thread or child keeps the period at its creation for its whole life; without this its
 * share would be wrong by up to 10 %. The kernel (Linux 6.18) reports the period that a child
 * inherited, except for clock events whose period was changed: these report the one they were
 * opened with. A period within 1 % counts as the mean.
 */
uint64_t hp_rate_count(const struct hp_rate *rate, uint64_t period, struct hp_random *random);

/* The class of a period in frequency mode: its representative period. */
uint64_t hp_rate_period_class(uint64_t period);

#endif
