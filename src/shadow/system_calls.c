/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system_calls.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	PIECE_BYTES = 8192,
	/* More than that at once is read by nobody who is to be done in a window. */
	READ_LIMIT_BYTES = 64 << 20,
	WRITEV_LIMIT = 64,
	KERNEL_SIGSET_BYTES = 8,
};

/* One call: its arguments, and what becomes of it. */
struct call {
	int64_t number;
	uint64_t a[6];
	int64_t result;
	uint64_t guessed_at; /* see hp_engine_call */
	uint64_t guessed_bytes;
};

static bool done(struct call *call, int64_t result)
{
	call->result = result;
	return true;
}

/* Writes what the original may have got somewhat otherwise. */
static bool guess(struct shadow_calls *calls, struct call *call, uint64_t to, const void *bytes,
		  size_t size)
{
	call->guessed_at = to;
	call->guessed_bytes = size;
	return vessel_write(calls->vessel, to, bytes, size);
}

static int64_t run(struct shadow_calls *calls, const struct call *call)
{
	return vessel_call(calls->vessel, call->number, call->a[0], call->a[1], call->a[2],
			   call->a[3], call->a[4], call->a[5]);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Code that is taken away or may be changed has been translated already. */
static bool is_code(const struct shadow_calls *calls, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; i < calls->areas->count; i++) {
		const struct area *area = &calls->areas->at[i];

		if ((area->protection & PROT_EXEC) && area->start < start + bytes &&
		    area->end > start)
			return true;
	}
	return false;
}

static bool answer_mmap(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor;
	uint64_t flags = call->a[3];
	int64_t theirs;
	int fd;

	if ((call->a[2] & PROT_EXEC) || (flags & MAP_HUGETLB) ||
	    ((flags & MAP_FIXED) && is_code(calls, call->a[0], call->a[1])))
		return false;
	if (flags & MAP_ANONYMOUS)
		return done(call, run(calls, call));
	descriptor = descriptors_find(calls->descriptors, call->a[4]);
	fd = descriptor ? descriptors_open(calls->descriptors, descriptor) : -1;
	theirs = fd < 0 ? -1 : vessel_open(calls->vessel, fd, O_RDONLY);
	if (theirs < 0)
		return false;
	flags = (flags & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE;
	call->result = vessel_call(calls->vessel, SYS_mmap, call->a[0], call->a[1], call->a[2],
				   flags, (uint64_t)theirs, call->a[5]);
	vessel_call(calls->vessel, SYS_close, (uint64_t)theirs, 0, 0, 0, 0, 0);
	return true;
}

static uint64_t page_up(uint64_t address)
{
	return (address + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* The shadow's own break is elsewhere: what the original's would do is done by mapping. */
static bool answer_brk(struct shadow_calls *calls, struct call *call)
{
	uint64_t end = calls->heap_end;
	uint64_t wanted = page_up(call->a[0]);
	int64_t got = 0;

	if (!end || !call->a[0] || wanted < end - (end >> 1))
		return false;
	if (wanted > end) {
		got = vessel_call(calls->vessel, SYS_mmap, end, wanted - end,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, UINT64_MAX, 0);
		if (got != (int64_t)end)
			return false;
	} else if (wanted < end) {
		got = vessel_call(calls->vessel, SYS_munmap, wanted, end - wanted, 0, 0, 0, 0);
		if (got)
			return false;
	}
	calls->heap_end = wanted;
	return done(call, (int64_t)call->a[0]);
}

static bool answer_memory(struct shadow_calls *calls, struct call *call)
{
	if (is_code(calls, call->a[0], call->a[1]))
		return false;
	if (call->number == SYS_mprotect && (call->a[2] & PROT_EXEC))
		return false;
	return done(call, run(calls, call));
}

/* --- files ------------------------------------------------------------------------------------ */

static bool write_bytes(struct shadow_calls *calls, uint64_t to, const void *bytes, size_t size)
{
	return !size || vessel_write(calls->vessel, to, bytes, size);
}

/* What the original reads, if nothing has changed there since. -1: cannot be done. */
static int64_t read_file(struct shadow_calls *calls, int fd, uint64_t to, uint64_t bytes,
			 uint64_t position)
{
	uint8_t piece[PIECE_BYTES];
	uint64_t at = 0;

	if (fd < 0 || bytes > READ_LIMIT_BYTES)
		return -1;
	while (at < bytes) {
		size_t wanted = bytes - at < sizeof(piece) ? bytes - at : sizeof(piece);
		ssize_t got = pread(fd, piece, wanted, (off_t)(position + at));

		if (got < 0 || !write_bytes(calls, to + at, piece, (size_t)got))
			return -1;
		at += (uint64_t)got;
		if ((size_t)got < wanted)
			break;
	}
	return (int64_t)at;
}

/* Whether what it reads is still in the file, as far as the copy itself is concerned. */
static bool is_readable(const struct descriptor *descriptor)
{
	return descriptor->kind == DESCRIPTOR_REGULAR && descriptor->is_known &&
	       (descriptor->flags & O_ACCMODE) != O_WRONLY && !descriptor->is_written;
}

static bool answer_read(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);
	bool has_position = call->number == SYS_pread64;
	uint64_t position;
	int64_t got;

	calls->may_wait = descriptor && descriptor->kind == DESCRIPTOR_OTHER;
	if (!descriptor || !is_readable(descriptor))
		return false;
	position = has_position ? call->a[3] : descriptor->position;
	got = read_file(calls, descriptors_open(calls->descriptors, descriptor), call->a[1],
			call->a[2], position);
	if (got < 0)
		return false;
	if (!has_position)
		descriptor->position += (uint64_t)got;
	return done(call, got);
}

static bool pretend_written(struct shadow_calls *calls, struct call *call, uint64_t bytes)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);

	if (!descriptor || descriptor->kind == DESCRIPTOR_DIRECTORY || bytes > INT32_MAX)
		return false;
	if (call->number != SYS_pwrite64)
		descriptor->position += bytes;
	if (descriptor->kind == DESCRIPTOR_REGULAR)
		descriptors_mark_written(calls->descriptors, descriptor);
	return done(call, (int64_t)bytes);
}

static bool answer_writev(struct shadow_calls *calls, struct call *call)
{
	struct iovec vectors[WRITEV_LIMIT];
	uint64_t bytes = 0;

	if (call->a[2] > WRITEV_LIMIT ||
	    !vessel_read(calls->vessel, call->a[1], vectors, call->a[2] * sizeof(*vectors)))
		return false;
	for (size_t i = 0; i < call->a[2]; i++) {
		if (vectors[i].iov_len > INT32_MAX)
			return false;
		bytes += vectors[i].iov_len;
	}
	return pretend_written(calls, call, bytes);
}

static bool answer_lseek(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);
	int64_t offset = (int64_t)call->a[1];
	struct stat status;
	int fd;

	if (!descriptor || descriptor->kind != DESCRIPTOR_REGULAR || !descriptor->is_known)
		return false;
	if (call->a[2] == SEEK_CUR) {
		offset += (int64_t)descriptor->position;
	} else if (call->a[2] == SEEK_END) {
		fd = descriptors_open(calls->descriptors, descriptor);
		if (!is_readable(descriptor) || fd < 0 || fstat(fd, &status) < 0)
			return false;
		offset += status.st_size;
	} else if (call->a[2] != SEEK_SET) {
		return false;
	}
	if (offset < 0)
		return false;
	descriptor->position = (uint64_t)offset;
	return done(call, offset);
}

static bool answer_stat(struct shadow_calls *calls, struct call *call, uint64_t number, uint64_t to)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, number);
	struct stat status;
	int fd = descriptor && is_readable(descriptor)
			 ? descriptors_open(calls->descriptors, descriptor)
			 : -1;

	return fd >= 0 && fstat(fd, &status) == 0 &&
	       vessel_write(calls->vessel, to, &status, sizeof(status)) && done(call, 0);
}

/* glibc's fstat: an empty path. Others are looked up where the original's directory may be another
 * by now. */
static bool answer_statat(struct shadow_calls *calls, struct call *call)
{
	char first;

	return (call->a[3] & AT_EMPTY_PATH) && vessel_read(calls->vessel, call->a[1], &first, 1) &&
	       !first && answer_stat(calls, call, call->a[0], call->a[2]);
}

static bool read_text(struct shadow_calls *calls, uint64_t from, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!vessel_read(calls->vessel, from + i, &text[i], 1))
			return false;
		if (!text[i])
			return true;
	}
	return false;
}

/* A regular file, to be read: opened by us, as the original would find it; `directory` is AT_FDCWD
 * or unknown to us. */
static bool answer_open(struct shadow_calls *calls, struct call *call, int directory,
			uint64_t path_at, uint64_t flags)
{
	/* The C library's O_LARGEFILE is none, the kernel's is this. */
	const uint64_t harmless = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | 00100000;
	_cleanup_close_ int handle = -1;
	struct descriptor *descriptor;
	char wanted[PATH_MAX];
	char path[PATH_MAX + 64];
	struct stat status;
	int fd;

	if ((flags & ~harmless) || !read_text(calls, path_at, wanted, sizeof(wanted)) ||
	    (*wanted != '/' && directory != AT_FDCWD))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/%s/%s", (int)calls->pid,
		 *wanted == '/' ? "root" : "cwd", wanted);
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0 || fstat(handle, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	descriptor = fd < 0 ? NULL : descriptors_add(calls->descriptors, fd, O_RDONLY);
	return descriptor && done(call, descriptor->number);
}

static bool answer_close(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);

	if (!descriptor)
		return false;
	descriptors_remove(calls->descriptors, descriptor);
	return done(call, 0);
}

static bool answer_fcntl(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);

	/* Locks of its own it always gets. */
	if (descriptor && (call->a[1] == F_SETFD || call->a[1] == F_SETLK))
		return done(call, 0);
	if (descriptor && call->a[1] == F_GETFL && descriptor->is_known)
		return done(call, descriptor->flags & ~O_CLOEXEC);
	return false;
}

/* "Is it a terminal?", of a file. */
static bool answer_ioctl(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor = descriptors_find(calls->descriptors, call->a[0]);

	return descriptor && descriptor->kind == DESCRIPTOR_REGULAR && call->a[1] == TCGETS &&
	       done(call, -ENOTTY);
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
			return calls->ids[which[i].id] >= 0 && done(call, calls->ids[which[i].id]);
	}
	return false;
}

static bool answer_mask(struct shadow_calls *calls, struct call *call)
{
	uint64_t set = 0;

	if (call->a[3] != KERNEL_SIGSET_BYTES)
		return false;
	if (call->a[1] && !vessel_read(calls->vessel, call->a[1], &set, sizeof(set)))
		return false;
	if (call->a[2] &&
	    !vessel_write(calls->vessel, call->a[2], &calls->blocked, sizeof(calls->blocked)))
		return false;
	if (call->a[1] && call->a[0] == SIG_BLOCK)
		calls->blocked |= set;
	else if (call->a[1] && call->a[0] == SIG_UNBLOCK)
		calls->blocked &= ~set;
	else if (call->a[1] && call->a[0] == SIG_SETMASK)
		calls->blocked = set;
	return done(call, 0);
}

/* Waking wakes nobody here; who would wait for a value that has changed already does not wait. */
static bool answer_futex(struct shadow_calls *calls, struct call *call)
{
	uint64_t command = call->a[1] & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	uint32_t value;

	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP)
		return done(call, 0);
	if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
	    vessel_read(calls->vessel, call->a[0], &value, sizeof(value)) &&
	    value != (uint32_t)call->a[2])
		return done(call, -EAGAIN);
	calls->may_wait = true;
	return false;
}

static bool answer_clock(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	return call->a[0] <= INT_MAX &&
	       shadow_clock_read(&calls->clock, calls->vessel->pid, (clockid_t)call->a[0], &time) &&
	       guess(calls, call, call->a[1], &time, sizeof(time)) && done(call, 0);
}

static bool answer_time_of_day(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;
	struct timeval value;

	if (call->a[1] ||
	    !shadow_clock_read(&calls->clock, calls->vessel->pid, CLOCK_REALTIME, &time))
		return false;
	value = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	return guess(calls, call, call->a[0], &value, sizeof(value)) && done(call, 0);
}

static bool answer_time(struct shadow_calls *calls, struct call *call)
{
	struct timespec time;

	if (!shadow_clock_read(&calls->clock, calls->vessel->pid, CLOCK_REALTIME, &time))
		return false;
	if (call->a[0] && !guess(calls, call, call->a[0], &time.tv_sec, sizeof(time.tv_sec)))
		return false;
	return done(call, time.tv_sec);
}

static bool answer(struct shadow_calls *calls, struct call *call)
{
	switch (call->number) {
	case SYS_mmap:
		return answer_mmap(calls, call);
	case SYS_brk:
		return answer_brk(calls, call);
	case SYS_mprotect:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_madvise:
		return answer_memory(calls, call);
	case SYS_read:
	case SYS_pread64:
		return answer_read(calls, call);
	case SYS_write:
	case SYS_pwrite64:
		return pretend_written(calls, call, call->a[2]);
	case SYS_writev:
		return answer_writev(calls, call);
	case SYS_lseek:
		return answer_lseek(calls, call);
	case SYS_fstat:
		return answer_stat(calls, call, call->a[0], call->a[1]);
	case SYS_newfstatat:
		return answer_statat(calls, call);
	case SYS_open:
		return answer_open(calls, call, AT_FDCWD, call->a[0], call->a[1]);
	case SYS_openat:
		return answer_open(calls, call, (int)call->a[0], call->a[1], call->a[2]);
	case SYS_close:
		return answer_close(calls, call);
	case SYS_fcntl:
		return answer_fcntl(calls, call);
	case SYS_ioctl:
		return answer_ioctl(calls, call);
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
		return done(call, 0);
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

bool shadow_calls_identify(struct shadow_calls *calls, pid_t pid, pid_t tid)
{
	_cleanup_free_ char *text = NULL;
	bool is_nested = false;
	bool is_parent_nested;
	char path[64];

	calls->pid = pid;
	calls->tid = tid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	hp_error_destroy(hp_file_read_text(path, &text));
	if (!text)
		return false;
	calls->ids[ID_PROCESS] = last_number(text, "\nNStgid:", &is_nested);
	calls->ids[ID_THREAD] = last_number(text, "\nNSpid:", &is_nested);
	calls->ids[ID_PARENT] = is_nested ? -1 : last_number(text, "\nPPid:", &is_parent_nested);
	calls->ids[ID_USER] = nth_number(text, "\nUid:", 0);
	calls->ids[ID_EFFECTIVE_USER] = nth_number(text, "\nUid:", 1);
	calls->ids[ID_GROUP] = nth_number(text, "\nGid:", 0);
	calls->ids[ID_EFFECTIVE_GROUP] = nth_number(text, "\nGid:", 1);
	return true;
}
