# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers under a load that ends: each on a port of loopback or a socket of its own, with all its
files below one directory."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from glob import glob
from pathlib import Path

import inputs as made
from workloads import ENVIRONMENT, Failure

READY_S = 20
ANNOUNCED = 'echo $$ >"$0" && exec "$@"'    # the process that becomes the program says which it is


def find(tool):
    return shutil.which(tool, path=ENVIRONMENT['PATH'] + ':/usr/sbin:/sbin')


def announced(pid_file, words):
    return ['/bin/sh', '-c', ANNOUNCED, str(pid_file), *words]


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def quietly(words, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', check=False, **more)
    if done.returncode:
        last = (done.stdout.strip().splitlines() or [''])[-1]
        raise Failure(f'{os.path.basename(words[0])}: exit status {done.returncode}: {last}')


class Server:
    """`command` is run by whoever measures it; `load` then returns when n units are done."""

    tools = ''
    signal = signal.SIGTERM

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.pid_file = self.directory / 'pid'
        self.socket = self.directory / 'socket'

    @classmethod
    def missing(cls):
        return [tool for tool in cls.tools.split() if not find(tool)]

    def command(self):
        raise NotImplementedError

    def connect(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.socket))

    def prepare_run(self):
        self.pid_file.unlink(missing_ok=True)

    def wait_until_ready(self, process):
        end = time.monotonic() + READY_S
        while True:
            try:
                return self.connect()
            except OSError as error:
                if process.poll() is not None:
                    raise Failure('the server ended at once') from error
                if time.monotonic() > end:
                    raise Failure(f'no server after {READY_S} s: {error}') from error
            time.sleep(0.02)

    def stop(self):
        try:
            os.kill(int(self.pid_file.read_text().split()[0]), self.signal)
        except (OSError, ValueError, IndexError):
            pass    # it never began, or is gone


class Redis(Server):
    tools = 'redis-server redis-benchmark'

    def command(self):
        return announced(self.pid_file, [find('redis-server'), '--port', '0', '--unixsocket', str(self.socket),
                                         '--dir', str(self.directory), '--save', '', '--appendonly', 'no'])

    def load(self, n):
        quietly([find('redis-benchmark'), '-s', str(self.socket), '-q', '-c', '20', '-P', '8', '-r', '10000',
                 '-n', str(20000 * n), '-t', made.REDIS])


class Web(Server):
    """Pages of some kilobytes."""

    client = 'ab'

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()
        root = self.directory / 'root'
        root.mkdir(exist_ok=True)
        (root / 'page.html').write_text('\n'.join(
            f'<p>Line {i}, {i * 7919 % 10007}, of a page</p>' for i in range(400)))

    def connect(self):
        socket.create_connection(('127.0.0.1', self.port), 1).close()

    def load(self, n):
        quietly([find('ab'), '-q', '-k', '-c', '8', '-n', str(4000 * n), '-H', 'Accept-Encoding: gzip',
                 f'http://127.0.0.1:{self.port}/page.html'])


class Nginx(Web):
    tools = 'nginx ab'
    signal = signal.SIGQUIT

    def command(self):
        at = self.directory
        user = 'user root;' if os.geteuid() == 0 else ''
        temporary = ' '.join(f'{kind}_temp_path {at}/{kind};' for kind in
                             ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
        (at / 'conf').write_text(
            f'daemon off; worker_processes 1; {user} error_log {at}/error; pid {at}/nginx.pid;\n'
            'events { worker_connections 100; }\n'
            f'http {{ access_log {at}/access; {temporary} default_type text/html; keepalive_requests 100000;\n'
            'gzip on; gzip_comp_level 6;\n'
            f'server {{ listen 127.0.0.1:{self.port}; root {at}/root; }} }}\n')
        return announced(self.pid_file, [find('nginx'), '-c', str(at / 'conf'), '-p', str(at), '-e', str(at / 'error')])


class Lighttpd(Web):
    tools = 'lighttpd ab'
    signal = signal.SIGINT

    def command(self):
        at = self.directory
        (at / 'conf').write_text(
            f'server.document-root = "{at}/root"\nserver.port = {self.port}\nserver.bind = "127.0.0.1"\n'
            f'server.errorlog = "{at}/error"\nserver.upload-dirs = ( "{at}" )\n'
            'server.max-keep-alive-requests = 100000\n'
            'server.modules = ( "mod_accesslog", "mod_setenv" )\n'
            f'accesslog.filename = "{at}/access"\n'
            'setenv.add-response-header = ( "X-Kind" => "page" )\n'
            'mimetype.assign = ( ".html" => "text/html" )\n')
        return announced(self.pid_file, [find('lighttpd'), '-D', '-f', str(at / 'conf')])

    def load(self, n):
        super().load(4 * n)


class Postgres(Server):
    """Refuses to run as root: then it is somebody else's."""

    @staticmethod
    def tool(name):
        return max(glob(f'/usr/lib/postgresql/*/bin/{name}'), default=None) or find(name)

    @classmethod
    def missing(cls):
        return [tool for tool in ('initdb', 'postgres', 'pgbench') if not cls.tool(tool)]

    def __init__(self, directory):
        super().__init__(directory)
        self.data = self.directory / 'data'
        self.pid_file = self.data / 'postmaster.pid'
        self.socket = self.directory / '.s.PGSQL.5432'
        self.user = []
        if os.geteuid() == 0:
            name = next(name for name in ('postgres', 'nobody')
                        if name in (entry.pw_name for entry in pwd.getpwall()))
            shutil.chown(self.directory, name)
            self.user = ['runuser', '-u', name, '--']
        if not self.data.exists():
            self.fill()

    def fill(self):
        quietly([*self.user, self.tool('initdb'), '-D', str(self.data), '-A', 'trust', '-U', 'bench', '--no-sync',
                 '--no-locale'], cwd=self.directory)
        process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.directory)
        try:
            self.wait_until_ready(process)
            quietly([self.tool('pgbench'), *self.client(), '-i', '-q', '-s', '2', 'postgres'])
        finally:
            self.stop()
            process.wait()

    signal = signal.SIGINT

    def client(self):
        return ['-h', str(self.directory), '-U', 'bench']

    def command(self):
        return [*self.user, self.tool('postgres'), '-D', str(self.data), '-k', str(self.directory),
                '-c', 'listen_addresses=', '-c', 'fsync=off']

    def wait_until_ready(self, process):
        end = time.monotonic() + READY_S
        super().wait_until_ready(process)
        while subprocess.run([self.tool('psql'), *self.client(), '-c', 'select 1', 'postgres'], check=False,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            if time.monotonic() > end:
                raise Failure(f'no answer after {READY_S} s')
            time.sleep(0.05)

    def load(self, n):
        quietly([self.tool('pgbench'), *self.client(), '-n', '-S', '-c', '4', '-t', str(1000 * n), 'postgres'])
