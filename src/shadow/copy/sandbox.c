/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sandbox.h"

#include "permission.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	CHILD_STACK_BYTES = 65536,
	SEARCH_START = 0x20000, /* twice vm.mmap_min_addr's usual value */
	SEARCH_STEP = 4096,
	SEARCH_STEPS = (1 << 30) / SEARCH_STEP - 64, /* covers one gibibyte */
	TOOLS_GUARD = 4096,
};

/* What the pages of tools begin with. */
static const uint8_t tools_code[] = {
	0x0f, 0x05, /* syscall */
	0xcc,	    /* int3 */
	/* Makes the calls of a table at rbx, r12 in all: struct shadow_call. */
	0x48, 0x8b, 0x03,	/* mov (%rbx), %rax */
	0x48, 0x8b, 0x7b, 0x08, /* mov 8(%rbx), %rdi */
	0x48, 0x8b, 0x73, 0x10, /* mov 16(%rbx), %rsi */
	0x48, 0x8b, 0x53, 0x18, /* mov 24(%rbx), %rdx */
	0x4c, 0x8b, 0x53, 0x20, /* mov 32(%rbx), %r10 */
	0x4c, 0x8b, 0x43, 0x28, /* mov 40(%rbx), %r8 */
	0x4c, 0x8b, 0x4b, 0x30, /* mov 48(%rbx), %r9 */
	0x0f, 0x05,		/* syscall */
	0x48, 0x89, 0x03,	/* mov %rax, (%rbx) */
	0x48, 0x83, 0xc3, 0x38, /* add $56, %rbx */
	0x49, 0xff, 0xcc,	/* dec %r12 */
	0x75, 0xd7,		/* jnz, to the first mov */
	0xcc,			/* int3 */
};
static_assert(sizeof(struct shadow_call) == 56, "what the code above assumes");

enum {
	TOOLS_TABLE = VESSEL_SYSCALL_BYTES + 1, /* offset of the code for a table */
	/* A table in the scratch memory, … */
	CALLS_AT_ONCE = 128,
	CALLS_BYTES = CALLS_AT_ONCE * sizeof(struct shadow_call),
	/* … and a name for each call. */
	NAME_BYTES = 40,
};
static_assert(CALLS_BYTES + CALLS_AT_ONCE * NAME_BYTES <= TOOLS_SCRATCH_BYTES, "");

/* The end of what programs can map with four-level page tables. */
#define USER_END UINT64_C(0x7ffffffff000)

/* ThreadSanitizer's clone() mistakes the caller for the child when both share memory; from then on
 * it sees neither its locks nor its races. */
#ifdef __SANITIZE_THREAD__
int __clone(int (*run)(void *), void *stack, int flags, void *context, ...);
#define clone		  __clone
#define WITHOUT_SANITIZER __attribute__((no_sanitize_thread))
#else
#define WITHOUT_SANITIZER
#endif

/* --- starting --------------------------------------------------------------------------------- */

struct start {
	pid_t parent; /* process id of the parent; 0: it is not visible in the child's namespace */
	const cpu_set_t *cpus;
};

/* Raises the limit to its maximum. */
WITHOUT_SANITIZER static void lift_limit(unsigned resource)
{
	struct rlimit limit;

	if (syscall(SYS_prlimit64, 0, resource, NULL, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	syscall(SYS_prlimit64, 0, resource, &limit, NULL);
}

/* Runs in our memory until it executes a program, so it may only make system calls. If the child
 * runs the program after all, because we have died, it prints the version and ends. */
WITHOUT_SANITIZER static int run_child(void *context)
{
	static char name[] = VESSEL_NAME;
	static char version[] = "--version";
	char *const arguments[] = { name, version, NULL };
	char *const environment[] = { NULL };
	const struct start *start = context;
	/* A small stack, so that new mappings start as high as possible. */
	const struct rlimit stack = { 1 << 20, 1 << 20 };
	const struct rlimit nothing = { 0, 0 };
	sigset_t none;

	/* The stop at the start of a program is a signal, which must not be blocked. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((start->parent && getppid() != start->parent) ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);
	/* A process group of its own, since signals to all of ours (Ctrl-C) would interrupt calls
	 * of the copy. It stays in our session: a new session might get its own share of the
	 * CPUs. */
	setpgid(0, 0);
	/* This is refused in some containers; then only the layout differs more. */
	personality(ADDR_NO_RANDOMIZE);
	syscall(SYS_prlimit64, 0, RLIMIT_STACK, &stack, NULL);
	/* No new processes, no files, no core file. */
	syscall(SYS_prlimit64, 0, RLIMIT_NPROC, &nothing, NULL);
	syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &nothing, NULL);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &nothing, NULL);
	lift_limit(RLIMIT_AS);
	lift_limit(RLIMIT_DATA);
	syscall(SYS_sched_setaffinity, 0, sizeof(*start->cpus), start->cpus);
	/* A direct system call: the function of a build for coverage would write files first. */
	syscall(SYS_execve, "/proc/self/exe", arguments, environment);
	_exit(1);
}

/* It becomes the first process of a PID namespace where that is permitted, so that everything it
 * might start ends with it. */
WITHOUT_SANITIZER static pid_t clone_child(char *stack_end, struct start *start, int *pidfd)
{
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
	pid_t pid;

	start->parent = 0;
	pid = clone(run_child, stack_end, flags | CLONE_NEWPID, start, pidfd);
	if (pid >= 0)
		return pid;
	start->parent = getpid();
	return clone(run_child, stack_end, flags, start, pidfd);
}

static struct hp_error *start_child(struct sandbox *sandbox, const cpu_set_t *cpus)
{
	struct start start = { .cpus = cpus };
	void *stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int pidfd = -1;
	pid_t pid;
	int error;

	if (stack == MAP_FAILED)
		return hp_error_create_no_memory();
	/* Its end sends no signal, and only a wait with __WALL, like ours, sees it. */
	pid = clone_child((char *)stack + CHILD_STACK_BYTES, &start, &pidfd);
	error = errno;
	munmap(stack, CHILD_STACK_BYTES);
	if (pid < 0)
		return shadow_not_started(error, "creating a process for a copy");
	sandbox->pid = pid;
	pthread_mutex_lock(&sandbox->lock);
	sandbox->pidfd = pidfd;
	pthread_mutex_unlock(&sandbox->lock);
	return NULL;
}

/* Waits for the stop at the program's first instruction. */
static struct hp_error *await_exec(struct sandbox *sandbox)
{
	int status;

	if (!wait_stopped(sandbox->pid, &status))
		return hp_error_create(HP_ERROR_NOT_PERMITTED,
				       "hpcprof could not trace a process of its own");
	if (WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_SETOPTIONS, sandbox->pid, NULL, PTRACE_O_EXITKILL) < 0)
		return hp_error_create(HP_ERROR_SYSTEM, "a process for a copy did not start");
	return NULL;
}

/* Makes the kernel end it first when memory is short. */
static void be_first_to_go(pid_t pid)
{
	static const char score[] = "1000";
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* If that is refused, the copy is as likely to be ended as others. */
		if (write(fd, score, sizeof(score) - 1) < 0)
			errno = 0;
		close(fd);
	}
}

/* --- emptying --------------------------------------------------------------------------------- */

static uint64_t find_syscall(struct sandbox *sandbox)
{
	static const uint8_t instruction[2] = { 0x0f, 0x05 };
	uint8_t bytes[4096];

	for (size_t i = 0; i < sandbox->own.count; i++) {
		const struct area *area = &sandbox->own.at[i];

		if (!(area->protection & PROT_EXEC) || area->kind == AREA_VSYSCALL)
			continue;
		for (uint64_t at = area->start; at < area->end; at += sizeof(bytes)) {
			const uint8_t *found;

			if (!sandbox_read(sandbox, at, bytes, sizeof(bytes)))
				break;
			found = memmem(bytes, sizeof(bytes), instruction, sizeof(instruction));
			if (found)
				return at + (uint64_t)(found - bytes);
		}
	}
	return 0;
}

static bool is_free(const struct areas *areas, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; i < areas->count; i++) {
		if (areas->at[i].start < start + bytes && areas->at[i].end > start)
			return false;
	}
	return true;
}

/* A low address, where neither programs nor the kernel map anything; another one each time, with
 * nothing next to it. */
static uint64_t place_for_tools(const struct sandbox *sandbox, const struct areas *around)
{
	uint64_t first = hp_unforeseen_u64() % SEARCH_STEPS;

	for (uint64_t i = 0; i < SEARCH_STEPS; i++) {
		uint64_t at = SEARCH_START + (first + i) % SEARCH_STEPS * SEARCH_STEP;

		if (is_free(&sandbox->own, at - TOOLS_GUARD, TOOLS_BYTES + 2 * TOOLS_GUARD) &&
		    is_free(around, at - TOOLS_GUARD, TOOLS_BYTES + 2 * TOOLS_GUARD))
			return at;
	}
	return 0;
}

static int64_t make_code(struct sandbox *sandbox, uint64_t place)
{
	if (!sandbox_write(sandbox, place, tools_code, sizeof(tools_code)))
		return -EIO;
	return sandbox_call(sandbox, SYS_mprotect, place, TOOLS_SCRATCH, PROT_READ | PROT_EXEC, 0,
			    0, 0);
}

static bool make_tools(struct sandbox *sandbox, const struct areas *around)
{
	uint64_t borrowed = find_syscall(sandbox);
	uint64_t place = place_for_tools(sandbox, around);
	int64_t got;

	if (!borrowed || !place)
		return false;
	sandbox->tools = borrowed;
	got = sandbox_call(sandbox, SYS_mmap, place, TOOLS_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 0);
	if (got != (int64_t)place || make_code(sandbox, place) != 0)
		return false;
	sandbox->tools = place;
	return true;
}

/* Its command line is gone with its stack, so it is given a name that people see. */
static void be_known(struct sandbox *sandbox)
{
	static const char name[] = VESSEL_NAME;
	uint64_t at = sandbox->tools + TOOLS_SCRATCH;

	if (sandbox_write(sandbox, at, name, sizeof(name)))
		sandbox_call(sandbox, SYS_prctl, PR_SET_NAME, at, 0, 0, 0, 0);
}

/* Unmaps everything, including the vdso: a copy has the target's, as ordinary memory. */
static bool empty(struct sandbox *sandbox)
{
	bool ok = sandbox_call(sandbox, SYS_close_range, 0, UINT32_MAX, 0, 0, 0, 0) >= 0;

	for (size_t i = 0; ok && i < sandbox->own.count; i++) {
		const struct area *area = &sandbox->own.at[i];

		if (area->kind != AREA_VSYSCALL)
			ok = sandbox_call(sandbox, SYS_munmap, area->start, area->end - area->start,
					  0, 0, 0, 0) == 0;
	}
	return ok;
}

/* --- public ----------------------------------------------------------------------------------- */

void sandbox_init(struct sandbox *sandbox)
{
	*sandbox = (struct sandbox){ .pidfd = -1, .memory_fd = -1 };
	pthread_mutex_init(&sandbox->lock, NULL);
}

void sandbox_clear(struct sandbox *sandbox)
{
	sandbox_kill(sandbox, NULL);
	areas_clear(&sandbox->own);
	pthread_mutex_destroy(&sandbox->lock);
}

/* A process of idle priority takes long to end when others keep the CPUs busy. So we release its
 * memory (Linux 5.15), which takes longest, and let it end on any CPU. */
static void hasten_end(const struct sandbox *sandbox)
{
	const struct sched_param no_priority = { 0 };
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	syscall(SYS_sched_setaffinity, sandbox->pid, sizeof(all), &all);
	/* permitted to the superuser */
	sched_setscheduler(sandbox->pid, SCHED_OTHER, &no_priority);
	syscall(SYS_process_mrelease, sandbox->pidfd, 0);
}

void sandbox_end(struct sandbox *sandbox)
{
	pthread_mutex_lock(&sandbox->lock);
	/* By its descriptor: it may have been reaped, and its number reused. */
	if (sandbox->pidfd >= 0 &&
	    syscall(SYS_pidfd_send_signal, sandbox->pidfd, SIGKILL, NULL, 0) == 0)
		hasten_end(sandbox);
	pthread_mutex_unlock(&sandbox->lock);
}

static struct hp_error *open_memory(struct sandbox *sandbox)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)sandbox->pid);
	sandbox->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	if (sandbox->memory_fd < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	return areas_read(&sandbox->own, sandbox->pid);
}

struct hp_error *sandbox_create(struct sandbox *sandbox, const struct areas *around,
				const cpu_set_t *cpus)
{
	struct hp_error *error;

	sandbox->is_locked = false;
	sandbox->engine_count = 0;
	error = start_child(sandbox, cpus);
	if (!error)
		error = await_exec(sandbox);
	if (!error)
		error = open_memory(sandbox);
	if (!error) {
		be_first_to_go(sandbox->pid);
		if (!make_tools(sandbox, around) || !empty(sandbox))
			error = hp_error_create(HP_ERROR_SYSTEM,
						"the process for a copy could not be emptied");
	}
	if (!error)
		be_known(sandbox);
	if (error)
		sandbox_kill(sandbox, NULL);
	return error;
}

/* It may have to pass a stop before it ends. False: it did not end in time. */
static bool reap(pid_t pid, uint64_t patience_ns)
{
	uint64_t end_ns = hp_clock_monotonic_ns() + patience_ns;
	const struct timespec pause = { .tv_nsec = REAP_PAUSE_NS };
	int status = 0;

	for (;;) {
		pid_t got = waitpid(pid, &status, __WALL | WNOHANG);

		if ((got < 0 && errno != EINTR) ||
		    (got == pid && (WIFEXITED(status) || WIFSIGNALED(status))))
			return true;
		if (got == 0 && hp_clock_monotonic_ns() >= end_ns)
			return false;
		if (got == 0)
			nanosleep(&pause, NULL);
	}
}

/* Reaps earlier ones, and this one. If it does not end in time, it is remembered for later, or
 * waited for when there is no place left. */
static void reap_all(struct sandbox *sandbox, pid_t pid)
{
	bool is_reaped = pid == 0 || reap(pid, REAP_PATIENCE_NS);

	for (size_t i = 0; i < DYING_LIMIT; i++) {
		if (sandbox->dying[i] && reap(sandbox->dying[i], 0))
			sandbox->dying[i] = 0;
		if (!sandbox->dying[i] && !is_reaped) {
			sandbox->dying[i] = pid;
			is_reaped = true;
		}
	}
	if (!is_reaped)
		reap(pid, UINT64_MAX / 2);
}

static uint64_t cpu_time_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

void sandbox_kill(struct sandbox *sandbox, uint64_t *cpu_ns)
{
	pid_t pid = sandbox->pid;

	if (sandbox->memory_fd >= 0)
		close(sandbox->memory_fd);
	sandbox->memory_fd = -1;
	if (!pid)
		return;
	if (cpu_ns)
		*cpu_ns = cpu_time_ns(pid);
	sandbox_end(sandbox);
	pthread_mutex_lock(&sandbox->lock);
	close(sandbox->pidfd);
	sandbox->pidfd = -1;
	pthread_mutex_unlock(&sandbox->lock);
	sandbox->pid = 0;
	reap_all(sandbox, pid);
}

bool sandbox_reserve(struct sandbox *sandbox, uint64_t start, uint64_t bytes)
{
	struct sandbox_range *last =
		sandbox->engine_count ? &sandbox->engine[sandbox->engine_count - 1] : NULL;

	/* Adjacent ranges are merged; the engine's memory may be mapped from several files. */
	if (last && last->start <= start && start <= last->end) {
		last->end = start + bytes > last->end ? start + bytes : last->end;
		return true;
	}
	if (sandbox->engine_count >= VESSEL_RANGES)
		return false;
	sandbox->engine[sandbox->engine_count++] = (struct sandbox_range){ start, start + bytes };
	return true;
}

static bool meet(uint64_t start, uint64_t end, uint64_t other_start, uint64_t other_end)
{
	return start < other_end && other_start < end;
}

bool sandbox_is_ours(const struct sandbox *sandbox, uint64_t start, uint64_t bytes)
{
	/* The range may end past the last address; and a page always belongs to it as a whole. */
	uint64_t end = start + bytes < start ? UINT64_MAX : start + bytes;
	uint64_t tools = sandbox->tools;

	if (end < UINT64_MAX - TOOLS_GUARD)
		end = (end + TOOLS_GUARD - 1) & ~(uint64_t)(TOOLS_GUARD - 1);
	if (meet(start, end, tools - TOOLS_GUARD, tools + TOOLS_BYTES + TOOLS_GUARD))
		return true;
	for (size_t i = 0; i < sandbox->engine_count; i++) {
		if (meet(start, end, sandbox->engine[i].start, sandbox->engine[i].end))
			return true;
	}
	return false;
}

int64_t sandbox_call(struct sandbox *sandbox, long number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f)
{
	const struct shadow_call call = { number, { a, b, c, d, e, f } };
	int64_t result;

	if (!inject(sandbox->pid, sandbox->tools, sandbox->is_locked, &call, &result))
		return -EIO;
	return result;
}

/* How many of so many calls fit into the scratch memory. */
static size_t part_of(size_t count)
{
	return count < CALLS_AT_ONCE ? count : CALLS_AT_ONCE;
}

/* Makes one part of the calls. */
static bool make_calls(struct sandbox *sandbox, struct shadow_call *calls, size_t count)
{
	uint64_t at = sandbox->tools + TOOLS_SCRATCH;

	return sandbox_write(sandbox, at, calls, count * sizeof(*calls)) &&
	       inject_code(sandbox->pid, sandbox->tools + TOOLS_TABLE,
			   sandbox->tools + sizeof(tools_code), at, count) &&
	       sandbox_read(sandbox, at, calls, count * sizeof(*calls));
}

bool sandbox_calls(struct sandbox *sandbox, struct shadow_call *calls, size_t count)
{
	while (count) {
		size_t part = part_of(count);

		if (!make_calls(sandbox, calls, part))
			return false;
		calls += part;
		count -= part;
	}
	return true;
}

bool sandbox_write(struct sandbox *sandbox, uint64_t address, const void *bytes, size_t size)
{
	return pwrite(sandbox->memory_fd, bytes, size, (off_t)address) == (ssize_t)size;
}

bool sandbox_read(struct sandbox *sandbox, uint64_t address, void *bytes, size_t size)
{
	return pread(sandbox->memory_fd, bytes, size, (off_t)address) == (ssize_t)size;
}

/* Opens as many as fit into the scratch memory, by the names of our descriptors. */
static bool open_some(struct sandbox *sandbox, struct sandbox_file *files, size_t count, int flags)
{
	uint64_t names_at = sandbox->tools + TOOLS_SCRATCH + CALLS_BYTES;
	struct shadow_call calls[CALLS_AT_ONCE];
	char names[CALLS_AT_ONCE][NAME_BYTES] = { 0 };

	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], NAME_BYTES, "/proc/%d/fd/%d", (int)getpid(), files[i].ours);
		calls[i] = (struct shadow_call){ SYS_openat,
						 { (uint64_t)AT_FDCWD, names_at + i * NAME_BYTES,
						   (uint64_t)flags | O_CLOEXEC } };
	}
	if (!sandbox_write(sandbox, names_at, names, count * NAME_BYTES) ||
	    !make_calls(sandbox, calls, count))
		return false;
	for (size_t i = 0; i < count; i++)
		files[i].theirs = calls[i].number;
	return true;
}

bool sandbox_open_all(struct sandbox *sandbox, struct sandbox_file *files, size_t count)
{
	while (count) {
		size_t part = part_of(count);

		if (!open_some(sandbox, files, part, O_RDONLY))
			return false;
		files += part;
		count -= part;
	}
	return true;
}

int64_t sandbox_open(struct sandbox *sandbox, int fd, int flags)
{
	struct sandbox_file file = { .ours = fd };

	return open_some(sandbox, &file, 1, flags) ? file.theirs : -EIO;
}
