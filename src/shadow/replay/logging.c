/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logging.h"

#include "../copy/hold.h"
#include "../translate/code_cache.h"
#include "../translate/x86_log.h"

#include <signal.h>
#include <sys/ptrace.h>

static void stop(struct logging *logging)
{
	if (!logging->is_on)
		return;
	(void)code_cache_log(logging->cache, false);
	logging->is_on = false;
	logging->paused_at = code_log_head(logging->cache)[PATH_LOG_NEXT];
}

static void hand_on(struct logging *logging, size_t count)
{
	if (logging->is_on &&
	    !logging->log->take(logging->log->context, code_log_words(logging->cache), count))
		stop(logging);
}

void logging_begin(struct logging *logging, struct code_cache *cache,
		   const struct hp_engine_log *log, struct user_regs_struct *registers)
{
	*logging = (struct logging){ .cache = cache, .log = log };
	logging->is_on = log && !registers->gs_base && code_cache_log(cache, true);
	if (logging->is_on)
		registers->gs_base = code_log_address(cache);
}

void logging_check(struct logging *logging)
{
	if (logging->cache->is_log_full)
		stop(logging);
}

bool logging_go_on(struct logging *logging, pid_t pid, struct user_regs_struct *registers)
{
	const struct code_cache *cache = logging->cache;
	uint64_t start = code_log_words_address(cache), end = start + 8 * (uint64_t)CODE_LOG_WORDS;
	const struct code_zone *zone = code_cache_zone_at(logging->cache, registers->rip);
	unsigned long long *pointer;
	unsigned number;
	siginfo_t info;
	uint64_t offset;

	if (!logging->log || !zone || ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) < 0 ||
	    (uint64_t)(uintptr_t)info.si_addr != end)
		return false;
	offset = registers->rip - zone->address;
	if (!x86_log_pointer_of(zone->code + offset, cache->code_bytes - offset, &number))
		return false;
	/* The word becomes the first one, with those after it. */
	pointer = hold_general_register(registers, number);
	*pointer -= end - start;
	code_log_head(cache)[PATH_LOG_NEXT] = *pointer;
	hand_on(logging, CODE_LOG_WORDS);
	return true;
}

void logging_match(struct logging *logging, const struct user_regs_struct *registers, size_t sample,
		   size_t samples)
{
	const struct hp_engine_log *log = logging->log;
	struct code_cache *cache = logging->cache;

	if (logging->is_on || !log || !log->resume || !cache->plans || cache->is_log_full ||
	    registers->gs_base != code_log_address(cache) ||
	    code_log_head(cache)[PATH_LOG_NEXT] == logging->paused_at)
		return;
	logging->is_on = log->resume(log->context, sample, samples) && code_cache_log(cache, true);
}

void logging_end(struct logging *logging)
{
	uint64_t next, start;

	if (!logging->is_on)
		return;
	/* The copy can write to this memory, so the value is not trusted. */
	next = code_log_head(logging->cache)[PATH_LOG_NEXT];
	start = code_log_words_address(logging->cache);
	if (next > start && next - start <= 8 * (uint64_t)CODE_LOG_WORDS)
		hand_on(logging, (next - start) / 8);
	stop(logging);
}
