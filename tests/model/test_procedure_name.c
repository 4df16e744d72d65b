/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/procedure_name.h>

#include <stdlib.h>

#define ELIDED "…"

TEST(names_are_short_and_still_say_which_code_it_is)
{
	static const struct {
		const char *name;
		const char *expected;
	} cases[] = {
		{ "main", "main" },
		{ "ns::Table::lookup(int, bool) const", "ns::Table::lookup" },
		{ "int ns::total<int>(std::vector<int> const&)", "ns::total<int>" },
		{ "std::_Rb_tree<int, std::pair<int const, long>, std::_Select1st<std::pair<int "
		  "const, long> >, std::less<int> >::_M_erase(std::_Rb_tree_node<int>*)",
		  "std::_Rb_tree<" ELIDED ">::_M_erase" },
		{ "bool operator< <char, std::char_traits<char> >(std::string const&)",
		  "bool operator< <" ELIDED ">" },
		{ "Big::operator<(Big const&) const", "Big::operator<" },
		{ "std::ostream::operator<<(int)", "std::ostream::operator<<" },
		{ "Pointer<std::vector<int> >::operator->() const",
		  "Pointer<" ELIDED ">::operator->" },
		{ "Functor<std::less<unsigned long> >::operator()(int) const",
		  "Functor<" ELIDED ">::operator()" },
		{ "(anonymous namespace)::helper(int)", "(anonymous namespace)::helper" },
		{ "run(std::vector<int>&)::{lambda(int)#1}::operator()(int) const",
		  "run(" ELIDED ")::{lambda(int)#1}::operator()" },
		{ "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt", "<Vec<u8> as Debug>::fmt" },
		{ "<&mut alloc::vec::Vec<alloc::string::String> as core::fmt::Debug>::fmt",
		  "<&mut Vec<" ELIDED "> as Debug>::fmt" },
		{ "<std::path::Path>::join", "<Path>::join" },
		{ "core::ptr::drop_in_place<alloc::vec::Vec<alloc::string::String>>",
		  "core::ptr::drop_in_place<" ELIDED ">" },
		{ "app::main::{closure#0}", "app::main::{closure#0}" },
		/* What is cut off or was made up ends nowhere. */
		{ "broken<int", "broken<int" },
		{ "broken<std::vector<unsigned long", "broken<std::vector<unsigned long" },
		{ "<", "<" },
		{ "", "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		_cleanup_free_ char *text = hp_name_shorten(cases[i].name, NULL);

		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text, cases[i].expected);
	}
}

TEST(names_of_other_languages_stay)
{
	static const char *const names[] = { "main.(*Tree[go.shape.int_0]).Insert",
					     "Function:^<anonymous function> /app.js:1",
					     "int com.example.Main.run(java.lang.String)" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		_cleanup_free_ char *text = hp_name_shorten(names[i], names[i]);

		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text, names[i]);
	}
}

TEST(names_are_found_by_what_people_type)
{
	static const char tree[] = "std::_Rb_tree<int, std::pair<int const, long> >::_M_erase(int)";
	static const struct {
		const char *name;
		const char *wanted;
		enum hp_name_fit fit;
	} cases[] = {
		{ tree, tree, HP_NAME_EXACT },
		{ tree, "_Z4tree", HP_NAME_EXACT },
		{ tree, "std::_Rb_tree<int, std::pair<int const, long> >::_M_erase", HP_NAME_BARE },
		{ tree, "std::_Rb_tree<" ELIDED ">::_M_erase", HP_NAME_BARE },
		{ tree, "*_M_erase*", HP_NAME_GLOB },
		{ tree, "_M_erase", HP_NAME_PART },
		{ tree, "_M", HP_NAME_NOT },
		{ tree, "_Rb_tree<" ELIDED ">::_M_erase", HP_NAME_PART },
		{ tree, "std::_Rb_tree::_M_erase", HP_NAME_PART },
		{ tree, "_Rb_tree::_M_erase", HP_NAME_PART },
		{ tree, "_Rb_tree::_M_insert", HP_NAME_NOT },
		{ "D::go(long)", "go", HP_NAME_PART },
		{ "D::cargo(long)", "go", HP_NAME_NOT },
		{ "go", "g", HP_NAME_NOT },
		{ "std::map<int, long>::operator[](int const&)", "operator[]", HP_NAME_PART },
		{ "Table<int>::operator<(Table<int> const&) const", "Table::operator<",
		  HP_NAME_PART },
		{ "alloc::map::BTreeMap<K,V,A>::insert", "BTreeMap::insert", HP_NAME_PART },
		{ tree, "_M_insert", HP_NAME_NOT },
		{ "operator[]", "operator[]", HP_NAME_EXACT },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		ck_assert_int_eq(hp_name_fit(cases[i].name, "_Z4tree", cases[i].wanted),
				 cases[i].fit);
}

HP_TEST_MAIN("model/procedure_name")
