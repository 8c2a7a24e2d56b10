// Starts `tripybuild lsp` for YAML files. The server says nothing of those that are not tripybuild's.
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("tripybuild");
  const [command, ...args] = settings.get("command");
  client = new LanguageClient(
    "tripybuild",
    "tripybuild",
    { command, args, transport: TransportKind.stdio },
    { documentSelector: [{ scheme: "file", language: "yaml" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const message = `tripybuild: \`${[command, ...args].join(" ")}\` does not start (${error.message})`;
    const hint = "pip install 'tripybuild[editor]', and set tripybuild.command to where it is";
    vscode.window.showErrorMessage(`${message}; ${hint}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("tripybuild.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) =>
      event.affectsConfiguration("tripybuild.command") ? restart() : undefined,
    ),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
