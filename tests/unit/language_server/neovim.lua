-- Opens a spec as a user does, waits for the server, and writes down what the editor then has.
local out = assert(os.getenv("LSP_OUT"))
local command = vim.split(assert(os.getenv("LSP_COMMAND")), "\n")
local started = vim.lsp.start or function(config)
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
  return id
end
local found = {}
local function wait(what)
  return vim.wait(60000, what, 20)
end
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result, answer.error
  end
end

vim.bo.filetype = "yaml"
local id = started({ name = "tripybuild", cmd = command, root_dir = vim.fn.getcwd() })
assert(wait(function()
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.server_capabilities ~= nil and client.initialized ~= false
end), "no server")
local document = vim.lsp.util.make_text_document_params()

-- A mistake that is typed comes back as a problem at its place, and leaves with its repair.
local row = vim.fn.search("relu(mixed)", "n")
local line = vim.fn.getline(row)
vim.fn.setline(row, (line:gsub("mixed", "mixde")))
assert(wait(function() return #vim.diagnostic.get(0) > 0 end), "no problem")
local problem = vim.diagnostic.get(0)[1]
found.problem = { problem.code or problem.user_data.lsp.code, problem.lnum, problem.col, problem.message }
vim.fn.setline(row, line)
assert(wait(function() return #vim.diagnostic.get(0) == 0 end), "the problem stays")

local range = { start = { line = 0, character = 0 }, ["end"] = { line = vim.fn.line("$"), character = 0 } }
found.hints = {}
for _, hint in ipairs(ask("textDocument/inlayHint", { textDocument = document, range = range })) do
  found.hints[tostring(hint.position.line)] = hint.label
end

-- A rename is applied by the editor itself, behind letters of two UTF-16 units.
local place = vim.fn.search("mixed: ", "n")
local params = { textDocument = document, position = { line = place - 1, character = 2 }, newName = "joined" }
local edit = ask("textDocument/rename", params)
local client = vim.lsp.get_client_by_id(id)
vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
found.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
local _, refused = ask("textDocument/rename", vim.tbl_extend("force", params, { newName = "x" }))
found.refused = refused and refused.message

local file = assert(io.open(out, "w"))
file:write(vim.json and vim.json.encode(found) or vim.fn.json_encode(found))
file:close()
vim.cmd("qall!")
