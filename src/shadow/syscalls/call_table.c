/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <sys/syscall.h>

/* A call without an answer ends the window. */
static call_answer *const answers[] = {
	/* memory: the copy changes its own */
	[SYS_mmap] = answer_mmap,
	[SYS_brk] = answer_brk,
	[SYS_mprotect] = answer_mprotect,
	[SYS_munmap] = answer_munmap,
	[SYS_mremap] = answer_mremap,
	[SYS_madvise] = answer_madvise,
	[SYS_prctl] = answer_prctl,
	[SYS_mlock] = answer_success,
	[SYS_munlock] = answer_success,
	[SYS_msync] = answer_success,
	/* who am I */
	[SYS_getpid] = answer_id,
	[SYS_gettid] = answer_id,
	[SYS_getppid] = answer_id,
	[SYS_getuid] = answer_id,
	[SYS_geteuid] = answer_id,
	[SYS_getgid] = answer_id,
	[SYS_getegid] = answer_id,
	/* files */
	[SYS_read] = answer_read,
	[SYS_pread64] = answer_read,
	[SYS_readv] = answer_readv,
	[SYS_getdents64] = answer_entries,
	[SYS_write] = answer_write,
	[SYS_pwrite64] = answer_write,
	[SYS_writev] = answer_writev,
	[SYS_lseek] = answer_lseek,
	[SYS_fstat] = answer_fstat,
	[SYS_newfstatat] = answer_named,
	[SYS_open] = answer_named,
	[SYS_openat] = answer_named,
	[SYS_stat] = answer_named,
	[SYS_lstat] = answer_named,
	[SYS_access] = answer_named,
	[SYS_faccessat] = answer_named,
	[SYS_faccessat2] = answer_named,
	[SYS_readlink] = answer_named,
	[SYS_readlinkat] = answer_named,
	[SYS_getcwd] = answer_named,
	[SYS_close] = answer_close,
	[SYS_ftruncate] = answer_resize,
	[SYS_fallocate] = answer_resize,
	[SYS_fcntl] = answer_fcntl,
	[SYS_ioctl] = answer_ioctl,
	[SYS_fadvise64] = answer_success,
	[SYS_readahead] = answer_success,
	[SYS_fsync] = answer_success,
	[SYS_fdatasync] = answer_success,
	[SYS_sync_file_range] = answer_success,
	[SYS_unlink] = answer_named,
	[SYS_unlinkat] = answer_named,
	[SYS_rename] = answer_named,
	[SYS_renameat] = answer_named,
	[SYS_renameat2] = answer_named,
	[SYS_chmod] = answer_success,
	[SYS_fchmod] = answer_success,
	[SYS_fchmodat] = answer_success,
	[SYS_fchown] = answer_success,
	[SYS_utimensat] = answer_success,
	/* signals and scheduling: without effect on a stretch of pure execution */
	[SYS_rt_sigprocmask] = answer_mask,
	[SYS_rt_sigaction] = answer_sigaction,
	[SYS_sigaltstack] = answer_sigaltstack,
	[SYS_sched_yield] = answer_success,
	[SYS_membarrier] = answer_success,
	/* sleeping takes no CPU time, so the copy does not sleep */
	[SYS_nanosleep] = answer_success,
	[SYS_clock_nanosleep] = answer_success,
	[SYS_futex] = answer_futex,
	/* limits and usage of the process */
	[SYS_prlimit64] = answer_limit,
	[SYS_sched_getaffinity] = answer_affinity,
	[SYS_getrusage] = answer_usage,
	[SYS_times] = answer_times,
	[SYS_sysinfo] = answer_system,
	/* clocks: see vdso_calls.h */
	[SYS_clock_gettime] = answer_clock,
	[SYS_gettimeofday] = answer_time_of_day,
	[SYS_time] = answer_time,
	/* calls that wait for others */
	[SYS_poll] = answer_wait,
	[SYS_ppoll] = answer_wait,
	[SYS_select] = answer_wait,
	[SYS_pselect6] = answer_wait,
	[SYS_epoll_wait] = answer_wait,
	[SYS_epoll_pwait] = answer_wait,
	[SYS_epoll_pwait2] = answer_wait,
	[SYS_wait4] = answer_wait,
	[SYS_waitid] = answer_wait,
	[SYS_pause] = answer_wait,
	[SYS_rt_sigsuspend] = answer_wait,
	[SYS_rt_sigtimedwait] = answer_wait,
	[SYS_recvfrom] = answer_wait,
	[SYS_recvmsg] = answer_wait,
	[SYS_recvmmsg] = answer_wait,
	[SYS_sendto] = answer_wait,
	[SYS_sendmsg] = answer_wait,
	[SYS_sendmmsg] = answer_wait,
	[SYS_accept] = answer_wait,
	[SYS_accept4] = answer_wait,
	[SYS_connect] = answer_wait,
	[SYS_semop] = answer_wait,
	[SYS_semtimedop] = answer_wait,
	[SYS_msgrcv] = answer_wait,
	[SYS_msgsnd] = answer_wait,
	[SYS_mq_timedreceive] = answer_wait,
	[SYS_mq_timedsend] = answer_wait,
	[SYS_io_getevents] = answer_wait,
	[SYS_io_uring_enter] = answer_wait,
	[SYS_flock] = answer_wait,
	[SYS_splice] = answer_wait,
	[SYS_sendfile] = answer_wait,
	/* ends the window, and tells whether the original ends by it */
	[SYS_tgkill] = answer_signal,
};

static const char *const names[] = {
#include "shadow/syscalls/call_names.h"
};

call_answer *shadow_call_answer(int64_t number)
{
	return number >= 0 && number < (int64_t)HP_ARRAY_COUNT(answers) ? answers[number] : NULL;
}

void shadow_call_name(int64_t number, char *text, size_t size)
{
	if (number >= 0 && number < (int64_t)HP_ARRAY_COUNT(names) && names[number])
		snprintf(text, size, "%s", names[number]);
	else
		snprintf(text, size, "number %d", (int)number);
}

void shadow_calls_describe_end(const struct shadow_calls *calls, int64_t number, char *text,
			       size_t size)
{
	char name[32];

	shadow_call_name(number, name, sizeof(name));
	if (calls->has_strayed)
		snprintf(text, size, "%s unlike the original's", name);
	else
		snprintf(text, size, "%s%s%s", name, calls->of ? " of " : "",
			 calls->of ? calls->of : "");
}
