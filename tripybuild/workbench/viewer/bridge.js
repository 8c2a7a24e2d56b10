// Model Explorer's page asks its own server for graphs. Here they are files beside the page, so that
// any server of static files can show them, and nothing is asked of the network.
(() => {
  "use strict";
  // What reads graphs that are there already; the page has no other reader.
  const READER = { id: "builtin_json", name: "tripybuild", type: "adapter", fileExts: ["json"] };
  const own = window.fetch.bind(window);
  const json = (text) => new Response(text, { headers: { "Content-Type": "application/json" } });

  window.fetch = (input, options) => {
    const url = new URL(typeof input === "string" ? input : input.url, document.baseURI);
    const asked = url.pathname.split("/").pop();
    if (asked === "load_graphs_json") return own("graphs.json", options);
    if (asked === "load_node_data") {
      return own(`node_data_${Number(url.searchParams.get("node_data_index"))}.json`, options);
    }
    if (asked === "get_extensions") return Promise.resolve(json(JSON.stringify([READER])));
    if (url.pathname.includes("/api")) return Promise.resolve(json("{}"));
    return own(input, options);
  };
  window.EventSource = class extends EventTarget {
    close() {}
  };
  window.modelExplorer = { assetFilesBaseUrl: "static_files" };

  const shown = document.querySelector('meta[name="tripybuild-data"]').content;
  const query = new URLSearchParams(window.location.search);
  if (!query.has("data")) {
    window.history.replaceState(null, "", `?${new URLSearchParams({ data: shown })}`);
  }
})();
