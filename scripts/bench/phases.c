/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases FILE SECONDS PERIOD_US
 *
 * Two phases of half a PERIOD each, taking turns at the exact rhythm of PERIOD on the thread's CPU
 * clock: what a sampler of that very period locks onto. Writes the CPU time of both phases (ns) to
 * FILE.
 */
#include "self_timed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_BETWEEN_LOOKS = 4000 };

WORK uint64_t phase_a(uint64_t value, uint64_t end_ns)
{
	while (thread_cpu_ns() < end_ns)
		value = work_chain(value, STEPS_BETWEEN_LOOKS);
	return value;
}

WORK uint64_t phase_b(uint64_t value, uint64_t end_ns)
{
	while (thread_cpu_ns() < end_ns)
		value = work_twin(value, STEPS_BETWEEN_LOOKS);
	return value;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
	uint64_t half_ns = (argc > 3 ? strtoul(argv[3], NULL, 10) : 1000) * 500;
	uint64_t spent_ns[2] = { 0, 0 };
	uint64_t value = 1;
	uint64_t start_ns = thread_cpu_ns();
	uint64_t now_ns = start_ns;
	FILE *file;

	/* Ends are multiples of the period from the start: what one phase is late, the other lacks,
	 * and the rhythm never drifts. */
	for (uint64_t turn = 1; turn * half_ns < seconds * 1000000000u; turn++) {
		uint64_t end_ns = start_ns + turn * half_ns;
		uint64_t before_ns = now_ns;

		value = turn % 2 ? phase_a(value, end_ns) : phase_b(value, end_ns);
		now_ns = thread_cpu_ns();
		spent_ns[turn % 2 ? 0 : 1] += now_ns - before_ns;
	}
	file = argc > 1 ? fopen(argv[1], "we") : NULL;
	if (!file)
		return 1;
	fprintf(file, "%" PRIu64 " %" PRIu64 "\n", spent_ns[0], spent_ns[1]);
	return fclose(file) != 0 || value == 0;
}
