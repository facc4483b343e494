/** Bundles Leaf; everything else stays a package, as in a server. */
export default {
  build: { ssr: 'main.mjs', outDir: 'out', emptyOutDir: false, minify: true },
  ssr: { noExternal: [/^@leaf-ids\//] },
};
