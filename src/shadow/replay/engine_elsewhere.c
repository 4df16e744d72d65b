/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine for machines other than x86-64, where no code can be translated: it fails with a
 * message.
 */
#include "engine.h"

struct hp_error *hp_engine_create(const struct hp_engine_options *options,
				  struct hp_engine **engine)
{
	(void)options;
	(void)engine;
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "shadow windows replay x86-64 code only, which this "
					       "CPU does not run"),
			       "record without --shadow");
}

void hp_engine_destroy(struct hp_engine *engine)
{
	(void)engine;
}

static struct hp_error *no_engine(void)
{
	return hp_error_create(HP_ERROR_USAGE, "there is no engine on this CPU");
}

struct hp_error *hp_engine_prepare(struct hp_engine *engine, pid_t pid, const struct areas *program,
				   const struct hp_engine_mapping **mappings, size_t *count)
{
	(void)engine;
	(void)pid;
	(void)program;
	(void)mappings;
	(void)count;
	return no_engine();
}

struct hp_error *hp_engine_replay(struct hp_engine *engine, pid_t pid,
				  const struct user_regs_struct *registers,
				  const struct hp_engine_sample *samples, size_t sample_count,
				  const struct hp_engine_limits *limits,
				  const struct hp_engine_calls *calls, struct hp_replay *replay)
{
	(void)engine;
	(void)pid;
	(void)registers;
	(void)samples;
	(void)sample_count;
	(void)limits;
	(void)calls;
	(void)replay;
	return no_engine();
}

int hp_engine_memory(const struct hp_engine *engine, size_t number)
{
	(void)engine;
	(void)number;
	return -1;
}

void hp_replay_free(struct hp_replay *replay)
{
	(void)replay;
}
