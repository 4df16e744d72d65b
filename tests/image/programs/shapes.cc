/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Namespaces, templates, methods, lambdas and local classes, inlined into each other. */
#include <cstdio>
#include <cstdlib>

namespace shapes
{

template <typename T> struct vec {
	T x, y;
	vec(T a, T b) : x(a), y(b)
	{
		if (a > T(1000))
			std::abort();
	}
	T dot(const vec &other) const
	{
		return x * other.x + y * other.y;
	}
	template <typename U> vec scaled(U by) const;
};

template <typename T> template <typename U> vec<T> vec<T>::scaled(U by) const
{
	T f = T(by);

	return vec(x * f, y * f);
}

namespace
{
int hidden_counter;

__attribute__((noinline)) int hidden(int n)
{
	hidden_counter += n;
	for (int i = 0; i < n; i++)
		hidden_counter ^= i * hidden_counter;
	return hidden_counter;
}

inline int twice(int n)
{
	return hidden(n) + hidden(n + 1);
}
} // namespace

class base
{
      public:
	virtual ~base()
	{
	}
	virtual int area(int n) const = 0;
};

class square : public base
{
      public:
	explicit square(int s) : side(s)
	{
		puts("square");
	}
	int area(int n) const override;

      private:
	int side;
};

int square::area(int n) const
{
	vec<int> a(side, n);
	vec<double> b(side, n);
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += a.dot(a.scaled(i));
		sum += int(b.dot(b.scaled(1.5f)));
		sum += twice(i);
	}
	return sum;
}

__attribute__((noinline)) int locals(int n)
{
	struct counter {
		int value = 0;
		__attribute__((noinline)) int bump(int by)
		{
			value = value * 3 + by;
			return twice(value & 7);
		}
	} local;
	auto lambda = [&](int by) __attribute__((noinline)) {
		return local.bump(by) + twice(by & 3);
	};
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += lambda(i);
	return sum;
}

__attribute__((noinline)) int locals(double d)
{
	return locals(int(d)) + twice(3);
}

} // namespace shapes

int main(int argc, char **)
{
	shapes::square square(argc);
	const shapes::base &base = square;
	int sum = base.area(argc * 10) + shapes::locals(argc) + shapes::locals(argc * 1.5);

	printf("%d\n", sum);
	return 0;
}
