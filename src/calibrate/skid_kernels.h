/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops for measuring the skid. A loop never ends. It consists of a slow instruction that
 * depends on its own result of the previous iteration, then independent additions, which overlap
 * with it, then the jump back. So all time belongs to the slow instruction.
 */
#ifndef CALIBRATE_SKID_KERNELS_H
#define CALIBRATE_SKID_KERNELS_H

#include <hpcprof/calibrate/skid.h>

struct skid_kernel {
	const char *name;
	void (*run)(void *data); /* it does not return */
	const uint32_t *steps;	 /* HP_SKID_PLACES offsets from `run`, in ascending order */
	size_t chase_bytes;	 /* size of the memory that it loads from; 0: none */
};

/* Empty for architectures without kernels. */
extern const struct skid_kernel skid_kernels[];
extern const size_t skid_kernel_count;

#endif
