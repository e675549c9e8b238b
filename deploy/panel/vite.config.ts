import { defineConfig } from "vite";
import solid from "vite-plugin-solid";

// Relative addresses: the panel works below any path that a proxy puts it under.
export default defineConfig({
  base: "./",
  plugins: [solid()],
  build: {
    outDir: "../../agents/api/panel/built",
    emptyOutDir: true,
    assetsDir: "panel",
    assetsInlineLimit: 0, // the content security policy allows no data: addresses
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: { proxy: { "/v1": process.env.MEMSTREAM_API ?? "http://127.0.0.1:28080" } },
});
