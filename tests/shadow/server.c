/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server.h"

#include "../support.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MORE_ANSWERS = 100, PAGE_BYTES = 4096 };

extern const char server_round[];

/* `count` rounds, at least one. */
static __attribute__((noinline)) void run_rounds(uint64_t count)
{
	__asm__ volatile("server_round:\n"
			 "dec %0\n"
			 "jnz server_round\n"
			 : "+r"(count)
			 :
			 : "cc");
}

uint64_t server_rounds(const uint8_t *request)
{
	return 1 + (uint64_t)request[0] * 16 + request[1];
}

const void *server_round_code(void)
{
	return server_round;
}

static uint8_t sum_of(const uint8_t *request)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < SERVER_BYTES; i++)
		sum = (uint8_t)(sum * 31 + request[i]);
	return sum;
}

static void serve(int in, int out, enum server_kind kind)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 };
	bool is_marked = kind == SERVER_WITHOUT_FORKS || kind == SERVER_WITH_SECRETS;
	uint8_t *memory =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int epoll = epoll_create1(0);
	uint8_t request[SERVER_BYTES];

	if (memory == MAP_FAILED || (kind == SERVER_WITH_SECRETS && mlock(memory, PAGE_BYTES) != 0))
		_exit(5);
	epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event);
	for (;;) {
		struct epoll_event got;
		uint8_t sum;

		if (epoll_wait(epoll, &got, 1, 1000) != 1 || got.data.u64 != 7)
			continue;
		if (read(in, request, sizeof(request)) != sizeof(request))
			_exit(0);
		run_rounds(server_rounds(request));
		if (is_marked && madvise(memory, PAGE_BYTES, MADV_DONTFORK) != 0)
			_exit(6);
		sum = sum_of(request);
		if (write(out, &sum, 1) != 1)
			_exit(1);
	}
}

static volatile sig_atomic_t is_ending;

static void note_end(int signal)
{
	(void)signal;
	is_ending = 1;
}

/* Asks, and checks each answer. */
static void ask(int in, int out)
{
	struct hp_random random = hp_random_seeded(7);
	unsigned more = MORE_ANSWERS;

	signal(SIGTERM, note_end);
	while (more) {
		uint8_t request[SERVER_BYTES];
		uint8_t answer;

		for (size_t i = 0; i < sizeof(request); i++)
			request[i] = (uint8_t)hp_random_between(&random, 0, 255);
		if (write(out, request, sizeof(request)) != sizeof(request))
			_exit(2);
		while (read(in, &answer, 1) != 1)
			if (!is_ending)
				_exit(3);
		if (answer != sum_of(request))
			_exit(4);
		more -= is_ending != 0;
	}
	_exit(0);
}

void server_start(struct server *server, enum server_kind kind)
{
	int there[2], back[2];
	pid_t parent = getpid();

	ck_assert_int_eq(kind == SERVER_OF_PIPES ? pipe(there)
						 : socketpair(AF_UNIX, SOCK_STREAM, 0, there),
			 0);
	ck_assert_int_eq(kind == SERVER_OF_PIPES ? pipe(back)
						 : socketpair(AF_UNIX, SOCK_STREAM, 0, back),
			 0);
	server->pid = fork();
	ck_assert_int_ge(server->pid, 0);
	if (!server->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			serve(there[0], back[1], kind);
	}
	server->client = fork();
	ck_assert_int_ge(server->client, 0);
	if (!server->client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			ask(back[0], there[1]);
	}
	for (unsigned i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

void server_end(struct server *server)
{
	int status;

	ck_assert_int_eq(kill(server->client, SIGTERM), 0);
	ck_assert_int_eq(waitpid(server->client, &status, 0), server->client);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(kill(server->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(server->pid, NULL, 0), server->pid);
}
