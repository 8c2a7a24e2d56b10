// The server answers the library of VS Code's client. TRIPYBUILD_LSP is its command, by default `tripybuild lsp`.
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const test = require("node:test");
const { pathToFileURL } = require("node:url");
const protocol = require("vscode-languageserver-protocol/node");

const SPEC = `tripybuild: 1
model: small
inputs:
  x: float32[B, 8]
ranges:
  B: {min: 1, opt: 2, max: 4}
steps:
  y: relu(x)
outputs:
  out: sum(y, 1)
`;

test("types of steps reach the client", async () => {
  const [command, ...args] = (process.env.TRIPYBUILD_LSP ?? "tripybuild lsp").split(" ");
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const built = new Promise((resolve) =>
    connection.onNotification(protocol.PublishDiagnosticsNotification.type, resolve),
  );
  const started = { processId: process.pid, rootUri: null, capabilities: {} };
  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, started);
  assert.ok(capabilities.inlayHintProvider);
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  const uri = pathToFileURL(`${__dirname}/small.yaml`).toString();
  const textDocument = { uri, languageId: "yaml", version: 1, text: SPEC };
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument });
  assert.deepStrictEqual((await built).diagnostics, []);
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const hints = await connection.sendRequest(protocol.InlayHintRequest.type, { textDocument: { uri }, range });
  const labels = Object.fromEntries(hints.map((each) => [each.position.line, each.label]));
  assert.deepStrictEqual(labels, { 7: ": F[B, 8]", 9: ": F[B]" });
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.strictEqual(await new Promise((resolve) => server.on("exit", resolve)), 0);
});
