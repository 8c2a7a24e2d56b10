"""A real server of S3's protocol on this machine: moto's, in a process of its own."""

import subprocess
import sys
from contextlib import contextmanager

SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
BUCKET = "models"


@contextmanager
def object_store():
    """Serve a bucket, and give what a process needs in its environment to reach it."""
    command = [sys.executable, "-W", "ignore", "-c", SERVER]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-3, text=True) as process:
        try:
            port = process.stdout.readline().strip()
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_DEFAULT_REGION": "us-east-1",
            }
        finally:
            process.stdin.close()
