/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is held for a moment: room made for its memory before that, and its end meanwhile. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/copy/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct held_state state; /* too large for the stack */
static struct hold_times times;

enum { GROWTH_BYTES = 100 << 20 };

/* Grows when it is told to, and says so. */
static pid_t start_growing(int told, int tells)
{
	pid_t pid = fork();
	uint8_t *grown;
	char byte;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (read(told, &byte, 1) != 1)
		_exit(1);
	grown = mmap(NULL, GROWTH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (grown == MAP_FAILED)
		_exit(1);
	memset(grown, 1, GROWTH_BYTES);
	if (write(tells, &byte, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Room for much memory takes a while to make. */
TEST_WHERE(can_copy(), there_is_room_for_what_has_come_while_it_was_made)
{
	struct snapshot snapshot;
	uint64_t bytes;
	int tell[2], hear[2];
	char byte = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(tell), 0);
	ck_assert_int_eq(pipe(hear), 0);
	pid = start_growing(tell[0], hear[1]);
	snapshot_init(&snapshot);
	hp_assert_ok(snapshot_prepare(&snapshot, pid, &bytes));
	ck_assert_int_eq(write(tell[1], &byte, 1), 1);
	ck_assert_int_eq(read(hear[0], &byte, 1), 1);
	reserve(&snapshot);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert_uint_ge(snapshot.read_bytes, bytes + GROWTH_BYTES);
	snapshot_clear(&snapshot);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		close(tell[i]);
		close(hear[i]);
	}
}

TEST_WHERE(can_copy(), a_target_that_has_ended_is_left_to_its_parent)
{
	struct hp_error *error = NULL;
	enum hp_shadow_refusal refusal;
	siginfo_t ended;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	ck_assert_int_ne(hold(pid, HOLD_IN_USER_MODE, &state, &times, &error, &refusal),
			 HOLD_STOPPED);
	hp_assert_ok(error);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}

TEST(a_target_that_is_killed_while_it_is_held_is_left_to_its_parent)
{
	int status;
	pid_t pid = start_spinning();

	hold_running(pid, &state);
	kill(pid, SIGKILL);
	hold_release(pid, &times);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Its parent would wait for ever if we did not see its end. */
TEST(somebody_elses_child_that_is_killed_while_it_is_held_is_waited_for_by_its_parent)
{
	pid_t child = 0;
	int tell[2];
	int status;
	pid_t parent;

	ck_assert_int_eq(pipe(tell), 0);
	parent = fork();
	if (parent == 0) {
		pid_t pid = start_spinning();

		if (write(tell[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(2);
		_exit(waitpid(pid, &status, 0) != pid || WTERMSIG(status) != SIGKILL);
	}
	ck_assert_int_eq(read(tell[0], &child, sizeof(child)), sizeof(child));
	hold_running(child, &state);
	kill(child, SIGKILL);
	hold_release(child, &times);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert_int_eq(status, 0);
	close(tell[0]);
	close(tell[1]);
}

/* --- calls that a stop would cut short -------------------------------------------------------- */

enum { CALL_BYTES = 1 << 20, CALLS = 400, STOPS_PER_RECORDING = 4 };

typedef ssize_t caller(int fd, void *bytes);

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i % 251);
}

static ssize_t write_all(int fd, void *bytes)
{
	return write(fd, bytes, CALL_BYTES);
}

/* In pieces of different lengths, one of them empty. */
static struct iovec *pieces_of(void *bytes)
{
	static struct iovec pieces[4];
	const size_t lengths[] = { 5, CALL_BYTES / 2, 0, CALL_BYTES / 2 - 5 };
	char *at = bytes;

	for (size_t i = 0; i < HP_ARRAY_COUNT(pieces); at += lengths[i++])
		pieces[i] = (struct iovec){ at, lengths[i] };
	return pieces;
}

static ssize_t write_pieces(int fd, void *bytes)
{
	return writev(fd, pieces_of(bytes), 4);
}

static ssize_t send_pieces(int fd, void *bytes)
{
	const struct msghdr message = { .msg_iov = pieces_of(bytes), .msg_iovlen = 4 };

	return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static ssize_t read_zeros(int fd, void *bytes)
{
	return read(fd, bytes, CALL_BYTES);
}

static ssize_t get_random(int fd, void *bytes)
{
	(void)fd;
	return getrandom(bytes, CALL_BYTES, 0);
}

/* Ends with 1 if a call has done only a part. */
static pid_t start_calling(caller *call, int fd)
{
	pid_t pid = fork();
	unsigned char *bytes;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	bytes = malloc(CALL_BYTES);
	for (size_t i = 0; bytes && i < CALL_BYTES; i++)
		bytes[i] = byte_at(i);
	for (unsigned i = 0; bytes && i < CALLS; i++) {
		if (call(fd, bytes) != CALL_BYTES)
			_exit(1);
	}
	_exit(bytes ? 0 : 2);
}

/* NULL if each call has written the same bytes, in order. */
static void *drain(void *context)
{
	static unsigned char bytes[CALL_BYTES];
	const int *fd = context;
	void *bad = NULL;
	size_t at = 0;
	ssize_t got;

	while ((got = read(*fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (bytes[i] != byte_at(at++ % CALL_BYTES))
				bad = context;
		}
	}
	return bad;
}

/* Stops it wherever it is, which ends recordings before calls, too, and has some begin behind one. The
 * number of times. */
static unsigned stop_until_it_ends(pid_t pid, int *status)
{
	struct areas areas = { 0 };
	struct call_log log = { 0 };
	struct recorder recorder = { .tid = pid, .areas = &areas, .clock_fd = -1, .log = &log };
	enum hp_shadow_refusal refusal;
	struct hp_error *error = NULL;
	unsigned stops = 0;

	while (waitpid(pid, status, WNOHANG) == 0) {
		enum hold_result held = hold(pid, stops % 2 ? HOLD_BEHIND_CALLS : HOLD_IN_USER_MODE,
					     &state, &times, &error, &refusal);

		hp_assert_ok(error);
		stops += times.start_ns != 0;
		if (held != HOLD_STOPPED)
			continue;
		if (stops % STOPS_PER_RECORDING) {
			hold_release(pid, &times);
			continue;
		}
		ck_assert(call_log_begin(&log));
		hold_keep(&times);
		recorder_run(&recorder);
		recorder_release(&recorder);
	}
	call_log_clear(&log);
	return stops;
}

static void check_whole(caller *call, int fd)
{
	pid_t pid = start_calling(call, fd);
	int status;

	ck_assert_uint_gt(stop_until_it_ends(pid, &status), 0);
	ck_assert_int_eq(status, 0);
}

/* What is read at the other end is slower, so the caller waits in most calls. */
static void check_stream(caller *call, int ends[2])
{
	pthread_t reader;
	void *bad;

	ck_assert_int_eq(pthread_create(&reader, NULL, drain, &ends[0]), 0);
	check_whole(call, ends[1]);
	close(ends[1]);
	pthread_join(reader, &bad);
	ck_assert_ptr_null(bad);
	close(ends[0]);
}

TEST(a_write_to_a_pipe_is_whole_although_its_thread_is_stopped)
{
	caller *const calls[] = { write_all, write_pieces };
	int ends[2];

	for (size_t i = 0; i < HP_ARRAY_COUNT(calls); i++) {
		ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
		check_stream(calls[i], ends);
	}
}

TEST(a_message_to_a_socket_is_whole_although_its_thread_is_stopped)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	check_stream(send_pieces, ends);
}

TEST(a_read_of_a_device_is_whole_although_its_thread_is_stopped)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	check_whole(read_zeros, fd);
	close(fd);
	check_whole(get_random, -1);
}

/* --- the end of calls ------------------------------------------------------------------------- */

/* It is hardly ever in user mode. */
static pid_t start_asking(void)
{
	pid_t pid = fork();
	void *bytes;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	bytes = malloc(CALL_BYTES);
	while (bytes && getrandom(bytes, CALL_BYTES, 0) == CALL_BYTES)
		;
	_exit(1);
}

/* The stop ends such a call early, unless it comes in its last moments. */
TEST(a_thread_is_held_behind_calls_that_the_stop_has_not_cut_short)
{
	enum { HELD = 5, TRIES = 20000 };
	pid_t pid = start_asking();
	enum hp_shadow_refusal refusal;
	struct hp_error *error = NULL;
	unsigned behind = 0;

	for (unsigned i = 0; i < TRIES && behind < HELD; i++) {
		enum hold_result held =
			hold(pid, HOLD_BEHIND_CALLS, &state, &times, &error, &refusal);

		hp_assert_ok(error);
		if (held != HOLD_STOPPED)
			continue;
		/* The instruction of a call leaves the address behind it in rcx; before the first
		 * call, the process has others to make. */
		if (state.registers.rcx == state.registers.rip &&
		    state.registers.rsi == CALL_BYTES) {
			ck_assert_int_eq((int64_t)state.registers.rax, CALL_BYTES);
			ck_assert_int_lt((int64_t)state.registers.orig_rax, 0);
			behind++;
		}
		hold_release(pid, &times);
	}
	ck_assert_uint_eq(behind, HELD);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

HP_TEST_MAIN("shadow/hold")
