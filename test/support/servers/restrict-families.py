"""restrict-families.py FAMILY... -- PROGRAM...: refuses sockets of other families, as RestrictAddressFamilies= of systemd."""
import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2

separator = sys.argv.index("--")
families = [getattr(socket, name) for name in sys.argv[1:separator]]
program = sys.argv[separator + 1 :]

count = len(families)
steps = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, count + 2, SOCKET), (LOAD, 0, 0, 16)]
steps += [(JUMP_IF_EQUAL, count - index, 0, family) for index, family in enumerate(families)]
steps += [(RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
filters = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")
os.execvp(program[0], program)
