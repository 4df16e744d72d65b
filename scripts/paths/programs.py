# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose call paths are found: everyday ones, and small ones for what is hard. Each runs for a
second or so; one that is not installed, or cannot be built here, is left out and named."""
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent.parent / 'bench' / 'templates.cc'

PYTHON = '''
import json
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for turn in range(3):
    fib(23)
    for i in range(20000): json.loads(json.dumps({'a': [1, 2, 3] * 10, 'b': {'c': 'd' * 20}}))
    sorted((str(i) for i in range(200000)), key=lambda text: text[::-1])
'''

LUA = '''
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
fib(30)
local items = {}
for i = 1, 200000 do items[i] = (i * 7919) % 100003 end
table.sort(items, function(a, b) return a < b end)
for i = 1, 200000 do items[i] = string.format("%d %s", i, tostring(items[i])):gsub("%d", "x") end
'''

SQL = '''
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
insert into t select i, (i * 7919) % 100003, 'text ' || i from n;
create index t_b on t(b);
select count(*), sum(length(x.c)) from t x join t y on x.b = y.b where x.a < 150000;
select c from t order by c desc limit 5;
'''

NODE = '''
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function tree(d) { return d ? { l: tree(d - 1), r: tree(d - 1) } : null }
let sum = fib(32)
for (let i = 0; i < 12; i++) sum += JSON.stringify(tree(14)).length
const words = Array.from({ length: 200000 }, (_, i) => String((i * 7919) % 100003))
words.sort((a, b) => a < b ? -1 : 1)
console.log(sum, words.map(w => w.replace(/7/g, 'x')).length)
'''

JAVA = '''
import java.util.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] a) {
        long sum = fib(38);
        Map<String, Integer> m = new TreeMap<>();
        for (int i = 0; i < 600000; i++) m.merge(String.valueOf(i % 50021), 1, Integer::sum);
        List<String> l = new ArrayList<>(m.keySet());
        for (int i = 0; i < 20; i++) { Collections.shuffle(l, new Random(i)); Collections.sort(l); }
        System.out.println(sum + l.size());
    }
}
'''

# Thrown over several frames, and caught; destructors run meanwhile.
EXCEPTIONS = '''
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
struct Guard { std::string text; ~Guard() { asm volatile("" : : "r"(text.data()) : "memory"); } };
static std::map<int, std::string> known;
__attribute__((noinline)) static int find(int key, int depth) {
    Guard guard{std::to_string(key)};
    if (depth) return find(key, depth - 1) + 1;
    auto found = known.find(key);
    if (found == known.end()) throw std::out_of_range(guard.text);
    return (int)found->second.size();
}
int main() {
    long sum = 0;
    for (int i = 0; i < 1000; i += 2) known[i] = std::to_string(i);
    for (int i = 0; i < 250000; i++) {
        try { sum += find(i % 1000, i % 8); } catch (const std::out_of_range &e) { sum -= e.what()[0]; }
    }
    std::printf("%ld\\n", sum);
}
'''

RUST = '''
use std::collections::HashMap;
fn fib(n: u32) -> u64 { if n < 2 { n as u64 } else { fib(n - 1) + fib(n - 2) } }
fn main() {
    let mut words: HashMap<String, usize> = HashMap::new();
    for i in 0..1_500_000u64 { *words.entry(format!("{}", i * 7919 % 50021)).or_default() += 1; }
    let mut list: Vec<_> = words.into_iter().collect();
    for _ in 0..10 {
        list.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        list.sort_by(|a, b| a.0.cmp(&b.0));
    }
    println!("{} {}", list.len(), fib(std::hint::black_box(36)));
}
'''

GO = '''
package main
import ("fmt"; "sort"; "strings")
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() {
    done := make(chan int)
    go func() { done <- fib(39) }()
    words := map[string]int{}
    for i := 0; i < 2000000; i++ { words[fmt.Sprint(i*7919%50021)]++ }
    keys := []string{}
    for k := range words { keys = append(keys, k) }
    sort.Slice(keys, func(a, b int) bool { return keys[a] < keys[b] })
    fmt.Println(len(strings.Join(keys, ",")), <-done)
}
'''

# Coroutines: what runs on a stack of its own has its root there.
COROUTINES = '''
#include <stdio.h>
#include <ucontext.h>
static ucontext_t back, there;
static char stack[65536];
static volatile unsigned sink;
__attribute__((noinline)) static void burn(unsigned turns) { for (unsigned i = 0; i < turns; i++) sink += i; }
__attribute__((noinline)) static void inner(unsigned depth) {
    if (depth) inner(depth - 1); else burn(40000);
    sink++;
}
static void body(void) { for (;;) { inner(5); swapcontext(&there, &back); } }
int main(void) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    makecontext(&there, body, 0);
    for (int i = 0; i < 4000; i++) { swapcontext(&back, &there); inner(3); }
    return 0;
}
'''

# Aligned and growing stacks, calls at the end of a procedure, recursion.
FRAMES = '''
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
static volatile unsigned sink;
__attribute__((noinline)) static void burn(void) { for (unsigned i = 0; i < 20000; i++) sink += i; }
__attribute__((noinline)) static void tail(unsigned n) { burn(); sink += n; }
__attribute__((noinline)) static void last(unsigned n) { if (n % 2) tail(n); else burn(); }
__attribute__((noinline)) static void grown(unsigned n) {
    char *p = alloca(n * 64 + 1);
    memset(p, (int)n, n * 64 + 1);
    last(n);
    sink += (unsigned)p[n];
}
__attribute__((noinline)) static void aligned(unsigned n) {
    char p[256] __attribute__((aligned(128)));
    memset(p, (int)n, sizeof(p));
    if (n) aligned(n - 1); else grown(7);
    sink += (unsigned)p[n];
}
static int compare(const void *a, const void *b) { aligned(4); return *(const int *)a - *(const int *)b; }
int main(void) {
    static int numbers[4096];
    for (unsigned i = 0; i < 4096; i++) numbers[i] = (int)(i * 7919 % 4099);
    qsort(numbers, 4096, sizeof(int), compare);
    return 0;
}
'''


PERL = '''
my %seen;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
fib(23);
for my $i (1 .. 400000) { my $word = "w" . ($i * 7919 % 50021); $word =~ s/(\\d)7/x$1/g; $seen{$word}++ }
my @list = sort { $seen{$a} <=> $seen{$b} || $a cmp $b } keys %seen;
print scalar(@list), "\\n";
'''

RUBY = '''
def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
fib(26)
words = (1..300_000).map { |i| "w#{i * 7919 % 50021}".gsub(/7/) { |x| x * 2 } }
puts words.tally.sort_by { |word, count| [count, word] }.size
'''

TCL = '''
proc fib {n} { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
fib 23
for {set i 0} {$i < 300000} {incr i} { lappend words w[expr {$i * 7919 % 50021}] }
puts [llength [lsort -unique $words]]
puts [string length [regsub -all {7} [join $words] {<&>}]]
'''

GUILE = '''
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(display (fib 29))
(define words (map (lambda (i) (number->string (modulo (* i 7919) 50021))) (iota 200000)))
(display (length (sort words string<?)))
'''

REDIS = '''
redis-server --port 0 --unixsocket redis.sock --save "" --appendonly no &
until redis-cli -s redis.sock ping 2>/dev/null; do sleep 0.1; done
redis-benchmark -s redis.sock -q -n 60000 -P 16 -t set,get,lpush,zadd,lrange_100
redis-cli -s redis.sock shutdown nosave
wait
'''


@dataclass
class Program:
    name: str
    command: list
    least_whole: float = 0     # percent of samples that is promised; 0: none
    is_apart: bool = False     # nothing is tuned on it


def source_of_c(lines=500):
    """A C file that a compiler works on for a second or so."""
    parts = ['#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n']
    for i in range(lines):
        parts.append(f'int f{i}(int a, const char *s) {{ int n = {i}; for (int i = 0; i < a; i++) '
                     f'{{ n = n * 31 + s[i % (int)(strlen(s) + 1)]; if (n % {i + 2} == 1) '
                     f'n ^= f{max(i - 1, 0)}(a / 2, s); }} switch (n % 5) {{ case 1: return n * 3; '
                     f'case 2: return abs(n); case 3: return n << 2; }} return n; }}\n')
    return ''.join(parts)


def source_of_cc():
    return '''#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>
int main() { std::map<std::string, std::vector<std::function<int(int)>>> m; std::regex r("a+b");
  std::vector<std::string> v{"x"}; std::sort(v.begin(), v.end(), std::greater<>());
  std::stringstream s; for (auto &x : v) s << std::regex_match(x, r);
  m["a"].push_back([](int i) { return i + 1; }); std::cout << m.size() << s.str(); }
'''


def build(where, name, text, *command):
    """False when it cannot be built here."""
    path = where / name
    path.write_text(text)
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def scripts_of(where):
    files = {'work.py': PYTHON, 'work.lua': LUA, 'work.sql': SQL, 'work.js': NODE,
             'big.c': source_of_c(), 'big.cc': source_of_cc(),
             'lines': '\n'.join(str(i * 7919 % 1000003) for i in range(900000)),
             'work.pl': PERL, 'work.rb': RUBY, 'work.tcl': TCL, 'work.scm': GUILE,
             'redis.sh': REDIS,
             'work.ps': '/fib { dup 2 lt { } { dup 1 sub fib exch 2 sub fib add } ifelse } def\n'
                        '25 fib == 0 1 200000 { sin dup mul sqrt pop } for\n'}
    for name, text in files.items():
        (where / name).write_text(text)


def programs(where):
    """Those there are, and the names of those that are not."""
    where = Path(where)
    scripts_of(where)
    found = []
    absent = []

    def add(name, command, is_there=True, **more):
        if is_there and command[0] and shutil.which(command[0]):
            found.append(Program(name, [str(part) for part in command], **more))
        else:
            absent.append(name)

    # One that is a program, not a script that looks for one.
    python = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else 'python3'
    add('python3', [python, where / 'work.py'], least_whole=97)
    add('cc1', ['gcc', '-O2', '-S', where / 'big.c', '-o', '/dev/null'], least_whole=97)
    add('cc1plus', ['g++', '-O2', '-S', where / 'big.cc', '-o', '/dev/null'], least_whole=97)
    add('sqlite3', ['sqlite3', ':memory:', f'.read {where}/work.sql'], least_whole=97)
    add('node', ['node', '--perf-basic-prof', where / 'work.js'], least_whole=97)
    has_java = build(where, 'Work.java', JAVA, 'javac', 'Work.java')
    add('java', ['java', '-XX:+PreserveFramePointer', '-XX:+UseSerialGC', '-cp', where, 'Work'],
        has_java, least_whole=97)
    add('clang', ['clang', '-O2', '-c', where / 'big.c', '-o', '/dev/null'], least_whole=90)
    add('exceptions', [where / 'exceptions'],
        build(where, 'exceptions.cc', EXCEPTIONS, 'g++', '-O2', '-o', 'exceptions',
              'exceptions.cc'), least_whole=97)
    add('rust', [where / 'rust'],
        build(where, 'rust.rs', RUST, 'rustc', '-O', '-o', 'rust', 'rust.rs'), least_whole=97)
    add('go', [where / 'go'], build(where, 'go.go', GO, 'go', 'build', '-o', 'go', 'go.go'),
        least_whole=97)
    add('coroutines', [where / 'coroutines'],
        build(where, 'coroutines.c', COROUTINES, 'gcc', '-O2', '-o', 'coroutines',
              'coroutines.c'), least_whole=97)
    add('frames', [where / 'frames'],
        build(where, 'frames.c', FRAMES, 'gcc', '-O3', '-fomit-frame-pointer', '-o', 'frames',
              'frames.c'))
    add('lua', ['lua', where / 'work.lua'])
    add('sort', ['sort', '--parallel=2', where / 'lines', '-o', '/dev/null'])
    add('gs', ['gs', '-q', '-dNODISPLAY', '-dBATCH', where / 'work.ps'])
    # Nothing is tuned on these.
    add('perl', ['perl', where / 'work.pl'], is_apart=True)
    add('ruby', ['ruby', where / 'work.rb'], is_apart=True)
    add('tclsh', ['tclsh', where / 'work.tcl'], is_apart=True)
    add('guile', ['guile', '--no-auto-compile', where / 'work.scm'], is_apart=True)
    add('redis', ['sh', where / 'redis.sh'], shutil.which('redis-server') is not None, is_apart=True)
    add('g++', ['g++', '-O2', '-S', TEMPLATES, '-o', '/dev/null'], is_apart=True)
    add('xz', ['xz', '-1', '-c', '-T2', where / 'lines'], is_apart=True)
    add('ffmpeg', ['ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc=d=4', '-f', 'null', '-'],
        is_apart=True)
    return found, absent
