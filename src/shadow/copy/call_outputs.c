/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_outputs.h"

#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>

/* Where a call writes. More may be read than the call wrote: the rest has not changed. */
enum output_kind {
	OUT_NONE,
	OUT_BYTES, /* argument p: as many bytes as the result says */
	OUT_FIXED, /* argument p, unless it is 0: `size` bytes */
	OUT_ARRAY, /* argument p: `size` bytes, times the result */
	OUT_COUNT, /* argument p: `size` bytes, times argument q */
	/* argument p: as many bytes as the int says that argument q points to; and that int */
	OUT_SIZED,
	/* argument p: an array of argument q iovecs; as many bytes as the result says */
	OUT_PIECES,
	/* argument p: a msghdr and what it points to; as many bytes as the result says */
	OUT_MESSAGE,
	OUT_SETS, /* arguments 1 to 3: as many bits as argument 0 says; argument 4: `size` bytes */
};

struct output {
	uint8_t kind; /* enum output_kind */
	uint8_t p, q;
	uint16_t size;
};

struct row {
	uint16_t number;
	uint8_t compared; /* argument bits: see call_compared */
	bool is_carried_out;
	struct output outputs[2];
};

#define NONE(name, compared)                                                                       \
	{                                                                                          \
		SYS_##name, compared, false,                                                       \
		{                                                                                  \
			{                                                                          \
				0                                                                  \
			}                                                                          \
		}                                                                                  \
	}
#define OUT(name, compared, kind, p, q, size)                                                      \
	{                                                                                          \
		SYS_##name, compared, false,                                                       \
		{                                                                                  \
			{                                                                          \
				kind, p, q, size                                                   \
			}                                                                          \
		}                                                                                  \
	}
#define TWO(name, compared, kind, p, q, size, kind2, p2, q2, size2)                                \
	{                                                                                          \
		SYS_##name, compared, false,                                                       \
		{                                                                                  \
			{ kind, p, q, size },                                                      \
			{                                                                          \
				kind2, p2, q2, size2                                               \
			}                                                                          \
		}                                                                                  \
	}
#define OWN(name, compared)                                                                        \
	{                                                                                          \
		SYS_##name, compared, true,                                                        \
		{                                                                                  \
			{                                                                          \
				0                                                                  \
			}                                                                          \
		}                                                                                  \
	}

enum {
	WORDS_2 = 16,	    /* struct timespec, timeval, rlimit */
	EVENT = 12,	    /* struct epoll_event on x86-64 */
	MESSAGES = 64,	    /* struct mmsghdr */
	MOST_ADDRESS = 128, /* struct sockaddr_storage */
	MOST_OPTION = 4096,
	MOST_CONTROL = 4096,
	MOST_IOVECS = 1024, /* UIO_MAXIOV */
};

/* Calls are not listed that end or create threads, or that change rights, the program, or the
 * frames of signal handlers. */
static const struct row rows[] = {
	/* streams, files */
	OUT(read, 07, OUT_BYTES, 1, 0, 0),
	OUT(pread64, 017, OUT_BYTES, 1, 0, 0),
	OUT(readv, 07, OUT_PIECES, 1, 2, 0),
	OUT(preadv, 017, OUT_PIECES, 1, 2, 0),
	OUT(preadv2, 017, OUT_PIECES, 1, 2, 0),
	NONE(write, 07),
	NONE(pwrite64, 017),
	NONE(writev, 07),
	NONE(pwritev, 017),
	NONE(pwritev2, 017),
	OUT(sendfile, 013, OUT_FIXED, 2, 0, 8),
	NONE(lseek, 07),
	NONE(close, 01),
	NONE(dup, 01),
	NONE(dup2, 03),
	NONE(dup3, 07),
	NONE(fcntl, 03),
	OUT(ioctl, 03, OUT_FIXED, 2, 0, sizeof(int)),
	NONE(ftruncate, 03),
	NONE(fallocate, 017),
	NONE(fsync, 01),
	NONE(fdatasync, 01),
	NONE(sync_file_range, 07),
	NONE(fadvise64, 017),
	NONE(readahead, 07),
	NONE(flock, 03),
	OUT(getdents64, 07, OUT_BYTES, 1, 0, 0),
	OUT(fstat, 03, OUT_FIXED, 1, 0, sizeof(struct stat)),
	OUT(fstatfs, 03, OUT_FIXED, 1, 0, sizeof(struct statfs)),
	/* names */
	NONE(open, 07),
	NONE(openat, 07),
	NONE(access, 03),
	NONE(faccessat, 07),
	NONE(faccessat2, 017),
	OUT(stat, 03, OUT_FIXED, 1, 0, sizeof(struct stat)),
	OUT(lstat, 03, OUT_FIXED, 1, 0, sizeof(struct stat)),
	OUT(newfstatat, 017, OUT_FIXED, 2, 0, sizeof(struct stat)),
	OUT(statx, 037, OUT_FIXED, 4, 0, 256),
	OUT(statfs, 03, OUT_FIXED, 1, 0, sizeof(struct statfs)),
	OUT(readlink, 07, OUT_BYTES, 1, 0, 0),
	OUT(readlinkat, 017, OUT_BYTES, 2, 0, 0),
	OUT(getcwd, 03, OUT_BYTES, 0, 0, 0),
	NONE(unlink, 01),
	NONE(unlinkat, 07),
	NONE(rename, 03),
	NONE(renameat, 017),
	NONE(renameat2, 037),
	NONE(mkdir, 03),
	NONE(rmdir, 01),
	NONE(utimensat, 017),
	/* sockets */
	NONE(socket, 07),
	NONE(bind, 07),
	NONE(listen, 03),
	NONE(connect, 07),
	NONE(shutdown, 03),
	NONE(setsockopt, 037),
	OUT(getsockopt, 037, OUT_SIZED, 3, 4, MOST_OPTION),
	OUT(accept, 07, OUT_SIZED, 1, 2, MOST_ADDRESS),
	OUT(accept4, 017, OUT_SIZED, 1, 2, MOST_ADDRESS),
	OUT(getsockname, 07, OUT_SIZED, 1, 2, MOST_ADDRESS),
	OUT(getpeername, 07, OUT_SIZED, 1, 2, MOST_ADDRESS),
	TWO(recvfrom, 077, OUT_BYTES, 1, 0, 0, OUT_SIZED, 4, 5, MOST_ADDRESS),
	OUT(recvmsg, 07, OUT_MESSAGE, 1, 0, 0),
	NONE(sendto, 077),
	NONE(sendmsg, 07),
	OUT(sendmmsg, 017, OUT_ARRAY, 1, 0, MESSAGES),
	OUT(socketpair, 017, OUT_FIXED, 3, 0, 2 * sizeof(int)),
	OUT(pipe, 01, OUT_FIXED, 0, 0, 2 * sizeof(int)),
	OUT(pipe2, 03, OUT_FIXED, 0, 0, 2 * sizeof(int)),
	/* waiting; how long a call may wait is not compared, since it depends on the time */
	OUT(epoll_wait, 07, OUT_ARRAY, 1, 0, EVENT),
	OUT(epoll_pwait, 07, OUT_ARRAY, 1, 0, EVENT),
	OUT(epoll_pwait2, 07, OUT_ARRAY, 1, 0, EVENT),
	NONE(epoll_ctl, 017),
	NONE(epoll_create1, 01),
	OUT(poll, 03, OUT_COUNT, 0, 1, sizeof(struct pollfd)),
	TWO(ppoll, 03, OUT_COUNT, 0, 1, sizeof(struct pollfd), OUT_FIXED, 2, 0, WORDS_2),
	OUT(select, 017, OUT_SETS, 0, 0, WORDS_2),
	OUT(pselect6, 017, OUT_SETS, 0, 0, WORDS_2),
	NONE(eventfd2, 03),
	NONE(timerfd_create, 03),
	OUT(timerfd_settime, 03, OUT_FIXED, 3, 0, 2 * WORDS_2),
	OUT(nanosleep, 01, OUT_FIXED, 1, 0, WORDS_2),
	OUT(clock_nanosleep, 03, OUT_FIXED, 3, 0, WORDS_2),
	TWO(wait4, 07, OUT_FIXED, 1, 0, sizeof(int), OUT_FIXED, 3, 0, sizeof(struct rusage)),
	NONE(semop, 07),
	NONE(semtimedop, 07),
	/* the word itself, too: whoever wakes the thread has written there */
	TWO(futex, 07, OUT_FIXED, 0, 0, sizeof(uint32_t), OUT_FIXED, 4, 0, 0),
	/* questions about the process and the machine */
	NONE(getpid, 0),
	NONE(gettid, 0),
	NONE(getppid, 0),
	NONE(getuid, 0),
	NONE(geteuid, 0),
	NONE(getgid, 0),
	NONE(getegid, 0),
	NONE(umask, 01),
	NONE(prctl, 01),
	NONE(sched_yield, 0),
	NONE(membarrier, 07),
	NONE(kill, 03),
	NONE(tgkill, 07),
	OUT(rt_sigprocmask, 017, OUT_FIXED, 2, 0, sizeof(uint64_t)),
	OUT(rt_sigaction, 017, OUT_FIXED, 2, 0, 4 * sizeof(uint64_t)),
	OUT(setitimer, 01, OUT_FIXED, 2, 0, 2 * WORDS_2),
	OUT(getrandom, 07, OUT_BYTES, 0, 0, 0),
	OUT(clock_gettime, 03, OUT_FIXED, 1, 0, WORDS_2),
	OUT(clock_getres, 03, OUT_FIXED, 1, 0, WORDS_2),
	TWO(gettimeofday, 03, OUT_FIXED, 0, 0, WORDS_2, OUT_FIXED, 1, 0, 8),
	OUT(time, 01, OUT_FIXED, 0, 0, 8),
	OUT(getrusage, 03, OUT_FIXED, 1, 0, sizeof(struct rusage)),
	OUT(times, 01, OUT_FIXED, 0, 0, sizeof(struct tms)),
	OUT(sysinfo, 01, OUT_FIXED, 0, 0, sizeof(struct sysinfo)),
	OUT(uname, 01, OUT_FIXED, 0, 0, sizeof(struct utsname)),
	OUT(prlimit64, 017, OUT_FIXED, 3, 0, WORDS_2),
	OUT(sched_getaffinity, 07, OUT_BYTES, 2, 0, 0),
	/* memory: the copy changes its own */
	OWN(mmap, 077),
	OWN(munmap, 03),
	OWN(mremap, 037),
	OWN(mprotect, 07),
	OWN(madvise, 07),
	OWN(brk, 01),
};

static const struct row *find(int64_t number)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		if (rows[i].number == number)
			return &rows[i];
	}
	return NULL;
}

/* Advice that makes memory secret (secrets.h) is not allowed: the recorder does not see when it
 * ends. MADV_DONTFORK makes only locked memory secret, and locking is not in the table. V8 gives that advice
 * with each piece of its heap. */
static bool is_plain_advice(uint64_t advice, bool has_locked)
{
	return advice <= MADV_DONTNEED || advice == MADV_FREE || advice == MADV_HUGEPAGE ||
	       advice == MADV_NOHUGEPAGE || advice == MADV_COLD ||
	       (!has_locked && (advice == MADV_DONTFORK || advice == MADV_DOFORK));
}

static bool is_plain_futex(uint64_t operation)
{
	uint64_t command = operation & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

	return command == FUTEX_WAIT || command == FUTEX_WAKE || command == FUTEX_WAIT_BITSET ||
	       command == FUTEX_WAKE_BITSET;
}

bool call_is_loggable(int64_t number, const uint64_t a[6], bool has_locked)
{
	if (!find(number))
		return false;
	switch (number) {
	case SYS_fcntl:
		return a[1] != F_GETLK && a[1] != F_OFD_GETLK && a[1] != F_GETOWN_EX;
	case SYS_ioctl:
		return a[1] == FIONREAD || a[1] == FIONBIO || a[1] == FIOCLEX || a[1] == FIONCLEX;
	case SYS_prctl:
		return a[0] == PR_SET_NAME;
	case SYS_madvise:
		return is_plain_advice(a[2], has_locked);
	case SYS_futex:
		return is_plain_futex(a[1]);
	default:
		return true;
	}
}

bool call_is_carried_out(int64_t number)
{
	const struct row *row = find(number);

	return row && row->is_carried_out;
}

unsigned call_compared(int64_t number)
{
	const struct row *row = find(number);

	return row ? row->compared : ~0U;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	struct call_log *log;
	pid_t tid;
	const struct areas *areas;
};

static bool is_readable(const struct reading *reading, uint64_t start, uint64_t bytes)
{
	uint64_t at = start;

	if (start + bytes < start)
		return false;
	while (at < start + bytes) {
		const struct area *area = areas_find(reading->areas, at);

		if (!area || area->is_secret || area->kind == AREA_DEVICE)
			return false;
		at = area->end;
	}
	return true;
}

static bool read_target(const struct reading *reading, uint64_t from, void *to, uint64_t bytes)
{
	struct iovec local = { to, bytes };
	struct iovec remote = { (void *)(uintptr_t)from, bytes };

	return is_readable(reading, from, bytes) &&
	       process_vm_readv(reading->tid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

static bool add(const struct reading *reading, uint64_t address, uint64_t bytes)
{
	uint8_t *to;

	if (!bytes)
		return true;
	to = call_log_add(reading->log, address, bytes);
	return to && read_target(reading, address, to, bytes);
}

/* Adds the pieces of an array of the program; at most as many as the kernel accepts. */
static bool add_pieces(const struct reading *reading, uint64_t array, uint64_t count,
		       uint64_t bytes)
{
	struct iovec pieces[LOGGED_IOVECS];

	if (count > MOST_IOVECS)
		return false;
	while (count && bytes) {
		size_t some = count < LOGGED_IOVECS ? count : LOGGED_IOVECS;

		if (!read_target(reading, array, pieces, some * sizeof(pieces[0])))
			return false;
		for (size_t i = 0; i < some && bytes; i++) {
			uint64_t size = pieces[i].iov_len < bytes ? pieces[i].iov_len : bytes;

			if (!add(reading, (uint64_t)(uintptr_t)pieces[i].iov_base, size))
				return false;
			bytes -= size;
		}
		array += some * sizeof(pieces[0]);
		count -= some;
	}
	return !bytes;
}

static bool add_message(const struct reading *reading, uint64_t address, uint64_t bytes)
{
	struct msghdr header;

	return read_target(reading, address, &header, sizeof(header)) &&
	       add(reading, address, sizeof(header)) &&
	       (!header.msg_name ||
		add(reading, (uint64_t)(uintptr_t)header.msg_name,
		    header.msg_namelen < MOST_ADDRESS ? header.msg_namelen : MOST_ADDRESS)) &&
	       (!header.msg_control ||
		(header.msg_controllen <= MOST_CONTROL &&
		 add(reading, (uint64_t)(uintptr_t)header.msg_control, header.msg_controllen))) &&
	       add_pieces(reading, (uint64_t)(uintptr_t)header.msg_iov, header.msg_iovlen, bytes);
}

static bool add_sized(const struct reading *reading, uint64_t address, uint64_t size_at,
		      uint64_t most)
{
	uint32_t size;

	if (!address || !size_at)
		return true;
	return read_target(reading, size_at, &size, sizeof(size)) &&
	       add(reading, size_at, sizeof(size)) &&
	       add(reading, address, size < most ? size : most);
}

static bool add_sets(const struct reading *reading, const struct logged_call *call, uint64_t size)
{
	uint64_t bytes = call->a[0] <= FD_SETSIZE ? (call->a[0] + 63) / 64 * 8 : 0;

	if (call->a[0] > FD_SETSIZE)
		return false;
	for (unsigned i = 1; i <= 3; i++)
		if (call->a[i] && !add(reading, call->a[i], bytes))
			return false;
	return !call->a[4] || add(reading, call->a[4], size);
}

/* The kernel has checked the arguments, as the call succeeded; but another thread may have changed
 * what they point to since. */
static bool add_output(const struct reading *reading, const struct output *output)
{
	const struct logged_call *call = &reading->log->calls[reading->log->call_count - 1];
	uint64_t address = call->a[output->p];
	uint64_t result = (uint64_t)call->result;

	switch ((enum output_kind)output->kind) {
	case OUT_BYTES:
		return add(reading, address, result);
	case OUT_FIXED:
		return !address || add(reading, address, output->size);
	case OUT_ARRAY:
		return result <= LOGGED_BYTES && add(reading, address, result * output->size);
	case OUT_COUNT:
		return call->a[output->q] <= LOGGED_BYTES &&
		       add(reading, address, call->a[output->q] * output->size);
	case OUT_SIZED:
		return add_sized(reading, address, call->a[output->q], output->size);
	case OUT_PIECES:
		return add_pieces(reading, address, call->a[output->q], result);
	case OUT_MESSAGE:
		return add_message(reading, address, result);
	case OUT_SETS:
		return add_sets(reading, call, output->size);
	case OUT_NONE:
	default:
		return true;
	}
}

bool call_outputs_read(struct call_log *log, pid_t tid, const struct areas *areas)
{
	const struct reading reading = { log, tid, areas };
	const struct logged_call *call = &log->calls[log->call_count - 1];
	const struct row *row = find(call->number);

	if (!row)
		return false;
	if (call->result < 0 || row->is_carried_out)
		return true;
	/* of ioctl requests, only this one writes */
	if (call->number == SYS_ioctl && call->a[1] != FIONREAD)
		return true;
	return add_output(&reading, &row->outputs[0]) && add_output(&reading, &row->outputs[1]);
}
