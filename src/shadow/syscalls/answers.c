/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <sys/mman.h>
#include <sys/uio.h>

bool call_is_sacred(const struct shadow_calls *calls, uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes < start ? UINT64_MAX : start + bytes;

	for (size_t i = 0; i < calls->areas->count; i++) {
		const struct area *area = &calls->areas->at[i];

		if ((area->protection & PROT_EXEC) && area->start < end && area->end > start)
			return true;
	}
	return sandbox_is_ours(calls->sandbox, start, bytes);
}

/* Writes only where the copy may, so to no code that was translated. */
static bool write_beside_code(const struct shadow_calls *calls, uint64_t to, const void *bytes,
			      size_t size)
{
	const struct iovec local = { (void *)(uintptr_t)bytes, size };
	const struct iovec remote = { (void *)(uintptr_t)to, size };

	return !sandbox_is_ours(calls->sandbox, to, size) &&
	       process_vm_writev(calls->sandbox->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool call_write(const struct shadow_calls *calls, uint64_t to, const void *bytes, size_t size)
{
	return call_is_sacred(calls, to, size) ? write_beside_code(calls, to, bytes, size)
					       : sandbox_write(calls->sandbox, to, bytes, size);
}

bool answer_success(struct shadow_calls *calls, struct call *call)
{
	(void)calls;
	return call_done(call, 0);
}

bool answer_wait(struct shadow_calls *calls, struct call *call)
{
	(void)call;
	calls->may_wait = true;
	return false;
}
