"""forwarder.py MILLISECONDS NAMESPACE...: makes a device eth0 in each network namespace and carries
IPv4 packets between them, each that much late. The last byte of an address says whose it is,
counted from 1. Ends when stdin does."""

import ctypes
import fcntl
import heapq
import os
import select
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
MOST = 20_000  # packets under way; beyond that they are lost, as in a queue


def enter(path):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(path, os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns {path}")
    os.close(fd)


def open_tun():
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TUN | IFF_NO_PI))
    return fd


def write(fd, packet):
    try:
        os.write(fd, packet)
    except OSError:
        pass  # the device is down: lost


def main():
    delay = float(sys.argv[1]) / 1000
    devices = []
    for name in sys.argv[2:]:
        enter(f"/run/netns/{name}")
        devices.append(open_tun())
    print("ready", flush=True)
    waiting, count = [], 0  # (due, number, device, packet)
    while True:
        wait = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([*devices, sys.stdin], [], [], wait)
        now = time.monotonic()
        if sys.stdin in ready and not sys.stdin.readline():
            return
        for fd in ready:
            if fd not in devices:
                continue
            try:
                packet = os.read(fd, 65_536)
            except BlockingIOError:
                continue
            if len(packet) < 20 or packet[0] >> 4 != 4 or len(waiting) >= MOST:
                continue
            to = packet[19]
            if 1 <= to <= len(devices):
                count += 1
                heapq.heappush(waiting, (now + delay, count, devices[to - 1], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, fd, packet = heapq.heappop(waiting)
            write(fd, packet)


main()
