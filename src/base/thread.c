/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/thread.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Shared by the process, like signals. Held while the process must not be stopped, or while all of
 * it stops. */
static pthread_mutex_t stopping = PTHREAD_MUTEX_INITIALIZER;

int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all;
	sigset_t before;
	int failure;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure;
}

/* The kernel's structure, up to where all versions agree; not all versions of glibc have it or its
 * calls. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns; /* of fair policies: the slice, since Linux 6.12 */
	uint64_t deadline_ns;
	uint64_t period_ns;
};

static bool is_fair(uint32_t policy)
{
	return policy == SCHED_OTHER || policy == SCHED_BATCH;
}

static bool get_fair(pid_t tid, struct attributes *attributes)
{
	if (syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0) < 0)
		return false;
	attributes->size = sizeof(*attributes);
	return is_fair(attributes->policy);
}

void hp_thread_set_slice(pid_t tid, uint64_t slice_ns)
{
	struct attributes attributes = { 0 };

	if (!get_fair(tid, &attributes))
		return;
	attributes.runtime_ns = slice_ns;
	syscall(SYS_sched_setattr, tid, &attributes, 0);
}

void hp_thread_hurry(uint64_t slice_ns, int nice)
{
	struct attributes attributes = { 0 };
	int before;

	if (!get_fair(0, &attributes))
		return;
	before = attributes.nice;
	attributes.runtime_ns = slice_ns;
	/* A thread that was set to give way stays so. */
	if (before == 0)
		attributes.nice = nice;
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) < 0) {
		attributes.nice = before;
		syscall(SYS_sched_setattr, 0, &attributes, 0);
	}
}

bool hp_thread_set_batch(bool is_batch)
{
	struct attributes attributes = { 0 };
	bool was_batch;

	if (!get_fair(0, &attributes))
		return false;
	was_batch = attributes.policy == SCHED_BATCH;
	attributes.policy = is_batch ? SCHED_BATCH : SCHED_OTHER;
	attributes.runtime_ns = 0;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
	return was_batch;
}

void hp_thread_give_way(void)
{
	const int least_priority = 19;

	setpriority(PRIO_PROCESS, (id_t)gettid(), least_priority);
}

/* /proc/PID/task/TID/schedstat: ns on a CPU, ns ready for one, times it got one. */
bool hp_thread_times(pid_t pid, pid_t tid, struct hp_thread_times *times)
{
	char path[64];
	FILE *file;
	bool is_known;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_known = fscanf(file, "%" SCNu64 " %" SCNu64, &times->ran_ns, &times->delayed_ns) == 2;
	fclose(file);
	return is_known;
}

bool hp_thread_transfers(pid_t pid, pid_t tid, uint64_t *calls)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/task/%d/io", (int)pid, (int)tid);
	const char *line = text ? strstr(text, "syscr:") : NULL;
	unsigned long long reads, writes;

	if (!line || sscanf(line, "syscr: %llu syscw: %llu", &reads, &writes) != 2)
		return false;
	*calls = reads + writes;
	return true;
}

bool hp_thread_waits(pid_t pid, pid_t tid, uint64_t *waits)
{
	static const char name[] = "\nvoluntary_ctxt_switches:\t";
	_cleanup_free_ char *text = hp_file_text("/proc/%d/task/%d/status", (int)pid, (int)tid);
	const char *line = text ? strstr(text, name) : NULL;

	if (!line)
		return false;
	line += strlen(name);
	return hp_scan_u64(&line, waits);
}

void hp_thread_begin_unstoppable(void)
{
	pthread_mutex_lock(&stopping);
}

void hp_thread_end_unstoppable(void)
{
	pthread_mutex_unlock(&stopping);
}

/* Sends the signal itself: the kernel ignores it in orphaned process groups. */
void hp_thread_stop_process(void)
{
	sigset_t stop;
	sigset_t before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_mutex_lock(&stopping);
	kill(getpid(), SIGTSTP);
	/* the process stops here */
	pthread_sigmask(SIG_UNBLOCK, &stop, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_unlock(&stopping);
}
