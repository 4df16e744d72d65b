/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that branch on data, and kernels with two causes. */
#include "work.h"

/* Taken or not as the data say: random, or by turns, which every predictor learns. */
KERNEL uint64_t branch(const struct work *work)
{
	uint64_t sum = 0;
	uint64_t other = 1;

	for (uint64_t round = 0; round < work->rounds; round++) {
		const uint8_t *data = work->bytes + (round & 15) * work->steps;

		for (uint64_t i = 0; i < work->steps; i++) {
			uint8_t value = data[i];

			__asm__ goto("testb $1, %0\n\t77: jz %l1" MARK("branch")
				     :
				     : "q"(value)
				     : "cc"
				     : even);
			sum += value;
			sum ^= other << 1;
			continue;
		even:
			other += value;
			other ^= sum >> 3;
		}
	}
	return sum ^ other;
}

/* An interpreter of eight operations. */
KERNEL uint64_t dispatch(const struct work *work)
{
	static const void *const labels[8] = { &&op0, &&op1, &&op2, &&op3,
					       &&op4, &&op5, &&op6, &&op7 };
	uint64_t a = 1;
	uint64_t b = 2;

	for (uint64_t round = 0; round < work->rounds; round++) {
		const uint8_t *data = work->bytes + (round & 15) * work->steps;

		for (uint64_t i = 0; i < work->steps; i++) {
			const void *to = labels[data[i] & 7];

			__asm__ goto("77: jmp *%0" MARK("dispatch")
				     :
				     : "r"(to)
				     :
				     : op0, op1, op2, op3, op4, op5, op6, op7);
		op0:
			a += b;
			continue;
		op1:
			b ^= a;
			continue;
		op2:
			a -= 3;
			b += 7;
			continue;
		op3:
			b = b << 1 | a >> 63;
			continue;
		op4:
			a |= 5;
			continue;
		op5:
			b &= ~a;
			continue;
		op6:
			a = b + 1;
			continue;
		op7:
			b = a ^ i;
		}
	}
	return a ^ b;
}

/* Two causes in one loop: which half, nobody can foresee, and it is far away. */
KERNEL uint64_t search(const struct work *work)
{
	uint64_t found = 0;

	for (uint64_t round = 0; round < work->rounds; round++) {
		for (uint64_t i = 0; i < work->steps; i++) {
			uint64_t wanted = (work->indices[i] + round * 40503) & work->mask;
			uint64_t low = 0;
			uint64_t high = work->mask + 1;

			while (high - low > 1) {
				uint64_t middle = (low + high) / 2;
				uint64_t value;

				__asm__ volatile("77: movq (%1,%2,8), %0" MARK("search")
						 : "=r"(value)
						 : "r"(work->words), "r"(middle)
						 : "memory");
				__asm__ goto("cmpq %1, %0\n\t77: ja %l2" MARK("search")
					     :
					     : "r"(value), "r"(wanted * 3)
					     : "cc"
					     : above);
				low = middle;
				continue;
			above:
				high = middle;
			}
			found += low;
		}
	}
	return found;
}

/* Two causes in two loops. */
KERNEL uint64_t chase_and_divide(const struct work *work)
{
	void **at = work->start;
	uint64_t sum = 0;
	uint64_t value = ~UINT64_C(0);

	for (uint64_t round = 0; round < work->rounds; round++) {
		for (uint64_t i = 0; i < work->steps; i++) {
			__asm__ volatile("77: movq (%0), %0" MARK("chase_and_divide")
					 : "+r"(at)::"memory");
			sum += (uintptr_t)at >> 6;
		}
		for (uint64_t i = 0; i < work->steps; i++) {
			uint64_t rest = 0;

			__asm__ volatile("77: divq %2" MARK("chase_and_divide")
					 : "+a"(value), "+d"(rest)
					 : "r"(work->divisor));
			sum ^= rest;
			value |= UINT64_C(1) << 62;
		}
	}
	return sum;
}

/* Two causes, one after the other in each step. */
KERNEL uint64_t store_and_multiply(const struct work *work)
{
	uint64_t value = 1;

	for (uint64_t round = 0; round < work->rounds; round++) {
		uint8_t *at = work->bytes + (round & 31) * 64;

		for (uint64_t i = 0; i < work->steps; i++) {
			__asm__ volatile(
				"77: movb %b0, 5(%1)\n\tmovq (%1), %0" MARK("store_and_multiply")
				: "+q"(value)
				: "r"(at)
				: "memory");
			for (unsigned k = 0; k < (work->divisor & 7); k++)
				__asm__ volatile("77: imulq %1, %0" MARK("store_and_multiply")
						 : "+r"(value)
						 : "r"(work->divisor));
			value += i;
		}
	}
	return value;
}
