"""relay.py LOG PROGRAM [ARG]..: runs PROGRAM, passes standard input and output through, and notes both.

A client's own transport shows neither the raw lines nor how the server ended; this stands between the two and
changes nothing. LOG gets one JSON array a line: ["<", text] for a line of the client, [">", text] for a line of the
server, and at last ["exit", status].
"""

import json
import os
import subprocess
import sys
import threading


def main(log_path: str, *program: str) -> int:
    server = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = threading.Lock()
    with open(log_path, "w", encoding="utf-8") as log:

        def note(kind: str, what: object) -> None:
            with lock:
                log.write(json.dumps([kind, what]) + "\n")
                log.flush()

        def copy_input() -> None:
            for line in sys.stdin.buffer:
                note("<", line.decode())
                try:
                    server.stdin.write(line)
                    server.stdin.flush()
                except BrokenPipeError:
                    return
            server.stdin.close()

        threading.Thread(target=copy_input, daemon=True).start()
        for line in server.stdout:
            # Bytes that are no text are a fault to find, not one to die of.
            note(">", line.decode(errors="replace"))
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        status = server.wait()
        note("exit", status)
    return status


if __name__ == "__main__":
    # No orderly exit: the thread may still wait for a client that has not closed its end.
    os._exit(main(*sys.argv[1:]))
