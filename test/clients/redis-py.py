"""Takes IDs with redis-py and prints them: redis-py.py <port> <tag> <count>"""

import sys
import threading
import time

import redis

LOOPS = 16
port, tag, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
client = redis.Redis(host="127.0.0.1", port=port)
ids = []
half = threading.Event()


def loop(share):
    taken = 0
    while taken < share:
        try:
            ids.append(client.incr(tag))
        except redis.RedisError:
            time.sleep(0.05)
            continue
        taken += 1
        if len(ids) >= count // 2 and not half.is_set():
            half.set()
            print("half", file=sys.stderr, flush=True)


threads = [threading.Thread(target=loop, args=(count // LOOPS,)) for _ in range(LOOPS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\n".join(map(str, ids)))
