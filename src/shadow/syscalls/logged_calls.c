/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers the system calls of a copy from the log of the original's calls. The copy must make the
 * same calls in the same order, from the same places. Calls that change the address space are also
 * made in the copy, and must have the same result. Clocks that the vdso reads make no call in the
 * original (vdso_calls.h).
 */
#include "answers.h"

#include "../copy/call_outputs.h"

#include <sys/syscall.h>

enum { SYSCALL_BYTES = 2 };

static bool is_of_vdso(const struct shadow_calls *calls, uint64_t address)
{
	const struct area *area = areas_find(calls->areas, address);

	return area && area->kind == AREA_VDSO;
}

static bool is_the_same(const struct shadow_calls *calls, const struct call *call,
			const struct user_regs_struct *registers, const struct logged_call *logged)
{
	unsigned compared = call_compared(call->number);

	if (logged->number != call->number)
		return false;
	for (unsigned i = 0; i < 6; i++)
		if ((compared >> i & 1) && logged->a[i] != call->a[i])
			return false;
	/* The vdso of the copy has other calls than the original's. */
	if (is_of_vdso(calls, registers->rip))
		return is_of_vdso(calls, logged->behind);
	return logged->behind == registers->rip + SYSCALL_BYTES && logged->stack == registers->rsp;
}

/* Answers what the original's vdso answered without a call. */
static bool ask_clock(struct shadow_calls *calls, struct call *call,
		      const struct user_regs_struct *registers)
{
	call_answer *answer = shadow_call_answer(call->number);

	return (call->number == SYS_clock_gettime || call->number == SYS_gettimeofday ||
		call->number == SYS_time) &&
	       is_of_vdso(calls, registers->rip) && answer && answer(calls, call);
}

/* Fails where memory has become secret meanwhile, and where the copy may not write. */
static bool write_outputs(const struct shadow_calls *calls, const struct logged_call *logged)
{
	const struct call_log *log = calls->log;

	for (size_t i = 0; i < logged->piece_count; i++) {
		const struct logged_piece *piece = &log->pieces[logged->first_piece + i];
		const struct area *area = areas_find(calls->areas, piece->address);

		if (!area || area->is_secret ||
		    !call_write(calls, piece->address, log->bytes + piece->offset, piece->bytes))
			return false;
	}
	return true;
}

bool answer_from_log(struct shadow_calls *calls, struct call *call,
		     const struct user_regs_struct *registers, size_t *moment)
{
	const struct call_log *log = calls->log;
	const struct logged_call *logged =
		calls->logged < log->call_count ? &log->calls[calls->logged] : NULL;
	call_answer *answer = shadow_call_answer(call->number);

	if (!logged || !is_the_same(calls, call, registers, logged)) {
		calls->has_strayed = !ask_clock(calls, call, registers);
		return !calls->has_strayed;
	}
	*moment = ++calls->logged;
	if (!logged->is_complete)
		return false;
	calls->clock.logged_ns = logged->left_ns;
	if (!call_is_carried_out(call->number)) {
		call->result = logged->result;
		return write_outputs(calls, logged);
	}
	return answer && answer(calls, call) && call->result == logged->result;
}
