/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops over arrays that lead somewhere else, as decoded instructions, on a core whose prefetcher
 * follows pointers: what it brings, and what it does not. */
#include "../support.h"

#include "../../src/uarch/tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/pointers.h>

#include <elf.h>
#include <string.h>

enum {
	FIRST_LEVEL = HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN,
	PAGE = HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN,
	ROUNDS = 600,
	MOST_INSNS = 4,
	ARRAY = 0x10000000,
	CODE = 0x401000,
};

/* An instruction of x86-64. */
struct bytes {
	uint8_t count, at[4];
};

/* What is loaded from the array, and what is done with it until the last instruction goes where it leads. */
struct loop {
	const char *name;
	struct bytes insns[MOST_INSNS];
	int64_t apart;	  /* of that access from where the pointer leads */
	int64_t stride;	  /* of the array; 0: at random */
	unsigned between; /* instructions beside these, per round */
	bool is_brought, is_late;
};

/* mov rax, [rbx+rdi*8] */
#define LOAD_RAX                                                                                   \
	{                                                                                          \
		4,                                                                                 \
		{                                                                                  \
			0x48, 0x8b, 0x04, 0xfb                                                     \
		}                                                                                  \
	}
/* mov rdx, [rax] */
#define LOAD_BY_RAX                                                                                \
	{                                                                                          \
		3,                                                                                 \
		{                                                                                  \
			0x48, 0x8b, 0x10                                                           \
		}                                                                                  \
	}

static const struct loop loops[] = {
	{ "a load", { LOAD_RAX, LOAD_BY_RAX }, 0, 8, 200, true, false },
	{ "a load behind it",
	  { LOAD_RAX, { 4, { 0x48, 0x8b, 0x50, 0x18 } } },
	  24,
	  8,
	  200,
	  true,
	  false },
	{ "a count", { LOAD_RAX, { 4, { 0x48, 0x83, 0x00, 0x01 } } }, 0, 32, 200, true, false },
	{ "a store", { LOAD_RAX, { 3, { 0x48, 0x89, 0x10 } } }, 0, 8, 200, true, false },
	{ "a moved pointer",
	  { LOAD_RAX, { 3, { 0x48, 0x89, 0xc1 } }, { 3, { 0x48, 0x8b, 0x11 } } },
	  0,
	  8,
	  200,
	  true,
	  false },
	{ "backward", { LOAD_RAX, LOAD_BY_RAX }, 0, -8, 200, true, false },
	{ "a short loop", { LOAD_RAX, LOAD_BY_RAX }, 0, 8, 10, true, true },
	{ "the next line",
	  { LOAD_RAX, { 4, { 0x48, 0x8b, 0x50, 0x40 } } },
	  64,
	  8,
	  200,
	  false,
	  false },
	{ "an index", { LOAD_RAX, { 4, { 0x48, 0x8b, 0x14, 0x08 } } }, 0, 8, 200, false, false },
	{ "another value",
	  { LOAD_RAX, { 3, { 0x48, 0xf7, 0xd8 } }, LOAD_BY_RAX },
	  0,
	  8,
	  200,
	  false,
	  false },
	{ "half of one", { { 3, { 0x8b, 0x04, 0xbb } }, LOAD_BY_RAX }, 0, 8, 200, false, false },
	{ "no order", { LOAD_RAX, LOAD_BY_RAX }, 0, 0, 200, false, false },
};

static struct hp_uarch *made(bool prefetches_pointers)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch;

	geometry.prefetches_pointers = prefetches_pointers;
	uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	return uarch;
}

struct walked {
	unsigned misses, brought, late, pages; /* of the last access of each round, … */
	unsigned early;			       /* … and what was brought before it is sure */
};

static void note(struct walked *walked, unsigned round, unsigned events)
{
	walked->misses += (events & FIRST_LEVEL) != 0;
	walked->brought += (events & HP_UARCH_PREFETCHED) != 0;
	walked->late += (events & HP_UARCH_PREFETCHED_LATE) != 0;
	walked->pages += (events & HP_UARCH_PREFETCHED) && (events & PAGE);
	walked->early += round < POINTERS_SURE && (events & HP_UARCH_PREFETCHED);
}

static unsigned make(const struct loop *loop, struct hp_timed_insn made[MOST_INSNS])
{
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	unsigned count = 0;

	for (; count < MOST_INSNS && loop->insns[count].count; count++) {
		struct hp_insn insn;

		ck_assert(isa->decode(loop->insns[count].at, loop->insns[count].count,
				      CODE + 16 * count, &insn));
		hp_timed_insn_make(hp_core_at(0), isa, NULL, &insn, &made[count]);
	}
	return count;
}

/* Each round loads from the array, and ends with an access of a line at random. */
static struct walked walk(const struct loop *loop, struct hp_uarch *uarch)
{
	struct hp_uarch_pointers pointers = { 0 };
	struct hp_random random = hp_random_seeded(11);
	struct hp_timed_insn insns[MOST_INSNS];
	struct walked walked = { 0 };
	unsigned count = make(loop, insns);

	for (unsigned i = 0; i < ROUNDS; i++) {
		int64_t at = loop->stride ? i * loop->stride
					  : (int64_t)hp_random_between(&random, 0, 1 << 20) * 8;
		uint64_t from = ARRAY + (uint64_t)at;
		uint64_t to = 0x40000000 + hp_random_between(&random, 0, 1 << 20) * 64 +
			      (uint64_t)loop->apart;

		hp_uarch_pointers_follow(&pointers, uarch, &insns[0], CODE, &from);
		hp_uarch_access(uarch, CODE, from, 8, HP_UARCH_LOAD);
		for (unsigned j = 1; j < count; j++)
			hp_uarch_pointers_follow(&pointers, uarch, &insns[j], CODE + 16 * j,
						 j + 1 == count ? &to : NULL);
		note(&walked, i, hp_uarch_access(uarch, CODE + 64, to, 8, HP_UARCH_LOAD));
		hp_uarch_retire(uarch, count + loop->between);
	}
	return walked;
}

static void judge(const struct loop *loop)
{
	struct walked walked = walk(loop, made(true));
	/* The array is followed from its first miss on. */
	unsigned sure = ROUNDS - 2 * POINTERS_SURE;
	unsigned least = (sure - sure / POINTERS_LOST) * 19 / 20;

	ck_assert_msg(walked.misses >= ROUNDS - 10 && walked.early <= 1, "%s: %u misses, %u early",
		      loop->name, walked.misses, walked.early);
	if (!loop->is_brought) {
		ck_assert_msg(walked.brought <= ROUNDS / 100, "%s: %u", loop->name, walked.brought);
		return;
	}
	ck_assert_msg(walked.brought >= least && walked.brought <= ROUNDS - ROUNDS / POINTERS_LOST,
		      "%s: %u", loop->name, walked.brought);
	/* The prefetch has walked the page, too. */
	ck_assert_msg(walked.pages == 0 && walked.late == (loop->is_late ? walked.brought : 0),
		      "%s: %u pages, %u late", loop->name, walked.pages, walked.late);
}

TEST(what_pointers_in_order_lead_to_is_brought)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(loops); i++)
		judge(&loops[i]);
}

TEST(other_cores_bring_nothing)
{
	ck_assert_uint_le(walk(&loops[0], made(false)).brought, ROUNDS / 100);
}

HP_TEST_MAIN("uarch/pointers")
