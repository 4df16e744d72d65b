/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind tables of what this process has mapped. */
#ifndef HPCPROF_TESTS_UNWIND_MAPPED_H
#define HPCPROF_TESTS_UNWIND_MAPPED_H

#include <hpcprof/unwind/unwind.h>

/* An hp_unwind_find. Tables are made when first needed, and kept. */
bool mapped_find(void *context, size_t frame, uint64_t address, struct hp_unwind_place *place);
/* The same, but the test program itself has no table. */
bool mapped_find_elsewhere(void *context, size_t frame, uint64_t address,
			   struct hp_unwind_place *place);

#endif
