/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	KERNEL_SIGSET_BYTES = 8,
	MOST_ERRNO = 4095,
};

static int64_t run(struct shadow_calls *calls, const struct call *call)
{
	return sandbox_call(calls->sandbox, call->number, call->a[0], call->a[1], call->a[2],
			    call->a[3], call->a[4], call->a[5]);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Those that read and write; what else there is changes more than what is named. */
static bool is_plain(uint64_t protection)
{
	return !(protection & ~(uint64_t)(PROT_READ | PROT_WRITE));
}

static uint64_t page_up(uint64_t address)
{
	return (address + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* Of a file: memory that is filled, since a copy opens nothing. */
static bool map_file(struct shadow_calls *calls, struct call *call, struct descriptor *descriptor)
{
	uint64_t flags = (call->a[3] & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE | MAP_ANONYMOUS;

	/* What it has written is not in the file. */
	if (descriptor->is_written ||
	    written_is_changed(&calls->descriptors->written, descriptor->device,
			       descriptor->inode) ||
	    !descriptor_may_be_read(descriptor) || call->a[1] > MAPPED_LIMIT_BYTES)
		return false;
	call->result = sandbox_call(calls->sandbox, SYS_mmap, call->a[0], call->a[1], call->a[2],
				    flags, UINT64_MAX, 0);
	if (call->result < 0)
		return call->result >= -MOST_ERRNO;
	return read_file(calls, descriptor, (uint64_t)call->result, call->a[1], call->a[5]) >= 0;
}

static bool answer_mmap(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor;
	uint64_t flags = call->a[3];

	if (!is_plain(call->a[2]) || (flags & MAP_HUGETLB) ||
	    ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
	     call_is_sacred(calls, call->a[0], call->a[1])))
		return false;
	if (flags & MAP_ANONYMOUS)
		return call_done(call, run(calls, call));
	descriptor = descriptors_find(calls->descriptors, call->a[4]);
	return descriptor && map_file(calls, call, descriptor);
}

/* The shadow's own break is elsewhere: what the original's would do is done by mapping. */
static bool answer_brk(struct shadow_calls *calls, struct call *call)
{
	uint64_t end = calls->heap_end;
	uint64_t wanted = page_up(call->a[0]);
	int64_t got = 0;

	if (!end || wanted < calls->heap.start || wanted < call->a[0])
		return false;
	if (wanted > end) {
		got = sandbox_call(
			calls->sandbox, SYS_mmap, end, wanted - end, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, UINT64_MAX, 0);
		if (got != (int64_t)end)
			return false;
	} else if (wanted < end) {
		if (call_is_sacred(calls, wanted, end - wanted))
			return false;
		got = sandbox_call(calls->sandbox, SYS_munmap, wanted, end - wanted, 0, 0, 0, 0);
		if (got)
			return false;
	}
	calls->heap_end = wanted;
	return call_done(call, (int64_t)call->a[0]);
}

static bool answer_mremap(struct shadow_calls *calls, struct call *call)
{
	bool is_placed = call->a[3] & MREMAP_FIXED;
	/* Of shared memory, nothing is moved but a second view of it. */
	uint64_t bytes = call->a[1] ? call->a[1] : call->a[2];

	return !call_is_sacred(calls, call->a[0], bytes) &&
	       !(is_placed && call_is_sacred(calls, call->a[4], call->a[2])) &&
	       call_done(call, run(calls, call));
}

/* Advice that changes what is in memory; of the rest nothing comes but time. */
static bool answer_madvise(struct shadow_calls *calls, struct call *call)
{
	switch (call->a[2]) {
	case MADV_DONTNEED:
	case MADV_FREE:
		return !call_is_sacred(calls, call->a[0], call->a[1]) &&
		       call_done(call, run(calls, call));
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_COLD:
		return call_done(call, 0);
	default:
		return false;
	}
}

static bool answer_memory(struct shadow_calls *calls, struct call *call)
{
	if (call_is_sacred(calls, call->a[0], call->a[1]))
		return false;
	if (call->number == SYS_mprotect && !is_plain(call->a[2]))
		return false;
	return call_done(call, run(calls, call));
}

/* --- the rest --------------------------------------------------------------------------------- */

static bool answer_id(struct shadow_calls *calls, struct call *call)
{
	static const struct {
		long number;
		enum shadow_id id;
	} which[] = {
		{ SYS_getpid, ID_PROCESS },	     { SYS_gettid, ID_THREAD },
		{ SYS_getppid, ID_PARENT },	     { SYS_getuid, ID_USER },
		{ SYS_geteuid, ID_EFFECTIVE_USER },  { SYS_getgid, ID_GROUP },
		{ SYS_getegid, ID_EFFECTIVE_GROUP },
	};

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		if (which[i].number == call->number)
			return calls->ids[which[i].id] >= 0 &&
			       call_done(call, calls->ids[which[i].id]);
	}
	return false;
}

/* Names: of memory, as allocators give it, which not every kernel keeps; and of the thread. */
static bool answer_prctl(struct shadow_calls *calls, struct call *call)
{
	(void)calls;
	if ((int)call->a[0] == PR_SET_NAME)
		return call_done(call, 0);
	if ((int)call->a[0] != PR_SET_VMA)
		return false;
	/* Of no memory at all: says whether there are such names, and names nothing. */
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0, 0, NULL) < 0 && errno == EINVAL)
		return call_done(call, -EINVAL);
	return call_done(call, 0);
}

static bool answer_mask(struct shadow_calls *calls, struct call *call)
{
	uint64_t set = 0;

	if (call->a[3] != KERNEL_SIGSET_BYTES)
		return false;
	if (call->a[1] && !sandbox_read(calls->sandbox, call->a[1], &set, sizeof(set)))
		return false;
	if (call->a[2] && !call_write(calls, call->a[2], &calls->blocked, sizeof(calls->blocked)))
		return false;
	if (call->a[1] && call->a[0] == SIG_BLOCK)
		calls->blocked |= set;
	else if (call->a[1] && call->a[0] == SIG_UNBLOCK)
		calls->blocked &= ~set;
	else if (call->a[1] && call->a[0] == SIG_SETMASK)
		calls->blocked = set;
	return call_done(call, 0);
}

/* Waking wakes nobody here; who would wait for a value that has changed already does not wait. */
static bool answer_futex(struct shadow_calls *calls, struct call *call)
{
	uint64_t command = call->a[1] & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	uint32_t value;

	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP)
		return call_done(call, 0);
	if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
	    sandbox_read(calls->sandbox, call->a[0], &value, sizeof(value)) &&
	    value != (uint32_t)call->a[2])
		return call_done(call, -EAGAIN);
	calls->may_wait = true;
	return false;
}

static bool answer_clock(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	return call->a[0] <= INT_MAX &&
	       shadow_clock_read(&calls->clock, calls->sandbox->pid, (clockid_t)call->a[0],
				 &time) &&
	       call_guess(calls, call, call->a[1], &time, sizeof(time)) && call_done(call, 0);
}

static bool answer_time_of_day(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;
	struct timeval value;

	if (call->a[1] ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_REALTIME, &time))
		return false;
	value = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	return call_guess(calls, call, call->a[0], &value, sizeof(value)) && call_done(call, 0);
}

static bool answer_time(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	if (!shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_REALTIME, &time))
		return false;
	if (call->a[0] && !call_guess(calls, call, call->a[0], &time.tv_sec, sizeof(time.tv_sec)))
		return false;
	return call_done(call, time.tv_sec);
}

/* Asked, not set, of itself. */
static bool answer_limit(struct shadow_calls *calls, struct call *call)
{
	struct rlimit limit;

	return !call->a[0] && !call->a[2] && call->a[3] && call->a[1] <= INT_MAX &&
	       prlimit(calls->pid, (enum __rlimit_resource)call->a[1], NULL, &limit) == 0 &&
	       call_write(calls, call->a[3], &limit, sizeof(limit)) && call_done(call, 0);
}

static bool answer_affinity(struct shadow_calls *calls, struct call *call)
{
	unsigned long mask[1024 / (8 * sizeof(unsigned long))];
	bool is_own = !call->a[0] || (int64_t)call->a[0] == calls->ids[ID_THREAD];
	size_t room = call->a[1] < sizeof(mask) ? call->a[1] : sizeof(mask);
	long bytes = is_own ? syscall(SYS_sched_getaffinity, calls->tid, room, mask) : -1;

	return bytes > 0 && call_write(calls, call->a[2], mask, (size_t)bytes) &&
	       call_done(call, bytes);
}

/* The times are about right, of the rest nothing is known. */
static bool answer_usage(struct shadow_calls *calls, struct call *call)
{
	bool is_thread = (int)call->a[0] == RUSAGE_THREAD;
	struct rusage usage = { 0 };
	struct timespec time;

	if ((!is_thread && (int)call->a[0] != RUSAGE_SELF) ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid,
			       is_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID,
			       &time))
		return false;
	usage.ru_utime = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	return call_guess(calls, call, call->a[1], &usage, sizeof(usage)) && call_done(call, 0);
}

static clock_t clock_ticks(struct timespec time)
{
	clock_t per_second = sysconf(_SC_CLK_TCK);

	return time.tv_sec * per_second + time.tv_nsec / (1000000000 / per_second);
}

/* Its own CPU time, all of it as user time, and none of children. */
static bool answer_times(struct shadow_calls *calls, struct call *call)
{
	struct timespec used, now;
	struct tms times = { 0 };

	if (!shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_PROCESS_CPUTIME_ID,
			       &used) ||
	    !shadow_clock_read(&calls->clock, calls->sandbox->pid, CLOCK_MONOTONIC, &now))
		return false;
	times.tms_utime = clock_ticks(used);
	return (!call->a[0] || call_guess(calls, call, call->a[0], &times, sizeof(times))) &&
	       call_done(call, clock_ticks(now));
}

/* How much memory the machine has is the same for all, how much is free is not. */
static bool answer_system(struct shadow_calls *calls, struct call *call)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 && call_guess(calls, call, call->a[0], &info, sizeof(info)) &&
	       call_done(call, 0);
}

/* What tells of the machine, or of what there is in it. The original's filter may refuse it, and a
 * copy has none like it. */
static bool may_be_asked(const struct shadow_calls *calls, int64_t number)
{
	if (!calls->is_confined)
		return true;
	return number != SYS_prlimit64 && number != SYS_sched_getaffinity &&
	       number != SYS_getrusage && number != SYS_times && number != SYS_sysinfo;
}

static bool answer(struct shadow_calls *calls, struct call *call)
{
	if (!may_be_asked(calls, call->number))
		return false;
	switch (call->number) {
	case SYS_mmap:
		return answer_mmap(calls, call);
	case SYS_brk:
		return answer_brk(calls, call);
	case SYS_mprotect:
	case SYS_munmap:
		return answer_memory(calls, call);
	case SYS_mremap:
		return answer_mremap(calls, call);
	case SYS_madvise:
		return answer_madvise(calls, call);
	case SYS_prctl:
		return answer_prctl(calls, call);
	case SYS_read:
	case SYS_pread64:
		return answer_read(calls, call);
	case SYS_readv:
		return answer_readv(calls, call);
	case SYS_getdents64:
		return answer_entries(calls, call);
	case SYS_write:
	case SYS_pwrite64:
		return answer_write(calls, call);
	case SYS_writev:
		return answer_writev(calls, call);
	case SYS_lseek:
		return answer_lseek(calls, call);
	case SYS_ftruncate:
	case SYS_fallocate:
		return answer_resize(calls, call);
	case SYS_fstat:
		return answer_fstat(calls, call, call->a[0], call->a[1]);
	case SYS_close:
		return answer_close(calls, call);
	case SYS_fcntl:
		return answer_fcntl(calls, call);
	case SYS_ioctl:
		return answer_ioctl(calls, call);
	case SYS_open:
	case SYS_openat:
	case SYS_stat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_getcwd:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
		return answer_named(calls, call);
	case SYS_rt_sigaction:
	case SYS_sigaltstack:
		/* What was there before is not known. */
		return !call->a[call->number == SYS_rt_sigaction ? 2 : 1] && call_done(call, 0);
	case SYS_prlimit64:
		return answer_limit(calls, call);
	case SYS_sched_getaffinity:
		return answer_affinity(calls, call);
	case SYS_getrusage:
		return answer_usage(calls, call);
	case SYS_times:
		return answer_times(calls, call);
	case SYS_sysinfo:
		return answer_system(calls, call);
	case SYS_rt_sigprocmask:
		return answer_mask(calls, call);
	case SYS_futex:
		return answer_futex(calls, call);
	case SYS_clock_gettime:
		return answer_clock(calls, call);
	case SYS_gettimeofday:
		return answer_time_of_day(calls, call);
	case SYS_time:
		return answer_time(calls, call);
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		/* It takes no CPU time: here, none at all. */
		return call_done(call, 0);
	default:
		return answer_id(calls, call);
	}
}

struct hp_engine_call shadow_calls_handle(void *context, pid_t pid,
					  const struct user_regs_struct *registers)
{
	struct shadow_calls *calls = context;
	struct call call = {
		.number = (int64_t)registers->rax,
		.a = { registers->rdi, registers->rsi, registers->rdx, registers->r10,
		       registers->r8, registers->r9 },
	};
	bool is_handled = false;

	(void)pid;
	calls->may_wait = false;
	calls->of = NULL;
	switch (shadow_call_policy(call.number)) {
	case CALL_WAITS:
		calls->may_wait = true;
		break;
	case CALL_PRETENDS:
		is_handled = true;
		break;
	case CALL_IS_ANSWERED:
		is_handled = answer(calls, &call);
		break;
	case CALL_ENDS:
		break;
	}
	calls->calls += is_handled;
	return (struct hp_engine_call){
		.is_handled = is_handled,
		.result = call.result,
		.guessed_at = call.guessed_at,
		.guessed_bytes = call.guessed_bytes,
	};
}

/* --- ids -------------------------------------------------------------------------------------- */

/* The last number of a line "Name:\t1\t2\n": as the innermost namespace has it. */
static int64_t last_number(const char *text, const char *name, bool *is_nested)
{
	const char *line = strstr(text, name);
	int64_t last = -1;
	int count = 0;
	int length = 0;
	long long value;

	if (!line)
		return -1;
	line += strlen(name);
	while (*line == '\t' && sscanf(line, "\t%lld%n", &value, &length) == 1) {
		last = value;
		line += length;
		count++;
	}
	*is_nested = count > 1;
	return last;
}

static int64_t nth_number(const char *text, const char *name, int wanted)
{
	const char *line = strstr(text, name);
	long long values[2];

	if (!line || sscanf(line + strlen(name), "\t%lld\t%lld", &values[0], &values[1]) != 2)
		return -1;
	return values[wanted];
}

static int open_directory(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void close_roots(struct name_roots *roots)
{
	if (roots->are_known && roots->root >= 0)
		close(roots->root);
	if (roots->are_known && roots->current >= 0)
		close(roots->current);
	roots->are_known = false;
}

void shadow_calls_copied(struct shadow_calls *calls)
{
	close_roots(&calls->roots);
	calls->roots = (struct name_roots){
		.are_known = true,
		.root = open_directory(calls->pid, "root"),
		.current = open_directory(calls->pid, "cwd"),
	};
	shadow_clock_copied(&calls->clock, calls->pid, calls->tid);
}

void shadow_calls_clear(struct shadow_calls *calls)
{
	close_roots(&calls->roots);
	file_names_clear(&calls->touched);
}

bool shadow_calls_identify(struct shadow_calls *calls, pid_t pid, pid_t tid)
{
	_cleanup_free_ char *text = NULL;
	bool is_nested = false;
	bool is_parent_nested;
	const char *line;
	char path[64];

	shadow_calls_clear(calls);
	calls->pid = pid;
	calls->tid = tid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	hp_error_destroy(hp_file_read_text(path, &text));
	if (!text)
		return false;
	line = strstr(text, "\nUmask:");
	calls->mask = line ? strtoul(line + strlen("\nUmask:"), NULL, 8) : 0;
	calls->ids[ID_PROCESS] = last_number(text, "\nNStgid:", &is_nested);
	calls->ids[ID_THREAD] = last_number(text, "\nNSpid:", &is_nested);
	calls->ids[ID_PARENT] = is_nested ? -1 : last_number(text, "\nPPid:", &is_parent_nested);
	calls->ids[ID_USER] = nth_number(text, "\nUid:", 0);
	calls->ids[ID_EFFECTIVE_USER] = nth_number(text, "\nUid:", 1);
	calls->ids[ID_GROUP] = nth_number(text, "\nGid:", 0);
	calls->ids[ID_EFFECTIVE_GROUP] = nth_number(text, "\nGid:", 1);
	return true;
}
