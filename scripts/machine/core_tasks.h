/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code whose time measure_core measures: each function runs `count` times what its name says. */
#ifndef HPCPROF_SCRIPTS_CORE_TASKS_H
#define HPCPROF_SCRIPTS_CORE_TASKS_H

#include <stddef.h>
#include <stdint.h>

enum { LINE = 64, PAGE = 4096 };

struct task {
	void (*run)(struct task *task);
	uint64_t count; /* of what is measured, in one run: short, so that few are interrupted */
	void *memory;
	size_t pages;  /* of the memory, where that matters */
	uint8_t *bits; /* filled anew with `mask` of random ones for each run */
	uint8_t mask;
};

uint64_t random_next(void);

/* Offsets that run_places loads from. */
extern const uint32_t *known_places;
/* Addresses that run_pointers loads from. */
extern const char *const *known_pointers;

void run_additions(struct task *task);
void run_chase(struct task *task);
void run_places(struct task *task);
void run_pointers(struct task *task);
void run_offsets(struct task *task);
void run_branches(struct task *task);
void run_known_branches(struct task *task);
void run_behind_untaken(struct task *task);
void run_behind_120(struct task *task);
void run_behind_150(struct task *task);
void run_known_targets(struct task *task);
void run_known_branches_apart(struct task *task);
void run_known_targets_apart(struct task *task);
void run_pauses(struct task *task);
void run_forward(struct task *task);
void run_named(struct task *task);
void run_compared(struct task *task);
void run_compared_20(struct task *task);
void run_compared_21(struct task *task);
void run_compared_apart(struct task *task);
void run_more_apart(struct task *task);
void run_compared_bytes(struct task *task);
void run_compared_far(struct task *task);
void run_compared_stack(struct task *task);
void run_renamed_base(struct task *task);
void run_narrow(struct task *task);
void run_moved(struct task *task);
void run_moved_word(struct task *task);
void run_moved_byte(struct task *task);
void run_moved_index(struct task *task);
void run_moved_sign(struct task *task);
void run_behind_15(struct task *task);
void run_behind_16(struct task *task);
void run_two_chains(struct task *task);
void run_calls(struct task *task);
void run_jumps(struct task *task);
void run_jumps_128(struct task *task);
void run_jumps_256(struct task *task);
void run_jumps_512(struct task *task);
void run_jumps_2048(struct task *task);
void run_jumps_8192(struct task *task);
void run_jumps_24576(struct task *task);
void run_handlers(struct task *task);
void run_chained(struct task *task);
void run_indexed(struct task *task);
void run_scaled(struct task *task);
void run_mix(struct task *task);
void run_decoded(struct task *task);
void run_counter(struct task *task);
void run_failed_forward(struct task *task);
void run_failed_behind(struct task *task);
void run_forwarded_behind(struct task *task);
void run_store_alone(struct task *task);
void run_prefetch_alone(struct task *task);
void run_locked(struct task *task);
void run_fences(struct task *task);

#endif
