/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translated code against the processor: each form of forms.S from random states, natively and
 * through the engine, with the cache near what operands name and out of its reach. All registers,
 * flags, vectors and memory come out the same.
 */
#include "../support.h"

#include "states.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { SLOT_BYTES = 128, ROUNDS = 12 };

extern const uint8_t forms[], forms_end[];
extern const char *const form_names[], *const form_names_end[];

/* Forms that no replay can do, and what they end with. The rest run on into a trap, or fault. */
static const struct {
	const char *name;
	enum hp_window_end end;
} refused[] = {
	{ "read the time of another clock", HP_WINDOW_CLOCK },
	{ "random", HP_WINDOW_RANDOM },
	{ "what cpu", HP_WINDOW_PROCESSOR },
	{ "jump to nowhere", HP_WINDOW_UNREADABLE },
	{ "far return", HP_WINDOW_FAR },
	{ "interrupt", HP_WINDOW_INTERRUPT },
	{ "undefined", HP_WINDOW_INTERRUPT },
	{ "halt", HP_WINDOW_INTERRUPT },
	{ "no instruction", HP_WINDOW_UNDECODABLE },
	{ "16-bit branch", HP_WINDOW_FAR },
	{ "transaction", HP_WINDOW_TRANSACTION },
};

static bool find_refused(const char *name, enum hp_window_end *end)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(refused); i++)
		if (strcmp(refused[i].name, name) == 0) {
			*end = refused[i].end;
			return true;
		}
	return false;
}

static size_t form_count(void)
{
	return (size_t)(form_names_end - form_names);
}

static void compare_one(struct puppet *puppet, size_t form, struct hp_random *random)
{
	static struct puppet_state start, native, engine;
	const char *name = form_names[form], *difference;
	enum hp_window_end end;
	int native_signal, engine_signal;

	state_randomise(&start, puppet, random);
	start.registers.rip = PUPPET_CODE + form * SLOT_BYTES;
	native = engine = start;
	native_signal = puppet_run_native(puppet, &native);
	engine_signal = puppet_run_engine(puppet, &engine, &end);
	ck_assert_msg(end == HP_WINDOW_INTERRUPT || end == HP_WINDOW_SIGNAL,
		      "%s: ended with \"%s\"", name, hp_window_end_name(end));
	ck_assert_msg(native_signal == engine_signal, "%s: signal %d, %d", name, native_signal,
		      engine_signal);
	if (native_signal != SIGTRAP)
		return; /* and where a fault leaves registers is nobody's concern: the window is
			   over */
	difference = state_difference(&native, &engine);
	ck_assert_msg(!difference, "%s: %s", name, difference);
}

static void compare_all(uint64_t near)
{
	struct hp_random random = hp_random_seeded(20);
	struct puppet puppet;
	enum hp_window_end end;

	ck_assert_uint_eq((size_t)(forms_end - forms), form_count() * SLOT_BYTES);
	puppet_create(&puppet, near);
	puppet_set_code(&puppet, forms, (size_t)(forms_end - forms));
	for (size_t form = 0; form < form_count(); form++)
		for (unsigned round = 0; !find_refused(form_names[form], &end) && round < ROUNDS;
		     round++)
			compare_one(&puppet, form, &random);
	puppet_destroy(&puppet);
}

TEST(forms_do_natively_and_translated_the_same)
{
	compare_all(PUPPET_CODE + (64 << 20));
}

TEST(operands_out_of_reach_are_reached)
{
	compare_all(0x300000000000);
}

TEST(what_cannot_be_replayed_ends_with_its_name_and_the_state_before_it)
{
	static struct puppet_state start, after;
	struct hp_random random = hp_random_seeded(21);
	struct puppet puppet;
	size_t seen = 0;

	puppet_create(&puppet, 0);
	puppet_set_code(&puppet, forms, (size_t)(forms_end - forms));
	for (size_t form = 0; form < form_count(); form++) {
		enum hp_window_end expected, end;
		const char *difference;

		if (!find_refused(form_names[form], &expected))
			continue;
		seen++;
		state_randomise(&start, &puppet, &random);
		start.registers.rip = PUPPET_CODE + form * SLOT_BYTES;
		if (expected == HP_WINDOW_UNREADABLE)
			start.registers.r11 = 0x10; /* what the form makes it */
		after = start;
		puppet_run_engine(&puppet, &after, &end);
		ck_assert_msg(end == expected, "%s: ended with \"%s\"", form_names[form],
			      hp_window_end_name(end));
		if (expected == HP_WINDOW_UNREADABLE)
			start.registers.rip = 0x10;
		difference = state_difference(&start, &after);
		ck_assert_msg(!difference, "%s: %s", form_names[form], difference);
	}
	ck_assert_uint_eq(seen, HP_ARRAY_COUNT(refused));
	puppet_destroy(&puppet);
}

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/translate")
