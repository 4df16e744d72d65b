/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_command [--log | --events FILE] COMMAND [ARGUMENT ...]
 *
 * Runs the command natively up to its entry point, and from there to its end through the engine,
 * its system calls made for real. Says on standard error what that took, one figure a line. What
 * ends a replay early (see enum hp_window_end) goes on natively, and is said too. With --log the
 * path is logged, and each step from block to block is checked. With --events the models of this
 * machine's caches, TLBs and predictor follow the whole path, as they follow the beginning of a
 * window, and FILE has one line per instruction and kind of event: its address in the process, the
 * event, the count. Lines that begin with "map" tell where files are mapped.
 */
#include "../machine_geometry.h"
#include "../../src/shadow/replay/engine.h"
#include "../../src/shadow/copy/inject.h"
#include "../../src/shadow/simulate/follow.h"
#include "../../src/shadow/translate/x86_decode.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/path.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SYSCALL_BYTES = 2 };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "replay_command: %s\n", what);
	exit(1);
}

static void succeed(struct hp_error *error)
{
	if (error)
		die(error->message);
}

static uint64_t entry_point(pid_t pid)
{
	uint64_t pair[2];
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "r");
	while (file && fread(pair, sizeof(pair), 1, file) == 1)
		if (pair[0] == AT_ENTRY) {
			fclose(file);
			return pair[1];
		}
	die("no entry point");
}

static void wait_trap(pid_t pid)
{
	int status;

	if (!wait_stopped(pid, &status) || WSTOPSIG(status) != SIGTRAP)
		die("the command does not start");
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		_exit(127);
	}
	wait_trap(pid);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (uintptr_t)PTRACE_O_EXITKILL);
	return pid;
}

/* Leaves it in front of its first own instruction. */
static void run_to(pid_t pid, uint64_t address, struct user_regs_struct *registers)
{
	void *at = (void *)(uintptr_t)address;
	long code = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);

	ptrace(PTRACE_POKETEXT, pid, at, (code & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	wait_trap(pid);
	ptrace(PTRACE_POKETEXT, pid, at, code);
	ptrace(PTRACE_GETREGS, pid, NULL, registers);
	registers->rip = address;
	registers->orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, pid, NULL, registers);
}

struct context {
	uint64_t call_at; /* a system-call instruction of the command's; the entry point, patched */
	long code;	  /* what was there */
	uint64_t calls;
};

/* --- the path as it is logged --- */

struct walk {
	const struct hp_engine *engine;
	const struct path_plan
		*plan; /* of the block that is being read; NULL: its number comes next */
	const struct path_plan *before;
	unsigned words_left;
	uint64_t words, blocks, instructions, accesses, wrong, partial;
};

static uint64_t behind(const struct path_plan *plan)
{
	uint64_t address = plan->address;

	for (size_t i = 0; i < plan->insn_count; i++)
		address += plan->lengths[i];
	return address;
}

static bool may_follow(const struct path_plan *plan, uint64_t address)
{
	switch ((enum x86_kind)plan->kind) {
	case X86_PLAIN:
	case X86_SYSTEM_CALL:
		return address == behind(plan);
	case X86_JUMP:
	case X86_CALL:
		return address == plan->target;
	case X86_JUMP_IF:
	case X86_JUMP_COUNTED:
		return address == behind(plan) || address == plan->target;
	case X86_JUMP_INDIRECT:
	case X86_CALL_INDIRECT:
	case X86_RETURN:
	case X86_END:
	default:
		return true;
	}
}

static void enter(struct walk *walk, uint64_t number)
{
	const struct path_plan *plan = hp_engine_plan(walk->engine, number);

	if (!plan) {
		walk->wrong++;
		return;
	}
	walk->wrong += walk->before && !may_follow(walk->before, plan->address);
	walk->plan = walk->before = plan;
	walk->words_left = plan->word_count;
	walk->blocks++;
	walk->instructions += plan->insn_count;
	walk->accesses += plan->access_count;
	walk->partial += plan->is_partial;
}

static bool take(void *context, const uint64_t *words, size_t count)
{
	struct walk *walk = context;

	walk->words += count;
	for (size_t i = 0; i < count; i++) {
		if (!walk->plan)
			enter(walk, words[i]);
		else
			walk->words_left--;
		if (walk->plan && !walk->words_left)
			walk->plan = NULL;
	}
	return true;
}

/* --- what models say of it --- */

struct modelled {
	const struct hp_engine *engine;
	struct follower follower;
	bool goes_on; /* a piece was followed before */
	FILE *out;
};

static const struct path_plan *plan_of(const void *engine, uint64_t block)
{
	return hp_engine_plan(engine, block);
}

static bool take_modelled(void *context, const uint64_t *words, size_t count)
{
	struct modelled *modelled = context;

	follower_take(&modelled->follower, words, count);
	return !modelled->follower.is_lost;
}

static void begin_modelled(struct modelled *modelled, uint64_t fs_base)
{
	follower_begin(&modelled->follower, modelled->goes_on, plan_of, modelled->engine, fs_base,
		       0);
	modelled->goes_on = true;
}

/* The plans of a piece are gone when the next one begins. */
static void end_modelled(struct modelled *modelled)
{
	struct hp_window window = { 0 };

	if (modelled->follower.is_lost)
		die("the path cannot be followed");
	follower_tell(&modelled->follower, NULL, 0, &window);
	for (size_t i = 0; i < window.event_count; i++)
		fprintf(modelled->out, "%lx %s %lu\n", window.events[i].address.value,
			hp_event_kind_name((enum hp_event_kind)window.events[i].kind),
			window.events[i].counts[0]);
	for (size_t i = 0; i < window.simulated_count; i++)
		fprintf(modelled->out, "block %lx %u %lu\n", window.simulated[i].address.value,
			window.simulated[i].size_bytes, window.simulated[i].counts[0]);
	hp_window_clear(&window);
}

static void create_modelled(struct modelled *modelled, const char *path)
{
	struct hp_uarch_geometry geometry = machine_geometry();
	struct hp_uarch *uarch = hp_uarch_create(&geometry);

	modelled->out = fopen(path, "w");
	if (!uarch || !modelled->out || !follower_create(&modelled->follower, uarch, NULL, NULL))
		die("no models");
}

/* Of a process that has not ended. */
static void tell_maps(const struct modelled *modelled, pid_t pid)
{
	char path[64], line[4096];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		fprintf(modelled->out, "map %s", line);
	if (!file || fclose(file) != 0 || fclose(modelled->out) != 0)
		die("the events cannot be written");
}

/* At the entry point, which is not needed any more, but must read as it did. */
static int64_t call(struct context *context, pid_t pid, long number, const uint64_t *arguments)
{
	struct shadow_call made = { .number = number };
	void *at = (void *)(uintptr_t)context->call_at;
	int64_t result;

	memcpy(made.arguments, arguments, sizeof(made.arguments));
	ptrace(PTRACE_POKETEXT, pid, at, (context->code & ~0xffffL) | 0x050f);
	if (!inject(pid, context->call_at, false, &made, &result))
		die("the command is gone");
	ptrace(PTRACE_POKETEXT, pid, at, context->code);
	return result;
}

static void map(struct context *context, pid_t pid, struct hp_engine *engine,
		const struct user_regs_struct *registers)
{
	const struct hp_engine_mapping *mappings;
	char path[64] = "";
	uint64_t at = registers->rsp - 1024;
	struct iovec local = { path, sizeof(path) };
	struct iovec remote = { (void *)(uintptr_t)at, sizeof(path) };
	size_t count;
	int64_t fd;

	succeed(hp_engine_prepare(engine, pid, NULL, &mappings, &count));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), hp_engine_memory(engine, 0));
	process_vm_writev(pid, &local, 1, &remote, 1, 0);
	fd = call(context, pid, SYS_openat, (uint64_t[6]){ (uint64_t)AT_FDCWD, at, O_RDWR });
	for (size_t i = 0; i < count; i++) {
		const uint64_t arguments[6] = { mappings[i].address,
						mappings[i].bytes,
						(uint64_t)mappings[i].protection,
						MAP_SHARED | MAP_FIXED_NOREPLACE,
						(uint64_t)fd,
						mappings[i].offset };

		if (call(context, pid, SYS_mmap, arguments) != (int64_t)mappings[i].address)
			die("the cache cannot be mapped");
	}
	call(context, pid, SYS_close, (uint64_t[6]){ (uint64_t)fd });
}

static struct hp_engine_call answer(void *opaque, pid_t pid, const struct user_regs_struct *call_of)
{
	struct context *context = opaque;
	const uint64_t arguments[6] = { call_of->rdi, call_of->rsi, call_of->rdx,
					call_of->r10, call_of->r8,  call_of->r9 };

	if (call_of->rax == SYS_exit_group || call_of->rax == SYS_execve ||
	    call_of->rax == SYS_clone || call_of->rax == SYS_clone3 || call_of->rax == SYS_vfork ||
	    call_of->rax == SYS_rt_sigreturn)
		return (struct hp_engine_call){ .is_handled = false };
	context->calls++;
	return (struct hp_engine_call){
		.is_handled = true,
		.result = call(context, pid, (long)call_of->rax, arguments),
	};
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* The shadow as the program would be: in front of the instruction that ended the replay. */
static void put_back(pid_t pid, uint64_t address, struct user_regs_struct *registers)
{
	ptrace(PTRACE_GETREGS, pid, NULL, registers);
	registers->rip = address;
	registers->gs_base = 0;
	registers->orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, pid, NULL, registers);
}

static bool may_step_over(enum hp_window_end end)
{
	return end == HP_WINDOW_CLOCK || end == HP_WINDOW_PROCESSOR || end == HP_WINDOW_RANDOM;
}

struct total {
	uint64_t instructions, translated, exits, replay_ns, engine_ns, pieces;
	size_t blocks; /* of the last piece */
};

static void replay_all(struct context *context, pid_t pid, struct hp_engine *engine,
		       struct user_regs_struct *registers, struct walk *walk,
		       struct modelled *modelled, struct total *total)
{
	const struct hp_engine_log log = { modelled ? take_modelled : take,
					   modelled ? (void *)modelled : walk, NULL };
	struct hp_engine_limits limits = { .time_ns = 600000000000 };
	struct hp_engine_calls calls = { .handle = answer, .context = context };
	uint64_t before_ns = hp_clock_thread_ns();
	struct hp_replay replay;
	enum hp_window_end end;

	if (walk || modelled)
		limits.log = &log;
	do {
		if (walk)
			walk->before = walk->plan = NULL;
		if (modelled)
			begin_modelled(modelled, registers->fs_base);
		succeed(hp_engine_replay(engine, pid, registers, NULL, 0, &limits, &calls,
					 &replay));
		end = replay.end;
		if (modelled)
			end_modelled(modelled);
		if (end == HP_WINDOW_SIGNAL)
			die(strsignal((int)replay.end_detail));
		if (end == HP_WINDOW_DIED)
			die(hp_window_end_name(end));
		put_back(pid, replay.end_address, registers);
		if (may_step_over(end)) {
			ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
			wait_trap(pid);
			ptrace(PTRACE_GETREGS, pid, NULL, registers);
		} else {
			fprintf(stderr, "end %s %ld\n", hp_window_end_name(end), replay.end_detail);
		}
		total->pieces++;
		total->instructions += replay.instructions;
		total->translated += replay.translated;
		total->exits += replay.exits;
		total->replay_ns += replay.replay_ns;
		total->blocks = replay.block_count;
		hp_replay_free(&replay);
	} while (may_step_over(end));
	total->engine_ns = hp_clock_thread_ns() - before_ns;
}

int main(int count, char **arguments)
{
	struct hp_engine_options options = { 0 };
	struct context context = { 0 };
	struct user_regs_struct registers;
	struct total total = { 0 };
	struct walk walk = { 0 };
	struct modelled modelled = { 0 };
	struct hp_engine *engine;
	struct rusage used;
	int status;
	pid_t pid;

	if (count > 1 && strcmp(arguments[1], "--log") == 0) {
		options.logs = true;
		arguments++;
		count--;
	}
	if (count > 2 && strcmp(arguments[1], "--events") == 0) {
		options.logs = true;
		create_modelled(&modelled, arguments[2]);
		arguments += 2;
		count -= 2;
	}
	if (count < 2)
		die("usage: replay_command [--log | --events FILE] COMMAND [ARGUMENT ...]");
	pid = start(arguments + 1);
	context.call_at = entry_point(pid);
	run_to(pid, context.call_at, &registers);
	context.code = ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)context.call_at, NULL);
	succeed(hp_engine_create(&options, &engine));
	map(&context, pid, engine, &registers);
	walk.engine = modelled.engine = engine;
	replay_all(&context, pid, engine, &registers, options.logs && !modelled.out ? &walk : NULL,
		   modelled.out ? &modelled : NULL, &total);
	if (modelled.out)
		tell_maps(&modelled, pid);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (wait4(pid, &status, __WALL, &used) != pid || !WIFEXITED(status))
		die("the command does not end");
	fprintf(stderr, "status %d\nuser %.3f\nsystem %.3f\n", WEXITSTATUS(status),
		seconds(used.ru_utime), seconds(used.ru_stime));
	fprintf(stderr,
		"engine %.3f\nreplay %.3f\npieces %lu\ninstructions %lu\nblocks %zu\ntranslated "
		"%lu\n"
		"exits %lu\ncalls %lu\n",
		1e-9 * (double)total.engine_ns, 1e-9 * (double)total.replay_ns, total.pieces,
		total.instructions, total.blocks, total.translated, total.exits, context.calls);
	if (options.logs && !modelled.goes_on)
		fprintf(stderr, "words %lu\nlogged %lu\naccesses %lu\npartial %lu\nwrong %lu\n",
			walk.words, walk.instructions, walk.accesses, walk.partial, walk.wrong);
	hp_engine_destroy(engine);
	return 0;
}
