# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that rotated counters are judged on, and traces of them.

Two sets of five: a compiler, a packer, a database, an interpreter, and a program of phases. What is
tuned is tuned on the first; the second says what it is worth.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = ("tuned", "judged")
KINDS = ("bursty", "resonant", "ramp", "spikes", "memory", "steady")
SOFTWARE = {"page-faults": 2, "minor-faults": 5, "context-switches": 3, "migrations": 4}
TRACEPOINTS = ["raw_syscalls/sys_enter", "kmem/mm_page_alloc", "kmem/kmalloc", "kmem/kfree",
               "kmem/kmem_cache_alloc", "kmem/kmem_cache_free", "kmem/mm_page_free",
               "exceptions/page_fault_user", "sched/sched_switch", "sched/sched_waking",
               "timer/hrtimer_start", "timer/hrtimer_cancel",
               "rcu/rcu_utilization", "irq/softirq_entry", "irq/softirq_exit",
               "workqueue/workqueue_queue_work", "syscalls/sys_enter_read",
               "syscalls/sys_enter_write", "syscalls/sys_enter_mmap", "syscalls/sys_enter_brk",
               "syscalls/sys_enter_openat", "syscalls/sys_enter_futex",
               "tlb/tlb_flush", "percpu/percpu_alloc_percpu"]

SQL_TABLE = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<{0})
  insert into t select i, hex(i*7919%10007), i*0.37 from n;
create index tb on t(b);
select b, count(*), avg(c) from t group by b order by 2 desc limit 5;
update t set c=c+1 where a%3=0; select sum(length(b)) from t where b like '%A%';
delete from t where a%2=0; vacuum; select x.a from t x order by x.c*-1 limit 3;
"""
SQL_JOIN = """pragma journal_mode=memory; pragma synchronous=off;
create table u(k integer, v text); create table w(k integer, n integer);
with recursive n(i) as (select 1 union all select i+1 from n where i<{0})
  insert into u select i*31%250013, printf('%08x%s', i*2654435761%4294967296, i) from n;
insert into w select k, length(v)*k from u where k%3<2;
create index wk on w(k);
select sum(n), max(v) from u join w on u.k=w.k where v>'8';
create virtual table f using fts4(v);
insert into f select v||' '||k from u limit {0}/2;
select count(*) from f where f match '1*';
select count(distinct substr(v,1,4)) from u;
insert into f(f) values('optimize');
"""
PERL = """my (%h, $x); my $scale = shift;
for my $round (1..35) {
  for my $i (1..600*$scale) { $h{($i*7919+$round*31)%80021} .= "x" x ($i%9); }
  my @a = sort { $a <=> $b } map { ($_*$round*31)%65537 } 1..600*$scale;
  my $s = join(",", @a[0..90*$scale]); my $n = 0; $n++ while $s =~ /(\\d)\\d*\\1/g;
  %h = () if $round % 5 == 0;
  for my $i (1..1500*$scale) { $x = ($x*1103515245+12345) & 0x7fffffff; }
}
"""
PYTHON = """import collections, json, random, re, sys
draw, scale = random.Random(1), int(sys.argv[1])
for turn in range(16):
    words = ["%x" % draw.getrandbits(20) for _ in range(600 * scale)]
    counted = collections.Counter(w[:3] for w in words)
    text = json.dumps({w: [turn, len(w), counted[w[:3]]] for w in words})
    back = json.loads(text)
    total = sum(v[2] for v in back.values())
    found = re.findall(r"[0-9]{4}[a-f]", text)
    grid = [[(x * y + turn) % 97 for x in range(9 * scale)] for y in range(100)]
    best = sorted((sum(row), i) for i, row in enumerate(grid))
"""
# Phases of 30 … 300 ms: arithmetic, memory, files, processes, sleep and hashes.
PHASES = """use strict; my ($seed, $dir, $phases, $scale) = @ARGV;
sub draw { $seed = ($seed*1103515245+12345) & 0x7fffffff; return ($seed>>8) % $_[0]; }
my @phases = (
  sub { my $x = 1; $x = ($x*69069+1) & 0xffffffff for 1..$_[0]*9000; },
  sub { for (1..$_[0]/4) { my $m = "\\0" x (1<<20); substr($m, draw(1<<20), 1) = "a"; } },
  sub { for (1..$_[0]*3) { open my $f, ">", "$dir/f$_" or die; print $f "x" x draw(9000); close $f;
        unlink "$dir/f$_"; } },
  sub { for (1..1+$_[0]/8) { my $p = fork; exit 0 if defined $p && $p == 0; waitpid $p, 0; } },
  sub { select undef, undef, undef, $_[0]/2000; },
  sub { my %h; $h{draw(1<<20)}++ for 1..$_[0]*700; });
$phases[draw(scalar @phases)]->((30 + draw(270)) * $scale / 100) for 1..$phases;
"""
AWK = """BEGIN { for (turn = 0; turn < 24; turn++) { n = (1 + turn * 7 % 5) * 700 * scale / 10
  if (turn % 4 == 0) for (i = 0; i < n * 9; i++) x = (x * 69069 + 1) % 65536
  if (turn % 4 == 1) for (i = 0; i < n; i++) h[i * 7919 % 10007] = h[i * 31 % 10007] i % 7
  if (turn % 4 == 2) for (i = 0; i < n; i++) { s = sprintf("%d-%x", i, i * 7919); gsub(/1/, "one", s) }
  if (turn % 4 == 3) delete h } }
"""


def put(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def functions(count, first=0):
    return "\n".join(
        f"int f{i}(int *p, int n) {{ int s = {i}; for (int i = 0; i < n; i++) {{ s += p[i] * {i % 7 + 1};"
        f" if (s & {1 << i % 9}) s ^= p[n - i - 1]; switch (s & 3) {{ case 0: s++; break; case 1:"
        f" s -= p[0]; break; default: s *= 3; }} }} return s; }}" for i in range(first, first + count))


class Inputs:
    """What the programs work on, `scale` hundredths of some five seconds."""

    def __init__(self, work, scale):
        self.work, self.scale = work, scale
        for name in SETS:
            os.makedirs(os.path.join(work, name), exist_ok=True)
        self.source = self.put("many.c", functions(6 * scale))
        self.packed = self.put("packed", "".join(
            f"{i * 7919 % 10007:x} {i % 97}\n" for i in range(3000 * scale)))
        self.mixed = self.put("mixed", "".join(
            f"{i * 2654435761 % 4294967296:08x}" * (1 + i // 20000 % 7) + "\n"
            for i in range(1500 * scale)))

    def put(self, name, text):
        return put(self.work, f"{self.scale}-{name}", text)

    def sql(self, which, text, rows):
        database = os.path.join(self.work, which, f"db-{self.scale}")
        return ["sqlite3", database, ".read " + self.put(f"{which}.sql", text.format(rows))]

    def phases(self, count):
        return ["perl", self.put("phases.pl", PHASES), "1", os.path.join(self.work, "tuned"),
                str(count), str(self.scale)]


def programs(work):
    """Set, name and command of those that are here."""
    inputs = Inputs(work, 100)
    small = [put(work, f"small{i}.c", "#include <stdio.h>\n#include <string.h>\n" + functions(9, i))
             for i in range(5)]
    loop = f"for i in $(seq 9); do for f in {' '.join(small)}; do" \
           f" gcc -O1 -S -o {work}/small.s $f; done; done"
    stages = f"for i in $(seq 9); do gzip -c {inputs.mixed} | sha256sum;" \
             f" tail -n 9000 {inputs.packed} | sort -n | uniq -c | wc -l;" \
             " seq 30000 | awk '{s += $1 % 7} END {print s}'; sleep 0.1;" \
             " find /usr/lib /usr/include | grep -c a; done"
    return here([
        ("tuned", "compile", ["gcc", "-O2", "-c", "-o", os.path.join(work, "many.o"), inputs.source]),
        ("tuned", "compress", ["xz", "-6", "-T1", "-k", "-c", inputs.packed]),
        ("tuned", "database", inputs.sql("tuned", SQL_TABLE, 300000)),
        ("tuned", "interpreter", ["perl", inputs.put("work.pl", PERL), "100"]),
        ("tuned", "phases", inputs.phases(80)),
        ("judged", "compile", ["sh", "-c", loop]),
        ("judged", "compress", ["bzip2", "-9", "-k", "-c"] + 5 * [inputs.packed, inputs.mixed]),
        ("judged", "database", inputs.sql("judged", SQL_JOIN, 500000)),
        ("judged", "interpreter", [sys.executable, inputs.put("work.py", PYTHON), "100"]),
        ("judged", "phases", ["sh", "-c", stages])])


def simulated_programs(work):
    """The same, in one process and less to do: callgrind follows no children, and takes its time."""
    inputs = Inputs(work, 8)
    cc1 = ["gcc"]
    if shutil.which("gcc"):  # the driver's child is what compiles
        cc1 = [subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip(), "-quiet", "-o", os.path.join(work, "many.s")]
    return here([
        ("tuned", "compile", cc1 + ["-O2", inputs.source]),
        ("tuned", "compress", ["xz", "-2", "-T1", "-k", "-c", inputs.packed]),
        ("tuned", "database", inputs.sql("tuned", SQL_TABLE, 12000)),
        ("tuned", "interpreter", ["perl", inputs.put("work.pl", PERL), "5"]),
        ("tuned", "phases", inputs.phases(40)),
        ("judged", "compile", cc1 + ["-O1", put(work, "other.c", "#include <stdio.h>\n" +
                                               functions(60, 1000))]),
        ("judged", "compress", ["bzip2", "-9", "-k", "-c", inputs.packed, inputs.mixed]),
        ("judged", "database", inputs.sql("judged", SQL_JOIN, 12000)),
        ("judged", "interpreter", [sys.executable, inputs.put("work.py", PYTHON), "5"]),
        ("judged", "phases", ["awk", "-v", "scale=20", AWK])])


def here(listed):
    return [entry for entry in listed if shutil.which(entry[2][0])]


def tracepoint_events():
    events = []
    for name in TRACEPOINTS:
        for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
            try:
                with open(f"{root}/events/{name}/id") as file:
                    events.append(f"{name.split('/')[1]}:2:{int(file.read())}")
                break
            except OSError:
                continue
    return events


def record(build, work, out):
    """Software events, and as root tracepoints, of the programs: one trace each, at 1 ms. Beside
    tracepoints, which stand for what needs a counter, software events are always counted."""
    tracepoints = tracepoint_events()
    events = [f"{'*' if tracepoints else ''}{name}:1:{number}"
              for name, number in SOFTWARE.items()] + tracepoints
    for which, name, command in programs(work):
        path = os.path.join(out, f"{which}-recorded-{name}")
        if subprocess.run([os.path.join(build, "scripts/mux/record_trace"), path, "1000", *events,
                           "--", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0:
            yield path


def simulate(work, out):
    """Instructions, branches and caches of the programs under callgrind, at 50 µs."""
    for which, name, command in simulated_programs(work):
        path = os.path.join(out, f"{which}-simulated-{name}")
        if subprocess.run([os.path.join(HERE, "callgrind_trace"), path, "50000", *command],
                          check=False).returncode == 0:
            yield path


def synthesize(out, ticks):
    for number, which in enumerate(SETS):
        for kind in KINDS:
            path = os.path.join(out, f"{which}-synthetic-{kind}")
            with open(path, "w") as file:
                subprocess.run([os.path.join(HERE, "synthesize"), kind, str(number + 1), str(ticks)],
                               stdout=file, check=True)
            yield path
