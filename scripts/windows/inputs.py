# SPDX-License-Identifier: GPL-2.0-or-later
"""What the programs of window-coverage read: made by formula, the same on every machine.

Beside these there are the inputs of frequency-accuracy (scripts/frequency/workloads.py): text,
scripts and sources. Scripts take how often to do their work as their argument.
"""
import math
import struct
import subprocess

RUBY = '''
def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
text = File.read("text", encoding: "BINARY")
ARGV[0].to_i.times do
  words = Hash.new(0)
  text.scan(/[a-z_]+/) { |word| words[word] += 1 }
  list = (1..30000).map { |i| i * 7919 % 10007 }
  list.sort_by { |i| [i % 13, i] }.each_slice(7).map(&:sum).max
  "#{words.size} #{fib(20)}".gsub(/\\d/, "x")
end
'''
PHP = '''<?php
class Node { public $next; public $at; function __construct($next, $at) { $this->next = $next; $this->at = $at; } }
$text = file_get_contents("text");
for ($round = 0; $round < $argv[1]; $round++) {
    $words = [];
    foreach (preg_split('/[^a-z_]+/', $text) as $word) { $words[$word] = ($words[$word] ?? 0) + 1; }
    arsort($words);
    $list = null;
    for ($i = 0; $i < 200000; $i++) { $list = new Node($list, $i * 7919 % 10007); }
    for ($sum = 0, $at = $list; $at; $at = $at->next) { $sum += $at->at % 7 ? $at->at : strlen("$sum"); }
    while ($list) { $list = $list->next; }
    echo count($words), " ", $sum, "\\n";
}
'''
SCHEME = '''
(define (tree n) (if (= n 0) '() (cons (tree (- n 1)) (tree (- n 1)))))
(define (size t) (if (null? t) 1 (+ (size (car t)) (size (cdr t)))))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define table (make-hash-table))
(define (fill n) (let loop ((i 0)) (if (< i n) (begin
  (hash-set! table (modulo (* i 7919) 10007) (number->string i)) (loop (+ i 1))))))
(let loop ((n (string->number (cadr (command-line)))))
  (if (> n 0) (begin (fib 22) (size (tree 14)) (fill 60000) (loop (- n 1)))))
'''
BASH = '''
declare -A seen
for ((n = $1; n > 0; n--)); do
    for ((i = 0; i < 30000; i++)); do
        key=k$((i * 7919 % 997))
        seen[$key]=$((${seen[$key]:-0} + i))
    done
done
echo ${#seen[@]}
'''
# What people try first: all moments are alike but for the frames of callers.
LUA_CALLS = '''
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
for _ = 1, arg[1] do print(fib(30)) end
'''
PYTHON_CALLS = '''
import sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for _ in range(int(sys.argv[1])): print(fib(27))
'''
LUA_LOOPS = '''
local function sieve(n)
    local is, count = {}, 0
    for i = 2, n do is[i] = true end
    for i = 2, n do
        if is[i] then count = count + 1 for k = i * i, n, i do is[k] = false end end
    end
    return count
end
local function bodies(steps)
    local at, speed = {}, {}
    for i = 1, 5 do at[i], speed[i] = { i, i * i % 3, 1 / i }, { 0, 0.1 * i, 0 } end
    for _ = 1, steps do
        for i = 1, 5 do
            local p, v = at[i], speed[i]
            for k = 1, 5 do
                if k ~= i then
                    local q = at[k]
                    local x, y, z = q[1] - p[1], q[2] - p[2], q[3] - p[3]
                    local pull = 0.001 / (x * x + y * y + z * z + 0.01) ^ 1.5
                    v[1], v[2], v[3] = v[1] + x * pull, v[2] + y * pull, v[3] + z * pull
                end
            end
        end
        for i = 1, 5 do for d = 1, 3 do at[i][d] = at[i][d] + 0.01 * speed[i][d] end end
    end
    return at[1][1]
end
for _ = 1, tonumber(arg[1]) do
    local words = {}
    for line in io.lines("text") do
        for word in line:gmatch("%a+") do words[word] = (words[word] or 0) + 1 end
    end
    print(sieve(1000000), bodies(100000), next(words) ~= nil)
end
'''
JAVASCRIPT = '''
const text = require("fs").readFileSync("text", "latin1");
function tree(n) { return n ? { left: tree(n - 1), right: tree(n - 1), at: n } : null; }
function walk(t) { return t ? t.at + walk(t.left) + walk(t.right) : 0; }
function multiply(a, b, n) {
  const c = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  return c;
}
for (let round = 0; round < +process.argv[2]; round++) {
  const words = new Map();
  for (const word of text.match(/[a-z_]+/g)) words.set(word, (words.get(word) || 0) + 1);
  const list = Float64Array.from({ length: 200000 }, (_, i) => (i * 7919) % 10007).sort();
  const back = JSON.parse(JSON.stringify([...words].sort((a, b) => b[1] - a[1])));
  console.log(walk(tree(16)), multiply(list, list, 300)[77], back.length);
}
'''
JAVA = '''
import java.nio.file.*;
import java.util.*;
public class In {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] argument) throws Exception {
        String text = Files.readString(Path.of("text"), java.nio.charset.StandardCharsets.ISO_8859_1);
        for (int round = Integer.parseInt(argument[0]); round > 0; round--) {
            Map<String, Integer> words = new HashMap<>();
            for (String word : text.split("[^a-z_]+")) words.merge(word, 1, Integer::sum);
            double[][] a = new double[150][150], b = new double[150][150];
            for (int i = 0; i < 150; i++)
                for (int j = 0; j < 150; j++) { a[i][j] = i * j % 17; b[i][j] = i + j; }
            double sum = fib(27);
            for (int i = 0; i < 150; i++)
                for (int j = 0; j < 150; j++)
                    for (int k = 0; k < 150; k++) sum += a[i][k] * b[k][j];
            System.out.println(new TreeMap<>(words).firstKey() + sum);
        }
    }
}
'''
# Code is compiled into memory that also has data, and all of it may be written.
LISP = '''
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun words (n)
  (let ((counts (make-hash-table :test 'equal)))
    (dotimes (i n) (incf (gethash (format nil "w~d" (mod (* i 7919) 5003)) counts 0)))
    (hash-table-count counts)))
(dotimes (round (parse-integer (second sb-ext:*posix-argv*)))
  (format t "~d ~d~%" (fib 30) (words 100000)))
'''
# Kept in one process, and each container walked in its own way.
CONTAINERS = '''
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
static uint32_t state = 1;
static uint32_t draw() { return state = state * 1103515245 + 12345; }
int main(int, char **argument)
{
	uint64_t sum = 0;
	for (int round = atoi(argument[1]); round > 0; round--) {
		state = 1;
		std::map<uint32_t, std::string> ordered;
		std::unordered_map<std::string, int> hashed;
		std::list<uint32_t> list;
		std::vector<uint32_t> numbers;
		for (int i = 0; i < 60000; i++) {
			ordered[draw() >> 8] = std::to_string(i);
			hashed[std::to_string(draw() >> 20)] += i;
			list.push_back(draw() >> 4);
			numbers.push_back(draw());
		}
		for (int i = 0; i < 60000; i++) {
			auto at = ordered.lower_bound(draw() >> 8);
			sum += at == ordered.end() ? 1 : at->second.size();
			sum += hashed.count(std::to_string(i));
		}
		list.sort();
		std::sort(numbers.begin(), numbers.end(),
			  [](uint32_t a, uint32_t b) { return a % 1009 < b % 1009; });
		for (int i = 0; i < 10; i++)
			for (uint32_t one : list)
				sum += one;
		sum += numbers[numbers.size() / 2];
	}
	printf("%lu\\n", sum);
}
'''
POSTSCRIPT = '''%!PS
/Times-Roman findfont 9 scalefont setfont
/tree { dup 0 gt { gsave dup dup 5 mul 0 exch rlineto currentpoint stroke moveto dup 10 div setlinewidth
  gsave currentpoint translate 25 rotate 0 0 moveto dup 1 sub tree pop grestore
  gsave currentpoint translate -31 rotate 0 0 moveto dup 1 sub tree pop grestore pop grestore } if } def
1 1 2 { pop
  0 4 780 { /y exch def 0 6 600 { /x exch def
    x y 5 0 360 arc x 600 div y 800 div x y mul sin abs setrgbcolor fill } for } for
  0 setgray 300 80 moveto 10 tree pop
  0 9 780 { 20 exch moveto (A quick brown fox jumps over the lazy dog, again and again and again.) show } for
  showpage } for
'''
NUMPY = '''
import sys
import numpy
a = numpy.arange(250000, dtype=float).reshape(500, 500) % 17 + numpy.eye(500)
for _ in range(int(sys.argv[1])):
    b = numpy.linalg.solve(a + 1e3 * numpy.eye(500), a)
    c = numpy.sort(numpy.sin(a.ravel()) * 7)
    d = numpy.fft.fft2(a)
    e = numpy.cumsum(c[c > 0]).astype(int) % 7
'''
OCTAVE = '''
for round = 1:str2num(argv(){1})
  a = mod(reshape(1:90000, 300, 300), 17) + eye(300);
  b = a * a' + 300 * eye(300);
  c = b \\ a; d = svd(c); e = fft2(a);
  s = 0;
  for i = 1:30000
    s = s + mod(i * 7919, 101) / (1 + abs(s));
  end
end
'''
BIG_SQL = '''
create table t (a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000)
insert into t select i, printf('%0*d', 1900, i) from n;
'''
BIG_SQL_AGAIN = '''
update t set b = substr(b, 2) || '7' where a % 97 = 3;
select count(*), sum(length(t.b)) from t where a % 61 = 5 and b like '%77%';
with recursive n(i, s) as (select 1, 1 union all select i + 1, (s * 7919 + 1) % 500009 from n where i < 200000)
select sum(length(t.b)) from n join t on t.a = n.s;
'''
REDIS = 'set,get,lpush,lpop,sadd,hset,zadd,lrange_100'

WAV_RATE = 48000
WAV_ROUND = 4096 * 12    # samples: whole blocks of codecs, so that a file twice as long is twice the work


def wav(path, rounds):
    """Stereo; chords that change, and noise."""
    state, data = 12345, bytearray()
    for i in range(WAV_ROUND):
        state = (state * 1103515245 + 12345) % 2 ** 31
        note = 220 * 2 ** (i // 8192 % 12 / 12)
        tone = (math.sin(2 * math.pi * note * i / WAV_RATE)
                + 0.5 * math.sin(2 * math.pi * 1.5 * note * i / WAV_RATE))
        noise = (state >> 16) % 800 - 400
        data += struct.pack('<hh', int(9000 * tone) + noise, int(7000 * tone) - noise // 2)
    size = len(data) * rounds
    with open(path, 'wb') as out:
        out.write(struct.pack('<4sI4s4sIHHIIHH4sI', b'RIFF', 36 + size, b'WAVE', b'fmt ', 16, 1, 2,
                              WAV_RATE, WAV_RATE * 4, 4, 16, b'data', size))
        for _ in range(rounds):
            out.write(data)


def cpp_source(path, number):
    """Templates, unlike those of other numbers."""
    kinds = '\n'.join(f'''
template <int N> struct shape{i} : shape{i}<N - 1> {{
	std::map<std::string, std::array<long, N>> at;
	long sum(long x) {{ for (auto &e : at) x += e.second[x % N] * {i + number}; return x + shape{i}<N - 1>::sum(x / 2); }}
}};
template <> struct shape{i}<0> {{ long sum(long x) {{ return x ^ {i}; }} }};
long use{i}(long x) {{ shape{i}<12> s; s.at["{i}"][0] = x; return s.sum(x); }}''' for i in range(3))
    path.write_text('#include <array>\n#include <map>\n#include <string>\n'
                    + kinds + '\n')


def go_source(path, functions):
    lines = ['package p']
    for i in range(functions):
        a, b = i * 7 % 13 + 2, i * 5 % 11 + 1
        lines.append(f'''
type s{i} struct {{ next *s{i}; at [{a}]int; d float64 }}
func walk{i}(s *s{i}, kind int) (total int) {{
	for ; s != nil; s = s.next {{
		switch kind % 9 {{
		case 0: total += s.at[kind % {a}] * {b}
		case 1: total -= int(s.d * {a}.5)
		case 2, 3: for k := range s.at {{ s.at[k] ^= total << {b} }}
		default: for k := 0; k < kind; k++ {{ if s.at[k % {a}] > k * {b} {{ total += k }} else {{ total ^= s.at[(k + 1) % {a}] }} }}
		}}
		kind = kind * {2 * b + 1} + 1
	}}
	return
}}
func hash{i}(p []byte, m map[string]int) uint {{
	h := uint({i + 17})
	for _, c := range p {{ h = h * 31 + uint(c); m[string(p[:h % {a}])]++ }}
	return h % {a * 97 + 1}
}}''')
    path.write_text('\n'.join(lines) + '\n')


def rust_source(path, functions):
    lines = ['#![crate_type = "lib"]', 'use std::collections::BTreeMap;']
    for i in range(functions):
        a, b = i * 7 % 13 + 2, i * 5 % 11 + 1
        lines.append(f'''
pub enum E{i} {{ A(u32), B(String), C {{ at: [i64; {a}] }} }}
pub fn walk{i}(list: &[E{i}], map: &mut BTreeMap<String, i64>) -> i64 {{
    list.iter().map(|e| match e {{
        E{i}::A(n) => (*n as i64).wrapping_mul({a}),
        E{i}::B(s) => {{ *map.entry(s.clone()).or_insert({b}) += s.len() as i64; {b} }}
        E{i}::C {{ at }} => at.iter().filter(|x| **x % {b + 1} == 0).zip(at.iter().rev()).map(|(x, y)| x ^ y).sum(),
    }}).fold({i}, |x, y| x.wrapping_add(y))
}}''')
    path.write_text('\n'.join(lines) + '\n')


def ocaml_source(path, functions):
    lines = ['module M = Map.Make (String)']
    for i in range(functions):
        a, b = i * 7 % 13 + 2, i * 5 % 11 + 1
        lines.append(f'''
type t{i} = A{i} of int | B{i} of string * t{i} | C{i} of {{ at : int array; d : float; next : t{i} list }}
let rec walk{i} map = function
  | A{i} n when n mod {a} = {b} -> M.add (string_of_int n) (n * {a}) map
  | A{i} n -> M.update "x" (function None -> Some n | Some m -> Some (m lxor (n lsl {b}))) map
  | B{i} (s, rest) -> walk{i} (M.add s (String.length s) map) rest
  | C{i} {{ at; d; next }} ->
    let sum = Array.fold_left (fun x y -> if y > {b} then x + y * {a} else x - truncate d) {i} at in
    List.fold_left walk{i} (M.add (string_of_int sum) sum map) next''')
    path.write_text('\n'.join(lines) + '\n')


def repository(path, commits):
    """For git: files that change a few lines at a time."""
    subprocess.run(['git', 'init', '-q', '--bare', str(path)], check=True)
    state, stream = 1, []
    files = [[f'line {i} of file {k}' for i in range(400)] for k in range(20)]
    for commit in range(commits):
        state = (state * 1103515245 + 12345) % 2 ** 31
        file = files[state // 64 % len(files)]
        for _ in range(5):
            state = (state * 1103515245 + 12345) % 2 ** 31
            file[state // 64 % len(file)] = f'value {state} set by commit {commit}'
        data = '\n'.join(file) + '\n'
        stream.append(f'commit refs/heads/main\ncommitter A <a@example.org> {1000000000 + commit} '
                      f'+0000\ndata 10\nA change.\n\nM 644 inline file{files.index(file)}\n'
                      f'data {len(data)}\n{data}\n')
    subprocess.run(['git', '-C', str(path), 'fast-import', '--quiet'], check=True,
                   input=''.join(stream).encode())
