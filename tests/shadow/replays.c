/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replays.h"

#include "../support.h"
#include "states.h"

struct bench bench;

static struct hp_engine_call handle(void *context, pid_t pid,
				    const struct user_regs_struct *registers)
{
	struct script *script = context;

	script->calls++;
	if (!script->answer)
		return (struct hp_engine_call){ .is_handled = false };
	return script->answer(script, pid, registers);
}

static void set_up_bench(void)
{
	struct hp_random random = hp_random_seeded(3);

	bench = (struct bench){ 0 };
	puppet_create(&bench.puppet, 0);
	bench.script.puppet = &bench.puppet;
	state_randomise(&bench.state, &bench.puppet, &random);
	bench.state.registers.rip = PUPPET_CODE;
}

static void tear_down(void *nothing)
{
	(void)nothing;
	hp_replay_free(&bench.replay);
	puppet_destroy(&bench.puppet);
}

void start_replays(void)
{
	set_up_bench();
	at_end(tear_down, NULL);
}

void restart_replays(void)
{
	tear_down(NULL);
	set_up_bench();
}

void run(const char *code, size_t bytes, const struct hp_engine_sample *samples, size_t count)
{
	struct hp_engine_calls calls = { .handle = handle, .context = &bench.script };

	if (code)
		puppet_set_code(&bench.puppet, (const uint8_t *)code, bytes);
	puppet_put(&bench.puppet, &bench.state);
	hp_replay_free(&bench.replay);
	hp_assert_ok(hp_engine_replay(bench.puppet.engine, bench.puppet.pid, &bench.state.registers,
				      samples, count, &bench.limits, &calls, &bench.replay));
}

void assert_end(enum hp_window_end end, uint64_t at)
{
	ck_assert_msg(bench.replay.end == end, "ended with \"%s\" at 0x%lx",
		      hp_window_end_name(bench.replay.end), bench.replay.end_address);
	ck_assert_uint_eq(bench.replay.end_address, at);
}
