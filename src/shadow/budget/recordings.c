/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds the program of the process. NULL if it is unknown: then `like` is a new entry for it; or
 * if the process has ended: then `like` is unchanged. */
static const struct recorded_program *find(const struct recordings *recordings, pid_t pid,
					   struct recorded_program *like)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &status) < 0)
		return NULL;
	*like = (struct recorded_program){ .device = status.st_dev, .inode = status.st_ino };
	for (size_t i = 0; i < recordings->count; i++) {
		const struct recorded_program *program = &recordings->programs[i];

		if (program->device == like->device && program->inode == like->inode)
			return program;
	}
	return NULL;
}

/* Whether the thread often gives up its CPU to wait, by the kernel's count of context switches. */
static bool waits_often(pid_t pid, pid_t tid)
{
	struct hp_thread_times times = { 0 };
	uint64_t waits;

	return hp_thread_waits(pid, tid, &waits) && hp_thread_times(pid, tid, &times) &&
	       (double)waits > often_waits_per_ns * (double)times.ran_ns && waits > OFTEN_LEAST;
}

/* Whether the descriptor is of this kind, as the name of what it leads to begins. */
static bool is_kind(pid_t pid, uint64_t descriptor, const char *kind)
{
	char path[64], target[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", (int)pid, (unsigned long long)descriptor);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	return strncmp(target, kind, strlen(kind)) == 0;
}

/* Whether the descriptor is a channel to other processes: a socket, a pipe or the like. */
static bool is_channel(pid_t pid, uint64_t descriptor)
{
	return is_kind(pid, descriptor, "socket:") || is_kind(pid, descriptor, "pipe:") ||
	       is_kind(pid, descriptor, "anon_inode:");
}

/* Whether the thread often reads or writes, and its process has opened a socket: programs that only read
 * files often have pipes or a socket as standard streams. */
static bool talks_often(pid_t pid, pid_t tid)
{
	struct hp_thread_times times = { 0 };
	uint64_t calls;

	if (!hp_thread_transfers(pid, tid, &calls) || calls < OFTEN_LEAST ||
	    !hp_thread_times(pid, tid, &times) ||
	    (double)calls <= often_transfers_per_ns * (double)times.ran_ns)
		return false;
	for (uint64_t descriptor = STDERR_FILENO + 1; descriptor < DESCRIPTOR_LIMIT; descriptor++)
		if (is_kind(pid, descriptor, "socket:"))
			return true;
	return false;
}

bool recordings_want(const struct recordings *recordings, pid_t pid, pid_t tid, uint64_t running)
{
	struct recorded_program like;
	const struct recorded_program *program = find(recordings, pid, &like);

	if (program && program->has_window)
		return program->is_recorded;
	return running == 1 && ((program && program->in_calls >= OFTEN_IN_CALLS) ||
				waits_often(pid, tid) || talks_often(pid, tid));
}

/* NULL: the process has ended, or there are too many programs. */
static struct recorded_program *find_or_add(struct recordings *recordings, pid_t pid)
{
	struct recorded_program like = { 0 };
	const struct recorded_program *found = find(recordings, pid, &like);

	if (found)
		return &recordings->programs[found - recordings->programs];
	if (!like.inode || recordings->count == RECORDED_PROGRAMS)
		return NULL;
	recordings->programs[recordings->count] = like;
	return &recordings->programs[recordings->count++];
}

void recordings_note_call(struct recordings *recordings, pid_t pid, uint64_t argument)
{
	struct recorded_program *program = argument <= INT_MAX && is_channel(pid, argument)
						   ? find_or_add(recordings, pid)
						   : NULL;

	if (program)
		program->in_calls++;
}

/* One vain window is enough where windows without recording counted something. */
static bool is_vain(const struct recorded_program *program)
{
	return program->in_vain >= (program->has_counted ? 1 : RECORDED_IN_VAIN);
}

/* Whether it is time to try a window without recording. */
static bool is_trial_due(struct recorded_program *program)
{
	if (!program->recorded || program->recorded++ < (unsigned)RECORDED_BEFORE_TRIAL
								<< program->trials)
		return false;
	program->recorded = 0;
	program->trials += program->trials < RECORDED_TRIALS;
	return true;
}

void recordings_note(struct recordings *recordings, pid_t pid, bool was_recorded, bool is_cut,
		     uint64_t wanted_ns, uint64_t counted_ns)
{
	struct recorded_program *program = find_or_add(recordings, pid);

	if (!program)
		return;
	if (!program->has_window) {
		program->has_window = true;
		program->is_recorded = was_recorded;
	}
	if (was_recorded) {
		bool is_little = is_cut && counted_ns < wanted_ns / RECORDED_VAIN_PART;

		program->in_vain = counted_ns && !is_little ? 0 : program->in_vain + 1;
		if (is_vain(program) || is_trial_due(program))
			program->is_recorded = false;
		return;
	}
	program->has_counted |= counted_ns > 0;
	if (is_cut && counted_ns < wanted_ns / RECORDED_BELOW_PART && !is_vain(program)) {
		program->is_recorded = true;
		program->recorded = 1;
	}
}
