/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions: landing pads, clean-ups, rethrowing, and calls that only ever throw. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

static volatile unsigned sink;

struct Counted {
	unsigned *count;
	explicit Counted(unsigned *c) : count(c)
	{
		++*count;
	}
	KEEP ~Counted()
	{
		--*count;
	}
};

KEEP static void fail(unsigned why)
{
	switch (why % 5) {
	case 0:
		throw std::runtime_error("zero");
	case 1:
		throw 1;
	case 2:
		throw std::out_of_range("two");
	case 3:
		throw std::string("three");
	default:
		throw 'x';
	}
}

KEEP static unsigned maybe(unsigned x)
{
	if (x % 3 == 0)
		fail(x);
	return x + sink;
}

KEEP unsigned caught(unsigned x)
{
	unsigned alive = 0;
	unsigned sum = 0;

	try {
		Counted one(&alive);
		sum += maybe(x);
		Counted two(&alive);
		sum += maybe(x + 1);
		sum += maybe(x + 2);
	} catch (const std::out_of_range &) {
		sum += 2;
	} catch (const std::exception &) {
		sum += 3;
	} catch (int i) {
		sum += 4 + static_cast<unsigned>(i);
	} catch (...) {
		sum += 5;
	}
	return sum + alive;
}

KEEP unsigned passed_on(unsigned x)
{
	unsigned alive = 0;

	try {
		try {
			Counted one(&alive);
			return maybe(x) + alive;
		} catch (int) {
			throw;
		}
	} catch (...) {
		return 7;
	}
}

struct Shape {
	virtual ~Shape() = default;
	virtual unsigned sides(unsigned x) const = 0;
};
struct Three : Shape {
	unsigned sides(unsigned x) const override
	{
		return 3 + x;
	}
};
struct Many : Shape {
	unsigned sides(unsigned x) const override
	{
		return x > 50 ? maybe(x) : x;
	}
};

KEEP unsigned through_virtual(const Shape *shape, unsigned x)
{
	return shape->sides(x);
}

KEEP unsigned with_vector(unsigned x)
{
	std::vector<std::string> all;

	for (unsigned i = 0; i < x % 9; i++)
		all.push_back(std::string(i, 'a') + "tail");
	try {
		return static_cast<unsigned>(all.at(4).size());
	} catch (const std::exception &) {
		return 0;
	}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100;
	Three three;
	Many many;
	unsigned sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		sum += caught(i) + passed_on(i) + with_vector(i);
		try {
			const Shape *shape = i & 1 ? static_cast<const Shape *>(&three) : &many;
			sum += through_virtual(shape, i);
		} catch (...) {
			sum++;
		}
	}
	std::printf("%u\n", sum);
	return 0;
}
