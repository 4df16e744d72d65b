/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <sys/syscall.h>

struct row {
	uint16_t number;
	const char *name;
	call_answer *answer; /* NULL: the call ends the window */
};

/* One row per call. A call without a row ends the window, too. */
#define ROW(name, answer)                                                                          \
	{                                                                                          \
		SYS_##name, #name, answer                                                          \
	}
static const struct row rows[] = {
	/* memory: the copy changes its own */
	ROW(mmap, answer_mmap),
	ROW(brk, answer_brk),
	ROW(mprotect, answer_mprotect),
	ROW(munmap, answer_munmap),
	ROW(mremap, answer_mremap),
	ROW(madvise, answer_madvise),
	ROW(prctl, answer_prctl),
	ROW(mlock, answer_success),
	ROW(munlock, answer_success),
	ROW(msync, answer_success),
	/* who am I */
	ROW(getpid, answer_id),
	ROW(gettid, answer_id),
	ROW(getppid, answer_id),
	ROW(getuid, answer_id),
	ROW(geteuid, answer_id),
	ROW(getgid, answer_id),
	ROW(getegid, answer_id),
	/* files */
	ROW(read, answer_read),
	ROW(pread64, answer_read),
	ROW(readv, answer_readv),
	ROW(getdents64, answer_entries),
	ROW(write, answer_write),
	ROW(pwrite64, answer_write),
	ROW(writev, answer_writev),
	ROW(lseek, answer_lseek),
	ROW(fstat, answer_fstat),
	ROW(newfstatat, answer_named),
	ROW(open, answer_named),
	ROW(openat, answer_named),
	ROW(stat, answer_named),
	ROW(lstat, answer_named),
	ROW(access, answer_named),
	ROW(faccessat, answer_named),
	ROW(faccessat2, answer_named),
	ROW(readlink, answer_named),
	ROW(readlinkat, answer_named),
	ROW(getcwd, answer_named),
	ROW(close, answer_close),
	ROW(ftruncate, answer_resize),
	ROW(fallocate, answer_resize),
	ROW(fcntl, answer_fcntl),
	ROW(ioctl, answer_ioctl),
	ROW(fadvise64, answer_success),
	ROW(readahead, answer_success),
	ROW(fsync, answer_success),
	ROW(fdatasync, answer_success),
	ROW(sync_file_range, answer_success),
	ROW(unlink, answer_named),
	ROW(unlinkat, answer_named),
	ROW(rename, answer_named),
	ROW(renameat, answer_named),
	ROW(renameat2, answer_named),
	ROW(chmod, answer_success),
	ROW(fchmod, answer_success),
	ROW(fchmodat, answer_success),
	ROW(fchown, answer_success),
	ROW(utimensat, answer_success),
	/* signals and scheduling: without effect on a stretch of pure execution */
	ROW(rt_sigprocmask, answer_mask),
	ROW(rt_sigaction, answer_sigaction),
	ROW(sigaltstack, answer_sigaltstack),
	ROW(sched_yield, answer_success),
	ROW(membarrier, answer_success),
	/* sleeping takes no CPU time, so the copy does not sleep */
	ROW(nanosleep, answer_success),
	ROW(clock_nanosleep, answer_success),
	ROW(futex, answer_futex),
	/* limits and usage of the process */
	ROW(prlimit64, answer_limit),
	ROW(sched_getaffinity, answer_affinity),
	ROW(getrusage, answer_usage),
	ROW(times, answer_times),
	ROW(sysinfo, answer_system),
	/* clocks: see vdso_calls.h */
	ROW(clock_gettime, answer_clock),
	ROW(gettimeofday, answer_time_of_day),
	ROW(time, answer_time),
	/* calls that wait for others */
	ROW(poll, answer_wait),
	ROW(ppoll, answer_wait),
	ROW(select, answer_wait),
	ROW(pselect6, answer_wait),
	ROW(epoll_wait, answer_wait),
	ROW(epoll_pwait, answer_wait),
	ROW(epoll_pwait2, answer_wait),
	ROW(wait4, answer_wait),
	ROW(waitid, answer_wait),
	ROW(pause, answer_wait),
	ROW(rt_sigsuspend, answer_wait),
	ROW(rt_sigtimedwait, answer_wait),
	ROW(recvfrom, answer_wait),
	ROW(recvmsg, answer_wait),
	ROW(recvmmsg, answer_wait),
	ROW(sendto, answer_wait),
	ROW(sendmsg, answer_wait),
	ROW(sendmmsg, answer_wait),
	ROW(accept, answer_wait),
	ROW(accept4, answer_wait),
	ROW(connect, answer_wait),
	ROW(semop, answer_wait),
	ROW(semtimedop, answer_wait),
	ROW(msgrcv, answer_wait),
	ROW(msgsnd, answer_wait),
	ROW(mq_timedreceive, answer_wait),
	ROW(mq_timedsend, answer_wait),
	ROW(io_getevents, answer_wait),
	ROW(io_uring_enter, answer_wait),
	ROW(flock, answer_wait),
	ROW(splice, answer_wait),
	ROW(sendfile, answer_wait),
	/* calls that only the original may make, or that get another answer each time; here for
	 * their names */
	ROW(exit, NULL),
	ROW(exit_group, NULL),
	ROW(execve, NULL),
	ROW(clone, NULL),
	ROW(clone3, NULL),
	ROW(kill, NULL),
	ROW(tgkill, answer_signal),
	ROW(socket, NULL),
	ROW(pipe2, NULL),
	ROW(dup, NULL),
	ROW(dup2, NULL),
	ROW(dup3, NULL),
	ROW(vfork, NULL),
	ROW(fork, NULL),
	ROW(mkdir, NULL),
	ROW(setitimer, NULL),
	ROW(uname, NULL),
	ROW(rt_sigreturn, NULL),
	ROW(getrandom, NULL),
	ROW(sched_setaffinity, NULL),
	ROW(epoll_create, NULL),
	ROW(epoll_create1, NULL),
	ROW(epoll_ctl, NULL),
	ROW(eventfd, NULL),
	ROW(eventfd2, NULL),
	ROW(timerfd_create, NULL),
	ROW(timerfd_settime, NULL),
	ROW(signalfd4, NULL),
	ROW(inotify_init1, NULL),
	ROW(inotify_add_watch, NULL),
	ROW(pipe, NULL),
	ROW(socketpair, NULL),
	ROW(bind, NULL),
	ROW(listen, NULL),
	ROW(shutdown, NULL),
	ROW(getsockname, NULL),
	ROW(getpeername, NULL),
	ROW(setsockopt, NULL),
	ROW(getsockopt, NULL),
	ROW(arch_prctl, NULL),
	ROW(set_robust_list, NULL),
	ROW(rseq, NULL),
	ROW(set_tid_address, NULL),
	ROW(io_uring_setup, NULL),
	ROW(io_uring_register, NULL),
	ROW(io_setup, NULL),
	ROW(io_submit, NULL),
	ROW(memfd_create, NULL),
	ROW(shmget, NULL),
	ROW(shmat, NULL),
	ROW(shmdt, NULL),
	ROW(semget, NULL),
	ROW(semctl, NULL),
	ROW(msgget, NULL),
	ROW(truncate, NULL),
	ROW(chdir, NULL),
	ROW(fchdir, NULL),
	ROW(rmdir, NULL),
	ROW(mkdirat, NULL),
	ROW(symlink, NULL),
	ROW(link, NULL),
	ROW(linkat, NULL),
	ROW(statx, NULL),
	ROW(statfs, NULL),
	ROW(fstatfs, NULL),
	ROW(umask, NULL),
	ROW(getpriority, NULL),
	ROW(setpriority, NULL),
	ROW(sched_setscheduler, NULL),
	ROW(sched_getscheduler, NULL),
	ROW(sched_setattr, NULL),
	ROW(sched_getattr, NULL),
	ROW(capget, NULL),
	ROW(seccomp, NULL),
	ROW(personality, NULL),
	ROW(ptrace, NULL),
	ROW(process_vm_readv, NULL),
	ROW(userfaultfd, NULL),
	ROW(perf_event_open, NULL),
	ROW(bpf, NULL),
	ROW(mincore, NULL),
	ROW(mlockall, NULL),
	ROW(copy_file_range, NULL),
	ROW(tee, NULL),
	ROW(vmsplice, NULL),
	ROW(preadv, NULL),
	ROW(preadv2, NULL),
	ROW(pwritev, NULL),
	ROW(pwritev2, NULL),
	ROW(getdents, NULL),
	ROW(alarm, NULL),
	ROW(getitimer, NULL),
	ROW(clock_getres, NULL),
	ROW(tkill, NULL),
	ROW(rt_sigpending, NULL),
	ROW(rt_sigqueueinfo, NULL),
	ROW(setsid, NULL),
	ROW(getpgid, NULL),
	ROW(getpgrp, NULL),
	ROW(setpgid, NULL),
	ROW(getsid, NULL),
	ROW(getresuid, NULL),
	ROW(getresgid, NULL),
	ROW(getgroups, NULL),
	ROW(execveat, NULL),
	ROW(pidfd_open, NULL),
	ROW(pidfd_send_signal, NULL),
	ROW(close_range, NULL),
	ROW(mbind, NULL),
	ROW(set_mempolicy, NULL),
	ROW(get_mempolicy, NULL),
	ROW(pkey_alloc, NULL),
	ROW(pkey_mprotect, NULL),
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

call_answer *shadow_call_answer(int64_t number)
{
	const struct row *row = find(number);

	return row ? row->answer : NULL;
}

const char *shadow_call_name(int64_t number)
{
	const struct row *row = find(number);

	return row ? row->name : NULL;
}

void shadow_calls_describe_end(const struct shadow_calls *calls, int64_t number, char *text,
			       size_t size)
{
	const char *name = shadow_call_name(number);
	char unnamed[24];

	if (!name) {
		snprintf(unnamed, sizeof(unnamed), "number %d", (int)number);
		name = unnamed;
	}
	if (calls->has_strayed)
		snprintf(text, size, "%s unlike the original's", name);
	else
		snprintf(text, size, "%s%s%s", name, calls->of ? " of " : "",
			 calls->of ? calls->of : "");
}
