/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expected costs are from the vendors' manuals and commonly published measurements. */
#include "../../src/isa/machine/tables.h"
#include "../support.h"

#include <hpcprof/base/number.h>

#include <elf.h>
#include <string.h>

#define CODE(...)   ((const uint8_t[]){ __VA_ARGS__ })
#define DECODE(...) decode(CODE(__VA_ARGS__), sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct hp_insn decode(const uint8_t *bytes, size_t size)
{
	struct hp_insn insn;

	ck_assert(hp_isa_of(EM_X86_64)->decode(bytes, size, 0x1000, &insn));
	ck_assert_uint_eq(insn.length, size);
	return insn;
}

static struct hp_cost cost_on(const char *name, const struct hp_insn *before, struct hp_insn insn)
{
	const struct hp_core *machine = hp_core_named(name);
	struct hp_cost cost;

	ck_assert_ptr_nonnull(machine);
	hp_core_cost(machine, before, &insn, &cost);
	return cost;
}

static const char *core_of(const char *vendor, unsigned family, unsigned model, bool has_amx)
{
	return hp_core_of(&(struct hp_cpu_id){ .vendor = vendor,
					       .family = family,
					       .model = model,
					       .has_amx = has_amx })
		->name;
}

TEST(forms_are_in_order_and_each_mnemonic_ends_with_any_shape)
{
	for (size_t i = 0; i + 1 < table_form_count; i++) {
		const struct table_form *form = &table_forms[i];
		const struct table_form *next = form + 1;

		ck_assert_uint_lt((uint32_t)form->mnemonic << 16 | form->shape,
				  (uint32_t)next->mnemonic << 16 | next->shape);
		if (form->mnemonic != next->mnemonic)
			ck_assert_uint_eq(form->shape, SHAPE_ANY);
	}
	ck_assert_uint_eq(table_forms[table_form_count - 1].shape, SHAPE_ANY);
}

/* Its bytes are there for loads long before they are in the cache. */
TEST(a_store_takes_as_long_as_what_it_stores)
{
	struct hp_insn mov = DECODE(0x48, 0x89, 0x43, 0x08); /* mov [rbx + 8], rax */
	struct hp_insn add = DECODE(0x48, 0x01, 0x43, 0x08); /* add [rbx + 8], rax */
	static const char *const cores[] = { "sapphire-rapids", "granite-rapids", "zen-4" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(cores); i++) {
		ck_assert_uint_eq(cost_on(cores[i], NULL, mov).latency, 1);
		ck_assert_uint_eq(cost_on(cores[i], NULL, add).latency, 6);
	}
}

/* What is measured of Zen 4 holds for Zen 5, and what is measured of that does not for Zen 4. */
TEST(a_table_may_follow_another)
{
	struct hp_insn lea = DECODE(0x48, 0x8d, 0x44, 0x18, 0x08);   /* lea rax, [rax + rbx + 8] */
	struct hp_insn cmovg = DECODE(0x48, 0x0f, 0x4f, 0xc3);	     /* cmovg rax, rbx */
	struct hp_insn movq = DECODE(0x66, 0x48, 0x0f, 0x6e, 0xc0);  /* movq xmm0, rax */
	struct hp_insn addsd = DECODE(0xf2, 0x0f, 0x58, 0xc1);	     /* addsd xmm0, xmm1 */
	struct hp_insn tzcnt = DECODE(0xf3, 0x48, 0x0f, 0xbc, 0xc0); /* tzcnt rax, rax */

	ck_assert_uint_eq(cost_on("zen-4", NULL, lea).latency, 1);
	ck_assert_uint_eq(cost_on("zen-5", NULL, lea).latency, 2);
	ck_assert_uint_eq(cost_on("zen-4", NULL, cmovg).slots, 1);
	ck_assert_uint_eq(cost_on("zen-5", NULL, cmovg).slots, 2);
	ck_assert_uint_eq(cost_on("zen-4", NULL, movq).latency, 1);
	ck_assert_uint_eq(cost_on("zen-5", NULL, movq).latency, 5);
	ck_assert_uint_eq(cost_on("zen-4", NULL, addsd).latency, 3);
	ck_assert_uint_eq(cost_on("zen-5", NULL, addsd).latency, 2);
	ck_assert_uint_eq(cost_on("zen-4", NULL, tzcnt).latency, 1);
	ck_assert_uint_eq(cost_on("zen-5", NULL, tzcnt).latency, 1);
}

/* Zen 5's table has Zen 4's units, and the core more. */
TEST(a_core_may_have_other_units_than_its_table)
{
	struct hp_cost cost = cost_on("zen-5", NULL, DECODE(0x48, 0x89, 0x13)); /* mov [rbx], rdx */

	ck_assert_uint_eq(cost.use_count, 2);
	ck_assert_uint_eq(cost.uses[1].cycles, 1);
	ck_assert_uint_eq((unsigned)__builtin_popcount(cost.uses[1].units), 2);
	cost = cost_on("zen-5", NULL, DECODE(0x48, 0x01, 0xd0)); /* add rax, rdx */
	ck_assert_uint_eq((unsigned)__builtin_popcount(cost.uses[0].units), 6);
	cost = cost_on("zen-4", NULL, DECODE(0x48, 0x01, 0xd0));
	ck_assert_uint_eq((unsigned)__builtin_popcount(cost.uses[0].units), 4);
	for (unsigned unit = 0; unit < HP_CORE_UNITS; unit++)
		if (cost.uses[0].units >> unit & 1)
			ck_assert_str_eq(hp_core_unit(hp_core_named("zen-4"), unit),
					 hp_core_unit(hp_core_named("zen-5"), unit));
}

TEST(a_load_may_take_longer_by_its_address_or_as_it_extends_a_sign)
{
	/* mov rax, [rax]; [rax + rcx]; [rax + rcx * 8]; [rax + rcx + 8]; movsxd rax, [rax] */
	ck_assert_uint_eq(cost_on("zen-5", NULL, DECODE(0x48, 0x8b, 0x00)).latency, 4);
	ck_assert_uint_eq(cost_on("zen-5", NULL, DECODE(0x48, 0x8b, 0x04, 0x08)).latency, 4);
	ck_assert_uint_eq(cost_on("zen-5", NULL, DECODE(0x48, 0x8b, 0x04, 0xc8)).latency, 5);
	ck_assert_uint_eq(cost_on("zen-5", NULL, DECODE(0x48, 0x8b, 0x44, 0x08, 8)).latency, 5);
	ck_assert_uint_eq(cost_on("zen-5", NULL, DECODE(0x48, 0x63, 0x00)).latency, 5);
}

TEST(cpus_are_known_by_family_and_model)
{
	ck_assert_str_eq(core_of("GenuineIntel", 6, 85, false), "skylake-sp");
	ck_assert_str_eq(core_of("GenuineIntel", 6, 106, false), "ice-lake-sp");
	ck_assert_str_eq(core_of("GenuineIntel", 6, 143, true), "sapphire-rapids");
	ck_assert_str_eq(core_of("GenuineIntel", 6, 173, true), "granite-rapids");
	ck_assert_str_eq(core_of("AuthenticAMD", 23, 49, false), "zen-2");
	ck_assert_str_eq(core_of("AuthenticAMD", 25, 1, false), "zen-3");
	ck_assert_str_eq(core_of("AuthenticAMD", 25, 17, false), "zen-4");
	ck_assert_str_eq(core_of("AuthenticAMD", 25, 33, false), "zen-3");
	ck_assert_str_eq(core_of("AuthenticAMD", 25, 97, false), "zen-4");
	ck_assert_str_eq(core_of("AuthenticAMD", 26, 2, false), "zen-5");
}

TEST(matrix_tiles_tell_a_core_that_a_hypervisor_disguises)
{
	ck_assert_str_eq(core_of("GenuineIntel", 6, 167, false), "ice-lake-sp");
	ck_assert_str_eq(core_of("GenuineIntel", 6, 167, true), "sapphire-rapids");
	ck_assert_str_eq(hp_core_of(&(struct hp_cpu_id){ .vendor = "GenuineIntel",
							 .family = 6,
							 .model = 167,
							 .has_amx = true,
							 .instruction_cache_bytes = 65536 })
				 ->name,
			 "granite-rapids");
}

TEST(a_cpu_as_an_epoch_keeps_it_has_the_same_core)
{
	char vendor[] = "GenuineIntel";
	struct hp_cpu cpu = { .vendor = vendor, .family = 6, .model = 167 };

	ck_assert_str_eq(hp_core_of_cpu(&cpu)->name, "ice-lake-sp");
	cpu.has_amx = true;
	ck_assert_str_eq(hp_core_of_cpu(&cpu)->name, "sapphire-rapids");
	cpu.instruction_cache_bytes = 65536;
	ck_assert_str_eq(hp_core_of_cpu(&cpu)->name, "granite-rapids");
	ck_assert(hp_core_of_cpu(&(struct hp_cpu){ 0 })->is_generic);
}

TEST(an_unknown_cpu_is_generic_and_says_so)
{
	const struct hp_core *machine =
		hp_core_of(&(struct hp_cpu_id){ .vendor = "CentaurHauls", .family = 7 });

	ck_assert_str_eq(machine->name, "generic-x86-64");
	ck_assert(machine->is_generic);
	ck_assert_str_eq(core_of(NULL, 0, 0, false), "generic-x86-64");
	ck_assert(!hp_core_named("skylake-sp")->is_generic);
}

TEST(every_core_is_found_by_its_name_and_names_its_units)
{
	size_t count = 0;

	for (const struct hp_core *one; (one = hp_core_at(count)); count++) {
		ck_assert_ptr_eq(hp_core_named(one->name), one);
		ck_assert_uint_ge(one->retire_width, one->issue_width);
		for (unsigned unit = 0; unit < 40; unit++)
			ck_assert_ptr_nonnull(hp_core_unit(one, unit));
	}
	ck_assert_uint_eq(count, 9);
	ck_assert_ptr_null(hp_core_named("pentium"));
}

TEST(a_multiplication_takes_three_cycles_everywhere)
{
	const struct hp_core *one;

	for (size_t i = 0; (one = hp_core_at(i)); i++) {
		/* imul rax, rbx */
		struct hp_cost cost = cost_on(one->name, NULL, DECODE(0x48, 0x0f, 0xaf, 0xc3));

		ck_assert_msg(cost.latency == 3, "%s: %u", one->name, cost.latency);
		ck_assert_uint_eq(cost.slots, 1);
		ck_assert_uint_ge(cost.use_count, 1);
	}
}

TEST(an_addition_from_memory_needs_its_register_only_when_the_load_is_done)
{
	/* add rax, [rsi] */
	struct hp_cost cost = cost_on("skylake-sp", NULL, DECODE(0x48, 0x03, 0x06));

	ck_assert_uint_eq(cost.latency, 6);
	ck_assert_uint_eq(cost.late, 5);
	ck_assert_uint_eq(cost.slots, 1); /* micro-fused */
	ck_assert_uint_eq(cost.use_count, 2);
}

TEST(ports_of_an_addition_are_those_of_the_manual)
{
	struct hp_cost skylake = cost_on("skylake-sp", NULL, DECODE(0x48, 0x01, 0xd8));
	struct hp_cost golden = cost_on("sapphire-rapids", NULL, DECODE(0x48, 0x01, 0xd8));
	const struct hp_core *machine = hp_core_named("skylake-sp");
	char names[64] = "";

	ck_assert_uint_eq(skylake.use_count, 1);
	for (unsigned unit = 0; unit < HP_CORE_UNITS; unit++)
		if (skylake.uses[0].units >> unit & 1)
			strcat(names, hp_core_unit(machine, unit));
	ck_assert_str_eq(names, "0156");
	ck_assert_int_eq(__builtin_popcount(golden.uses[0].units), 5);
}

TEST(a_compare_fuses_with_the_jump_behind_it)
{
	struct hp_insn compare = DECODE(0x48, 0x39, 0xd8);     /* cmp rax, rbx */
	struct hp_insn from_memory = DECODE(0x83, 0x3e, 0x05); /* cmp dword [rsi], 5 */
	struct hp_insn shift = DECODE(0x48, 0xd3, 0xe0);       /* shl rax, cl */
	struct hp_insn jump = DECODE(0x75, 0xf0);	       /* jne */

	ck_assert_uint_eq(cost_on("skylake-sp", &compare, jump).slots, 0);
	ck_assert_uint_eq(cost_on("zen-2", &compare, jump).slots, 0);
	ck_assert_uint_eq(cost_on("skylake-sp", &from_memory, jump).slots, 1);
	ck_assert_uint_eq(cost_on("skylake-sp", &shift, jump).slots, 1);
	ck_assert_uint_eq(cost_on("skylake-sp", NULL, jump).slots, 1);
}

TEST(what_fuses_depends_on_the_core_and_the_condition)
{
	struct hp_insn decrement = DECODE(0x48, 0xff, 0xc8);   /* dec rax */
	struct hp_insn subtract = DECODE(0x48, 0x83, 0xe8, 1); /* sub rax, 1 */
	struct hp_insn exclusive = DECODE(0x48, 0x31, 0xd8);   /* xor rax, rbx */
	struct hp_insn jne = DECODE(0x75, 0xf0);
	struct hp_insn jb = DECODE(0x72, 0xf0);
	struct hp_insn js = DECODE(0x78, 0xf0);

	ck_assert_uint_eq(cost_on("skylake-sp", &decrement, jne).slots, 0);
	ck_assert_uint_eq(cost_on("skylake-sp", &decrement, jb).slots, 1);
	ck_assert_uint_eq(cost_on("skylake-sp", &subtract, js).slots, 1);
	ck_assert_uint_eq(cost_on("zen-2", &subtract, jne).slots, 1);
	ck_assert_uint_eq(cost_on("skylake-sp", &exclusive, jne).slots, 1);
	ck_assert_uint_eq(cost_on("zen-4", &exclusive, jne).slots, 0);
}

TEST(moves_are_eliminated_where_the_core_does)
{
	struct hp_insn move = DECODE(0x48, 0x89, 0xd8); /* mov rax, rbx */
	struct hp_insn narrow = DECODE(0x88, 0xd8);	/* mov al, bl */

	ck_assert(cost_on("skylake-sp", NULL, move).is_eliminated);
	ck_assert(!cost_on("ice-lake-sp", NULL, move).is_eliminated);
	ck_assert(!cost_on("skylake-sp", NULL, narrow).is_eliminated);
	ck_assert_uint_eq(cost_on("skylake-sp", NULL, move).slots, 1);
}

TEST(an_address_of_three_parts_takes_longer_where_it_does)
{
	struct hp_insn two = DECODE(0x48, 0x8d, 0x04, 0x0b);	  /* lea rax, [rbx + rcx] */
	struct hp_insn three = DECODE(0x48, 0x8d, 0x44, 0x0b, 8); /* lea rax, [rbx + rcx + 8] */
	struct hp_insn scaled = DECODE(0x48, 0x8d, 0x04, 0xcb);	  /* lea rax, [rbx + rcx * 8] */

	ck_assert_uint_eq(cost_on("skylake-sp", NULL, two).latency, 1);
	ck_assert_uint_eq(cost_on("skylake-sp", NULL, three).latency, 3);
	ck_assert_uint_eq(cost_on("sapphire-rapids", NULL, three).latency, 1);
	ck_assert_uint_eq(cost_on("sapphire-rapids", NULL, scaled).latency, 2);
}

TEST(small_constants_are_added_at_rename_where_the_core_does)
{
	struct hp_insn full = DECODE(0x48, 0x83, 0xc0, 1);	     /* add rax, 1 */
	struct hp_insn half = DECODE(0x83, 0xc0, 1);		     /* add eax, 1 */
	struct hp_insn large = DECODE(0x48, 0x05, 0x00, 0x04, 0, 0); /* add rax, 1024 */

	ck_assert(cost_on("sapphire-rapids", NULL, full).is_eliminated);
	ck_assert(!cost_on("sapphire-rapids", NULL, half).is_eliminated);
	ck_assert(!cost_on("sapphire-rapids", NULL, large).is_eliminated);
	ck_assert(!cost_on("ice-lake-sp", NULL, full).is_eliminated);
}

TEST(every_condition_has_a_row_of_its_own_core)
{
	/* 0x40 to 0x4f: cmovcc eax, ecx; 0x90 to 0x9f: setcc cl; 0x70 to 0x7f: jcc */
	for (unsigned condition = 0; condition < 16; condition++) {
		struct hp_insn move = DECODE(0x0f, (uint8_t)(0x40 + condition), 0xc1);
		struct hp_insn set = DECODE(0x0f, (uint8_t)(0x90 + condition), 0xc1);
		struct hp_insn jump = DECODE((uint8_t)(0x70 + condition), 0xf0);

		ck_assert(!cost_on("sapphire-rapids", NULL, move).is_guess);
		ck_assert(!cost_on("skylake-sp", NULL, set).is_guess);
		ck_assert(!cost_on("zen-4", NULL, jump).is_guess);
	}
}

TEST(a_zeroing_idiom_depends_on_nothing)
{
	struct hp_cost cost = cost_on("zen-3", NULL, DECODE(0x31, 0xc0)); /* xor eax, eax */

	ck_assert(cost.is_independent);
	ck_assert_uint_eq(cost.use_count, 0);
	ck_assert_uint_eq(cost.latency, 0);
}

TEST(a_locked_addition_costs_what_the_core_says)
{
	/* lock add [rsi], eax */
	struct hp_cost cost = cost_on("skylake-sp", NULL, DECODE(0xf0, 0x01, 0x06));

	ck_assert_uint_ge(cost.latency, 18);
}

TEST(a_pause_costs_what_the_core_says)
{
	static const char *const names[] = { "skylake-sp", "sapphire-rapids", "zen-4" };
	static const unsigned cycles[] = { 140, 44, 90 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		struct hp_cost cost = cost_on(names[i], NULL, DECODE(0xf3, 0x90));

		ck_assert_uint_eq(cost.latency, cycles[i]);
		ck_assert(cost.is_serializing);
	}
}

TEST(instructions_of_512_bits_are_in_the_table)
{
	/* vaddph and vaddps zmm0, zmm1, zmm2 */
	struct hp_insn half = DECODE(0x62, 0xf5, 0x74, 0x48, 0x58, 0xc2);
	struct hp_insn whole = DECODE(0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2);

	ck_assert(!cost_on("sapphire-rapids", NULL, half).is_guess);
	ck_assert(!cost_on("sapphire-rapids", NULL, whole).is_guess);
	ck_assert_uint_eq(cost_on("sapphire-rapids", NULL, half).slots, 1);
}

HP_TEST_MAIN("isa/machine")
