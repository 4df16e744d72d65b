/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hostile.h"

#include "../support.h"

#include "../../src/shadow/copy/hold.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	HOSTILE_PIECES_MOST = 1024,
	PAUSE_US = 300,
	PATIENCE_US = 10000,
	PATIENCE_LOOKS = 3000,
};

/* For the clock on the wall, so that a stop finds it in user mode. */
static void compute(void)
{
	for (volatile unsigned i = 0; i < 20000; i++)
		;
}

static void check(bool is_fine, int status)
{
	if (!is_fine)
		_exit(status);
}

static void run_pieces(struct hostile *hostile)
{
	static struct iovec pieces[HOSTILE_PIECES_MOST];
	static uint8_t bytes[PAGE];
	int ends[2];

	check(pipe(ends) == 0, 10);
	for (;;) {
		/* They overlap each other, and the last ones the array itself. */
		for (size_t i = 0; i < HOSTILE_PIECES_MOST; i++)
			pieces[i] = (struct iovec){ bytes + i % 64, 1 + i % 3 };
		pieces[HOSTILE_PIECES_MOST - 1] = (struct iovec){ pieces, sizeof(pieces) };
		compute();
		check(write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes), 11);
		check(readv(ends[0], pieces, HOSTILE_PIECES_MOST) > 0, 12);
		while (recv(ends[0], bytes, SIZE_MAX, 0) > 0)
			;
		pieces[0] = (struct iovec){ bytes, SIZE_MAX };
		check(readv(ends[0], pieces, 1) < 0, 13);
		check(syscall(SYS_readv, ends[0], pieces, UINT64_MAX) < 0, 14);
		check(syscall(SYS_epoll_wait, ends[0], (void *)-8, -1, 0) < 0, 15);
		check(syscall(SYS_poll, (void *)-PAGE, UINT32_MAX, 0) < 0, 16);
		++*hostile->rounds;
	}
}

static uint8_t *volatile victim;

static void *unmap(void *context)
{
	for (;;) {
		uint8_t *at = mmap(context, PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		usleep(PAUSE_US);
		munmap(at, PAGE);
	}
	return NULL;
}

static void run_unmapped(struct hostile *hostile)
{
	pthread_t thread;
	int ends[2];

	victim = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(pipe(ends) == 0 && pthread_create(&thread, NULL, unmap, victim) == 0, 20);
	for (;;) {
		ssize_t got;

		compute();
		check(write(ends[1], "12345678", 8) == 8, 21);
		do {
			got = read(ends[0], victim, 8);
		} while (got < 0 && errno == EFAULT);
		check(got == 8, 22);
		++*hostile->rounds;
	}
}

static volatile sig_atomic_t arrived;

static void arrive(int signal)
{
	(void)signal;
	arrived++;
}

/* The helper sends the next one only when the one before has arrived. */
static void run_signals(struct hostile *hostile)
{
	volatile uint64_t *sent = hostile->rounds + 1;
	volatile uint64_t *is_ready = sent + 1;
	sig_atomic_t seen = 0;

	signal(SIGUSR1, arrive);
	if (!hostile->helper) {
		while (!*is_ready)
			usleep(PAUSE_US);
		for (uint64_t before = *sent; kill(hostile->pid, SIGUSR1) == 0; before = *sent)
			while (*sent == before)
				usleep(PAUSE_US / 10);
		_exit(0);
	}
	*is_ready = 1;
	for (;;) {
		compute();
		getppid();
		if (arrived == seen)
			continue;
		seen = arrived;
		++*sent;
		++*hostile->rounds;
	}
}

static void run_exec(struct hostile *hostile)
{
	/* One round of each program; a shell becomes itself again some thousand times. */
	execl("/bin/sh", "sh", "-c",
	      "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; "
	      "cd . ; exec \"$0\" -c \"$1\" \"$0\" \"$1\"",
	      "/bin/sh",
	      "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; cd . ; "
	      "exec \"$0\" -c \"$1\" \"$0\" \"$1\"",
	      (char *)NULL);
	(void)hostile;
	_exit(30);
}

static void run_blocked(struct hostile *hostile)
{
	struct epoll_event event;
	int epoll = epoll_create1(0);

	for (;;) {
		for (unsigned i = 0; i < 20; i++) {
			compute();
			getppid();
		}
		/* EINTR would be somebody's fault. */
		check(epoll_wait(epoll, &event, 1, 400) == 0, 40);
		++*hostile->rounds;
	}
}

static void run_stopped(struct hostile *hostile)
{
	if (!hostile->helper) {
		while (kill(hostile->pid, SIGSTOP) == 0) {
			usleep(PAUSE_US);
			kill(hostile->pid, SIGCONT);
			usleep(10 * PAUSE_US);
		}
		_exit(0);
	}
	for (;;) {
		compute();
		getppid();
		++*hostile->rounds;
	}
}

static void run(struct hostile *hostile, enum hostile_kind kind)
{
	static void (*const runs[HOSTILE_KINDS])(struct hostile *) = {
		[HOSTILE_PIECES] = run_pieces,	 [HOSTILE_UNMAPPED] = run_unmapped,
		[HOSTILE_SIGNALS] = run_signals, [HOSTILE_EXEC] = run_exec,
		[HOSTILE_BLOCKED] = run_blocked, [HOSTILE_STOPPED] = run_stopped,
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	runs[kind](hostile);
	_exit(50);
}

void hostile_start(struct hostile *hostile, enum hostile_kind kind)
{
	void *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	*hostile = (struct hostile){ .shared = shared, .rounds = shared };
	hostile->pid = fork();
	ck_assert_int_ge(hostile->pid, 0);
	if (!hostile->pid) {
		hostile->helper = -1;
		run(hostile, kind);
	}
	if (kind != HOSTILE_SIGNALS && kind != HOSTILE_STOPPED)
		return;
	hostile->helper = fork();
	ck_assert_int_ge(hostile->helper, 0);
	if (!hostile->helper)
		run(hostile, kind);
}

static void await_round(const struct hostile *hostile)
{
	uint64_t before = *hostile->rounds;

	for (unsigned i = 0; i < PATIENCE_LOOKS && *hostile->rounds == before; i++)
		usleep(PATIENCE_US);
	ck_assert_uint_ne(*hostile->rounds, before);
}

void hostile_end(struct hostile *hostile)
{
	int status;

	/* What it has become counts no rounds. */
	if (*hostile->rounds)
		await_round(hostile);
	ck_assert_int_eq(waitpid(hostile->pid, &status, WNOHANG), 0);
	ck_assert_int_eq(hold_tracer(hostile->pid), 0);
	ck_assert_int_eq(kill(hostile->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(hostile->pid, NULL, 0), hostile->pid);
	if (hostile->helper) {
		kill(hostile->helper, SIGKILL);
		ck_assert_int_eq(waitpid(hostile->helper, NULL, 0), hostile->helper);
	}
	munmap(hostile->shared, PAGE);
}
