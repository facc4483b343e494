/** Bundles Leaf; everything else stays a package, as in a server. */
const isBundled = (request) => /^(\.|\/|@leaf-ids\/)/.test(request);

module.exports = (_, { outputFilename }) => {
  const isModule = outputFilename.endsWith('.mjs');
  return {
    mode: 'production',
    target: 'node',
    output: isModule ? { chunkFormat: 'module', library: { type: 'module' } } : {},
    experiments: { outputModule: isModule },
    externalsType: isModule ? 'module' : 'commonjs',
    externals: [({ request }, done) => (isBundled(request) ? done() : done(null, request))],
  };
};
