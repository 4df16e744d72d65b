/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_log.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <sys/mman.h>

enum {
	CALLS_BYTES = LOGGED_CALLS * sizeof(struct logged_call),
	PIECES_BYTES = LOGGED_PIECES * sizeof(struct logged_piece),
	LOG_BYTES = CALLS_BYTES + PIECES_BYTES + LOGGED_BYTES,
};

bool call_log_begin(struct call_log *log)
{
	uint8_t *memory = (uint8_t *)log->calls;

	if (!memory) {
		memory = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		if (memory == MAP_FAILED)
			return false;
		madvise(memory, LOG_BYTES, MADV_DONTDUMP);
	}
	*log = (struct call_log){
		.calls = (struct logged_call *)(void *)memory,
		.pieces = (struct logged_piece *)(void *)(memory + CALLS_BYTES),
		.bytes = memory + CALLS_BYTES + PIECES_BYTES,
		.end = CALL_LOG_PATIENCE,
	};
	return true;
}

void call_log_clear(struct call_log *log)
{
	if (log->calls)
		munmap(log->calls, LOG_BYTES);
	*log = (struct call_log){ 0 };
}

uint8_t *call_log_add(struct call_log *log, uint64_t address, uint64_t bytes)
{
	struct logged_piece *piece = &log->pieces[log->piece_count];

	if (log->piece_count == LOGGED_PIECES || bytes > LOGGED_BYTES - log->used_bytes ||
	    address + bytes < address)
		return NULL;
	*piece = (struct logged_piece){
		.address = address,
		.bytes = (uint32_t)bytes,
		.offset = (uint32_t)log->used_bytes,
	};
	log->piece_count++;
	log->used_bytes += bytes;
	log->calls[log->call_count - 1].piece_count++;
	return log->bytes + piece->offset;
}

/* --- times ------------------------------------------------------------------------------------ */

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

HP_ORDER_VALUES(compare, uint64_t);

/* This quantile of the values; 0 if there are none. */
static uint64_t quantile(uint64_t *values, size_t count, double part)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), compare);
	return values[(size_t)(part * (double)(count - 1))];
}

/* The CPU time that one stop takes. */
static uint64_t stop_cpu_ns(const struct call_log *log, uint64_t *values)
{
	size_t count = 0;
	uint64_t least_ns;

	for (size_t i = 0; i < log->call_count; i++) {
		const struct logged_call *call = &log->calls[i];

		if (call->is_complete)
			values[count++] = less(call->left_cpu_ns, call->entered_cpu_ns);
	}
	least_ns = quantile(values, count, stop_quantile);
	return least_ns < most_stop_ns ? least_ns : most_stop_ns;
}

/* The program's own CPU time between the return of the previous call and the entry of this one. */
static uint64_t own_ns(const struct logged_call *call, uint64_t stop_ns)
{
	return less(less(call->entered_cpu_ns, call[-1].left_cpu_ns), stop_ns);
}

/* The wall time of the same stretch that is not the program's own. */
static uint64_t beside_ns(const struct logged_call *call, uint64_t stop_ns)
{
	return less(less(call->entered_ns, call[-1].left_ns), own_ns(call, stop_ns));
}

/* `values`: that wall time of each stretch between two calls. */
static uint64_t lost_ns(const struct call_log *log, uint64_t *values, uint64_t stop_ns)
{
	size_t count = log->call_count ? log->call_count - 1 : 0;
	uint64_t usual_ns = quantile(values, count, 0.5);
	uint64_t least_ns = log->own_cpu_ns + 2 * count * stop_ns;
	uint64_t sum_ns = 0;
	uint64_t usual_sum_ns = 0;

	/* A stop at the entry takes as long as one at the return. How long the call itself waits is
	 * unknown, so each stretch counts twice. */
	for (size_t i = 0; i < count; i++) {
		sum_ns += 2 * values[i];
		usual_sum_ns += 2 * (values[i] < unusual_stop * usual_ns ? values[i]
									 : unusual_stop * usual_ns);
	}
	sum_ns = less(sum_ns, log->delayed_ns);
	if (sum_ns > usual_sum_ns)
		sum_ns = usual_sum_ns;
	return sum_ns > least_ns ? sum_ns : least_ns;
}

void call_log_time(struct call_log *log)
{
	size_t count = log->call_count;
	uint64_t *values = calloc(count + 1, sizeof(*values));
	uint64_t stop_ns;

	log->lost_ns = 0;
	if (!values)
		return;
	stop_ns = stop_cpu_ns(log, values);
	for (size_t i = 1; i < count; i++) {
		log->calls[i].user_ns = log->calls[i - 1].user_ns + own_ns(&log->calls[i], stop_ns);
		values[i - 1] = beside_ns(&log->calls[i], stop_ns);
	}
	log->lost_ns = lost_ns(log, values, stop_ns);
	free(values);
}
