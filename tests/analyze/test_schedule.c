/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expected cycles are worked out by hand from widths, ports and latencies of the core named. */
#include "../support.h"

#include <hpcprof/analyze/schedule.h>

#include <elf.h>
#include <string.h>

enum { MOST = 64 };

static struct hp_arena *arena;

struct how {
	const char *core;
	bool is_loop;
	double iterations;
};

static void assert_same_row(const struct hp_schedule_row *row, const struct hp_schedule_row *other)
{
	ck_assert_double_eq(row->cycles, other->cycles);
	ck_assert_double_eq(row->stall_cycles, other->stall_cycles);
	ck_assert_uint_eq(row->producer, other->producer);
	ck_assert_uint_eq(row->units, other->units);
	ck_assert_uint_eq(row->stall, other->stall);
	ck_assert_uint_eq(row->is_carried, other->is_carried);
	ck_assert_uint_eq(row->is_fused, other->is_fused);
}

/* Kept from then on, among those of all cores and regions, and found again: the same. */
static void keep_and_find(const struct hp_insn *insns, size_t count,
			  struct hp_schedule_options options, const struct hp_schedule *expected)
{
	static struct hp_schedules *kept;
	const struct hp_schedule *found;

	kept = kept ? kept : hp_schedules_create();
	options.kept = kept;
	for (unsigned time = 0; time < 2; time++) {
		hp_assert_ok(hp_schedule_create(insns, count, &options, arena, &found));
		for (size_t i = 0; i < count; i++)
			assert_same_row(&found->rows[i], &expected->rows[i]);
	}
}

static const struct hp_schedule *schedule_of(struct how how, const uint8_t *bytes, size_t size)
{
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	const struct hp_schedule *schedule = NULL;
	struct hp_schedule_options options = {
		.machine = hp_core_named(how.core),
		.isa = isa,
		.is_loop = how.is_loop,
		.iterations = how.iterations,
	};
	struct hp_insn insns[MOST];
	size_t count = 0;
	double sum = 0;

	for (size_t at = 0; at < size; at += insns[count++].length)
		ck_assert(isa->decode(bytes + at, size - at, 0x1000 + at, &insns[count]));
	if (!arena)
		arena = hp_arena_create();
	hp_assert_ok(hp_schedule_create(insns, count, &options, arena, &schedule));
	keep_and_find(insns, count, options, schedule);
	/* True of every schedule. */
	ck_assert_uint_eq(schedule->count, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_double_ge(schedule->rows[i].cycles, 0);
		sum += schedule->rows[i].cycles;
	}
	ck_assert_double_eq_tol(sum, schedule->cycles, 1e-9);
	return schedule;
}

#define SCHEDULE(core, is_loop, iterations, ...)                                                   \
	schedule_of((struct how){ core, is_loop, iterations }, (const uint8_t[]){ __VA_ARGS__ },   \
		    sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define LOOP(core, ...)	 SCHEDULE(core, true, 0, __VA_ARGS__)
#define BLOCK(core, ...) SCHEDULE(core, false, 0, __VA_ARGS__)

#define IMUL_RAX_RBX 0x48, 0x0f, 0xaf, 0xc3
#define IMUL_RCX_RBX 0x48, 0x0f, 0xaf, 0xcb
#define ADD_ONE(low) 0x48, 0x83, 0xc0 + (low), 1 /* add rax, rcx, rdx … */
#define DEC_ECX	     0xff, 0xc9
#define JNE_BACK     0x75, 0xf0

TEST(a_multiplication_on_itself_takes_its_latency)
{
	const struct hp_schedule *s = LOOP("skylake-sp", IMUL_RAX_RBX, DEC_ECX, JNE_BACK);

	ck_assert_double_eq(s->cycles, 3);
	ck_assert_uint_eq(s->limit, HP_BOUND_RECURRENCE);
	ck_assert_uint_eq(s->slots, 2); /* dec and jne are one */
	ck_assert_uint_eq(s->rows[0].stall, HP_STALL_DEPENDENCY);
	ck_assert_uint_eq(s->rows[0].producer, 0);
	ck_assert(s->rows[0].is_carried);
	ck_assert(s->rows[2].is_fused);
}

TEST(two_chains_side_by_side_take_no_longer_than_one)
{
	const struct hp_schedule *s = LOOP("skylake-sp", IMUL_RAX_RBX, IMUL_RCX_RBX);

	ck_assert_double_eq(s->cycles, 3);
	ck_assert_double_eq(s->bounds[HP_BOUND_PORTS], 2); /* both on port 1 */
}

TEST(a_chain_adds_up_in_a_loop_and_overlaps_with_others_in_a_block)
{
	double loop = LOOP("skylake-sp", IMUL_RAX_RBX, IMUL_RAX_RBX, IMUL_RAX_RBX)->cycles;
	const struct hp_schedule *block =
		BLOCK("skylake-sp", IMUL_RAX_RBX, IMUL_RAX_RBX, IMUL_RAX_RBX);

	ck_assert_double_eq(loop, 9);
	ck_assert_double_eq(block->cycles, 3);
	ck_assert_uint_eq(block->limit, HP_BOUND_PORTS);
	ck_assert_double_eq(block->bounds[HP_BOUND_RECURRENCE], 0);
}

TEST(independent_additions_take_the_width_of_the_core)
{
	double skylake = LOOP("skylake-sp", ADD_ONE(0), ADD_ONE(1), ADD_ONE(2), ADD_ONE(3),
			      ADD_ONE(5), ADD_ONE(6), ADD_ONE(7), ADD_ONE(0))
				 ->cycles;
	/* add rax, rbx; add rcx, rbx; add rdx, rbx; add rsi, rbx; add rdi, rbx */
	const struct hp_schedule *golden = BLOCK("sapphire-rapids", 0x48, 0x01, 0xd8, 0x48, 0x01,
						 0xd9, 0x48, 0x01, 0xda, 0x48, 0x01, 0xde, 0x48,
						 0x01, 0xdf);

	ck_assert_double_eq(skylake, 2);	/* eight, four a cycle */
	ck_assert_double_eq(golden->cycles, 1); /* five ports; the width alone gives 5/6 */
	ck_assert_double_eq_tol(golden->bounds[HP_BOUND_ISSUE], 5 / 6., 1e-9);
	ck_assert_uint_eq(golden->limit, HP_BOUND_PORTS);
}

TEST(what_retires_along_with_others_at_full_width_is_no_stall)
{
	/* Four a cycle are the width: two cycles, none of them lost. */
	const struct hp_schedule *full = LOOP("skylake-sp", ADD_ONE(0), ADD_ONE(1), ADD_ONE(2),
					      ADD_ONE(3), ADD_ONE(5), ADD_ONE(6), ADD_ONE(7), 0x90);
	/* Three slots; the multiplication takes three cycles: 9/4 of them are lost. */
	const struct hp_schedule *chain = LOOP("skylake-sp", IMUL_RAX_RBX, ADD_ONE(1), ADD_ONE(2));
	double lost = 0;

	for (size_t i = 0; i < full->count; i++)
		ck_assert_double_eq(full->rows[i].stall_cycles, 0);
	for (size_t i = 0; i < chain->count; i++)
		lost += chain->rows[i].stall_cycles;
	ck_assert_double_eq_tol(lost, 3 - 3 / 4., 1e-9);
}

TEST(a_loop_that_ends_early_overlaps_with_its_next_run)
{
	const struct hp_schedule *few =
		SCHEDULE("skylake-sp", true, 4, IMUL_RAX_RBX, DEC_ECX, JNE_BACK);
	const struct hp_schedule *many =
		SCHEDULE("skylake-sp", true, 112, IMUL_RAX_RBX, DEC_ECX, JNE_BACK);

	ck_assert(!few->is_recurrence_counted);
	ck_assert_double_eq(few->bounds[HP_BOUND_RECURRENCE], 3);
	ck_assert_double_eq(few->cycles, 1);
	ck_assert(many->is_recurrence_counted); /* 112 times 2 slots are the 224 there are */
	ck_assert_double_eq(many->cycles, 3);
}

TEST(a_compare_and_its_jump_pass_as_one)
{
	/* add rax, 1; cmp rax, rbx; jne */
	const struct hp_schedule *s = LOOP("skylake-sp", ADD_ONE(0), 0x48, 0x39, 0xd8, JNE_BACK);

	ck_assert_uint_eq(s->slots, 2);
	ck_assert(s->rows[2].is_fused);
	ck_assert_double_eq(s->cycles, 1); /* a taken jump a cycle */
}

TEST(shifts_crowd_on_two_ports)
{
	/* shl rax, 3 and rcx, rdx, rbx */
	const struct hp_schedule *s = BLOCK("skylake-sp", 0x48, 0xc1, 0xe0, 3, 0x48, 0xc1, 0xe1, 3,
					    0x48, 0xc1, 0xe2, 3, 0x48, 0xc1, 0xe3, 3);
	const struct hp_core *machine = hp_core_named("skylake-sp");
	char names[HP_CORE_UNITS * 8] = "";
	bool is_port = false;

	ck_assert_double_eq(s->cycles, 2);
	ck_assert_uint_eq(s->limit, HP_BOUND_PORTS);
	for (unsigned unit = 0; unit < HP_CORE_UNITS; unit++)
		if (s->port_units >> unit & 1)
			strcat(names, hp_core_unit(machine, unit));
	ck_assert_str_eq(names, "06");
	for (size_t i = 0; i < s->count; i++)
		is_port |= s->rows[i].stall == HP_STALL_PORT && s->rows[i].units == s->port_units;
	ck_assert(is_port);
}

TEST(ports_are_shared_out_as_well_as_can_be)
{
	/* Two shifts (ports 0 6), one imul (1), three adds (0 1 5 6): six micro-ops on four ports.
	 */
	const struct hp_schedule *s = BLOCK("skylake-sp", 0x48, 0xc1, 0xe0, 3, 0x48, 0xc1, 0xe1, 3,
					    0x48, 0x0f, 0xaf, 0xd3, ADD_ONE(3), ADD_ONE(5),
					    ADD_ONE(6));

	ck_assert_double_eq(s->bounds[HP_BOUND_PORTS], 1.5);
}

TEST(divisions_occupy_the_divider)
{
	/* div ecx twice, eax and edx set anew before each */
	const struct hp_schedule *s = LOOP("skylake-sp", 0x31, 0xd2, 0x31, 0xc0, 0xf7, 0xf1, 0x31,
					   0xd2, 0x31, 0xc0, 0xf7, 0xf1);

	ck_assert_double_eq(s->bounds[HP_BOUND_DIVIDER], 12); /* six cycles each */
	ck_assert_double_eq(s->cycles, 12);
	ck_assert_uint_eq(s->limit, HP_BOUND_DIVIDER);
}

TEST(a_division_that_needs_the_one_before_takes_its_latency)
{
	/* xor edx, edx; div ecx */
	const struct hp_schedule *s = LOOP("skylake-sp", 0x31, 0xd2, 0xf7, 0xf1);

	ck_assert_double_eq(s->cycles, 26);
	ck_assert_uint_eq(s->rows[1].stall, HP_STALL_DEPENDENCY);
	ck_assert_uint_eq(s->rows[1].producer, 1);
}

TEST(a_pointer_chase_takes_the_latency_of_the_first_cache)
{
	const struct hp_schedule *s = LOOP("skylake-sp", 0x48, 0x8b, 0x00); /* mov rax, [rax] */

	ck_assert_double_eq(s->cycles, 5);
}

TEST(an_operand_beside_a_load_is_not_waited_for_longer)
{
	/* add rax, [rsi]: one cycle an iteration through rax, the loads run ahead */
	ck_assert_double_eq(LOOP("skylake-sp", 0x48, 0x03, 0x06)->cycles, 1);
}

TEST(a_counter_in_memory_goes_through_the_store_buffer)
{
	/* add dword [rsp + 8], 1: five cycles to forward, one to add */
	ck_assert_double_eq(LOOP("skylake-sp", 0x83, 0x44, 0x24, 8, 1)->cycles, 6);
	/* mov [rsi], rax; mov rax, [rdi]: not known to be the same place */
	ck_assert_double_eq(LOOP("skylake-sp", 0x48, 0x89, 0x06, 0x48, 0x8b, 0x07)->cycles, 1);
	/* mov [rsi], rax; mov rax, [rsi] */
	ck_assert_double_eq(LOOP("skylake-sp", 0x48, 0x89, 0x06, 0x48, 0x8b, 0x06)->cycles, 5);
	/* mov [rsi], rax; add rax, [rsi]: one cycle more */
	ck_assert_double_eq(LOOP("skylake-sp", 0x48, 0x89, 0x06, 0x48, 0x03, 0x06)->cycles, 6);
	/* which was measured to take 1.01 cycles where stores are forwarded at rename */
	ck_assert_double_eq(LOOP("granite-rapids", 0x48, 0x89, 0x06, 0x48, 0x03, 0x06)->cycles, 1);
}

TEST(a_pop_meets_its_push_and_the_stack_pointer_costs_nothing)
{
	/* push rax; pop rax */
	const struct hp_schedule *same = LOOP("skylake-sp", 0x50, 0x58);
	/* push rax; push rcx; pop rdx; pop rbx: no value comes round again */
	const struct hp_schedule *other = LOOP("skylake-sp", 0x50, 0x51, 0x5a, 0x5b);

	ck_assert_double_ge(same->bounds[HP_BOUND_RECURRENCE], 5);
	ck_assert_double_le(same->bounds[HP_BOUND_RECURRENCE], 6); /* and not a load more */
	ck_assert_double_eq(other->bounds[HP_BOUND_RECURRENCE], 0);
}

TEST(zeroing_cuts_a_chain)
{
	/* imul rax, rbx; xor eax, eax */
	ck_assert_double_eq(LOOP("skylake-sp", IMUL_RAX_RBX, 0x31, 0xc0)->cycles, 1);
}

TEST(an_eliminated_move_lengthens_no_chain)
{
	/* imul rax, rbx; mov rcx, rax; mov rax, rcx */
	ck_assert_double_eq(
		LOOP("skylake-sp", IMUL_RAX_RBX, 0x48, 0x89, 0xc1, 0x48, 0x89, 0xc8)->cycles, 3);
	ck_assert_double_eq(
		LOOP("ice-lake-sp", IMUL_RAX_RBX, 0x48, 0x89, 0xc1, 0x48, 0x89, 0xc8)->cycles, 5);
}

TEST(a_bit_scan_waits_for_the_old_value_of_its_destination)
{
	/* bsr ecx, eax; popcnt ecx, eax does not, in the tables */
	ck_assert_double_eq(LOOP("granite-rapids", 0x0f, 0xbd, 0xc8)->cycles, 3);
	ck_assert_double_eq(LOOP("granite-rapids", 0xf3, 0x0f, 0xb8, 0xc8)->cycles, 1);
}

TEST(a_register_moved_to_itself_takes_a_cycle)
{
	/* mov eax, eax, which clears the upper half */
	ck_assert_double_eq(LOOP("granite-rapids", 0x89, 0xc0)->cycles, 1);
	/* mov eax, ecx */
	ck_assert_double_lt(LOOP("granite-rapids", 0x89, 0xc8)->cycles, 1);
}

TEST(nothing_to_schedule_is_a_mistake)
{
	const struct hp_schedule *s;
	struct hp_schedule_options options = { .machine = hp_core_at(0),
					       .isa = hp_isa_of(EM_X86_64) };

	hp_assert_fails(HP_ERROR_USAGE, hp_schedule_create(NULL, 0, &options, arena, &s));
}

TEST(every_core_takes_every_region_and_names_what_limits)
{
	const struct hp_core *one;

	for (size_t i = 0; (one = hp_core_at(i)); i++) {
		const struct hp_schedule *s = LOOP(one->name, IMUL_RAX_RBX, 0x48, 0x03, 0x06, 0x50,
						   0x58, 0xf7, 0xf1, DEC_ECX, JNE_BACK);

		ck_assert_double_gt(s->cycles, 1);
		ck_assert_int_lt(s->limit, HP_BOUND_COUNT);
		for (size_t k = 0; k < s->count; k++)
			ck_assert_int_le(s->rows[k].stall, HP_STALL_PORT);
	}
}

HP_TEST_MAIN("analyze/schedule")
