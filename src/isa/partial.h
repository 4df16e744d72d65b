/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic on numbers of which some bits are known. Known bits of results are exact. Widths are
 * in bits, 8 to 64; bits above the width are known to be 0.
 */
#ifndef HPCPROF_SRC_ISA_PARTIAL_H
#define HPCPROF_SRC_ISA_PARTIAL_H

#include <hpcprof/isa/step.h>

static inline uint64_t partial_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static inline struct hp_partial partial_of(uint64_t value)
{
	return (struct hp_partial){ value, UINT64_MAX };
}

/* Cut to a width; bits above are 0. */
static inline struct hp_partial partial_cut(struct hp_partial a, unsigned width)
{
	uint64_t mask = partial_mask(width);

	return (struct hp_partial){ a.value & mask, a.known | ~mask };
}

static inline struct hp_partial partial_unknown(unsigned width)
{
	return (struct hp_partial){ 0, ~partial_mask(width) };
}

static inline bool partial_is_known(struct hp_partial a)
{
	return a.known == UINT64_MAX;
}

/* The smallest and the largest possible value. */
static inline uint64_t partial_least(struct hp_partial a)
{
	return a.value;
}

static inline uint64_t partial_most(struct hp_partial a)
{
	return a.value | ~a.known;
}

/* A mask of the bits below the lowest unknown one. */
static inline uint64_t partial_low(uint64_t known)
{
	return known == UINT64_MAX ? UINT64_MAX : (known ^ (known + 1)) >> 1;
}

static inline struct hp_partial partial_add(struct hp_partial a, struct hp_partial b,
					    uint64_t carry, unsigned width)
{
	uint64_t low = partial_low(a.known & b.known);

	return partial_cut((struct hp_partial){ (a.value + b.value + carry) & low, low }, width);
}

static inline struct hp_partial partial_not(struct hp_partial a, unsigned width)
{
	return partial_cut((struct hp_partial){ ~a.value & a.known, a.known }, width);
}

static inline struct hp_partial partial_subtract(struct hp_partial a, struct hp_partial b,
						 uint64_t borrow, unsigned width)
{
	uint64_t low = partial_low(a.known & b.known);

	return partial_cut((struct hp_partial){ (a.value - b.value - borrow) & low, low }, width);
}

static inline struct hp_partial partial_and(struct hp_partial a, struct hp_partial b)
{
	uint64_t zeroes = (a.known & ~a.value) | (b.known & ~b.value);

	return (struct hp_partial){ a.value & b.value, (a.known & b.known) | zeroes };
}

static inline struct hp_partial partial_or(struct hp_partial a, struct hp_partial b)
{
	uint64_t ones = a.value | b.value;

	return (struct hp_partial){ ones, (a.known & b.known) | ones };
}

static inline struct hp_partial partial_xor(struct hp_partial a, struct hp_partial b)
{
	uint64_t known = a.known & b.known;

	return (struct hp_partial){ (a.value ^ b.value) & known, known };
}

/* The low bits of a product follow from the low bits of the factors. */
static inline struct hp_partial partial_multiply(struct hp_partial a, struct hp_partial b,
						 unsigned width)
{
	uint64_t low = partial_low(a.known & b.known);

	if ((partial_is_known(a) && a.value == 0) || (partial_is_known(b) && b.value == 0))
		low = UINT64_MAX;
	return partial_cut((struct hp_partial){ (a.value * b.value) & low, low }, width);
}

/* From `from` bits to `width`. */
static inline struct hp_partial partial_sign_extend(struct hp_partial a, unsigned from,
						    unsigned width)
{
	uint64_t mask = partial_mask(from);
	uint64_t sign = UINT64_C(1) << (from - 1);

	a = partial_cut(a, from);
	if (!(a.known & sign))
		a.known &= mask;
	else if (a.value & sign)
		a.value |= ~mask;
	return partial_cut(a, width);
}

/* `count` is below `width`. */
static inline struct hp_partial partial_shift_left(struct hp_partial a, unsigned count,
						   unsigned width)
{
	return partial_cut(
		(struct hp_partial){ a.value << count, a.known << count | partial_mask(count) },
		width);
}

static inline struct hp_partial partial_shift_right(struct hp_partial a, unsigned count)
{
	return (struct hp_partial){ a.value >> count, a.known >> count | ~(UINT64_MAX >> count) };
}

/* An arithmetic shift of 64 bits. */
static inline struct hp_partial partial_shift_sign(struct hp_partial a, unsigned count)
{
	uint64_t known = (uint64_t)((int64_t)a.known >> count);

	return (struct hp_partial){ (uint64_t)((int64_t)a.value >> count) & known, known };
}

/* One of the two; it is unknown which. */
static inline struct hp_partial partial_either(struct hp_partial a, struct hp_partial b)
{
	uint64_t known = a.known & b.known & ~(a.value ^ b.value);

	return (struct hp_partial){ a.value & known, known };
}

#endif
