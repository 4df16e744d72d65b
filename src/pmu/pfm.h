/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only file that includes libpfm4's header, which defines the same types as
 * <linux/perf_event.h>. Initialising the library takes milliseconds, so other sources of event
 * names are tried first.
 */
#ifndef HPCPROF_PMU_PFM_H
#define HPCPROF_PMU_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct hp_pfm_encoding {
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool user;
	bool kernel;
	bool hypervisor; /* also false if the CPU does not distinguish it from the kernel */
};

enum hp_pfm_result {
	HP_PFM_OK,
	HP_PFM_UNKNOWN,	   /* no PMU has such an event */
	HP_PFM_ABSENT_PMU, /* the event belongs to a PMU that this machine does not have */
	HP_PFM_MALFORMED,  /* the event is known, but its attributes are wrong: see `*says` */
	HP_PFM_NO_LIBRARY, /* libpfm4 cannot be loaded */
};

/* All three levels are enabled unless the name says otherwise. `*says` is static. */
enum hp_pfm_result hp_pfm_encode(const char *name, struct hp_pfm_encoding *encoding,
				 const char **says);

/* The events of the PMUs this machine has, except the kernel's generic ones (which have better
 * names): EVENT where that alone encodes, and EVENT:MASK for each unit mask of it that does. Each
 * PMU::EVENT given can be encoded. The texts live as long as the call. Stops when the callback
 * returns false. False: without libpfm4 none are known. */
bool hp_pfm_enumerate(bool (*each)(const char *pmu, bool core, const char *event,
				   const char *description, void *context),
		      void *context);

#endif
