/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is held for a moment: room made for its memory before that, and its end meanwhile. */
#include "../support.h"
#include "copied.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
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
	ck_assert_int_ne(hold(pid, &state, &times, &error, &refusal), HOLD_STOPPED);
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

HP_TEST_MAIN("shadow/hold")
