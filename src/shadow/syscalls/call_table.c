/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system_calls.h"

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <sys/syscall.h>

struct row {
	uint16_t number;
	uint8_t policy; /* enum call_policy */
	const char *name;
};

/* One row a call, by what is done; everything else ends the window. */
#define ROW(name, policy)                                                                          \
	{                                                                                          \
		SYS_##name, policy, #name                                                          \
	}
static const struct row rows[] = {
	/* memory: a copy's own */
	ROW(mmap, CALL_IS_ANSWERED),
	ROW(brk, CALL_IS_ANSWERED),
	ROW(mprotect, CALL_IS_ANSWERED),
	ROW(munmap, CALL_IS_ANSWERED),
	ROW(mremap, CALL_IS_ANSWERED),
	ROW(madvise, CALL_IS_ANSWERED),
	ROW(prctl, CALL_IS_ANSWERED),
	ROW(mlock, CALL_PRETENDS),
	ROW(munlock, CALL_PRETENDS),
	ROW(msync, CALL_PRETENDS),
	/* who am I */
	ROW(getpid, CALL_IS_ANSWERED),
	ROW(gettid, CALL_IS_ANSWERED),
	ROW(getppid, CALL_IS_ANSWERED),
	ROW(getuid, CALL_IS_ANSWERED),
	ROW(geteuid, CALL_IS_ANSWERED),
	ROW(getgid, CALL_IS_ANSWERED),
	ROW(getegid, CALL_IS_ANSWERED),
	/* files */
	ROW(read, CALL_IS_ANSWERED),
	ROW(pread64, CALL_IS_ANSWERED),
	ROW(readv, CALL_IS_ANSWERED),
	ROW(getdents64, CALL_IS_ANSWERED),
	ROW(write, CALL_IS_ANSWERED),
	ROW(pwrite64, CALL_IS_ANSWERED),
	ROW(writev, CALL_IS_ANSWERED),
	ROW(lseek, CALL_IS_ANSWERED),
	ROW(fstat, CALL_IS_ANSWERED),
	ROW(newfstatat, CALL_IS_ANSWERED),
	ROW(open, CALL_IS_ANSWERED),
	ROW(openat, CALL_IS_ANSWERED),
	ROW(stat, CALL_IS_ANSWERED),
	ROW(lstat, CALL_IS_ANSWERED),
	ROW(access, CALL_IS_ANSWERED),
	ROW(faccessat, CALL_IS_ANSWERED),
	ROW(faccessat2, CALL_IS_ANSWERED),
	ROW(readlink, CALL_IS_ANSWERED),
	ROW(readlinkat, CALL_IS_ANSWERED),
	ROW(getcwd, CALL_IS_ANSWERED),
	ROW(close, CALL_IS_ANSWERED),
	ROW(ftruncate, CALL_IS_ANSWERED),
	ROW(fallocate, CALL_IS_ANSWERED),
	ROW(fcntl, CALL_IS_ANSWERED),
	ROW(ioctl, CALL_IS_ANSWERED),
	ROW(fadvise64, CALL_PRETENDS),
	ROW(readahead, CALL_PRETENDS),
	ROW(fsync, CALL_PRETENDS),
	ROW(fdatasync, CALL_PRETENDS),
	ROW(sync_file_range, CALL_PRETENDS),
	ROW(unlink, CALL_IS_ANSWERED),
	ROW(unlinkat, CALL_IS_ANSWERED),
	ROW(rename, CALL_IS_ANSWERED),
	ROW(renameat, CALL_IS_ANSWERED),
	ROW(renameat2, CALL_IS_ANSWERED),
	ROW(chmod, CALL_PRETENDS),
	ROW(fchmod, CALL_PRETENDS),
	ROW(fchmodat, CALL_PRETENDS),
	ROW(fchown, CALL_PRETENDS),
	ROW(utimensat, CALL_PRETENDS),
	/* signals and scheduling: nothing that a stretch of pure execution would see */
	ROW(rt_sigprocmask, CALL_IS_ANSWERED),
	ROW(rt_sigaction, CALL_IS_ANSWERED),
	ROW(sigaltstack, CALL_IS_ANSWERED),
	ROW(sched_yield, CALL_PRETENDS),
	ROW(membarrier, CALL_PRETENDS),
	ROW(nanosleep, CALL_IS_ANSWERED),
	ROW(clock_nanosleep, CALL_IS_ANSWERED),
	ROW(futex, CALL_IS_ANSWERED),
	/* what it may use, and has used */
	ROW(prlimit64, CALL_IS_ANSWERED),
	ROW(sched_getaffinity, CALL_IS_ANSWERED),
	ROW(getrusage, CALL_IS_ANSWERED),
	ROW(times, CALL_IS_ANSWERED),
	ROW(sysinfo, CALL_IS_ANSWERED),
	/* clocks: see vdso_calls.h */
	ROW(clock_gettime, CALL_IS_ANSWERED),
	ROW(gettimeofday, CALL_IS_ANSWERED),
	ROW(time, CALL_IS_ANSWERED),
	/* what waits for others */
	ROW(poll, CALL_WAITS),
	ROW(ppoll, CALL_WAITS),
	ROW(select, CALL_WAITS),
	ROW(pselect6, CALL_WAITS),
	ROW(epoll_wait, CALL_WAITS),
	ROW(epoll_pwait, CALL_WAITS),
	ROW(epoll_pwait2, CALL_WAITS),
	ROW(wait4, CALL_WAITS),
	ROW(waitid, CALL_WAITS),
	ROW(pause, CALL_WAITS),
	ROW(rt_sigsuspend, CALL_WAITS),
	ROW(rt_sigtimedwait, CALL_WAITS),
	ROW(recvfrom, CALL_WAITS),
	ROW(recvmsg, CALL_WAITS),
	ROW(recvmmsg, CALL_WAITS),
	ROW(sendto, CALL_WAITS),
	ROW(sendmsg, CALL_WAITS),
	ROW(sendmmsg, CALL_WAITS),
	ROW(accept, CALL_WAITS),
	ROW(accept4, CALL_WAITS),
	ROW(connect, CALL_WAITS),
	ROW(semop, CALL_WAITS),
	ROW(semtimedop, CALL_WAITS),
	ROW(msgrcv, CALL_WAITS),
	ROW(msgsnd, CALL_WAITS),
	ROW(mq_timedreceive, CALL_WAITS),
	ROW(mq_timedsend, CALL_WAITS),
	ROW(io_getevents, CALL_WAITS),
	ROW(io_uring_enter, CALL_WAITS),
	ROW(flock, CALL_WAITS),
	ROW(splice, CALL_WAITS),
	ROW(sendfile, CALL_WAITS),
	/* what only the original may do, or gets another answer each time; here for their names */
	ROW(exit, CALL_ENDS),
	ROW(exit_group, CALL_ENDS),
	ROW(execve, CALL_ENDS),
	ROW(clone, CALL_ENDS),
	ROW(clone3, CALL_ENDS),
	ROW(kill, CALL_ENDS),
	ROW(tgkill, CALL_ENDS),
	ROW(socket, CALL_ENDS),
	ROW(pipe2, CALL_ENDS),
	ROW(dup, CALL_ENDS),
	ROW(dup2, CALL_ENDS),
	ROW(dup3, CALL_ENDS),
	ROW(vfork, CALL_ENDS),
	ROW(fork, CALL_ENDS),
	ROW(mkdir, CALL_ENDS),
	ROW(setitimer, CALL_ENDS),
	ROW(uname, CALL_ENDS),
	ROW(rt_sigreturn, CALL_ENDS),
	ROW(getrandom, CALL_ENDS),
	ROW(sched_setaffinity, CALL_ENDS),
	ROW(epoll_create, CALL_ENDS),
	ROW(epoll_create1, CALL_ENDS),
	ROW(epoll_ctl, CALL_ENDS),
	ROW(eventfd, CALL_ENDS),
	ROW(eventfd2, CALL_ENDS),
	ROW(timerfd_create, CALL_ENDS),
	ROW(timerfd_settime, CALL_ENDS),
	ROW(signalfd4, CALL_ENDS),
	ROW(inotify_init1, CALL_ENDS),
	ROW(inotify_add_watch, CALL_ENDS),
	ROW(pipe, CALL_ENDS),
	ROW(socketpair, CALL_ENDS),
	ROW(bind, CALL_ENDS),
	ROW(listen, CALL_ENDS),
	ROW(shutdown, CALL_ENDS),
	ROW(getsockname, CALL_ENDS),
	ROW(getpeername, CALL_ENDS),
	ROW(setsockopt, CALL_ENDS),
	ROW(getsockopt, CALL_ENDS),
	ROW(arch_prctl, CALL_ENDS),
	ROW(set_robust_list, CALL_ENDS),
	ROW(rseq, CALL_ENDS),
	ROW(set_tid_address, CALL_ENDS),
	ROW(io_uring_setup, CALL_ENDS),
	ROW(io_uring_register, CALL_ENDS),
	ROW(io_setup, CALL_ENDS),
	ROW(io_submit, CALL_ENDS),
	ROW(memfd_create, CALL_ENDS),
	ROW(shmget, CALL_ENDS),
	ROW(shmat, CALL_ENDS),
	ROW(shmdt, CALL_ENDS),
	ROW(semget, CALL_ENDS),
	ROW(semctl, CALL_ENDS),
	ROW(msgget, CALL_ENDS),
	ROW(truncate, CALL_ENDS),
	ROW(chdir, CALL_ENDS),
	ROW(fchdir, CALL_ENDS),
	ROW(rmdir, CALL_ENDS),
	ROW(mkdirat, CALL_ENDS),
	ROW(symlink, CALL_ENDS),
	ROW(link, CALL_ENDS),
	ROW(linkat, CALL_ENDS),
	ROW(statx, CALL_ENDS),
	ROW(statfs, CALL_ENDS),
	ROW(fstatfs, CALL_ENDS),
	ROW(umask, CALL_ENDS),
	ROW(getpriority, CALL_ENDS),
	ROW(setpriority, CALL_ENDS),
	ROW(sched_setscheduler, CALL_ENDS),
	ROW(sched_getscheduler, CALL_ENDS),
	ROW(sched_setattr, CALL_ENDS),
	ROW(sched_getattr, CALL_ENDS),
	ROW(capget, CALL_ENDS),
	ROW(seccomp, CALL_ENDS),
	ROW(personality, CALL_ENDS),
	ROW(ptrace, CALL_ENDS),
	ROW(process_vm_readv, CALL_ENDS),
	ROW(userfaultfd, CALL_ENDS),
	ROW(perf_event_open, CALL_ENDS),
	ROW(bpf, CALL_ENDS),
	ROW(mincore, CALL_ENDS),
	ROW(mlockall, CALL_ENDS),
	ROW(copy_file_range, CALL_ENDS),
	ROW(tee, CALL_ENDS),
	ROW(vmsplice, CALL_ENDS),
	ROW(preadv, CALL_ENDS),
	ROW(preadv2, CALL_ENDS),
	ROW(pwritev, CALL_ENDS),
	ROW(pwritev2, CALL_ENDS),
	ROW(getdents, CALL_ENDS),
	ROW(alarm, CALL_ENDS),
	ROW(getitimer, CALL_ENDS),
	ROW(clock_getres, CALL_ENDS),
	ROW(tkill, CALL_ENDS),
	ROW(rt_sigpending, CALL_ENDS),
	ROW(rt_sigqueueinfo, CALL_ENDS),
	ROW(setsid, CALL_ENDS),
	ROW(getpgid, CALL_ENDS),
	ROW(getpgrp, CALL_ENDS),
	ROW(setpgid, CALL_ENDS),
	ROW(getsid, CALL_ENDS),
	ROW(getresuid, CALL_ENDS),
	ROW(getresgid, CALL_ENDS),
	ROW(getgroups, CALL_ENDS),
	ROW(execveat, CALL_ENDS),
	ROW(pidfd_open, CALL_ENDS),
	ROW(pidfd_send_signal, CALL_ENDS),
	ROW(close_range, CALL_ENDS),
	ROW(mbind, CALL_ENDS),
	ROW(set_mempolicy, CALL_ENDS),
	ROW(get_mempolicy, CALL_ENDS),
	ROW(pkey_alloc, CALL_ENDS),
	ROW(pkey_mprotect, CALL_ENDS),
};
#undef ROW

static const struct row *find(int64_t number)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		if (rows[i].number == number)
			return &rows[i];
	}
	return NULL;
}

enum call_policy shadow_call_policy(int64_t number)
{
	const struct row *row = find(number);

	return row ? (enum call_policy)row->policy : CALL_ENDS;
}

const char *shadow_call_name(int64_t number)
{
	const struct row *row = find(number);

	return row ? row->name : NULL;
}

void shadow_call_describe(int64_t number, char *text, size_t size)
{
	const char *name = shadow_call_name(number);

	if (name)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "number %d", (int)number);
}

void shadow_calls_describe_end(const struct shadow_calls *calls, int64_t number, char *text,
			       size_t size)
{
	char name[24];

	shadow_call_describe(number, name, sizeof(name));
	snprintf(text, size, "%s%s%s", name, calls->of ? " of " : "", calls->of ? calls->of : "");
}
