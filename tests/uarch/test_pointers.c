/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops over arrays that lead somewhere else, as decoded instructions, on a core whose prefetcher
 * follows pointers: what it brings, and what it does not. */
#include "../support.h"

#include "../../src/uarch/tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/pointers.h>

#include <elf.h>

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
};

/* clang-format off */
#define LOAD_RAX	{ 4, { 0x48, 0x8b, 0x04, 0xfb } } /* mov rax, [rbx+rdi*8] */
#define LOAD_EAX	{ 3, { 0x8b, 0x04, 0xbb } }	  /* mov eax, [rbx+rdi*4] */
#define MOVE_TO_RCX	{ 3, { 0x48, 0x89, 0xc1 } }	  /* mov rcx, rax */
#define NEGATE_RAX	{ 3, { 0x48, 0xf7, 0xd8 } }
#define BY_RAX		{ 3, { 0x48, 0x8b, 0x10 } }	  /* mov rdx, [rax] */
#define BY_RCX		{ 3, { 0x48, 0x8b, 0x11 } }	  /* mov rdx, [rcx] */
#define BY_RAX_24	{ 4, { 0x48, 0x8b, 0x50, 24 } }	  /* mov rdx, [rax+24] */
#define BY_RAX_64	{ 4, { 0x48, 0x8b, 0x50, 64 } }	  /* mov rdx, [rax+64] */
#define BY_RAX_AND_RCX	{ 4, { 0x48, 0x8b, 0x14, 0x08 } } /* mov rdx, [rax+rcx] */
#define COUNT_BY_RAX	{ 4, { 0x48, 0x83, 0x00, 0x01 } } /* add qword ptr [rax], 1 */
#define STORE_BY_RAX	{ 3, { 0x48, 0x89, 0x10 } }	  /* mov [rax], rdx */

static const struct loop brought[] = {
	{ "a load", { LOAD_RAX, BY_RAX }, 0, 8, 200 },
	{ "a load behind it", { LOAD_RAX, BY_RAX_24 }, 24, 8, 200 },
	{ "a count", { LOAD_RAX, COUNT_BY_RAX }, 0, 32, 200 },
	{ "a store", { LOAD_RAX, STORE_BY_RAX }, 0, 8, 200 },
	{ "a moved pointer", { LOAD_RAX, MOVE_TO_RCX, BY_RCX }, 0, 8, 200 },
	{ "backward", { LOAD_RAX, BY_RAX }, 0, -8, 200 },
};
static const struct loop late = { "a short loop", { LOAD_RAX, BY_RAX }, 0, 8, 10 };
static const struct loop others[] = {
	{ "the next line", { LOAD_RAX, BY_RAX_64 }, 64, 8, 200 },
	{ "an index", { LOAD_RAX, BY_RAX_AND_RCX }, 0, 8, 200 },
	{ "another value", { LOAD_RAX, NEGATE_RAX, BY_RAX }, 0, 8, 200 },
	{ "half of one", { LOAD_EAX, BY_RAX }, 0, 8, 200 },
	{ "no order", { LOAD_RAX, BY_RAX }, 0, 0, 200 },
};
/* clang-format on */

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

static void ck_brought(const struct walked *walked, const char *name)
{
	/* The array is followed from its first miss on. */
	unsigned sure = ROUNDS - 2 * POINTERS_SURE;
	unsigned least = (sure - sure / POINTERS_LOST) * 19 / 20;

	ck_assert_msg(walked->misses >= ROUNDS - 10 && walked->early <= 1, "%s: %u misses, %u early",
		      name, walked->misses, walked->early);
	ck_assert_msg(walked->brought >= least &&
			      walked->brought <= ROUNDS - ROUNDS / POINTERS_LOST,
		      "%s: %u", name, walked->brought);
	/* The prefetch has walked the page, too. */
	ck_assert_msg(walked->pages == 0, "%s: %u pages", name, walked->pages);
}

TEST(what_pointers_in_order_lead_to_is_brought)
{
	struct walked walked;

	for (size_t i = 0; i < HP_ARRAY_COUNT(brought); i++) {
		walked = walk(&brought[i], made(true));
		ck_brought(&walked, brought[i].name);
		ck_assert_msg(walked.late == 0, "%s: %u late", brought[i].name, walked.late);
	}
	walked = walk(&late, made(true));
	ck_brought(&walked, late.name);
	ck_assert_uint_eq(walked.late, walked.brought);
}

TEST(what_else_an_array_leads_to_is_not)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(others); i++) {
		struct walked walked = walk(&others[i], made(true));

		ck_assert_msg(walked.misses >= ROUNDS - 10 && walked.brought <= ROUNDS / 100,
			      "%s: %u of %u", others[i].name, walked.brought, walked.misses);
	}
}

TEST(other_cores_bring_nothing)
{
	ck_assert_uint_le(walk(&brought[0], made(false)).brought, ROUNDS / 100);
}

TEST(the_same_path_has_the_same_events_after_a_reset)
{
	struct hp_uarch *uarch = made(true);
	struct hp_uarch_pointers pointers = { 0 };
	struct hp_timed_insn insns[MOST_INSNS];
	unsigned first[2 * POINTERS_SURE] = { 0 };

	make(&brought[0], insns);
	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < HP_ARRAY_COUNT(first); i++) {
			uint64_t from = ARRAY + 8 * i, to = 0x40000000 + 4160 * (i * i % 977);
			unsigned events;

			hp_uarch_pointers_follow(&pointers, uarch, &insns[0], CODE, &from);
			hp_uarch_access(uarch, CODE, from, 8, HP_UARCH_LOAD);
			hp_uarch_pointers_follow(&pointers, uarch, &insns[1], CODE + 16, &to);
			events = hp_uarch_access(uarch, CODE + 64, to, 8, HP_UARCH_LOAD);
			hp_uarch_retire(uarch, 200);
			if (round)
				ck_assert_uint_eq(events, first[i]);
			first[i] = events;
		}
		hp_uarch_reset(uarch);
	}
}

HP_TEST_MAIN("uarch/pointers")
