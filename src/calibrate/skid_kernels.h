/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops that the skid is measured with. Each runs for ever: a slow instruction that needs its own
 * result of the round before, then additions that depend on nothing and run meanwhile, then the jump
 * back. So all the time is the slow instruction's.
 */
#ifndef CALIBRATE_SKID_KERNELS_H
#define CALIBRATE_SKID_KERNELS_H

#include <hpcprof/calibrate/skid.h>

struct skid_kernel {
	const char *name;
	void (*run)(void *data); /* does not return */
	const uint32_t *steps;	 /* HP_SKID_PLACES offsets from `run`, in order */
	size_t chase_bytes;	 /* it loads through memory of this size; 0: none */
};

/* None where they are not written for the architecture. */
extern const struct skid_kernel skid_kernels[];
extern const size_t skid_kernel_count;

#endif
