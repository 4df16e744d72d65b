/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine_state.h"

#include "../copy/hold.h"
#include "../translate/counts.h"
#include "../match/matcher.h"
#include "../translate/text.h"
#include "../tuning.h"
#include "branch_log.h"
#include "logging.h"
#include "watchdog.h"
#include "../translate/x86_expect.h"
#include "../translate/x86_goto.h"
#include "../translate/x86_link.h"
#include "../translate/x86_translate.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SYSCALL_BYTES = 2,
	TRAP_FLAG = 1 << 8, /* the trap flag of rflags */
	MOST_ERRNO = 4095,
};

/* --- life ------------------------------------------------------------------------------------- */

static void drop_code(void *context, uint64_t page)
{
	struct hp_engine *engine = context;

	x86_drop(&engine->cache, page);
}

struct hp_error *hp_engine_create(const struct hp_engine_options *options,
				  struct hp_engine **engine)
{
	_cleanup_(hp_engine_destroy_scope) struct hp_engine *made = calloc(1, sizeof(*made));
	struct hp_error *error;

	if (!made)
		return hp_error_create_no_memory();
	made->near = options->near;
	made->memory_fd = -1;
	error = code_cache_create(&made->cache,
				  options->cache_bytes ? options->cache_bytes : DEFAULT_CACHE_BYTES,
				  options->logs);
	if (!error)
		error = shadow_text_create(drop_code, made, &made->text);
	if (error)
		return error;
	made->translator = (struct x86_translator){ .cache = &made->cache, .text = made->text };
	*engine = hp_steal(made);
	return NULL;
}

void hp_engine_destroy(struct hp_engine *engine)
{
	code_cache_destroy(&engine->cache);
	if (engine->text)
		shadow_text_destroy(engine->text);
	areas_clear(&engine->areas);
	if (engine->memory_fd >= 0)
		close(engine->memory_fd);
	free(engine);
}

int hp_engine_memory(const struct hp_engine *engine, size_t number)
{
	return number < engine->cache.file_count ? engine->cache.files[number] : -1;
}

const struct path_plan *hp_engine_plan(const struct hp_engine *engine, uint64_t block)
{
	return engine->cache.plans && block < PATH_MOST_BLOCKS
		       ? __atomic_load_n(&engine->cache.plans[block], __ATOMIC_ACQUIRE)
		       : NULL;
}

/* --- one replay ------------------------------------------------------------------------------- */

struct run {
	struct hp_engine *engine;
	pid_t pid;
	struct user_regs_struct registers; /* of the shadow, when it stopped */
	const struct areas *program;	   /* areas of the original; NULL: the shadow's own */
	const struct hp_engine_limits *limits;
	const struct hp_engine_calls *calls;
	struct hp_replay *replay;
	struct matcher matcher;
	struct shadow_watchdog watchdog;
	struct logging logging;
	bool was_logging;
	/* values of the cache's counters when samples were armed last */
	uint64_t armed_blocks, armed_counts;
	/* No sample is left to match; the last matches are watched for a while. */
	bool is_overtime;
	bool is_over;
	struct hp_error *error;
};

static void end(struct run *run, enum hp_window_end why, uint64_t address, int64_t detail)
{
	run->is_over = true;
	if (run->is_overtime && why != HP_WINDOW_DIED && why != HP_WINDOW_FORBIDDEN) {
		why = HP_WINDOW_COMPLETE;
		address = 0;
		detail = 0;
	}
	run->replay->end = why;
	run->replay->end_address = address;
	run->replay->end_detail = detail;
	if (why == HP_WINDOW_CACHE_FULL)
		run->engine->is_full = true;
}

/* Continues at this address of the program. */
static uint32_t go_on_at(struct run *run, uint64_t address)
{
	struct hp_engine *engine = run->engine;
	uint8_t why = HP_WINDOW_CACHE_FULL;
	uint32_t number = CODE_NO_NUMBER;
	const struct code_block *block;

	if (!code_cache_is_full(&engine->cache))
		number = x86_enter(&engine->translator, address, &why);
	if (number == CODE_NO_NUMBER) {
		end(run, why, address, 0);
		return number;
	}
	x86_count_from_now(&engine->cache, number);
	block = &engine->cache.blocks.at[number];
	run->registers.rip = code_zone_address(&engine->cache.zones[block->zone], block->code);
	return number;
}

static void do_link(struct run *run, const struct code_exit *exit)
{
	/* A copy, because the exits move when more of them are added. */
	struct code_exit link = *exit;

	if (go_on_at(run, link.address) != CODE_NO_NUMBER)
		x86_link(&run->engine->cache, link.zone, link.displacement, link.address);
}

static void do_site(struct run *run, const struct code_exit *exit)
{
	struct code_cache *cache = &run->engine->cache;
	const struct code_zone *zone = &cache->zones[exit->zone];
	uint32_t site = exit->number != CODE_NO_NUMBER ? exit->number : x86_expect_site(zone);
	uint64_t address = run->registers.r11;
	uint32_t block = go_on_at(run, address);

	run->registers.r11 = *code_spilled(zone, CODE_SPILL_R11);
	run->registers.rcx = *code_spilled(zone, CODE_SPILL_RCX);
	if (block == CODE_NO_NUMBER) {
		/* The copy stays there, with the program's registers. */
		ptrace(PTRACE_SETREGS, run->pid, NULL, &run->registers);
		return;
	}
	if (site >= cache->sites.count) {
		end(run, HP_WINDOW_SIGNAL, 0, SIGTRAP);
		return;
	}
	x86_expect(cache, block);
	if (!x86_site_add(cache, site, block,
			  x86_flags_matter(&run->engine->translator, address)) ||
	    code_zone_is_full(zone))
		end(run, HP_WINDOW_CACHE_FULL, address, 0);
}

/* Called after a call that maps, unmaps, protects or empties memory. */
static void note_changed(struct shadow_text *text, const struct user_regs_struct *call,
			 int64_t result)
{
	switch (call->orig_rax) {
	case SYS_mmap:
		shadow_text_changed(text, (uint64_t)result, call->rsi);
		break;
	case SYS_mremap:
		shadow_text_changed(text, (uint64_t)result, call->rdx);
		shadow_text_changed(text, call->rdi, call->rsi);
		break;
	case SYS_madvise:
		if (call->rdx != MADV_DONTNEED && call->rdx != MADV_FREE)
			break;
		shadow_text_changed(text, call->rdi, call->rsi);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_munmap:
		shadow_text_changed(text, call->rdi, call->rsi);
		break;
	default:
		break;
	}
}

/* A copy that has left the path would run on without its counts being used, so it is given a limit
 * after which it ends. */
static void expect_sample(struct run *run)
{
	const struct matches *matches = &run->matcher.matches;
	uint64_t lost_ns = matcher_lost_ns(&run->matcher);
	uint64_t now_ns = matches_now(matches);
	uint64_t left_ns = lost_ns > now_ns ? lost_ns - now_ns : 0;

	if (run->is_overtime)
		return;
	if (lost_ns != UINT64_MAX && matches->slowness > 1)
		left_ns = (uint64_t)((double)left_ns * matches->slowness);
	shadow_watchdog_grant(&run->watchdog, lost_ns == UINT64_MAX ? UINT64_MAX : left_ns);
}

/* The sample has matched. */
static void note_match(struct run *run, size_t sample)
{
	run->replay->matched += sample < run->matcher.matches.wanted &&
				matcher_is_new(&run->matcher, sample);
	logging_match(&run->logging, &run->registers, sample, run->matcher.matches.wanted);
}

/* The copy is at a moment that is certain. False: the replay is over. */
static bool note_moment(struct run *run, size_t sample)
{
	struct matches *matches = &run->matcher.matches;

	if (sample >= run->matcher.count)
		return true;
	if (!matches_tell(matches, sample, &run->engine->cache)) {
		run->error = hp_error_create_no_memory();
		return false;
	}
	note_match(run, sample);
	expect_sample(run);
	if (!matches_are_complete(matches))
		return true;
	end(run, HP_WINDOW_COMPLETE, 0, 0);
	return false;
}

/* The copy ends, as the original did. False: the replay is over. */
static bool note_exit(struct run *run)
{
	if (!matcher_take_end(&run->matcher))
		return true;
	note_match(run, run->matcher.matches.end);
	end(run, HP_WINDOW_COMPLETE, 0, 0);
	return false;
}

static void do_system_call(struct run *run, const struct code_exit *exit)
{
	struct user_regs_struct call = run->registers;
	uint64_t address = exit->address;
	int memory_fd = run->engine->memory_fd;
	struct hp_engine_call answer;

	call.rip = address;
	answer = run->calls->handle(run->calls->context, run->pid, &call);
	call.orig_rax = call.rax;
	if (answer.moment && !note_moment(run, answer.moment - 1))
		return;
	if (answer.is_end && !note_exit(run))
		return;
	/* The vdso's functions are calls of the copy only. */
	run->matcher.has_called |= !answer.frame_bytes;
	if (!answer.is_handled) {
		end(run, HP_WINDOW_SYSTEM_CALL, address, (int64_t)call.rax);
		return;
	}
	if (answer.result >= 0 || answer.result < -MOST_ERRNO)
		note_changed(run->engine->text, &call, answer.result);
	if (answer.guessed_bytes)
		matcher_guess(&run->matcher, answer.guessed_at, answer.guessed_bytes, memory_fd);
	if (answer.frame_bytes && call.rsp > answer.frame_bytes)
		matcher_guess(&run->matcher, call.rsp - answer.frame_bytes, answer.frame_bytes,
			      memory_fd);
	run->registers.rax = (unsigned long long)answer.result;
	run->registers.rcx = address + SYSCALL_BYTES;
	run->registers.r11 = call.eflags;
	(void)go_on_at(run, address + SYSCALL_BYTES);
}

/* --- matches ---------------------------------------------------------------------------------- */

static bool must_watch_on(struct run *run)
{
	const struct matches *matches = &run->matcher.matches;
	uint64_t left_ns = matches_left_to_watch(matches, matches_now(matches));

	return left_ns && matches->watch_ns && shadow_watchdog_hurry(&run->watchdog, left_ns);
}

static bool is_lost(const struct run *run)
{
	return !run->is_overtime &&
	       matches_now(&run->matcher.matches) >= matcher_lost_ns(&run->matcher);
}

static void do_match(struct run *run, size_t sample)
{
	const struct matches *matches = &run->matcher.matches;
	bool is_complete;

	switch (matcher_judge(&run->matcher, sample, run->engine->memory_fd,
			      run->registers.eflags)) {
	case MATCHER_NEXT:
		note_match(run, sample);
		break;
	case MATCHER_NO_MEMORY:
		run->error = hp_error_create_no_memory();
		break;
	case MATCHER_OTHER:
		break;
	}
	/* Continues after the trap's number, where the rest of the check restores the state. */
	run->registers.rip += sizeof(uint32_t);
	is_complete = matches_are_complete(matches);
	expect_sample(run);
	if (!is_complete && matcher_is_hopeless(&run->matcher)) {
		end(run, HP_WINDOW_ROUNDS, 0, 0);
		return;
	}
	if (!is_complete && (run->is_overtime || matches_newest(matches) == SIZE_MAX ||
			     !matcher_is_done(&run->matcher)))
		return;
	if (!is_complete && must_watch_on(run))
		run->is_overtime = true;
	else
		end(run, HP_WINDOW_COMPLETE, run->matcher.samples[matches_newest(matches)].ip, 0);
}

/* --- coming out of the cache ------------------------------------------------------------------ */

static void do_exit(struct run *run, uint32_t number)
{
	struct code_cache *cache = &run->engine->cache;
	const struct code_exit *exit;

	if (number & MATCHER_TRAP) {
		if ((number & ~MATCHER_TRAP) < run->matcher.count)
			do_match(run, number & ~MATCHER_TRAP);
		return;
	}
	if (number >= cache->exits.count) {
		end(run, HP_WINDOW_SIGNAL, 0, SIGTRAP);
		return;
	}
	exit = &cache->exits.at[number];
	switch ((enum code_exit_kind)exit->kind) {
	case CODE_EXIT_LINK:
		do_link(run, exit);
		break;
	case CODE_EXIT_SITE:
		do_site(run, exit);
		break;
	case CODE_EXIT_SYSTEM_CALL:
		do_system_call(run, exit);
		break;
	case CODE_EXIT_END:
	default:
		end(run, exit->end, exit->address, 0);
	}
}

/* Finds by which of our traps it has stopped. */
static bool find_trap(struct run *run, uint32_t *number)
{
	struct code_cache *cache = &run->engine->cache;
	const struct code_zone *zone = code_cache_zone_at(cache, run->registers.rip - 1);
	uint64_t offset;

	if (!zone)
		return false;
	offset = run->registers.rip - zone->address;
	if (offset + sizeof(*number) > cache->code_bytes || zone->code[offset - 1] != 0xcc)
		return false;
	memcpy(number, zone->code + offset, sizeof(*number));
	return true;
}

/* A fault may be a write to code that was translated: see text.h. */
static void do_fault(struct run *run)
{
	const struct area *area;
	uint64_t address;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, run->pid, NULL, &info) < 0) {
		end(run, HP_WINDOW_DIED, 0, 0);
		return;
	}
	address = (uint64_t)(uintptr_t)info.si_addr;
	if (shadow_text_open(run->engine->text, address)) {
		if (code_cache_is_full(&run->engine->cache))
			end(run, HP_WINDOW_CACHE_FULL, address, 0);
		return;
	}
	area = run->program ? areas_find(run->program, address) : NULL;
	end(run, area && area_is_writable_code(area) ? HP_WINDOW_WRITABLE_CODE : HP_WINDOW_SIGNAL,
	    0, SIGSEGV);
}

/* Finds why it has stopped, unless our watchdog has ended it. */
static void do_signal(struct run *run, int status)
{
	int signal = WSTOPSIG(status);
	uint32_t number;

	/* With the trap flag set it may stop anywhere, also after a byte that looks like one of our
	 * traps. */
	if (signal == SIGTRAP && !(status >> 16) && !(run->registers.eflags & TRAP_FLAG) &&
	    find_trap(run, &number))
		do_exit(run, number);
	else if (signal == SIGSEGV)
		do_fault(run);
	else
		end(run, HP_WINDOW_SIGNAL, 0, signal);
}

static void do_stop(struct run *run, int status)
{
	int signal = WSTOPSIG(status);

	if (signal == SIGSTOP && shadow_watchdog_has_fired(&run->watchdog)) {
		end(run, is_lost(run) ? HP_WINDOW_LOST : HP_WINDOW_TIME, 0, 0);
		return;
	}
	if (ptrace(PTRACE_GETREGS, run->pid, NULL, &run->registers) < 0) {
		end(run, HP_WINDOW_DIED, 0, 0);
		return;
	}
	if (status >> 16 == PTRACE_EVENT_SECCOMP) {
		end(run, HP_WINDOW_FORBIDDEN, 0, (int64_t)run->registers.orig_rax);
		return;
	}
	run->replay->exits++;
	if (signal == SIGSEGV && logging_go_on(&run->logging, run->pid, &run->registers))
		return;
	/* Who stops processes from outside and continues them, as a freezer does, says nothing of this one's
	 * path. */
	if ((signal != SIGSTOP && signal != SIGCONT) || status >> 16)
		do_signal(run, status);
	if (!run->is_over && run->limits->exits && run->replay->exits >= run->limits->exits)
		end(run, HP_WINDOW_EXITS, 0, 0);
}

static void arm_changed(struct run *run)
{
	const struct code_cache *cache = &run->engine->cache;

	if (cache->blocks.count > run->armed_blocks || cache->count_starts > run->armed_counts) {
		matcher_arm_new(&run->matcher);
		expect_sample(run);
	}
	run->armed_blocks = cache->blocks.count;
	run->armed_counts = cache->count_starts;
}

/* The copy is faster while its path is not logged. */
static void note_logging(struct run *run)
{
	if (run->was_logging == run->logging.is_on)
		return;
	run->was_logging = run->logging.is_on;
	matches_slow_down(&run->matcher.matches, run->was_logging ? logging_slowness : 1);
	matcher_arm_again(&run->matcher);
}

static void let_run(struct run *run)
{
	int status;

	logging_check(&run->logging);
	note_logging(run);
	x86_expect_enter(&run->engine->cache);
	arm_changed(run);
	run->registers.orig_rax = (unsigned long long)-1;
	if (ptrace(PTRACE_SETREGS, run->pid, NULL, &run->registers) < 0 ||
	    ptrace(PTRACE_CONT, run->pid, NULL, NULL) < 0) {
		end(run, HP_WINDOW_DIED, 0, 0);
		return;
	}
	while (waitpid(run->pid, &status, __WALL) < 0)
		if (errno != EINTR) {
			end(run, HP_WINDOW_DIED, 0, 0);
			return;
		}
	if (!branch_log_read(&run->engine->translator))
		end(run, HP_WINDOW_CACHE_FULL, 0, 0);
	else if (!WIFSTOPPED(status) && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		end(run, HP_WINDOW_FORBIDDEN, 0, -1);
	else if (!WIFSTOPPED(status))
		end(run, HP_WINDOW_DIED, 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	else
		do_stop(run, status);
}

/* Everything that has run is counted. */
static struct hp_error *conclude_all(struct run *run)
{
	const struct code_cache *cache = &run->engine->cache;
	struct shadow_counts begin = { .count_starts = cache->count_starts };
	struct shadow_counts end = { 0 };
	const struct shadow_counts *const moments[] = { &begin, &end };
	struct hp_error *error = shadow_counts_take(&end, cache)
					 ? shadow_counts_between(cache, moments, 2, run->replay)
					 : hp_error_create_no_memory();

	shadow_counts_free(&end);
	return error;
}

/* Sets the window's counts. */
static struct hp_error *conclude(struct run *run)
{
	struct code_cache *cache = &run->engine->cache;
	struct matches *matches = &run->matcher.matches;
	const struct match *moments[HP_WINDOW_PARTS + 1];
	const struct shadow_counts *counts[HP_WINDOW_PARTS + 1];
	size_t count;

	if (!run->matcher.count)
		return conclude_all(run);
	matches_finish(matches, matches_now(matches));
	count = matches_moments(matches, moments);
	if (!count)
		return NULL;
	matches_remember(matches, &run->engine->past);
	for (size_t i = 0; i < count; i++) {
		run->replay->cuts[i] = moments[i]->sample;
		counts[i] = &moments[i]->counts;
	}
	return shadow_counts_between(cache, counts, count, run->replay);
}

struct hp_error *hp_engine_replay(struct hp_engine *engine, pid_t pid,
				  const struct user_regs_struct *registers,
				  const struct hp_engine_sample *samples, size_t sample_count,
				  const struct hp_engine_limits *limits,
				  const struct hp_engine_calls *calls, struct hp_replay *replay)
{
	struct run run = { .engine = engine,
			   .pid = pid,
			   .registers = *registers,
			   .program = engine->program,
			   .limits = limits,
			   .calls = calls,
			   .replay = replay };
	uint64_t started_ns = hp_clock_monotonic_ns();
	uint64_t translated = engine->translator.translated;
	uint64_t general[X86_REGISTERS];
	struct hp_error *error;

	*replay = (struct hp_replay){ 0 };
	run.registers.eflags &= ~(unsigned long long)TRAP_FLAG;
	hold_general(registers, general);
	code_cache_zero_counters(&engine->cache);
	shadow_text_protect_by(engine->text, calls->protect, calls->context);
	logging_begin(&run.logging, &engine->cache, limits->log, &run.registers);
	error = matcher_begin(&run.matcher, &engine->translator, pid, samples, sample_count,
			      limits->samples ? limits->samples : sample_count, limits->has_end,
			      general, &engine->past);
	if (error)
		return error;
	run.was_logging = run.logging.is_on;
	if (run.was_logging)
		matches_slow_down(&run.matcher.matches, logging_slowness);
	run.error = shadow_watchdog_begin(&run.watchdog, pid, limits->time_ns);
	if (!run.error)
		(void)go_on_at(&run, registers->rip);
	while (!run.is_over && !run.error)
		let_run(&run);
	shadow_watchdog_end(&run.watchdog);
	logging_end(&run.logging);
	if (!run.error)
		run.error = conclude(&run);
	matcher_end(&run.matcher);
	replay->translated = engine->translator.translated - translated;
	replay->replay_ns = hp_clock_monotonic_ns() - started_ns;
	if (run.error)
		hp_replay_free(replay);
	return run.error;
}

void hp_replay_free(struct hp_replay *replay)
{
	free(replay->blocks);
	free(replay->edges);
	*replay = (struct hp_replay){ 0 };
}
