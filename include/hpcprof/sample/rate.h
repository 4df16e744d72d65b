/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often to sample, and what that costs.
 *
 * Events that count time or cycles get a fixed mean period: every sample then stands for the same
 * amount, and the mean never has to be estimated. It is randomised by ±10 % and drawn again while
 * running, so that sampling cannot lock onto a loop (Anderson et al. 1997, section 4.1.1). Only the
 * events we opened ourselves can be redrawn; threads and children inherit the period in force when
 * they are born, and so each has its own; see hp_rate_count(). Software events have small fixed
 * periods by default; others of unknown rate (cache misses) are left to the kernel's frequency
 * mode, where each sample says what it stands for; such periods are rounded to classes 9 % apart.
 */
#ifndef HPCPROF_SAMPLE_RATE_H
#define HPCPROF_SAMPLE_RATE_H

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/event.h>

/* Samples per second and CPU: unless told, and at most unless told so. */
enum { HP_DEFAULT_FREQUENCY_HZ = 1000, HP_FREQUENCY_CAP_HZ = 10000 };

struct hp_rate {
	bool kernel_frequency;
	double frequency_hz; /* aimed at; 0: the user fixed a period of unknown rate */
	uint64_t period;     /* mean, in units; 0 in frequency mode */
};

/* What sampling costs on this machine, measured. */
struct hp_cost {
	double sample_ns;    /* taken from the target for each sample; 0: could not be measured */
	double units_per_ns; /* of the event, while busy; 0: unknown */
};

/* Samples itself for some 10 ms under the event: alternating stretches of the same work with
 * and without. */
struct hp_cost hp_measure_cost(const struct hp_event *event);

struct hp_rate_wishes {
	double frequency_hz; /* 0: not given */
	double default_hz;   /* of events with no period of their own; 0: HP_DEFAULT_FREQUENCY_HZ */
	uint64_t period;     /* 0: not given */
	bool no_cap;
	double overhead_percent; /* 0: no budget */
};

enum hp_rate_limit { HP_RATE_AS_WISHED, HP_RATE_CAPPED, HP_RATE_IN_BUDGET };

/* Decides; says whether the wish had to be lowered, and by what. */
enum hp_rate_limit hp_rate_decide(const struct hp_event *event, const struct hp_rate_wishes *wishes,
				  struct hp_cost cost, struct hp_rate *rate);

/* A period around the rate's mean; the mean itself when it is too small to vary. The first of an
 * event stays within 1 %, since a short run has no other, and its samples are worth the mean. */
uint64_t hp_rate_draw(const struct hp_rate *rate, struct hp_random *random);
uint64_t hp_rate_draw_first(const struct hp_rate *rate, struct hp_random *random);
/* The one to follow `period`, so that the two have the rate's mean. */
uint64_t hp_rate_mirror(const struct hp_rate *rate, uint64_t period);

/*
 * As how many samples, worth the mean each, one with this period counts: 0, 1 or 2, which it is on
 * average. A thread or child keeps the period in force at its birth for all its life: without this
 * its share would be wrong by up to 10 %. The kernel (Linux 6.18) says what a child inherited, but
 * of clock events that were redrawn what they were opened with: within 1 % is the mean.
 */
uint64_t hp_rate_count(const struct hp_rate *rate, uint64_t period, struct hp_random *random);

/* The class of a period in frequency mode: its representative period. */
uint64_t hp_rate_period_class(uint64_t period);

#endif
