/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * templates ROUNDS
 *
 * A program whose debug information is large for what it does: standard containers, algorithms,
 * regular expressions and streams, inlined into each other many levels deep. Compiled once for each
 * PART (a number), which makes each part's instances types of their own; the part without a number
 * has main().
 */
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#ifdef PART
template <int part> struct Key {
	std::string name;
	std::uint32_t number;

	bool operator<(const Key &other) const
	{
		return std::tie(number, name) < std::tie(other.number, other.name);
	}
	bool operator==(const Key &other) const
	{
		return number == other.number && name == other.name;
	}
};

template <int part> struct HashKey {
	std::size_t operator()(const Key<part> &key) const
	{
		return std::hash<std::string>()(key.name) * 31 + key.number;
	}
};

template <int part> using Value = std::variant<int, double, std::string, Key<part>>;

template <int part> std::vector<Key<part>> draw(unsigned seed, std::size_t count)
{
	std::mt19937 random(seed + part);
	std::uniform_int_distribution<std::uint32_t> numbers(0, 9999);
	std::vector<Key<part>> keys;

	std::generate_n(std::back_inserter(keys), count, [&] {
		std::uint32_t number = numbers(random);

		return Key<part>{ "key" + std::to_string(number % 977), number };
	});
	return keys;
}

template <int part> std::uint64_t ordered(const std::vector<Key<part>> &keys)
{
	std::map<Key<part>, std::deque<std::uint32_t>> places;
	std::set<std::string> names;

	for (std::size_t i = 0; i < keys.size(); i++) {
		places[keys[i]].push_back(static_cast<std::uint32_t>(i));
		names.insert(keys[i].name);
	}
	return std::accumulate(
		places.begin(), places.end(), std::uint64_t(names.size()),
		[](std::uint64_t sum, const auto &place) { return sum * 3 + place.second.back(); });
}

template <int part> std::uint64_t hashed(const std::vector<Key<part>> &keys)
{
	std::unordered_map<Key<part>, std::unique_ptr<Value<part>>, HashKey<part>> values;
	std::uint64_t sum = 0;

	for (const auto &key : keys) {
		auto &value = values[key];

		if (!value)
			value = std::make_unique<Value<part>>(static_cast<int>(key.number));
		else if (std::holds_alternative<int>(*value))
			*value = key.number * 0.5;
		else if (std::holds_alternative<double>(*value))
			*value = key.name;
		else
			*value = key;
	}
	for (const auto &[key, value] : values)
		sum += std::visit(
			[](const auto &held) -> std::uint64_t {
				using Held = std::decay_t<decltype(held)>;

				if constexpr (std::is_arithmetic_v<Held>)
					return static_cast<std::uint64_t>(held);
				else if constexpr (std::is_same_v<Held, std::string>)
					return held.size();
				else
					return held.number;
			},
			*value);
	return sum;
}

template <int part> std::uint64_t sorted(std::vector<Key<part>> keys)
{
	std::priority_queue<Key<part>> queue;
	std::list<Key<part>> list(keys.begin(), keys.begin() + std::ptrdiff_t(keys.size() / 4));

	std::stable_sort(keys.begin(), keys.end(),
			 [](const auto &a, const auto &b) { return a.name < b.name; });
	std::sort(keys.begin(), keys.end());
	list.sort();
	list.unique();
	for (const auto &key : list)
		queue.push(key);
	return keys[keys.size() / 2].number + queue.top().number + list.size();
}

template <int part> std::uint64_t texts(const std::vector<Key<part>> &keys)
{
	static const std::regex pattern("([a-z]+)([0-9]+)=([0-9]*7)");
	std::ostringstream out;
	std::uint64_t sum = 0;

	for (std::size_t i = 0; i < keys.size(); i += 16)
		out << keys[i].name << '=' << keys[i].number << ';';
	std::istringstream in(out.str());
	for (std::string item; std::getline(in, item, ';');) {
		std::smatch match;

		if (std::regex_match(item, match, pattern))
			sum += std::stoul(match[3]);
	}
	return sum;
}

template <int part> std::uint64_t everything(unsigned seed)
{
	std::optional<std::vector<Key<part>>> keys = draw<part>(seed, 6000);
	std::vector<std::function<std::uint64_t(const std::vector<Key<part>> &)>> steps = {
		ordered<part>, hashed<part>, sorted<part>, texts<part>
	};

	return std::accumulate(
		steps.begin(), steps.end(), std::uint64_t(0),
		[&](std::uint64_t sum, const auto &step) { return sum ^ step(*keys); });
}

#define JOIN(a, b)   a##b
#define NAME(number) JOIN(part, number)

std::uint64_t NAME(PART)(unsigned seed)
{
	return everything<PART>(seed);
}
#else
std::uint64_t part1(unsigned seed);
std::uint64_t part2(unsigned seed);
std::uint64_t part3(unsigned seed);
std::uint64_t part4(unsigned seed);

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 10;
	std::uint64_t sum = 0;

	for (unsigned round = 0; round < rounds; round++)
		sum += part1(round) ^ part2(round) ^ part3(round) ^ part4(round);
	std::cout << sum << '\n';
}
#endif
