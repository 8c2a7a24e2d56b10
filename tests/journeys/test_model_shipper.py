"""The journey of a model's shipper: a folder of Hugging Face, to an answer of a server."""

import json

import pytest

MAKE = """\
import torch
from transformers import BertConfig, BertModel
torch.manual_seed(0)
config = BertConfig(
    vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=32, max_position_embeddings=32,
)
BertModel(config).eval().save_pretrained("tiny")
"""
SERVE = """\
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import torch
import tripybuild
from transformers import BertModel

model = tripybuild.load("tiny.tpb")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given = {name: np.asarray(asked[name], each.dtype.numpy) for name, each in INPUTS.items()}
        found = {name: each.tolist() for name, each in model(**given).items()}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_):
        pass


INPUTS = model.signature.inputs
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
ids = [[3, 5, 7, 9], [2, 4, 6, 8]]
whole = {name: (ids if "ids" in name and "type" not in name else [[1] * 4] * 2) for name in INPUTS}
whole |= {name: [[0] * 4] * 2 for name in INPUTS if "type" in name}
data = json.dumps(whole).encode()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
answer = json.loads(opener.open(f"http://127.0.0.1:{server.server_port}", data).read())
server.shutdown()
wanted = BertModel.from_pretrained("tiny")(**{n: torch.tensor(v) for n, v in whole.items()})
found = np.float32(next(iter(answer.values())))
print("difference below 1e-4:", bool(abs(found - wanted[0].detach().numpy()).max() < 1e-4))
"""


def test_from_a_folder_to_a_server(newcomer):
    """`import`, `check`, `compile`, `bench`, `compare`, and one request of a server."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    newcomer.run("python", "-c", MAKE)
    said = newcomer.run("tripybuild", "import", "tiny", "-o", "spec")
    assert "Compared with its source" in said
    assert "parameters" in newcomer.run("tripybuild", "check", "spec/model.yaml")
    words = ["spec/model.yaml", "--target", "cpu:onnxruntime", "-o", "tiny.tpb"]
    assert "into `tiny.tpb`" in newcomer.run("tripybuild", "compile", *words)
    words = ["tiny.tpb", "--rounds", "3", "--seconds", "0.05", "--json"]
    answer = json.loads(newcomer.run("tripybuild", "bench", *words))
    (measured,) = answer["runs"][0]["contestants"]
    assert 0 < measured["p50"] <= measured["p99"]
    said = newcomer.run("tripybuild", "compare", "tiny.tpb", "@reference")
    assert "A and B agree" in said
    newcomer.write("serve.py", SERVE)
    assert "difference below 1e-4: True" in newcomer.run("python", "serve.py")
