/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that makes control flow hard to follow in C: what the compiler makes of it is looked at, and
 * run to see where it really goes. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

static volatile unsigned sink;
static jmp_buf way_out;

/* Never comes back, though nothing says so. */
KEEP static void give_up(int status)
{
	if (status > 100)
		puts("a very bad end");
	exit(status);
}

KEEP static void escape(unsigned depth)
{
	if (depth == 0)
		longjmp(way_out, 1);
	escape(depth - 1);
	sink++;
}

/* A dense switch with a range that does not begin at zero. */
KEEP unsigned dense(unsigned x)
{
	switch (x) {
	case 17:
		return sink + 3;
	case 18:
		return sink * 5;
	case 19:
		sink ^= x;
		return sink;
	case 20:
		return (unsigned)getenv("HOME")[0];
	case 21:
		give_up(3);
	case 22:
		return sink / 7 + x;
	case 23:
		return sink << 3;
	case 24:
		return sink % 11;
	case 25:
		return (unsigned)strlen("twenty-five") + sink;
	default:
		return 1;
	}
}

/* Of a byte, so that no comparison is needed for 256 cases; and one that falls through. */
KEEP unsigned of_bytes(const unsigned char *text, size_t length)
{
	unsigned sum = 0;

	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case 'a':
			sum += sink;
			break;
		case 'b':
			sum ^= 0x55;
			/* fallthrough */
		case 'c':
			sum *= 3;
			break;
		case 'd':
			sum -= (unsigned)i;
			break;
		case 'e':
			sum = sum << 1 | sum >> 31;
			break;
		case 'f':
		case 'g':
			sum += sum >> 3;
			break;
		case 'h':
			continue;
		case 'i':
			if (sum & 1)
				break;
			sum++;
			break;
		default:
			sum += text[i];
		}
		sink += sum;
	}
	return sum;
}

/* One switch in a case of another, within a loop that keeps the tables' addresses around. */
KEEP unsigned nested(unsigned seed, unsigned rounds)
{
	unsigned state = 0;

	while (rounds-- > 0) {
		seed = seed * 1103515245u + 12345u;
		switch (state) {
		case 0:
			state = (seed >> 16) % 6;
			break;
		case 1:
			switch ((seed >> 20) & 7) {
			case 0:
				state = 2;
				break;
			case 1:
				state = 3;
				break;
			case 2:
				sink += 2;
				break;
			case 3:
				sink ^= seed;
				break;
			case 4:
				state = 0;
				break;
			case 5:
				sink *= 7;
				state = 5;
				break;
			default:
				state = 4;
			}
			break;
		case 2:
			sink += seed;
			state = 0;
			break;
		case 3:
			sink -= 3;
			state = 1;
			break;
		case 4:
			state = sink & 1 ? 1 : 2;
			break;
		case 5:
			sink >>= 1;
			state = 0;
			break;
		}
	}
	return sink;
}

/* A little interpreter by computed goto. */
KEEP unsigned interpret(const unsigned char *code)
{
	static const void *const labels[] = { &&stop, &&add, &&twice, &&back, &&skip, &&drop };
	unsigned top = 1;
	unsigned left = 1000;

	goto *labels[*code++];
add:
	top += *code++;
	goto *labels[*code++];
twice:
	top *= 2;
	goto *labels[*code++];
back:
	if (--left > 0)
		code -= *code;
	else
		code++;
	goto *labels[*code++];
skip:
	code += top & 1;
	goto *labels[*code++];
drop:
	top >>= 3;
	sink ^= top;
	goto *labels[*code++];
stop:
	return top;
}

typedef unsigned (*operation)(unsigned);

KEEP static unsigned first(unsigned x)
{
	return x + sink;
}
KEEP static unsigned second(unsigned x)
{
	return x ^ sink;
}

/* Tail calls, direct, through an array and through a pointer. */
KEEP unsigned dispatch(unsigned which, unsigned x, operation given)
{
	static const operation table[] = { first, second, first };

	if (which < 3)
		return table[which](x);
	if (which == 3)
		return given(x + 1);
	return second(x);
}

KEEP unsigned guarded(unsigned x)
{
	volatile unsigned count = 0;

	if (setjmp(way_out)) {
		count++;
		return count + x;
	}
	if (x & 1)
		escape(x & 7);
	return x;
}

/* Two ways into one loop. */
KEEP unsigned irreducible(unsigned x)
{
	unsigned sum = 0;

	if (x & 1)
		goto middle;
again:
	sum += x;
	sink++;
middle:
	sum ^= x << 1;
	if (--x > 1)
		goto again;
	return sum;
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = { 1, 5, 2, 4, 2, 5, 1, 7, 3, 7, 0, 0 };
	static const unsigned char text[] = "abcdefghi, and again: a bad cafe had beef; decide!";
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
	unsigned sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		sum += dense(15 + i % 6) + dense(22 + i % 5);
		sum += of_bytes(text, sizeof(text) - 1);
		sum += nested(i, 40);
		sum += interpret(code);
		sum += dispatch(i % 5, i, i & 1 ? first : second);
		sum += guarded(i);
		sum += irreducible(5 + i % 4);
	}
	printf("%u\n", sum);
	if (sum == 12345)
		give_up(200);
	return 0;
}
