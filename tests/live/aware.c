/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that would notice if somebody copied them carelessly. Each works for a while in small
 * steps, and prints only what is the same in every run:
 *
 *	aware output		pseudo-random bytes, as they are computed
 *	aware long		more of them
 *	aware children		forks, vforks and spawns, and waits for each
 *	aware files PATH	reads, seeks, appends, and reads back
 *	aware shared PATH	counts in shared memory, together with a child
 *	aware pipes		ends of pipes and sockets that have to be seen at once
 *	aware locks PATH	locks that have to be free at once
 *	aware timer		a handler at 100 Hz, and no other signal
 *	aware brief		threads that end as soon as they have begun
 *	aware threads		several, with a lock, and one that waits in calls that signals end
 *	aware self		its own mappings, descriptors, threads and children, before and
 *				after
 *	aware filtered		under a seccomp filter that kills for any other call than its own
 *	aware traced		a child that it traces itself
 */
#include "burn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 50, STEP_WORK = 2000000 };

extern char **environ;

/* About 5 ms of work, whose result depends on all of it. */
APART static uint64_t step(uint64_t x)
{
	for (unsigned i = 0; i < STEP_WORK; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		if (x >> 62 == 3)
			x ^= x >> 31;
	}
	return x;
}

static void must(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

static void write_all(int fd, const void *bytes, size_t size)
{
	must(write(fd, bytes, size) == (ssize_t)size, "write");
}

static void write_steps(int count)
{
	uint64_t x = 1;

	for (int i = 0; i < count; i++) {
		x = step(x);
		write_all(STDOUT_FILENO, &x, sizeof(x));
	}
}

static void output(void)
{
	write_steps(2 * STEPS);
}

static void long_output(void)
{
	write_steps(6 * STEPS);
}

/* --- children --------------------------------------------------------------------------------- */

static pid_t start_child(int how)
{
	static char name[] = "true";
	char *const arguments[] = { name, NULL };
	pid_t pid = -1;

	if (how == 0)
		pid = fork();
	else if (how == 1)
		pid = vfork();
	else
		must(posix_spawnp(&pid, name, NULL, NULL, arguments, environ) == 0, "posix_spawnp");
	if (pid == 0)
		_exit(0);
	must(pid > 0, "fork");
	return pid;
}

static void children(void)
{
	unsigned right = 0;
	unsigned strangers = 0;
	uint64_t x = 1;

	for (int i = 0; i < STEPS; i++) {
		pid_t pid = start_child(i % 3);
		int status;

		x = step(x);
		right += waitpid(-1, &status, __WALL) == pid && WIFEXITED(status) &&
			 WEXITSTATUS(status) == 0;
		strangers += waitpid(-1, &status, __WALL | WNOHANG) != -1 || errno != ECHILD;
	}
	printf("%u children, %u strangers, %llx\n", right, strangers, (unsigned long long)x);
}

/* --- files ------------------------------------------------------------------------------------ */

static void files(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int reader = open(path, O_RDONLY);
	uint64_t x = 1;
	uint64_t sum = 0;

	must(fd >= 0 && reader >= 0, path);
	for (int i = 0; i < STEPS; i++) {
		uint64_t back = 0;

		x = step(x);
		write_all(fd, &x, sizeof(x));
		must(read(reader, &back, sizeof(back)) == sizeof(back), "read");
		sum += back ^ (uint64_t)lseek(reader, 0, SEEK_CUR);
		must(pwrite(fd, &sum, sizeof(sum), 0) == sizeof(sum), "pwrite");
	}
	must(pread(reader, &x, sizeof(x), 0) == sizeof(x), "pread");
	printf("%llx %llx %lld %lld\n", (unsigned long long)sum, (unsigned long long)x,
	       (long long)lseek(fd, 0, SEEK_CUR), (long long)lseek(reader, 0, SEEK_END));
}

/* --- shared memory ---------------------------------------------------------------------------- */

static void count_up(_Atomic uint64_t *anonymous, _Atomic uint64_t *of_file)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t x = step((uint64_t)i);

		for (int j = 0; j < 1000; j++) {
			atomic_fetch_add(anonymous, 1);
			atomic_fetch_add(of_file, 1 + (x & 0));
		}
	}
}

static void shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	_Atomic uint64_t *anonymous;
	_Atomic uint64_t *of_file;
	pid_t pid;

	must(fd >= 0 && ftruncate(fd, 4096) == 0, path);
	anonymous = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	of_file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(anonymous != MAP_FAILED && of_file != MAP_FAILED, "mmap");
	pid = fork();
	must(pid >= 0, "fork");
	count_up(anonymous, of_file);
	if (pid == 0)
		_exit(0);
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	printf("%llu %llu\n", (unsigned long long)*anonymous, (unsigned long long)*of_file);
}

/* --- ends of pipes and sockets ---------------------------------------------------------------- */

static void pipes(void)
{
	unsigned ends = 0;
	unsigned broken = 0;
	uint64_t x = 1;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < STEPS; i++) {
		int pair[2];
		char byte;

		must((i % 2 ? pipe2(pair, O_NONBLOCK)
			    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)) == 0,
		     "pipe");
		x = step(x);
		/* Whoever else had the writing end open would make it EAGAIN. */
		if (i % 4 < 2) {
			close(pair[1]);
			ends += read(pair[0], &byte, 1) == 0;
			close(pair[0]);
		} else {
			close(pair[0]);
			broken += write(pair[1], "x", 1) < 0 && errno == EPIPE;
			close(pair[1]);
		}
	}
	printf("%u ends, %u broken, %llx\n", ends, broken, (unsigned long long)x);
}

static void locks(const char *path)
{
	unsigned had = 0;
	uint64_t x = 1;

	for (int i = 0; i < STEPS; i++) {
		int first = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		int second = open(path, O_RDWR | O_CLOEXEC);

		must(first >= 0 && second >= 0 && flock(first, LOCK_EX) == 0, "flock");
		x = step(x);
		/* Whoever else had this description open would hold the lock still. */
		close(first);
		had += flock(second, LOCK_EX | LOCK_NB) == 0;
		close(second);
	}
	printf("%u locks, %llx\n", had, (unsigned long long)x);
}

/* --- signals ---------------------------------------------------------------------------------- */

static _Atomic unsigned alarms;
static _Atomic unsigned others;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGALRM && info->si_code == SI_KERNEL)
		alarms++;
	else
		others++;
}

static void timer(void)
{
	const struct itimerval interval = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	uint64_t x = 1;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	must(setitimer(ITIMER_REAL, &interval, NULL) == 0, "setitimer");
	for (int i = 0; i < STEPS; i++)
		x = step(x);
	printf("%s alarms, %u others, %llx\n", alarms ? "some" : "no", others,
	       (unsigned long long)x);
}

/* --- threads ---------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t counted;
static _Atomic bool is_over;

static void *count(void *context)
{
	uint64_t x = (uint64_t)(uintptr_t)context;

	for (int i = 0; i < STEPS / 2; i++) {
		x = step(x);
		for (int j = 0; j < 100; j++) {
			pthread_mutex_lock(&lock);
			counted++;
			pthread_mutex_unlock(&lock);
		}
	}
	return NULL;
}

/* epoll_wait() is not made again by the kernel after a stop. */
static void *wait_in_vain(void *context)
{
	int poll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	unsigned *interrupted = context;

	while (!is_over)
		*interrupted += epoll_wait(poll_fd, &event, 1, 3) < 0;
	close(poll_fd);
	return NULL;
}

static void *work_briefly(void *context)
{
	uint64_t *x = context;

	for (unsigned i = 0; i < STEP_WORK / 8; i++)
		*x = *x * 6364136223846793005u + 1442695040888963407u;
	return NULL;
}

static void brief(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 10 * STEPS; i++) {
		pthread_t thread;

		must(pthread_create(&thread, NULL, work_briefly, &x) == 0, "pthread_create");
		must(pthread_join(thread, NULL) == 0, "pthread_join");
	}
	printf("%llx\n", (unsigned long long)x);
}

static void threads(void)
{
	pthread_t workers[3];
	pthread_t waiter;
	unsigned interrupted = 0;

	must(pthread_create(&waiter, NULL, wait_in_vain, &interrupted) == 0, "pthread_create");
	for (uintptr_t i = 0; i < 3; i++)
		must(pthread_create(&workers[i], NULL, count, (void *)(i + 1)) == 0,
		     "pthread_create");
	for (int i = 0; i < 3; i++)
		pthread_join(workers[i], NULL);
	is_over = true;
	pthread_join(waiter, NULL);
	printf("%llu counted, %u interrupted\n", (unsigned long long)counted, interrupted);
}

/* --- itself ----------------------------------------------------------------------------------- */

/* Of the status: what neither goes up by itself nor is everybody's (SigQ is all of a user's). */
static bool is_kept(const char *line)
{
	static const char *const names[] = {
		"Threads:", "SigPnd:",	  "ShdPnd:",  "SigBlk:",     "SigIgn:",	     "SigCgt:",
		"FDSize:",  "TracerPid:", "Seccomp:", "NoNewPrivs:", "Cpus_allowed:"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* All that a process can see of itself. */
static void print_self(void)
{
	static const char *const paths[] = { "/proc/self/maps", "/proc/self/status",
					     "/proc/thread-self/children" };
	struct rusage usage;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		FILE *file = fopen(paths[i], "re");
		char line[4096];

		if (!file)
			continue;
		while (fgets(line, sizeof(line), file)) {
			if (i != 1 || is_kept(line))
				fputs(line, stdout);
		}
		fclose(file);
	}
	for (int fd = 0; fd < 64; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("children had %ld pages\n", usage.ru_maxrss);
}

static void self(void)
{
	uint64_t x = 1;

	/* Where memory is differs from run to run: compared with itself. */
	print_self();
	puts("--");
	for (int i = 0; i < STEPS; i++)
		x = step(x);
	print_self();
	puts("--");
	printf("%llx\n", (unsigned long long)x);
}

/* --- under a filter, and under a tracer of its own -------------------------------------------- */

static void filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "seccomp");
	output();
	_exit(0);
}

static void traced(void)
{
	uint64_t x = 1;
	int status;
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0) {
		must(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "traceme");
		raise(SIGSTOP);
		for (int i = 0; i < STEPS; i++)
			x = step(x);
		raise(SIGUSR1);
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "its stop");
	must(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0, "cont");
	must(waitpid(pid, &status, 0) == pid, "its next stop");
	printf("stopped by %d\n", WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
	must(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0, "cont");
	must(waitpid(pid, &status, 0) == pid, "its end");
	printf("ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		void (*run_on)(const char *path);
	} modes[] = {
		{ "output", output, NULL },	{ "long", long_output, NULL },
		{ "children", children, NULL }, { "files", NULL, files },
		{ "shared", NULL, shared },	{ "pipes", pipes, NULL },
		{ "locks", NULL, locks },	{ "timer", timer, NULL },
		{ "threads", threads, NULL },	{ "brief", brief, NULL },
		{ "self", self, NULL },		{ "filtered", filtered, NULL },
		{ "traced", traced, NULL },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		if (modes[i].run)
			modes[i].run();
		else if (argc > 2)
			modes[i].run_on(argv[2]);
		return 0;
	}
	fputs("usage: aware MODE [PATH]\n", stderr);
	return 1;
}
