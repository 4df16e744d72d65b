/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Questions about the machine and its files. A filter of the original's may refuse these, and the
 * copy has no such filter. */
static bool may_be_asked(const struct shadow_calls *calls, int64_t number)
{
	if (!calls->is_confined)
		return true;
	return number != SYS_prlimit64 && number != SYS_sched_getaffinity &&
	       number != SYS_getrusage && number != SYS_times && number != SYS_sysinfo;
}

/* Whether the call is in the vdso: see vdso_calls.h. */
static bool is_of_vdso(const struct shadow_calls *calls, uint64_t address)
{
	const struct area *area = areas_find(calls->areas, address);

	return area && area->kind == AREA_VDSO;
}

struct hp_engine_call shadow_calls_handle(void *context, pid_t pid,
					  const struct user_regs_struct *registers)
{
	struct shadow_calls *calls = context;
	struct call call = {
		.number = (int64_t)registers->rax,
		.a = { registers->rdi, registers->rsi, registers->rdx, registers->r10,
		       registers->r8, registers->r9 },
	};
	call_answer *answer = shadow_call_answer(call.number);
	size_t moment = 0;
	bool is_handled;

	(void)pid;
	calls->may_wait = false;
	calls->has_aborted = false;
	calls->of = NULL;
	calls->has_strayed = false;
	if (calls->log)
		is_handled = answer_from_log(calls, &call, registers, &moment);
	else
		is_handled = answer && may_be_asked(calls, call.number) && answer(calls, &call);
	calls->calls += is_handled;
	return (struct hp_engine_call){
		.is_handled = is_handled,
		.result = call.result,
		.guessed_at = call.guessed_at,
		.guessed_bytes = call.guessed_bytes,
		.frame_bytes = is_of_vdso(calls, registers->rip) ? VDSO_FRAME_BYTES : 0,
		.moment = moment,
		.is_end = calls->has_exited &&
			  (call.number == SYS_exit || call.number == SYS_exit_group),
	};
}

bool shadow_calls_protect(void *context, uint64_t address, uint64_t bytes, int protection)
{
	struct shadow_calls *calls = context;

	return !sandbox_is_ours(calls->sandbox, address, bytes) &&
	       sandbox_call(calls->sandbox, SYS_mprotect, address, bytes, (uint64_t)protection, 0,
			    0, 0) == 0;
}

/* --- ids -------------------------------------------------------------------------------------- */

/* The last number of a line "Name:\t1\t2\n", which is that of the innermost namespace. */
static int64_t last_number(const char *text, const char *name, bool *is_nested)
{
	const char *line = strstr(text, name);
	int64_t last = -1;
	int count = 0;
	int length = 0;
	long long value;

	if (!line)
		return -1;
	line += strlen(name);
	while (*line == '\t' && sscanf(line, "\t%lld%n", &value, &length) == 1) {
		last = value;
		line += length;
		count++;
	}
	*is_nested = count > 1;
	return last;
}

static int64_t nth_number(const char *text, const char *name, int wanted)
{
	const char *line = strstr(text, name);
	long long values[2];

	if (!line || sscanf(line + strlen(name), "\t%lld\t%lld", &values[0], &values[1]) != 2)
		return -1;
	return values[wanted];
}

static int open_directory(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void close_roots(struct name_roots *roots)
{
	if (roots->are_known && roots->root >= 0)
		close(roots->root);
	if (roots->are_known && roots->current >= 0)
		close(roots->current);
	roots->are_known = false;
}

void shadow_calls_copied(struct shadow_calls *calls)
{
	close_roots(&calls->roots);
	calls->roots = (struct name_roots){
		.are_known = true,
		.root = open_directory(calls->pid, "root"),
		.current = open_directory(calls->pid, "cwd"),
	};
	shadow_clock_copied(&calls->clock, calls->pid, calls->tid);
}

void shadow_calls_clear(struct shadow_calls *calls)
{
	close_roots(&calls->roots);
	file_names_clear(&calls->touched);
}

bool shadow_calls_identify(struct shadow_calls *calls, pid_t pid, pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/task/%d/status", (int)pid, (int)tid);
	bool is_nested = false;
	bool is_parent_nested;
	const char *line;

	shadow_calls_clear(calls);
	calls->pid = pid;
	calls->tid = tid;
	if (!text)
		return false;
	line = strstr(text, "\nUmask:");
	calls->mask = line ? strtoul(line + strlen("\nUmask:"), NULL, 8) : 0;
	line = strstr(text, "\nSigIgn:");
	calls->ignored = line ? strtoull(line + strlen("\nSigIgn:"), NULL, 16) : 0;
	calls->changed = 0;
	calls->log = NULL;
	calls->logged = 0;
	calls->clock.logged_ns = 0;
	calls->ids[ID_PROCESS] = last_number(text, "\nNStgid:", &is_nested);
	calls->ids[ID_THREAD] = last_number(text, "\nNSpid:", &is_nested);
	calls->ids[ID_PARENT] = is_nested ? -1 : last_number(text, "\nPPid:", &is_parent_nested);
	calls->ids[ID_USER] = nth_number(text, "\nUid:", 0);
	calls->ids[ID_EFFECTIVE_USER] = nth_number(text, "\nUid:", 1);
	calls->ids[ID_GROUP] = nth_number(text, "\nGid:", 0);
	calls->ids[ID_EFFECTIVE_GROUP] = nth_number(text, "\nGid:", 1);
	return true;
}
