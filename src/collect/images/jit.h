/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples in generated code, by the names in perf-PID.map.
 *
 * Addresses of generated code differ between processes and runs; names do not. So each name gets a
 * range in a synthetic image "[jit COMMAND]", at an offset that is a hash of the name. Samples of
 * one function then add up over processes, epochs and machines.
 */
#ifndef COLLECT_IMAGES_JIT_H
#define COLLECT_IMAGES_JIT_H

#include "kept.h"
#include "perf_map.h"
#include "../tuning.h"

struct jit {
	struct images *images; /* borrowed */
	struct kept *kept;     /* borrowed */
	uint32_t pid;	       /* process whose map is loaded; 0: none */
	struct perf_map map;
	uint32_t beyond_pid; /* process whose map is longer than what is read; 0: none */
};

/* The image ("[jit COMMAND]", with a reference) and offset of an address that the process's map
 * names. False when it names none there. */
bool jit_resolve(struct jit *jit, uint32_t pid, const char *command, uint64_t address,
		 struct image **image, uint64_t *offset);

/* "[anon COMMAND]": executable memory without names, in which offsets are addresses. NULL: out of
 * memory. */
struct image *jit_anonymous(struct jit *jit, const char *command);

/* Forgets the loaded map, before the next batch: it may be out of date by then. */
void jit_forget(struct jit *jit);

#endif
