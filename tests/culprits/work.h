/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernels run on, and how each marks the instruction that is at fault. */
#ifndef CULPRITS_WORK_H
#define CULPRITS_WORK_H

#include <stddef.h>
#include <stdint.h>

/* All counts come from here, none is in the code. */
struct work {
	uint64_t rounds;
	uint64_t steps; /* of a round */
	uint64_t mask;
	uint64_t divisor;
	uint64_t stride;
	void **start; /* of a list */
	uint8_t *bytes;
	uint64_t *words;
	double *reals;
	uint32_t *indices;
};

typedef uint64_t (*kernel)(const struct work *work);

/* In the assembly of the instruction at fault, which is to have the label 77. The judge reads the
 * section: where the instruction is, from here, and the name. */
#define MARK(name)                                                                                 \
	"\n\t.pushsection culprits, \"a\", @progbits\n\t.balign 4\n\t.long 77b - .\n\t"            \
	".asciz \"" name "\"\n\t.popsection\n"
#define KERNEL __attribute__((noinline, noclone, aligned(64)))

/* kernels.c */
uint64_t chase(const struct work *work);
uint64_t gather(const struct work *work);
uint64_t pages(const struct work *work);
uint64_t scatter(const struct work *work);
uint64_t narrow_store(const struct work *work);
uint64_t whole_store(const struct work *work);
uint64_t divide(const struct work *work);
uint64_t not_divide(const struct work *work);
uint64_t root(const struct work *work);
uint64_t not_root(const struct work *work);
uint64_t multiply(const struct work *work);
uint64_t not_multiply(const struct work *work);
uint64_t sum_reals(const struct work *work);
uint64_t not_sum_reals(const struct work *work);
uint64_t locked(const struct work *work);
uint64_t not_locked(const struct work *work);
uint64_t fenced(const struct work *work);
uint64_t not_fenced(const struct work *work);
uint64_t paused(const struct work *work);
uint64_t not_paused(const struct work *work);
uint64_t adds(const struct work *work);

/* branches.c */
uint64_t branch(const struct work *work);
uint64_t dispatch(const struct work *work);
uint64_t search(const struct work *work);
uint64_t chase_and_divide(const struct work *work);
uint64_t store_and_multiply(const struct work *work);

/* jumping.S: one block a cache line, in an order that no prefetcher follows */
uint64_t jumping(const struct work *work);
uint64_t jumping_little(const struct work *work);

#endif
