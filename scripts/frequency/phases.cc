/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases N: one procedure with unlike loops that run one after another, each for a part of the run. A
 * window sees one or two of them: what it tells of these must not be taken for what it did not see.
 * All phases are longer by N; always the same.
 */
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>

namespace
{
constexpr unsigned ITEMS = 100000;
constexpr unsigned LOOKS = 40000;
constexpr unsigned LINES = 1 << 16;

unsigned draw(unsigned &seed)
{
	seed = seed * 1664525U + 1013904223U;
	return seed >> 4;
}
} // namespace

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1;
	std::map<unsigned, unsigned> tree;
	std::list<unsigned> chain;
	static unsigned table[LINES];
	unsigned long sum = 0;
	unsigned seed = 1;

	for (unsigned i = 0; i < ITEMS; i++) {
		tree[draw(seed)] = i;
		chain.push_back(draw(seed));
	}
	/* Branches that nobody can predict, and misses. */
	for (unsigned long round = 0; round < 20 * rounds; round++)
		for (unsigned i = 0; i < LOOKS; i++)
			sum += tree.lower_bound(draw(seed)) == tree.end();
	/* One thing after another, each a miss of the nearest cache. */
	for (unsigned long round = 0; round < 1500 * rounds; round++)
		for (unsigned value : chain)
			sum += value >> 3;
	/* Many at a time. */
	for (unsigned long round = 0; round < 40000 * rounds; round++)
		for (unsigned i = 0; i < LINES / 16; i++)
			table[i] = table[i] * 3 + i;
	/* A long division, and seldom a store. */
	for (unsigned long round = 0; round < 30000000 * rounds; round++) {
		sum += (sum ^ round) % 97;
		if (sum % 31 == 0)
			table[round % LINES]++;
	}
	printf("%lu %u\n", sum, table[sum % LINES]);
	return 0;
}
