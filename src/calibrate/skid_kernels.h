/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops that the skid is measured with. Each runs for ever: one instruction that takes long and
 * waits for itself of the round before, then additions that depend on nothing and are done in its
 * shadow, then the jump back. Whatever time there is is the first one's.
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
